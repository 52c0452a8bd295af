from datetime import UTC, datetime, timedelta

import orjson
import pytest

from pipeline.jobs.page_change_job import within_not_found_grace
from pipeline.records.page_change import parse
from tests.unit.pipeline.making import make_event

NOW = datetime(2026, 3, 2, 9, 0, 30, tzinfo=UTC)
TEN_S = timedelta(seconds=10)


@pytest.mark.parametrize(
    ("received", "limit", "young"),
    [
        ("2026-03-02T09:00:29Z", timedelta(0), False),
        ("2026-03-02T09:00:29Z", TEN_S, True),
        ("2026-03-02T09:00:20.001Z", TEN_S, True),
        ("2026-03-02T09:00:20Z", TEN_S, False),
        ("2026-03-02T10:00:29+01:00", TEN_S, True),
        ("2026-03-01T00:00:00Z", TEN_S, False),
        # The wiki's clock may be ahead.
        ("2026-03-02T09:00:31Z", TEN_S, True),
        # Without it the event's own time counts, which is 09:00:00 here.
        (None, TEN_S, False),
        (None, timedelta(seconds=40), True),
        # A leap second: no datetime, but allowed by the schema.
        ("2016-12-31T23:59:60Z", timedelta(hours=1_000_000), False),
    ],
)
def test_an_event_is_young_for_a_time_after_its_receipt(received: str | None, limit: timedelta, young: bool) -> None:
    event = parse(orjson.dumps(make_event(meta={"dt": received})), "t/0/1")
    assert within_not_found_grace(event, limit, NOW) == young
