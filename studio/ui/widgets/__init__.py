"""Small parts that views are made of; they know colours and texts, and nothing of the session."""
