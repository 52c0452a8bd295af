from uuid import UUID

from devkit.traffic.canary import canary_of
from devkit.traffic.moments import EPOCH
from pipeline.schemas import page_change_validator


def test_a_canary_is_a_valid_event_known_by_its_domain() -> None:
    event = canary_of(EPOCH, UUID(int=5))
    page_change_validator().validate(event)
    assert event["meta"] == {
        "stream": "mediawiki.page_change.v1",
        "dt": "2026-03-02T09:00:00.150Z",
        "id": "00000000-0000-0000-0000-000000000005",
        "domain": "canary",
    }
