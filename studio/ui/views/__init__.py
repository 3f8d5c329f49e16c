"""One file per view. A view takes a Session, reads it, and emits wishes; it does no file work."""
