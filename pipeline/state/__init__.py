"""The state of a job: what it remembers from one micro-batch to the next, in Spark's own state store."""
