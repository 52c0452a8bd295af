"""Deterministic source traffic: what is published, when, and what must become of it."""
