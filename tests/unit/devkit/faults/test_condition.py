import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import TypeAdapter
from ruamel.yaml import YAML

from devkit.errors import StackError
from devkit.faults.condition import (
    BatchCommitted,
    Bounds,
    Condition,
    EventLogged,
    ProgramRunning,
    Reached,
    RequestSeen,
    RuleMet,
    Seen,
    When,
    parse_condition,
)
from devkit.faults.programs.kill_process import KillProcess
from devkit.faults.request_watch import NoWatch, RequestWatch, watch_for
from devkit.faults.shortfall import Extent, describe_shortfall
from devkit.faults.timeline_item import TimelineItem
from devkit.proxy.client import ProxyControl, ProxyGoneError
from devkit.proxy.toxics.store_watch import StoreWatch

PUTS = {"methods": ["PUT"], "path": "*/commits/*"}
COMMITS = RequestSeen(methods=("PUT",), path="*/commits/*")
SEEN = (
    Seen({"lag": 40, "committed": 10, "outputs": 4}),
    Seen({"lag": 90, "committed": 60, "outputs": 8}, batches=frozenset({0, 2})),
    Seen({"lag": 20, "committed": 80}, batches=frozenset({0, 2})),
)


@pytest.mark.parametrize(
    ("written", "condition", "shown"),
    [
        ("lag > 500", Reached("lag", ">", 500), "lag > 500"),
        ("lag<=5", Reached("lag", "<=", 5), "lag <= 5"),
        ({"committed": "50%"}, Reached("committed", ">=", 0.5, is_share=True), "committed >= 50%"),
        ({"committed": 300}, Reached("committed", ">=", 300), "committed >= 300"),
        ("committed > 12.5%", Reached("committed", ">", 0.125, is_share=True), "committed > 12.5%"),
        (" batch 3 committed ", BatchCommitted(3), "batch 3 committed"),
        ("program running", ProgramRunning(), "program running"),
        ("program joiner running", ProgramRunning("joiner"), "program joiner running"),
        ({"event": "stalled"}, EventLogged("stalled"), "event: stalled"),
        ("event stalled", EventLogged("stalled"), "event: stalled"),
        ({"met": "slow page: 5 s"}, RuleMet("slow page: 5 s"), "met: slow page: 5 s"),
        ({"requests": 100}, Reached("requests", ">=", 100), "requests >= 100"),
        (
            {"request": {"part": "object-store", **PUTS}},
            COMMITS,
            'request: {methods: [PUT], path: "*/commits/*"}',
        ),
        ("request: {prefix: a/b}", RequestSeen(prefix="a/b"), 'request: {prefix: "a/b"}'),
        ({"request": {}}, RequestSeen(), "request: {}"),
    ],
)
def test_what_is_written_is_read_and_shown_so_that_it_is_read_again(
    written: object, condition: Condition, shown: str
) -> None:
    assert parse_condition(written) == condition
    assert str(condition) == shown
    assert parse_condition(shown) == condition


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("lagg > 500", "did you mean 'lag'?"),
        ("lag = 500", "'lag = 500' is no condition; write one of"),
        ("batch three committed", "write one of"),
        ("batch 3 commited", "did you mean 'committed'?"),
        ("program enricher runing", "did you mean 'running'?"),
        ("programm running", "did you mean 'program'?"),
        ({"commited": "50%"}, "did you mean 'committed'?"),
        ({"lag": "50%"}, "lag is counted"),
        ("requst: {prefix: a}", "did you mean 'request'?"),
        ("request: {prefix: }}", "not YAML"),
        ({"request": {"metods": ["PUT"]}}, "unknown key; did you mean 'methods'?"),
        ({"request": {"part": "kafka"}}, "object-store"),
        ({"request": "PUT"}, "must be a mapping"),
        ("committed: 101%", "at most 100%"),
        ({"lag": 1, "committed": 2}, "is no condition"),
        (5, "is no condition"),
        ("", "is no condition"),
    ],
)
def test_what_is_none_is_refused_with_the_near_miss(written: object, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_condition(written)


def test_each_example_of_the_hint_is_a_condition_as_yaml_reads_it() -> None:
    with pytest.raises(ValueError, match="write one of") as caught:
        parse_condition("nothing")
    examples = re.findall("`(.+?)`", str(caught.value))
    assert len(examples) == 7
    for example in examples:
        assert parse_condition(YAML(typ="safe").load(f"{{when: {example}}}")["when"])
    assert "{event: batch_written}" in examples


@pytest.mark.parametrize(
    ("written", "seen", "holds"),
    [
        ("lag > 5", Seen({"lag": 5}), False),
        ("lag > 5", Seen({"lag": 6}), True),
        ("lag >= 5", Seen({"lag": 5}), True),
        ("lag < 5", Seen({"lag": 4}), True),
        ("lag <= 4", Seen({"lag": 5}), False),
        ("lag < 5", Seen(), False),
        ("committed: 50%", Seen({"committed": 49}), False),
        ("committed: 50%", Seen({"committed": 50}), True),
        ("batch 3 committed", Seen(batches=frozenset({2})), False),
        ("batch 3 committed", Seen(batches=frozenset({4})), True),
        ("program running", Seen(), False),
        ("program running", Seen(running=frozenset({"a"})), True),
        ("program b running", Seen(running=frozenset({"a"})), False),
        ("program a running", Seen(running=frozenset({"a"})), True),
        ("event: stalled", Seen(events=frozenset({"started"})), False),
        ("event: stalled", Seen(events=frozenset({"started", "stalled"})), True),
        ("met: slow page", Seen(met=frozenset({"slow"})), False),
        ("met: slow page", Seen(met=frozenset({"slow page"})), True),
        ({"request": {"prefix": "a"}}, Seen(requests=frozenset({COMMITS})), False),
        ({"request": PUTS}, Seen(requests=frozenset({COMMITS})), True),
    ],
)
def test_when_one_holds_of_an_arm_with_100_events(written: object, seen: Seen, holds: bool) -> None:
    assert parse_condition(written).holds(seen, 100) is holds


NAMES = (frozenset({"enricher"}), frozenset({"started", "stalled"}), frozenset({"slow page"}))
BOUNDS = Bounds(100, *NAMES, without_deferral=["incident"])


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("lag > 100", "lag is never more than the 100 events of `traffic`"),
        ("committed >= 101", "committed is never more"),
        ("committed > 100%", "committed is never more"),
        ("lag < 0", "lag is never below 0"),
        ("program enricherr running", "there is no program 'enricherr'; did you mean 'enricher'?"),
        ("event: stalld", "no program logs an event 'stalld'; did you mean 'stalled'?"),
        ("event: xyz", "there are: stalled, started"),
        ("deferred >= 2", "nothing is deferred in incident, where deferral.policy is none; name the other arms"),
        ("met: slow pge", "there is no rule 'slow pge' in mock.rules; did you mean 'slow page'?"),
    ],
)
def test_a_condition_that_never_can_be_is_told(written: str, message: str) -> None:
    assert message in (parse_condition(written).never(BOUNDS) or "")


