"""Plays one arm: creates its topics, publishes the traffic, and runs its programs under supervisors until its end.

play.py         the phases in their order
arm.py          what the phases share: the arm's programs, clock, topics and state
run_context.py  the arm's run, and the hooks beside it: faults, probes
prepare.py … collect.py, observation.py   a phase each
"""
