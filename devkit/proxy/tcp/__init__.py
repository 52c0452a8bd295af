"""Listeners that pass bytes on and know nothing of what they mean."""
