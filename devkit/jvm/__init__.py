"""A JVM and its jars, without asking the user to install either.

The runtime comes with a wheel (`runtime`), the jars come from a Maven repository into the user's cache (`jars`),
pinned by coordinates, size and SHA-256 in ``jars.lock`` (`pins`, rewritten by `lock`).
"""
