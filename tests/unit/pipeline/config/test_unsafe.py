from typing import Any

import pytest

from pipeline.config.apply_config import ApplyConfig
from pipeline.config.unsafe import unsafe_apply_settings, unsafe_settings
from tests.unit.pipeline.making import make_config

BY_EVENT = {"within": "10m", "by": "event"}


@pytest.mark.parametrize(
    ("sections", "found"),
    [
        ({}, []),
        ({"content_limit": {"measure": "decoded"}, "record_limit": {"policy": "serialized"}}, []),
        ({"content_limit": {"measure": "content_length"}}, ["content_limit.measure: content_length"]),
        ({"record_limit": {"policy": "none"}}, ["record_limit.policy: none"]),
        ({"errors": {"payload": "full_event"}}, ["errors.payload: full_event"]),
        ({"fetch": {"body_limit": "content_length"}}, ["fetch.body_limit: content_length"]),
        ({"fetch": {"max_in_flight_bytes": "none"}}, ["fetch.max_in_flight_bytes: none"]),
        ({"fetch": {"max_in_flight_bytes": "1000GiB"}}, []),
        ({"fetch": {"retried_statuses": [503, 504]}}, ["fetch.retried_statuses: 504"]),
        ({"fetch": {"retry_unknown": {"total_requests": 4, "every": "1s"}}}, ["fetch.retry_unknown: any"]),
        ({"batch": {"page_order": "together"}}, []),
        ({"batch": {"page_order": "one_at_a_time"}}, ["batch.page_order: one_at_a_time"]),
        ({"sink": {"delivery_timeout": "2min"}}, ["sink.delivery_timeout: any"]),
        ({"commit": {"slow_after": "1s", "timeout": "1min"}}, []),
        ({"commit": {"policy": "wait"}}, ["commit.policy: wait"]),
        ({"source": {"deduplicate": {"within": "10m"}}}, ["source.read: proportional"]),
        ({"source": {"deduplicate": {"within": "10m"}, "read": "aligned"}}, []),
        ({"source": {"deduplicate": BY_EVENT, "read": "aligned"}}, ["source.deduplicate.by: event"]),
        # Without a watermark nothing is late.
        ({"source": {"deduplicate": {"within": "ever"}}}, ["source.deduplicate.within: ever"]),
        ({"missing_checkpoint": "earliest"}, ["missing_checkpoint: earliest"]),
        ({"metrics": {"on_collision": "drop"}}, ["metrics.on_collision: drop"]),
        (
            {"content_limit": {"measure": "content_length"}, "record_limit": {"policy": "none"}},
            ["content_limit.measure: content_length", "record_limit.policy: none"],
        ),
    ],
)
def test_incident_policies_are_named(sections: dict[str, Any], found: list[str]) -> None:
    assert unsafe_settings(make_config(**sections)) == found


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({}, []),
        ({"batch_triples": 2, "count": "probe", "atomic": False, "timeout": "1s"}, []),
        ({"batch_triples": 1}, ["apply.batch_triples: 1"]),
        ({"offset": "kafka", "deletes": "ignore"}, ["apply.offset: kafka", "apply.deletes: ignore"]),
        ({"unlinked": "delete", "sitelinks": "as_sent"}, ["apply.unlinked: delete", "apply.sitelinks: as_sent"]),
    ],
)
def test_policies_of_apply_are_named(settings: dict[str, Any], found: list[str]) -> None:
    config = ApplyConfig.model_validate(
        {"source": {"bootstrap_servers": "a:1", "topic": "t"}, "apply": {"endpoint": "http://a", **settings}}
    )
    assert unsafe_apply_settings(config) == found
