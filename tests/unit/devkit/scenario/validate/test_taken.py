"""Files that stand beside those that are refused (the golden files have these), and can be played."""

from pathlib import Path

import pytest

from devkit.scenario.load import load_file
from tests.unit.devkit.conftest import Edited, Load

Change = tuple[str, str]
INCIDENT, FIXED = "- restarts: { at_least: 2 }", "- drained: true"
IN_INCIDENT, IN_FIXED = "    record_limit: { policy: none }", "    record_limit: { policy: serialized }"
CONFIGURATION = "  batch: { max_offsets: 50 }"
UNTIL = "{ drained: true }, { replays: 2 }"
PAGE = "when: { page: Huge"
RULES = """\
mock:
  rules:
    - name: huge page
      when: { page: Huge }
      do: { body: { size: 2MiB, changed_bytes: 64KiB, encoding: gzip } }
"""
OWN = ("kafka:\n", "programs: { mine: { run: 'command sh -c true' } }\nkafka:\n")
COUNTS = ("kafka:\n", "programs: { counts: { run: pipeline edit-counts } }\nkafka:\n")
SAME = [("    content_limit: { measure: content_length }\n", ""), (f"{IN_INCIDENT}\n", ""), (f"{IN_FIXED}\n", "")]
BOTH = "{ differs: content_limit.measure }, { differs: record_limit.policy }"
DECIDE = """programs:
  decide: { run: pipeline rdf-decide, configuration: { updater: { reorder: 6s } } }
until:"""
WIKIBASE = """  generator: wikibase_source
  wikis: { wikidatawiki: www.wikidata.org }
  event_times: { published: x1 }
  canaries: { closing: { after: 6001ms } }
"""


def with_settings(text: str) -> Change:
    return CONFIGURATION, f"  {text}\n{CONFIGURATION}"


def exists(pattern: str) -> list[Change]:
    """Expected of the fixed arm, with metrics served."""
    return [with_settings("metrics: { port: 0 }"), (FIXED, f"- metric_exists: {{ {pattern} }}")]


def missing(pattern: str) -> Change:
    return INCIDENT, f"- metric_missing: {{ {pattern} }}"


def tried_first(configuration: str) -> list[Change]:
    return [
        (FIXED, "- refused: { message: one name }"),
        ("expect:\n", f"tried_first: {{ fixed: {configuration} }}\nexpect:\n"),
    ]


def timeline(*items: str) -> Change:
    return "kafka:\n", "timeline:\n" + "".join(f"  - {{ {item} }}\n" for item in items) + "kafka:\n"


def still(when: str) -> Change:
    return timeline(f"name: still, do: {{ pause: {{ part: kafka }} }}, at: 1s{when}")


def patched(patch: str, of_stream: str) -> list[Change]:
    """Events of two topics."""
    stream = f"links: {{ rate: 1/s, for: 1s, topic: links.v1, pages: {{ Tiny: {{}} }}, patch: [{of_stream}] }}"
    return [two_topics(), ("  generator: page_change\n", f"  patch: [{patch}]\n  streams: {{ {stream} }}\n")]


def two_topics() -> Change:
    return with_settings("source: { topics: [mediawiki.page_change.v1, links.v1] }")


def closed(topic: str, of_main: int, of_stream: int, partitions: int = 1) -> list[Change]:
    """By canaries for so many partitions, of the source topic's own and of another stream's."""
    canaries = "canaries: {{ closing: {{ after: 5m, partitions: {} }} }}"
    stream = f"links: {{ rate: 1/s, for: 1s, topic: {topic}, {canaries.format(of_stream)} }}"
    own = f"  event_times: {{ published: x1 }}\n  {canaries.format(of_main)}\n"
    return [
        two_topics(),
        ("  generator: page_change\n", f"  streams: {{ {stream} }}\n{own}"),
        ("    source: {", f"    source: {{ partitions: {partitions},"),
    ]


