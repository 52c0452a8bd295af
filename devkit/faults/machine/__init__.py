"""Faults on the machine that everything runs on."""
