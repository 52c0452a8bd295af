"""The journal: what was asked and answered, its counts, and what the control changed."""
