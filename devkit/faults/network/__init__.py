"""Faults of the network between programs and a part, by the proxy in front of it."""
