"""The scenario of a soak of one job."""

from datetime import timedelta
from typing import Any

from devkit.soak.drawn_faults import STARTS, DrawnFault
from located_config.duration import format_duration

SETTLES = timedelta(minutes=4)
"""For starts, replays and deferred events after the last fault, above what any soak took."""


def job_document(seed: int, length: timedelta, faults: tuple[DrawnFault, ...], job: str) -> dict[str, Any]:
    """What the file says."""
    topics = {topic: {"partitions": 3} for topic in ("source", "output", "error")}
    ends = length + STARTS + SETTLES
    # Every other seed has executors, which may die without the driver.
    place = {"executors": 2} if seed % 2 else {}
    return {
        "name": f"soak-{seed}",
        "title": f"{format_duration(length)} of random faults, of seed {seed}",
        "incident": {"reference": "none"},
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
        "timeline": [item_of(fault) for fault in faults],
        "kafka": {"brokers": 3, "topics": topics},
        "pipeline": {"job": job, "batch": {"max_offsets": 60}},
        "supervisor": {"delay": "500ms"},
        "until": {"any": [{"drained": True}], "deadline": format_duration(ends)},
        # A fault may find nothing to act on, a store that is not asked for a second. That makes a soak no worse, but of
        # one in which none acted nothing was seen.
        "cause": [{"timeline": "any"}],
        "arms": {"incident": {"sink": {"delivery_timeout": "2s"}, **place}, "fixed": place},
        "expect": {
            "incident": [{"exception": {"class": "TimeoutException"}}],
            "fixed": [{"drained": True}, {"audit": "clean"}],
        },
    }


def item_of(fault: DrawnFault) -> dict[str, Any]:
    """The fault in the timeline."""
    lasts = {} if fault.lasts is None else {"for": format_duration(fault.lasts)}
    return {"name": fault.name, "do": fault.do, "at": format_duration(fault.at), **lasts}
