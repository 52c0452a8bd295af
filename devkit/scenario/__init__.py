"""A scenario: one file, two arms on the same traffic, one verdict.

load ─▶ bring up ─▶ play arm ─▶ observe ─▶ judge ─▶ report
"""
