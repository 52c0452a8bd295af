"""What the soak of one job has beside the faults: its traffic, and what must hold."""

from datetime import timedelta
from typing import Any

from located_config.duration import format_duration


def job_sections(seed: int, length: timedelta, job: str) -> dict[str, Any]:
    """Of the file."""
    topics = {topic: {"partitions": 3} for topic in ("source", "output", "error")}
    # Every other seed has executors, which may die without the driver.
    place = {"executors": 2} if seed % 2 else {}
    return {
        "traffic": {
            "seed": seed,
            "rate": "10/s",
            "for": format_duration(length),
            "pages": {"Hot": {"share": "20%"}, "Large": {"share": "1%"}, "Slow": {"share": "1%"}},
        },
        "mock": {
            "rules": [
                # Of several latencies the last one stands, so what all requests have comes first.
                {"name": "a parser's times", "do": {"latency": {"p50": "30ms", "p99": "1s", "cap": "3s"}}},
                # One is a claim check, the other is deferred: ledger, slow lane and store have their part in it. One
                # after the other is fetched there, a tenth of an event a second, for 6 s each: a soak has to drain.
                {"name": "large page", "when": {"page": "Large"}, "do": {"body": {"size": "12MiB"}}},
                {"name": "slow page", "when": {"page": "Slow"}, "do": {"latency": "6s"}},
            ]
        },
        "kafka": {"brokers": 3, "topics": topics},
        "pipeline": {"job": job, "batch": {"max_offsets": 60}},
        "arms": {"incident": {"sink": {"delivery_timeout": "2s"}, **place}, "fixed": place},
        "expect": {
            "incident": [{"exception": {"class": "TimeoutException"}}],
            "fixed": [{"drained": True}, {"audit": "clean"}],
        },
    }
