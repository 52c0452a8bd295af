"""Resident memory, when many large pages come at once and when mixed traffic goes on for long."""
