"""Faults by the levers of a part's backend."""
