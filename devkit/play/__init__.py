"""Plays a scenario: its arms on a stack, one after the other, and the result of the run."""
