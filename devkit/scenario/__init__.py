"""A scenario file: its model, all that follows from it, and its checks.

load ─▶ resolve ─▶ validate ─▶ devkit.play ─▶ devkit.verdict ─▶ devkit.report
"""
