"""The server: listeners, the request handler, and how the bytes of an answer leave."""
