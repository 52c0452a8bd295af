"""What an operator does with claim checks that nothing refers to any more."""
