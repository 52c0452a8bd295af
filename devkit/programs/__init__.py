"""What is under test: kinds of programs, how their processes start, and what can be observed of them."""
