"""How often each shipped scenario gives its verdict on a machine that is free, busy, or has one core."""
