"""Faults on the processes of the programs under test."""
