"""A scenario played: its arms on a stack, one after the other, up to the run's result."""
