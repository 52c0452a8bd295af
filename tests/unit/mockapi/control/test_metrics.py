from datetime import UTC, datetime
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families

from mockapi.clock import Clock
from mockapi.control.metrics import Metrics
from mockapi.journal.entry import Result
from mockapi.rules.model import Rule
from mockapi.upstream.buckets import Limit
from mockapi.world import World, Worlds
from tests.unit.mockapi.conftest import make_page
from tests.unit.mockapi.journal_entries import asked
from tests.unit.mockapi.manual_time import ManualTime

NARROW = Rule.model_validate({"name": 'narrow "1" \\', "do": {"capacity": 1}})
OFF = Rule.model_validate({"name": "off", "do": {"status": 504}, "enabled": False})
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


@pytest.fixture
def worlds() -> Worlds:
    time = ManualTime()
    clock = Clock(now=lambda: datetime(2026, 11, 21, tzinfo=UTC), monotonic=time.monotonic, later=time.later)
    return Worlds(World(1, [make_page()], (NARROW, OFF), clock), clock)


def ask(world: World, path: str, result: Result | None, rules: tuple[str, ...] = ()) -> None:
    number = world.journal.begin(asked(path=path, rules=rules), 0.0)
    if result is not None:
        world.journal.finish(number, result)


def samples(worlds: Worlds, accept: str = "") -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text, content_type = Metrics(worlds).text(accept)
    parse: Any = open_metrics if "openmetrics" in content_type else text_string_to_metric_families
    return {
        (one.name, frozenset(one.labels.items())): one.value
        for family in parse(text.decode())
        for one in family.samples
    }


def value(worlds: Worlds, name: str, accept: str = "", **labels: str) -> float:
    return samples(worlds, accept)[name, frozenset(labels.items())]


@pytest.mark.parametrize("accept", ["", OPEN_METRICS])
def test_requests_are_counted_by_route_and_status(worlds: Worlds, accept: str) -> None:
    html = "/w/rest.php/v1/revision/5/html"
    for _ in range(2):
        ask(worlds.current, html, Result(status=200, wire_bytes=10, real_bytes=30), rules=(NARROW.name,))
    ask(worlds.current, html, Result(), rules=(NARROW.name,))
    ask(worlds.current, "/w/api.php", None)
    found = samples(worlds, accept)

    def count(name: str, **labels: str) -> float:
        return found[name, frozenset(labels.items())]

    assert count("mockapi_requests_total", route="rest revision/html", status="200") == 2
    assert count("mockapi_requests_total", route="rest revision/html", status="none") == 1
    assert count("mockapi_rule_requests_total", rule=NARROW.name, status="200") == 2
    assert count("mockapi_requests_in_flight") == 1
    assert (count("mockapi_wire_bytes_total"), count("mockapi_real_bytes_total")) == (20, 60)
    assert count("mockapi_journal_entries") == 3
    assert count("mockapi_request_duration_seconds_count") == 3
    assert count("mockapi_request_duration_seconds_bucket", le="0.005") == 3
    assert count("mockapi_request_duration_seconds_bucket", le="+Inf") == 3


def test_the_rules_are_there_with_how_they_stand(worlds: Worlds) -> None:
    assert value(worlds, "mockapi_rule_effective", rule=NARROW.name) == 1
    assert value(worlds, "mockapi_rule_effective", rule="off") == 0
    worlds.current.rulebook.switch("off", on=True)
    assert value(worlds, "mockapi_rule_effective", rule="off") == 1


def test_pool_and_queue_are_told_by_rule(worlds: Worlds) -> None:
    parser = worlds.current.upstream.parser
    for _ in range(3):
        parser.begin(1.0, NARROW.name)
    parser.begin(1.0, None)
    found = samples(worlds)
    narrow, unbounded = (frozenset({("rule", name)}) for name in (NARROW.name, ""))
    assert (found["mockapi_parses_busy", narrow], found["mockapi_parses_queued", narrow]) == (1, 2)
    assert (found["mockapi_parses_busy", unbounded], found["mockapi_parses_queued", unbounded]) == (1, 0)
    assert found["mockapi_parses_abandoned_total", narrow] == 0


def test_tokens_that_are_left(worlds: Worlds) -> None:
    limit = Rule.model_validate({"name": "limit", "do": {"rate_limit": {"rate": "1/s", "burst": 5}}})
    worlds.current.rulebook.put(limit)
    worlds.current.upstream.buckets.take("limit", Limit(1.0, burst=5), "127.0.0.1")
    assert value(worlds, "mockapi_rate_limit_tokens", rule="limit") == 4


def test_they_are_those_of_the_world_that_answers(worlds: Worlds) -> None:
    metrics = Metrics(worlds)
    ask(worlds.current, "/", Result(status=404))
    assert b"mockapi_journal_entries 1.0" in metrics.text("")[0]
    worlds.populate(2, [], ())
    assert b"mockapi_journal_entries 0.0" in metrics.text("")[0]


def test_memory_is_told(worlds: Worlds) -> None:
    assert value(worlds, "process_resident_memory_bytes") > 1_000_000
