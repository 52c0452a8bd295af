"""The scenario of a soak, as a file that plays it again."""

from datetime import timedelta
from io import StringIO
from typing import Any

from ruamel.yaml import YAML

from devkit.soak.drawn_faults import STARTS, DrawnFault, draw_faults
from located_config.duration import format_duration

_SETTLES = timedelta(minutes=4)
"""For starts, replays and deferred events after the last fault, above what any soak took."""
_HEAD = """\
# A soak: random faults under live traffic, drawn from seed {seed}. All end before the traffic does; then the job
# drains, and nothing may be lost, out of order for its page, or repeated beyond what its restarts read again.
#   devkit soak --replay THIS-FILE
# The incident arm is a control, which a soak does not play: its producer gives a record up, and what was written beside
# it overtakes it.   devkit scenario run THIS-FILE --arm incident
"""


def soak_text(seed: int, length: timedelta) -> str:
    """The file, in YAML."""
    text = StringIO()
    yaml = YAML()
    yaml.width = 120
    yaml.dump(soak_document(seed, length, draw_faults(seed, length)), text)
    return _HEAD.format(seed=seed) + text.getvalue()


def soak_document(seed: int, length: timedelta, faults: tuple[DrawnFault, ...]) -> dict[str, Any]:
    """What the file says."""
    topics = {topic: {"partitions": 3} for topic in ("source", "output", "error")}
    ends = length + STARTS + _SETTLES
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
        "timeline": [_item(fault) for fault in faults],
        "kafka": {"brokers": 3, "topics": topics},
        "pipeline": {"batch": {"max_offsets": 60}},
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


def _item(fault: DrawnFault) -> dict[str, Any]:
    lasts = {} if fault.lasts is None else {"for": format_duration(fault.lasts)}
    return {"name": fault.name, "do": fault.do, "at": format_duration(fault.at), **lasts}
