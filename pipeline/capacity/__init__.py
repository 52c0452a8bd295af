"""How fast a job can be and what a rate needs, by arithmetic: `limits` is the model, `plan` solves it for a rate."""
