"""Rules: which requests meet which fault."""
