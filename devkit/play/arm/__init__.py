"""Plays one arm: fresh topics, the same traffic, its programs under their supervisors, until its end.

play.py         the phases in their order
arm.py          what the phases share: the arm's programs, its clock, its topics, what has been seen
run_context.py  the run it belongs to, and the hooks that go along with it: faults, probes
prepare.py … collect.py, observation.py   a phase each
"""
