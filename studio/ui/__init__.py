"""The only room with Qt."""