OF_ONE = "name: enrichment_lag_events, labels: { partition: '0' }"
OF_ALL = "name: enrichment_lag_events"
SPELT = "{{ page: {}, set: {{ performer.user_text: x }} }}"
TAKEN: dict[str, list[Change]] = {
    "a deadline as long as the traffic": [("deadline: 90s", "deadline: 8s")],
    "no fault, with a cause": [(RULES, "cause: [{ differs: record_limit.policy }]\n")],
    "the arms differ in the fault itself": [
        (RULES, "timeline: [{ name: x, do: { kill_process: { process: driver } }, at: 1s, arms: [incident] }]\n")
    ],
    "a window until after the deadline": [(PAGE, f"{PAGE}, window: {{ from: 89s, for: 1h }}")],
    "an event that the pipeline logs": [(FIXED, "- log: { event: waiting, at_most: 0 }")],
    "amplifications": [(FIXED, "- amplification: 1"), (INCIDENT, "- amplification: { at_least: 1.1 }")],
    "a metric of one partition": exists("name: enrichment_lag_seconds, labels: { partition: '0' }"),
    "a bucket of a metric": exists("name: enrichment_fetch_seconds_bucket, labels: { lane: main, le: '0.5' }"),
    "a renamed metric": [
        with_settings("metrics: { port: 0, rename: { enrichment_events: mine } }"),
        (FIXED, "- metric_exists: { name: mine_total }"),
    ],
    "nothing deferred where nothing is": [(INCIDENT, "- deferred: 0"), (IN_INCIDENT, "    deferral: { policy: none }")],
    "equal policies beside another difference": [(IN_FIXED, IN_INCIDENT)],
    "a grace after publishing": [
        with_settings("fetch: { not_found_grace: 30s }"),
        ("  seed: 7", "  seed: 7\n  event_times: when published"),
    ],
    "an event that only a program of the user's own logs": [OWN, (FIXED, "- log: { event: zzz, at_most: 0 }")],
    "a metric that only a program of the user's own serves": [OWN, *exists("name: zzz")],
    "an absent text that the other arm expects": [
        (INCIDENT, "- log: { text: Lost executor, at_most: 0 }"),
        (FIXED, "- log: { text: Lost executor }"),
    ],
    "an absent exception that the other arm expects": [
        (INCIDENT, "- exception: { class: DiskFull, at_most: 0 }"),
        (FIXED, "- exception: { class: DiskFull }"),
    ],
    "a missing metric that the other arm has": [missing(OF_ALL), *exists(OF_ALL)],
    "a missing metric of which the other arm has one partition": [missing(OF_ALL), *exists(OF_ONE)],
    "a missing partition that the other arm has": [missing(OF_ONE), *exists(OF_ONE)],
    "a metric": exists(OF_ALL),
    "a first try that is to be refused": tried_first("{ metrics: { rename: { enrichment_events: x } } }"),
    "a first try of what the arm has": tried_first("{}"),
    "no request of a rule": [(FIXED, "- requests: { rule: huge page, at_least: 0, at_most: 0 }")],
    "compared requests of a rule": [
        (FIXED, "- compare: { requests: { rule: huge page, arms: [fixed, incident], at_most: 2 } }")
    ],
    "patches that fit each event": patched(SPELT.format("Huge"), SPELT.format("Tiny")),
    "a patch that breaks the schema and says so": patched(
        "{ page: Huge, set: { performer.user_text: 5 }, error: schema_violation }", ""
    ),
    "a stream for a source topic": [
        two_topics(),
        ("  generator: page_change", "  streams: { links: { rate: 1/s, for: 1s, topic: links.v1 } }"),
    ],
    "canaries for each of two partitions": closed("links.v1", 2, 2, partitions=2),
    "canaries for a single partition": closed("links.v1", 1, 1),
    "streams that close their topic together": closed("mediawiki.page_change.v1", 2, 1, partitions=2),
}


@pytest.mark.parametrize("changes", TAKEN.values(), ids=TAKEN)
def test_taken(load: Load, changes: list[Change]) -> None:
    assert load(*changes).name == "an-incident"


def item(name: str, do: str, when: str = "at: 1s") -> str:
    return f"name: {name}, do: {{ {do} }}, {when}"


def two(one: str, other: str, when: str = "at: 1s", other_when: str = "at: 1s") -> list[Change]:
    return [timeline(item("one", one, when), item("two", other, other_when))]


def quotas(one: str, other: str, when: str = "at: 1s", other_when: str = "at: 1s") -> list[Change]:
    return two(f"client_quota: {{ {one} }}", f"client_quota: {{ {other} }}", when, other_when)


LOST = "kafka_error: { error: lost_answer, api: "


@pytest.mark.parametrize(
    "changes",
    [
        quotas("produce: 1KiB", "produce: 2KiB", "at: 1s, for: 2s", "at: 9s"),
        quotas("produce: 1KiB", "fetch: 2KiB"),
        quotas("produce: 1KiB", "client: x, produce: 2KiB"),
        quotas("produce: 1KiB", "produce: 2KiB", "at: 1s, arms: [incident]", "at: 1s, arms: [fixed]"),
        quotas("produce: 1KiB", "produce: 2KiB", other_when="when: { committed: 50% }"),
        two("kill: { part: kafka }", "pause: { part: object-store }", other_when="at: 5s"),
        two("restart: { part: kafka }", "restart: { part: kafka }", other_when="at: 30s"),
        two("network_latency: { part: kafka, time: 1s }", "network_cut: { part: kafka }"),
        two("stop_process: { process: worker }", "stop_process: { process: driver }", other_when="at: 2s"),
        two(f"{LOST}offset_commit }}", f"{LOST}fetch, topic: source }}"),
    ],
    ids=[
        "quotas one after the other",
        "quotas of producing and fetching",
        "quotas of two clients",
        "quotas of two arms",
        "quotas by time and by progress",
        "faults of two parts",
        "restarts one after the other",
        "two faults of the network",
        "faults of two processes",
        "errors of two requests",
    ],
)
def test_two_faults_that_do_not_meet_are_taken(load: Load, changes: list[Change]) -> None:
    assert [item.name for item in load(*changes).timeline] == ["one", "two"]


