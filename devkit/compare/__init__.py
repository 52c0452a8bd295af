"""Two runs side by side, from their evidence alone."""
