"""Faults: what a rule can do to an answer, a file a fault.

A file holds the parameters of its fault, a pure function that turns the plan so far into the next one and touches
nothing else, and what else `fault.Fault` asks for. What a plan says is carried out by others. `registry` lists them
all: a fault more is one file and its line there.
"""
