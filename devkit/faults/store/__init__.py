"""Faults of an object store's answers, by the proxy in front of it."""
