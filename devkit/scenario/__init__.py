"""A scenario file: its model, the scenario resolved from it, and its checks.

load ─▶ resolve ─▶ validate ─▶ devkit.play ─▶ devkit.verdict ─▶ devkit.report
"""
