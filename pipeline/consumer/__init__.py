"""A reference consumer of the output topic: what a consumer has to do, in the fewest lines.

    output topic ─┐
                  ├─▶ oldest first ─▶ delivery ─▶ first of its event? ─▶ claim check resolved and verified ─▶ JSON line
    error topic  ─┘

The job writes at least once, and writes the same when it repeats, as far as the upstream answers the same: id, key and
time are functions of the source event. So a consumer removes repeats by id, and relates an output with an error event
of the same event by the source event's id that both have in their headers; error events of other jobs in the same
topic are none of its business. One with a store of its own does that there, with unique keys; this one remembers ids,
and forgets the oldest above a bound, as a repeat follows its first soon (within the batches that were in flight when
the job ended).
"""