PAUSE = "pause: { part: kafka }"
THREE_BROKERS = ("  topics:", "  brokers: 3\n  topics:")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            [timeline(item("x", PAUSE, "when: { committed: 50% }, for: 5s, arms: [incident]"))],
            "pause: {part: kafka}, when committed >= 50%, for 5s",
        ),
        *(
            (
                [timeline(item("x", f"add_partitions: {{ topic: {topic}, partitions: 6 }}"))],
                f"add_partitions: {{topic: {topic}, partitions: 6}}, at 1s",
            )
            for topic in ("source", "error", "my-own.dead-letters")
        ),
        ([timeline(item("x", PAUSE, "when: { event: tallied }")), OWN], "pause: {part: kafka}, when event: tallied"),
        ([timeline(item("x", "kill: { part: kafka-3 }")), THREE_BROKERS], "kill: {part: kafka-3}, at 1s"),
        (
            [timeline(item("x", PAUSE, "at: 30s")), ("{ replays: 2 }", "{ elapsed: 20s, restarts: 1 }")],
            "pause: {part: kafka}, at 30s",
        ),
    ],
    ids=[
        "by progress, in one arm",
        "a topic by its role",
        "another topic by its role",
        "a topic by its own name",
        "an event that only a program of the user's own logs",
        "one of three brokers",
        "after a time that not every arm has",
    ],
)
def test_a_fault_is_taken_as_it_is_written(load: Load, changes: list[Change], text: str) -> None:
    assert [str(item) for item in load(*changes).timeline] == [text]


def erring(fault: str, when: str = "page: Huge") -> Change:
    """Another rule of the mock."""
    return "mock:\n  rules:\n", f"mock:\n  rules:\n    - {{ name: error, when: {{ {when} }}, do: {{ {fault} }} }}\n"


INCIDENTS = still(", arms: [incident]")
NOT_WARNED_OF: dict[str, list[Change]] = {
    "the file as it is": [],
    "arms that are the same to a command, which reads its environment": [*SAME, OWN],
    "arms that differ in a fault": [*SAME, INCIDENTS],
    "a fault as the cause": [
        INCIDENTS,
        ("arms:\n", f"cause: [{{ fault: still, absent_in: [fixed] }}, {BOTH}]\narms:\n"),
    ],
    "a fault of the fixed arm": [still(", arms: [fixed]")],
    "a fault until the end": [still("")],
    "a fault as long as the traffic": [still(", for: 8s")],
    "a fault within the traffic of a command": [still(", for: 7s"), OWN],
    "an end after the traffic, or restarts": [("{ replays: 2 }", "{ elapsed: 12s, restarts: 1 }")],
    "an end long after the traffic": [("{ replays: 2 }", "{ elapsed: 20s }")],
    "an end after a time of running": [("{ replays: 2 }", "{ running_for: 12s }")],
    "an end of a command after the traffic": [("{ replays: 2 }", "{ elapsed: 12s }"), OWN],
    "a drained count that lapses what is late": [
        COUNTS,
        with_settings("source: { read: aligned, late: lapse }"),
        (UNTIL, "{ drained: true, running_for: 20s }"),
    ],
    "a window of traffic that begins when the program runs": [
        (PAGE, f"{PAGE}, window: {{ from: 2s }}"),
        (UNTIL, "{ drained: true }"),
        ("kafka:\n", "traffic_begins: when running\nkafka:\n"),
    ],
    "an error for requests that a command may write": [OWN, erring("error: readonly")],
    "an error for stashed HTML": [OWN, erring("error: ratelimited", "method: GET, query: { stash: true }")],
    "an error for requests that read": [erring("error: internal_api_error_DBQueryError", "method: GET")],
    "canaries that let the last events of rdf-decide go": [
        ("  generator: page_change\n", WIKIBASE),
        ("until:", DECIDE),
    ],
}


@pytest.mark.parametrize("changes", NOT_WARNED_OF.values(), ids=NOT_WARNED_OF)
def test_not_warned_of(edited: Edited, tmp_path: Path, changes: list[Change]) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(edited(*changes))
    assert load_file(path).warnings() == []
