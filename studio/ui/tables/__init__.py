"""Qt item models over the session's facts; what Qt calls a model is a `…Table` here."""
