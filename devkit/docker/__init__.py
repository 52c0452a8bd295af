"""The docker command as the kit uses it: finding it, running it, naming what is wrong, and leaving nothing behind.

The command is driven, not the engine's API: it knows the contexts, sockets and certificates of its installation.
"""
