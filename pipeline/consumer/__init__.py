"""A reference consumer of the output topic: what a consumer has to do, in the fewest lines.

    records ─▶ delivery ─▶ already remembered? ─▶ claim check resolved and verified ─▶ one JSON line each

The job writes at least once, and writes the same when it repeats: id and bytes are functions of the source event. So a
consumer removes repeats by id. One with a store of its own does that there, with the id as a unique key; this one
remembers ids, and forgets the oldest above a bound, as a repeat follows its first soon (within the batches that were
in flight when the job ended).
"""
