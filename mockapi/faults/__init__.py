"""Faults: what a rule can do to an answer, a file a fault.

A file holds the parameters of its fault, which the models of the rules use, and a pure function that turns the plan so
far into the next one and touches nothing else. What a plan says is carried out by others. `registry` lists them all.
"""
