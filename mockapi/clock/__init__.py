"""Time, as it is passed in to all that goes by it."""
