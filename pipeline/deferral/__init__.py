"""Events deferred without losing their order: a ledger that is the fold of a compacted topic, and two lanes.

The topic (`wire`) is read into a state (`fold`), which the driver keeps (`ledger`) and a batch sees as a frozen
picture (`ledger.Fence`); what a task or a slow round does with an event is decided in `lane`. Pure Python: the caller
writes to Kafka, runs Spark or keeps the time calls this package, under one lock.
"""
