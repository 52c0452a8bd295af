import sys
from datetime import timedelta
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from devkit.faults.do import parse_do
from devkit.faults.listing import in_full, in_short
from devkit.faults.network.latency import NetworkLatency
from devkit.faults.parts.pause import Pause
from devkit.faults.registry import FAULTS, register
from devkit.faults.store.error import StoreAnswersError
from devkit.faults.timeline_item import Timeline, TimelineItem
from tests.unit.devkit.faults.fakes import Noted

NEEDS_NO_PART = {
    *("kill_process", "stop_process", "cpu_load"),
    *("add_partitions", "recreate_topic", "topic_settings", "client_quota", "move_leader", "reassign"),
}
ELSEWHERE = """
from typing import ClassVar
from devkit.faults import Acting, Context, Fault, Need, Proof, register

@register
class Unplug(Fault):
    "Pulls the plug."
    name: ClassVar[str] = "unplug"
    summary: ClassVar[str] = "the plug is pulled"
    example: ClassVar[str] = "{part: kafka}"
    part: str

    def needs(self) -> tuple[Need, ...]:
        return (Need(self.part),)

    def begin(self, context: Context) -> Acting:
        return self

    def end(self) -> Proof:
        return Proof(True, "it was dark")
"""
PAUSE = {"pause": {"part": "kafka"}}


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone after it."""
    monkeypatch.setattr(FAULTS, "_by_name", dict(FAULTS))


@pytest.mark.usefixtures("faults")
def test_another_package_adds_one_in_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere_faults.py").write_text(dedent(ELSEWHERE))
    monkeypatch.syspath_prepend(tmp_path)
    __import__("elsewhere_faults")
    try:
        assert str(parse_do({"unplug": {"part": "kafka"}})) == "unplug: {part: kafka}"
    finally:
        del sys.modules["elsewhere_faults"]


@pytest.mark.usefixtures("faults")
def test_a_name_is_given_once() -> None:
    register(Noted)
    register(Noted)
    with pytest.raises(ValueError, match=r"there is a fault on a part 'noted' already, added at .*test_registry.py"):
        register(type("Other", (Noted,), {}))


@pytest.mark.parametrize("name", FAULTS)
def test_the_example_of_a_fault_is_one(name: str) -> None:
    from ruamel.yaml import YAML

    written = YAML(typ="safe", pure=True).load(f"{name}: {FAULTS[name].example}")
    fault = parse_do(written)
    assert isinstance(fault, FAULTS[name])
    assert bool(fault.needs()) is (name not in NEEDS_NO_PART)


def test_in_short_a_fault_says_what_it_takes() -> None:
    assert in_short(NetworkLatency) == (
        "  network_latency  what goes to or from a part takes `time` longer, and up to `jitter` more, in order\n"
        "    takes  part, direction?, time, jitter?\n"
        "    {network_latency: {part: kafka, time: 200ms, jitter: 50ms}}"
    )


def test_in_full_each_parameter_says_what_it_may_be() -> None:
    lines = in_full(NetworkLatency).splitlines()
    assert '  direction  "to_server" or "to_client" or "both" (default: both)' in lines
    assert "  time       duration (required)" in lines
    assert "  jitter     duration (default: 0s)" in lines
    assert "  status   403 or 500 or 503 (default: 503)" in in_full(StoreAnswersError).splitlines()


def test_the_parts_are_named() -> None:
    text = " ".join(in_full(Pause).split())
    assert (
        "kafka (of three brokers kafka-1 or kafka-2 or kafka-3), object-store or mock-api, or triple-store (required)"
        in text
    )


def test_no_parameter_of_any_fault_is_left_as_anything() -> None:
    assert [name for name, fault in FAULTS.items() if "anything" in in_full(fault)] == []


def item(**keys: Any) -> TimelineItem:
    return TimelineItem.model_validate({"name": "x", "do": PAUSE, "at": "8s"} | keys)


def problems(**keys: Any) -> list[tuple[tuple[int | str, ...], str]]:
    with pytest.raises(ValidationError) as caught:
        item(**keys)
    return [(error["loc"], error["msg"]) for error in caught.value.errors()]


def test_an_item_is_a_fault_and_its_time() -> None:
    parsed = item(**{"for": "5s", "arms": ["incident"]})
    assert parsed.do == Pause(part="kafka")
    assert (parsed.at, parsed.for_, parsed.arms) == (timedelta(seconds=8), timedelta(seconds=5), ("incident",))
    assert str(parsed) == "pause: {part: kafka}, at 8s, for 5s"


def test_it_may_begin_by_a_condition() -> None:
    late = item(at=None, when="lag > 5", after="2s")
    assert str(late) == "pause: {part: kafka}, 2s after lag > 5"
    assert str(item(at=None, when={"committed": "50%"})) == "pause: {part: kafka}, when committed >= 50%"


def test_it_is_written_as_it_was_read() -> None:
    written = item(**{"for": "5s"}).model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert written == {"name": "x", "do": PAUSE, "at": "8s", "for": "5s"}


@pytest.mark.parametrize(
    ("keys", "place", "message"),
    [
        ({"do": {"pauze": {}}}, ("do", "pauze"), "unknown fault 'pauze'; did you mean 'pause'?"),
        ({"do": {"xyz": {}}}, ("do", "xyz"), "there are: pause, kill, restart"),
        ({"do": {"pause": {"part": "kafka", "prt": 1}}}, ("do", "pause", "prt"), "did you mean 'part'?"),
        ({"do": {"pause": {"part": "kafka", "q": 1}}}, ("do", "pause", "q"), "there are: part"),
        ({"do": {"pause": {}}}, ("do", "pause", "part"), "is missing"),
        ({"do": {"pause": None}}, ("do", "pause", "part"), "is missing"),
        ({"do": {"pause": {"part": 5}}}, ("do", "pause", "part"), "must be text"),
        ({"do": {**PAUSE, "kill": {"part": "kafka"}}}, ("do",), "one key, the fault's name"),
        ({"do": "pause"}, ("do",), "one key, the fault's name"),
        ({"when": "lag > 5"}, (), "`at` and `when` both say when it begins, and both are given; keep one"),
        ({"after": "2s"}, (), "`after` counts from when `when` holds, and `at` is given; keep one of `at` and `after`"),
        (
            {"at": None, "when": {"request": {"methods": ["PUT"]}}, "after": "2s"},
            (),
            "the request of `when` waits until the fault acts; leave `after` out",
        ),
        ({"at": None}, (), "one of `at` (a time) and `when` (a condition)"),
        ({"for": "0s"}, ("for",), "greater than"),
        ({"arms": []}, ("arms",), "at least 1"),
        ({"do": {"restart": {"part": "kafka"}}, "for": "5s"}, (), "restart lasts as long as it takes"),
    ],
)
def test_each_problem_knows_its_place(keys: dict[str, Any], place: tuple[int | str, ...], message: str) -> None:
    ((location, text),) = problems(**keys)
    assert location == place
    assert message in text


def test_two_items_of_one_name_are_refused() -> None:
    twice = [{"name": "x", "do": PAUSE, "at": "1s"}, {"name": "x", "do": PAUSE, "at": "2s"}]
    with pytest.raises(ValidationError, match="given twice: x"):
        TypeAdapter(Timeline).validate_python(twice)


def test_the_schema_knows_the_faults_and_their_parameters() -> None:
    do = TimelineItem.model_json_schema()["properties"]["do"]
    assert do["maxProperties"] == 1
    assert set(do["properties"]["pause"]["properties"]) == {"part"}
    assert do["properties"]["pause"]["additionalProperties"] is False
