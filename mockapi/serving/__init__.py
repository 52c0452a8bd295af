"""The server: where it listens, when it does not, how it says that it is ready and how it ends."""
