"""What a person and a machine get to read of a run."""
