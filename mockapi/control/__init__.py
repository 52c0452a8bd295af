"""What changes and watches the mock while it runs: state, rules and journal over HTTP, a page, metrics, a description.

guard (who may) ── routes ── a body checked as a whole ──> the world that the next request meets
"""
