"""Programs under test: their kinds, how their processes start, and what can be observed of them."""