@pytest.mark.parametrize(
    "written",
    ["lag > 99", "committed: 100%", "requests > 1000", "lag < 1", "program enricher running", "program running",
     "event: stalled", "batch 9 committed", "met: slow page", "deferred >= 0", "deferred < 2"],
)  # fmt: skip
def test_others_may_be(written: str) -> None:
    assert parse_condition(written).never(BOUNDS) is None


def test_it_goes_through_a_model_and_its_schema() -> None:
    adapter: TypeAdapter[Condition] = TypeAdapter(When)
    assert adapter.dump_python(adapter.validate_python({"committed": "50%"})) == "committed >= 50%"
    assert adapter.json_schema()["anyOf"][0] == {"type": "string"}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("committed: 90%", "committed came to 80 of 90"),
        ("lag > 95", "lag came to 90 of more than 95"),
        ("outputs >= 9", "outputs came to 8 of 9"),
        ("lag < 5", "lag was never less than 20"),
        ("deferred > 5", "deferred was not to be seen"),
        ("batch 3 committed", "the last batch committed was 2"),
        ("program running", "no query ever ran"),
        ("program joiner running", "the query of joiner never ran"),
        ("event: stalled", "no program logged it"),
        ("met: slow page", "no request met it"),
        ({"request": {"methods": ["PUT"]}}, "no such request came to the object-store by the proxy"),
    ],
)
def test_how_far_an_arm_with_100_events_came(written: object, message: str) -> None:
    extent = Extent()
    for seen in SEEN:
        extent = extent.grown(seen)
    assert describe_shortfall(parse_condition(written), extent, 100) == message


