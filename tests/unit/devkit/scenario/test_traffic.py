"""The traffic of a scenario, and rules that act for a part of it."""

import threading
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.headroom.stretched_model import stretched
from devkit.scenario.model import Scenario
from devkit.scenario.rule_window import ScenarioRule, TrafficShare
from devkit.scenario.traffic import ScenarioTraffic, with_errors_of
from devkit.stack.parts.mock_api import MockApi
from devkit.traffic.manifest import Manifest, ManifestEntry
from devkit.traffic.model import TrafficSpec
from devkit.traffic.publish import Publisher, stated
from devkit.traffic.received import received_now
from tests.unit.devkit.conftest import Load

SLOW: dict[str, Any] = {"name": "slow", "do": {"latency": "2s"}}
RULE = "    - name: huge page\n"


@pytest.fixture
def traffic(scenario: Scenario) -> ScenarioTraffic:
    return ScenarioTraffic(scenario.traffic)


def test_is_as_much_as_the_file_says(traffic: ScenarioTraffic, scenario: Scenario) -> None:
    assert traffic.count == scenario.traffic.event_count


def test_the_mock_knows_each_page_and_revision_that_an_output_needs(traffic: ScenarioTraffic) -> None:
    known = {(page.wiki, revision.rev_id) for page in traffic.catalog() for revision in page.revisions}
    wanted = {
        (record.expected.page.wiki, revision)
        for record in traffic._traffic.records
        if record.expected.page
        for revision in (record.expected.latest_revision, record.expected.parent_revision)
        if revision is not None
    }
    assert wanted
    assert wanted <= known


@pytest.mark.parametrize("published", [0, 5, 161])
def test_source_events_are_those_that_were_published(traffic: ScenarioTraffic, published: int) -> None:
    """A publisher that was stopped has a manifest of the first records."""
    records = traffic._traffic.records
    entries = tuple(
        ManifestEntry(topic="t", partition=0, offset=offset, expected=record.expected)
        for offset, record in enumerate(records[:published])
    )
    sent, times = records[:published], tuple(range(published))
    publisher = cast(
        Publisher, SimpleNamespace(manifest=lambda: Manifest(entries), sent=lambda: sent, sent_ms=lambda: times)
    )
    events = traffic.source_events(publisher)
    assert {event.published_ms for event in events} <= {None}
    assert [event.entry for event in events] == list(entries)
    assert [event.value for event in events] == [record.value for record in records[:published]]


@pytest.mark.parametrize(("times", "stamped"), [("fixed", False), ("when published", True)])
def test_an_event_is_received_when_it_is_published_where_the_file_says_so(
    scenario: Scenario, times: str, stamped: bool
) -> None:
    spec = scenario.traffic.model_copy(update={"event_times": times})
    publisher = ScenarioTraffic(spec).publisher("127.0.0.1:1", "t", threading.Event())
    assert (publisher._stamp is received_now) == stamped


def test_of_records_with_a_time_of_their_own_it_is_known_when_they_were_published() -> None:
    spec = TrafficSpec.model_validate({"seed": 1, "rate": "1/m", "for": "2m", "event_times": {"published": "x60"}})
    traffic = ScenarioTraffic(spec)
    assert traffic.has_event_time
    entries = tuple(
        ManifestEntry(topic="t", partition=0, offset=offset, expected=record.expected)
        for offset, record in enumerate(traffic._traffic.records)
    )
    found = SimpleNamespace(
        manifest=lambda: Manifest(entries), sent=lambda: traffic._traffic.records, sent_ms=lambda: (7, 8)
    )
    assert [event.published_ms for event in traffic.source_events(cast(Publisher, found))] == [7, 8]


class TestErrorByArm:
    PAGE = "Huge: { edits: 1, event_bytes: 40KiB, at: [0.4] }"

    def test_an_event_ends_as_an_error_in_the_arm_that_says_so(self, load: Load) -> None:
        scenario = load((self.PAGE, "Huge: { error: { fixed: revision_not_found } }"))
        (record,) = [
            one
            for one in ScenarioTraffic(scenario.traffic)._traffic.records
            if one.expected.page is not None and one.expected.page.title == "Huge"
        ]
        fates = {}
        for arm in scenario.roles:
            found = with_errors_of(scenario.errors_of_pages(arm), stated)("t", record.value, record.expected)
            fates[arm] = (found.fate, found.reason, found.event_id == record.expected.event_id)
        assert fates == {"incident": ("output", None, True), "fixed": ("error", "revision_not_found", True)}

    def test_a_patched_event_ends_in_each_arm_as_its_patch_says(self, load: Load) -> None:
        patch = "  patch: [{ page: Huge, remove: [wiki_id], error: { fixed: malformed_json } }]\n"
        scenario = load(("  generator: page_change\n", patch))
        traffic, fates = ScenarioTraffic(scenario.traffic), {}
        (record,) = [one for one in traffic._traffic.records if one.errors]
        for arm in scenario.roles:
            of_events = traffic.errors_of_events(lambda errors, arm=arm: scenario.key_of(errors, arm))
            fate = with_errors_of(scenario.errors_of_pages(arm), stated, of_events)
            fates[arm] = fate("t", record.value, record.expected).reason
        assert fates == {"incident": "schema_violation", "fixed": "malformed_json"}


def test_the_rate_of_success_after_a_fault_is_of_the_time_behind_its_window(load: Load) -> None:
    scenario = load(
        ("restarts: { at_least: 2 }", "success_rate: { of: after fault, at_most: 40% }"),
        ("page: Huge }", "page: Huge, window: { from: 3s, for: 4s } }"),
    )
    assert scenario.mock.fault_over == timedelta(seconds=7)


def rule(**more: Any) -> ScenarioRule:
    return ScenarioRule.model_validate(SLOW | more)


@pytest.mark.parametrize(("share", "events", "count"), [("30%", 10, 3), ("30%", 11, 4), ("100%", 7, 7), ("1%", 3, 1)])
def test_a_share_is_reached_with_a_number_of_events(share: str, events: int, count: int) -> None:
    assert TrafficShare.model_validate({"share": share}).count(events) == count


def test_it_is_off_until_its_part_begins() -> None:
    assert [rule(**one).at_the_start().enabled for one in ({}, {"until": {"share": "60%"}})] == [True, True]
    assert not rule(**{"from": {"share": "30%"}}).at_the_start().enabled


def test_the_mock_gets_the_rule_and_no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(MockApi, "_call", lambda self, method, path, json: sent.append(json))
    windowed = rule(**{"from": {"share": "30%"}, "until": {"share": "60%"}})
    MockApi("http://127.0.0.1:1").populate(seed=1, catalog=[], rules=[windowed.at_the_start()])
    assert sent[0]["rules"] == [{"name": "slow", "do": {"latency": {"fixed": "2s"}}, "enabled": False}]


def test_a_stretched_run_has_the_same_shares() -> None:
    slower = stretched(rule(**{"from": {"share": "30%"}}), 3)
    assert slower.from_ == TrafficShare(share=0.3)
    assert slower.do != rule().do


def test_an_expectation_can_choose_its_time(load: Load) -> None:
    window = (RULE, RULE + "      from: { share: 30% }\n")
    during = ("    - restarts: { at_least: 2 }\n", "    - lag: { during: huge page, of: highest, at_least: 2 }\n")
    assert load(window, during).mock.rules[0].has_window
