"""From the events of a Wikibase to operations on its entities, without Spark and without a clock.

    message ──parse_source_event──▶ SourceEvent, or None: not of an entity   InvalidEventError ─▶ error topic
                                        │ keyed by entity
    EntityState(last, seq, buffered) ─▶ accept(state, rows of a batch, watermark)    late ─▶ LapsedAction
                                        │   passes at once, or is buffered
    a timer at next_release_ms(state) ─▶ release(state, watermark)
                                        │   by (revision, time), each by decide(last, action, rev)
                                        ▼
                       Operation ─▶ operation topic     StateInconsistency, LapsedAction ─▶ side_record ─▶ their topics

For an operator on top of it:

1. Map each message to its event before the state, invalid and foreign ones beside it; group by `entity`.
2. Late rows must get to `accept`, which makes a record of each: an engine that drops what is behind its watermark gets
   a time in its place that it does not drop. `accept` itself looks at the event's own time alone.
3. For a key with rows: all of its rows of the batch in one call of `accept`; their order does not matter.
4. For a key whose timer is due: `release` with the same watermark, after `accept`.
5. After either: keep the state (`last`, `seq`, and each buffered event's `to_bytes`), and register a timer at
   `next_release_ms`. A timer too many does no harm: `release` then gives nothing.
6. State is never dropped: an entity without it would be imported again, and its `seq` begin at 1.

The same state, rows and watermark give the same outcomes, byte for byte. Rows of one batch are put in order before any
is looked at, so a task that is run again may get them in another order.
"""
