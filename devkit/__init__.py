"""What a person runs: stacks, scenarios, verdicts and reports."""
