"""What the job measures of itself: a catalogue of metrics, measurements that add up, and an endpoint for Prometheus.

    worker  recorder ─▶ measurements of one task ─▶ accumulator ─┐
    driver  recorder · ledger · lag of the source · memory ─┴▶ registry ─▶ GET /metrics

Off unless `metrics.port` is configured. A name stands for one metric; see `catalogue` for all of them.
"""
