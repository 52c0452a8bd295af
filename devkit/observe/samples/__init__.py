"""Samples of an arm at work, and the figures made of them."""
