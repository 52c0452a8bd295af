"""How the bytes of an answer leave the server, and what may happen to them on the way."""
