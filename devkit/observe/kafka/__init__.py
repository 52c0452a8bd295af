"""Records in the topics of an arm: deferred events, error events, emitted events, and event times."""