def test_an_arm_that_committed_nothing() -> None:
    extent = Extent().grown(Seen({"committed": 0}))
    assert describe_shortfall(parse_condition("committed: 300"), extent, 300) == "committed came to 0 of 300"
    assert describe_shortfall(parse_condition("batch 1 committed"), extent, 300) == "no batch was committed"


@dataclass
class FakeControl:
    """A proxy's control interface; `requests` has how many came for each watch, by its name."""

    toxics: dict[tuple[str, str], StoreWatch] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    missed: int = 0
    is_gone: bool = False
    is_disconnected: bool = False

    def add(self, listener: str, name: str, toxic: StoreWatch) -> None:
        self.toxics[listener, name] = toxic

    def toxic(self, listener: str, name: str) -> Any:
        if self.is_gone:
            raise ProxyGoneError("the proxy did not answer")
        assert (listener, name) in self.toxics
        return SimpleNamespace(counts=SimpleNamespace(requests=self.requests.get(name, 0), missed=self.missed))

    def remove(self, listener: str, name: str) -> None:
        del self.toxics[listener, name]

    def disconnect(self) -> None:
        self.is_disconnected = True


def item(name: str, **request: Any) -> TimelineItem:
    when = {"request": request} if request else "program running"
    return TimelineItem.model_validate({"name": name, "do": {"kill_process": {"process": "driver"}}, "when": when})


def watching(control: FakeControl, *items: TimelineItem) -> RequestWatch:
    watch = RequestWatch(items, cast(ProxyControl, control))
    watch.begin()
    return watch


HOLD = KillProcess.begins_within
A, B = "a (waits for a request)", "b (waits for a request)"


def test_each_request_that_is_waited_for_has_a_watch_until_it_is_let_go() -> None:
    control = FakeControl()
    watch = watching(control, item("a", prefix="x/", methods=["PUT"]), item("other"), item("b", prefix="y/"))
    assert control.toxics == {
        ("object-store.s3", A): StoreWatch(prefix="x/", methods=("PUT",), hold=HOLD),
        ("object-store.s3", B): StoreWatch(prefix="y/", hold=HOLD),
    }
    assert watch.seen() == frozenset()
    control.requests[B] = 2
    assert watch.seen() == {RequestSeen(prefix="y/")}
    watch.release("b")
    watch.release("other")
    assert [name for _, name in control.toxics] == [A]
    assert watch.seen() == frozenset()
    watch.end()
    assert (control.toxics, control.is_disconnected) == ({}, True)


def test_a_request_that_went_on_before_its_fault_began_was_missed() -> None:
    control = FakeControl()
    watch = watching(control, item("a", prefix="x/"), item("other"))
    assert watch.missed("a") == ""
    control.missed = 1
    assert watch.missed("a") == "it missed the request that it waited for, which went on after 60 s"
    assert watch.missed("other") == ""
    control.is_gone = True
    assert watch.missed("a").startswith("whether it acted before the request went on is not known")


def test_a_proxy_that_is_gone_sees_nothing() -> None:
    control = FakeControl()
    watch = watching(control, item("a", prefix="x/"))
    control.is_gone = True
    assert watch.seen() == frozenset()


def test_a_timeline_that_waits_for_no_request_needs_no_proxy() -> None:
    assert isinstance(watch_for([item("other")], None), NoWatch)
    with pytest.raises(StackError, match="no proxy stands before the object store"):
        watch_for([item("a", prefix="x/")], None)
