"""Reads the heap dump of a JVM."""
