"""Traffic that was published is captured from its topic and played in a scenario, where every event meets its fate.

A rule of the mock acts for a part of that traffic.

Set-up: the session's stack, to which a generated stream is published at its pace while a capture is taken of it; then a
stack of the run's own. Checked: the capture, and the verdict, the manifest and the evidence
of an arm that plays it twice as fast.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import orjson
import pytest

from devkit.guardian import Guardian
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from devkit.traffic.capture.take import CaptureOrder, take_capture
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from devkit.traffic.publish import Publisher, connect_producer
from tests.integration.cli_run import CliRun
from tests.unit.devkit.traffic.capture.captures import read_capture

ROOMS = ("devkit/scenario", "devkit/traffic")
TOPIC = "eqiad.mediawiki.page_change.v1"
GENERATED = {
    "seed": 5,
    "rate": "30/s",
    "for": "10s",
    "wikis": {"enwiki": "en.wikipedia.org", "dewiki": "de.wikipedia.org"},
    "mix": {"create": 0.1, "move": 0.1, "delete": 0.1, "visibility_change": 0.1, "not_json": 0.03, "not_schema": 0.03},
}
SCENARIO = """
name: captured
title: What was captured is played
incident: { reference: none }
traffic: { from: capture.jsonl, rate: x2 }
traffic_begins: when running
kafka: { topics: { source: { partitions: 2 } } }
mock:
  rules: [{ name: slow, from: { share: 10% }, until: { share: 95% }, do: { latency: 20ms } }]
pipeline: { batch: { max_offsets: 50 } }
until: { any: [{ drained: true }], deadline: 120s }
arms:
  incident: { fetch: { concurrency: 1 } }
  fixed: {}
expect:
  incident: [{ lag: { of: highest, at_least: 100 } }]
  fixed: [{ drained: true }, { audit: clean }]
"""


@pytest.fixture
def capture(stack: tuple[Guardian, Stack], tmp_path: Path) -> Path:
    """Of all that is published while it is taken."""
    bootstrap = stack[1].kafka.direct
    recreate_topics(bootstrap, {TOPIC: (2, {})})
    traffic, path = generate(TrafficSpec.model_validate(GENERATED)), tmp_path / "capture.jsonl"
    publisher = Publisher(traffic, TOPIC, lambda: connect_producer(bootstrap), time.monotonic, threading.Event())
    begun = threading.Event()

    def begin(_count: int) -> None:
        if not begun.is_set():
            begun.set()
            publisher.start()

    order = CaptureOrder(
        bootstrap,
        (TOPIC,),
        "latest",
        timedelta(minutes=5),
        max_events=len(traffic.records),
        max_bytes=1 << 30,
        keep_text=False,
    )
    take_capture(order, path, stop=lambda: publisher.error is not None, tell=begin)
    publisher.result(60)
    return path


@pytest.mark.slow
def test_captured_traffic_is_played_and_its_audit_is_clean(capture: Path, devkit_cli: Callable[..., CliRun]) -> None:
    found, generated = read_capture(capture), generate(TrafficSpec.model_validate(GENERATED)).records
    assert found.end.counts.events == len(generated)
    assert found.header.source.topics == {TOPIC: 2}
    texts = [orjson.loads(one.value)["page"]["page_title"] for one in generated if one.expected.page]
    written = capture.read_text()
    assert not [text for text in texts if len(text) > 5 and text in written]

    scenario = capture.with_name("captured.yaml")
    scenario.write_text(SCENARIO)
    run = devkit_cli("scenario", "run", str(scenario), "--arm", "fixed", "--plain")
    assert run.wait() == 0, run.output()
    directory = run.evidence
    manifest = [json.loads(line) for line in (directory / "fixed" / "manifest.jsonl").read_text().splitlines()]
    fates = Counter((one["expected"]["fate"], one["expected"].get("reason")) for one in manifest)
    assert fates == Counter((one.expected.fate, one.expected.reason) for one in generated)
    result = json.loads((directory / "result.json").read_text())
    (slow,) = result["fault_evidence"]["fixed"]
    assert slow["requests"] > 0
    (on, off) = slow["switches"]
    assert (on["on"], off["on"]) == (True, False)
    assert 30 <= on["published"] < off["published"] <= 300
    assert off["published"] >= 285
    assert on["at_s"] < off["at_s"]
    audit = result["arms"]["fixed"]["audit"]
    assert (audit["inputs"], audit["lost"], audit["mismatched"], audit["misrouted"]) == (len(generated), 0, 0, 0)
    assert audit["outputs"] == sum(one.expected.fate == "output" for one in generated)


@pytest.mark.slow
def test_the_scenario_that_is_written_for_a_capture_reproduces_its_incident(
    capture: Path, devkit_cli: Callable[..., CliRun]
) -> None:
    written = devkit_cli(
        "scenario", "new", "mine", "--from-capture", str(capture), "--to", str(capture.parent), out=False
    )
    assert written.wait() == 0, written.output()
    run = devkit_cli("scenario", "run", str(capture.with_name("mine.yaml")), "--plain")
    assert run.wait() == 0, run.output()
