"""What the arms that were played come to: whether the incident is reproduced, and the fix holds."""
