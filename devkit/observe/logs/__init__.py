"""Logs of programs: events and exceptions in them, their last lines, the first errors, timeouts."""
