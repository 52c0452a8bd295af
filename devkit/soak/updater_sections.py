"""What the soak of the streaming updater has beside the faults: its traffic, its three programs, and the store against
the wiki at the end.
"""

from datetime import timedelta
from typing import Any

from devkit.stack.wikibase_pages import DOMAIN, WIKI
from located_config.duration import format_duration

_REORDER = timedelta(seconds=10)


def updater_sections(seed: int, length: timedelta) -> dict[str, Any]:
    """Of the file."""
    return {
        "traffic": {
            "generator": "wikibase_source",
            "seed": seed,
            "rate": "10/s",
            "for": format_duration(length),
            "population": 60,
            "wikis": {WIKI: DOMAIN},
            "mix": {"delete": "6%", "undelete": "4%", "redirect": "2%", "merge": "4%"},
            "wikibase_topics": {
                # The other data centre has the changes of the second half.
                "active": {"eqiad": "0s", "codfw": format_duration(length / 2)},
                "delays": {"revision-create": "2s", "page-delete": "4s", "page-undelete": "4s"},
            },
            "event_times": {"published": "x1"},
            "canaries": {"closing": {"after": format_duration(6 * _REORDER), "partitions": 1}},
        },
        "mock": {
            "rules": [{"name": "times of the wiki", "do": {"latency": {"p50": "30ms", "p99": "1s", "cap": "3s"}}}]
        },
        "kafka": {"brokers": 3},
        "programs": {
            "decide": {
                "run": "pipeline rdf-decide",
                "configuration": {"updater": {"reorder": format_duration(_REORDER)}, "batch": {"max_offsets": 100}},
            },
            "resolve": {"run": "pipeline rdf-resolve", "configuration": {"batch": {"max_offsets": 60}}},
            "apply": {"run": "apply"},
        },
        "arms": {"incident": {"programs": {"apply": {"configuration": {"apply": {"deletes": "ignore"}}}}}, "fixed": {}},
        "expect": {
            "incident": [{"differing_entities": {"at_least": 1}}],
            "fixed": [{"drained": True}, {"store_matches": True}, {"audit": "clean"}],
        },
    }
