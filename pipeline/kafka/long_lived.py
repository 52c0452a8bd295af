"""Settings of a kafka-python client that lives as long as the job, or as a run of the kit: it has to get over what
happens to brokers meanwhile.
"""

from collections.abc import Mapping
from types import MappingProxyType

LONG_LIVED: Mapping[str, int] = MappingProxyType(
    {
        # The longest wait before a broker that did not answer is tried again, as Kafka's own clients have it.
        # kafka-python's is 30 s: after a minute's outage it would wait on for as long as its requests may take, beside
        # a broker that is up.
        "reconnect_backoff_max_ms": 1_000,
        # When a partition has another leader, kafka-python (3.0) asks the former one for offsets again and again, and
        # learns of the other only as its metadata gets too old: by default after 5 min, and its requests take 30 s.
        "metadata_max_age_ms": 5_000,
    }
)
"""In milliseconds, by the names of kafka-python's arguments."""
