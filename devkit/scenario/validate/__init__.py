"""Checks of a scenario file beyond its model, a module for each section or subject."""
