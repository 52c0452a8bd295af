"""A backlog of two streams with event time of its own, on a real broker.

Set-up: the session's stack, and a topic for each stream with the settings that the kit gives it. Checked: the time
that each record carries, that all of them are there, and that no retention takes them away.
"""

import threading
import time

import orjson
from kafka.admin import ConfigResource, ConfigResourceType

from devkit.guardian import Guardian
from devkit.observe.audit.arrivals import Arrival, read_topic
from devkit.play.topics_to_make import topics_to_make
from devkit.programs.program_topics import ProgramTopics
from devkit.scenario.stack_settings import Topics
from devkit.scenario.traffic import ScenarioTraffic
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics, topic_admin
from devkit.traffic.model import TrafficSpec
from devkit.traffic.moments import EPOCH

ROOMS = ("devkit/traffic",)
PAGES, LINKS = "backlog.pages", "backlog.links"
SPEC = {
    "seed": 3,
    "rate": "1/s",
    "for": "10m",
    "mix": {"not_json": 0},
    "event_times": {"published": "x300"},
    "repeats": {"share": "5%", "after": "4s"},
    "pauses": [{"from": "3m", "for": "1m"}],
    "canaries": {"closing": {"after": "5m", "partitions": 2}},
    "streams": {
        "links": {
            "topic": LINKS,
            "phases": [{"for": "9m"}, {"for": "10s", "rate": "20/s"}],
            "shift": "-2m",
            "mix": {"not_json": 0},
        }
    },
}


def seconds(arrival: Arrival) -> float:
    """Of event time, since the traffic began."""
    return arrival.timestamp_ms / 1000 - EPOCH.timestamp() - 0.15


def test_a_backlog_has_the_times_that_its_file_says(stack: tuple[Guardian, Stack]) -> None:
    bootstrap = stack[1].kafka.direct
    spec = TrafficSpec.model_validate(SPEC)
    names = ProgramTopics((PAGES, LINKS), "backlog.output", "backlog.error", "backlog.deferred", defers=False)
    wanted = topics_to_make(Topics.model_validate({"source": {"partitions": 2}}), names, own_times=True)
    recreate_topics(bootstrap, wanted)
    publisher = ScenarioTraffic(spec).publisher(bootstrap, PAGES, threading.Event())
    before_ms = time.time_ns() // 1_000_000
    publisher.start()
    entries = publisher.result(120).entries

    pages, links = (list(read_topic(bootstrap, topic)) for topic in (PAGES, LINKS))
    assert (len(pages), len(links)) == (600 + 30 + 2, 200)
    published = {(one.topic, one.partition, one.offset): one for one in entries}
    for arrival in (*pages, *links):
        assert published.pop((arrival.topic, arrival.partition, arrival.offset))
        event_time = orjson.loads(arrival.value)["meta"]["dt"]
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(arrival.timestamp_ms // 1000))
        assert event_time == f"{moment}.{arrival.timestamp_ms % 1000:03d}Z"
    assert not published
    assert all(420 <= seconds(arrival) < 430 for arrival in links)
    closing = [arrival for arrival in pages if seconds(arrival) > 610]
    assert [(arrival.partition, round(seconds(arrival))) for arrival in closing] == [(0, 900), (1, 900)]
    assert all(one.offset == max(two.offset for two in pages if two.partition == one.partition) for one in closing)
    sent_ms = publisher.sent_ms()
    assert all(before_ms <= one <= time.time_ns() // 1_000_000 for one in sent_ms)

    with topic_admin(bootstrap, "looked at") as admin:
        described = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, LINKS)])
    settings = described["topic"][LINKS]
    assert settings["message.timestamp.type"]["value"] == "CreateTime"
    assert settings["retention.ms"]["value"] == "-1"
