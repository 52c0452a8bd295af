"""Captures: the events of a real topic in a file, with names and text replaced, to be played in a scenario."""
