import fcntl
import io
import os
import re
import struct
import termios
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from devkit.observe.samples.sample import Sample
from devkit.report.progress import Progress, heartbeat
from tests.unit.devkit.faults.fakes import Clock

SAMPLE = Sample(at_s=3, committed=50, source_end=161, outputs=47, errors=1, requests=96, in_flight=4)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def output() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def progress(output: io.StringIO, clock: Clock) -> Progress:
    return Progress(output, clock=clock)


PATH = "/home/operator/runs" + "/a-very-long-name" * 6
WORDS = "word " * 40


@pytest.mark.parametrize(
    ("scope", "text", "line"),
    [
        ("incident", "restart: process 2", "incident restart: process 2"),
        ("fixed", "TEXT", "fixed    TEXT"),
        ("stack", "TEXT", "stack    TEXT"),
        ("stack", "", "stack"),
        ("stack", f"{WORDS}\n  and a second line", f"stack    {WORDS}and a second line"),
        ("stack", f"logs are in {PATH}", f"stack    logs are in {PATH}"),
    ],
    ids=["when and where", "in a column", "another scope", "without text", "always one line", "a path is not broken"],
)
def test_a_line_where_there_is_no_terminal(
    progress: Progress, output: io.StringIO, clock: Clock, scope: str, text: str, line: str
) -> None:
    clock.now += 12.34
    progress.line(scope, text)
    assert output.getvalue() == f"  12.3s {line}\n"


COMMITTED = "committed 50/161, lag 111, out"


@pytest.mark.parametrize(
    ("changes", "shows_offsets", "said"),
    [
        ({}, True, f"{COMMITTED} 47, errors 1, fetches 96"),
        (
            {"outputs": 134, "read_again": 100},
            True,
            f"{COMMITTED} 134 (up to 100 repeats after replays), errors 1, fetches 96",
        ),
        ({}, False, "committed n/a, lag n/a, published 161, out 47, errors 1, fetches 96"),
        (
            {"faults": {"huge page": 3, "slow page": 0}},
            True,
            f"{COMMITTED} 47, errors 1, fetches 96, fault 'huge page' matched 3 requests",
        ),
        ({"faults": {"x": 1}}, True, f"{COMMITTED} 47, errors 1, fetches 96, fault 'x' matched 1 request"),
    ],
    ids=["in one line", "repeats", "commits that are not observable", "faults that have fired", "one request"],
)
def test_what_a_sample_says(
    progress: Progress, output: io.StringIO, changes: dict[str, object], shows_offsets: bool, said: str
) -> None:
    progress.sample("fixed", SAMPLE.model_copy(update=changes), shows_offsets=shows_offsets)
    assert output.getvalue() == f"   0.0s fixed    {said}\n"


def test_what_waits_for_the_program_behind_gets_lines_until_it_is_applied(
    progress: Progress, output: io.StringIO, clock: Clock
) -> None:
    drained = SAMPLE.model_copy(update={"committed": 161})
    for waiting in (181, 181, 90, 0):
        progress.sample("incident", drained.model_copy(update={"waiting": {"apply": waiting}}))
        clock.now += 2
    lines = [line.split("lag ")[1] for line in output.getvalue().splitlines()]
    assert [line.partition(", out")[0] for line in lines] == ["0, apply 181 behind", "0, apply 90 behind", "0"]


def test_a_fault_is_named_again_only_when_it_begins_again(
    progress: Progress, output: io.StringIO, clock: Clock
) -> None:
    for number, (gateway, parser) in enumerate([(1, 10), (2, 20), (2, 30), (3, 40)]):
        faults = {"gateway": gateway, "parser": parser}
        progress.sample("fixed", SAMPLE.model_copy(update={"committed": number, "faults": faults}))
        clock.now += 2
    named = [re.findall(r"fault '(\w+)'", line) for line in output.getvalue().splitlines()]
    assert named == [["gateway", "parser"], [], [], ["gateway"]]


def test_each_arm_names_its_faults(progress: Progress, output: io.StringIO, clock: Clock) -> None:
    for scope in ("incident", "fixed"):
        progress.sample(scope, SAMPLE.model_copy(update={"faults": {"parser": 9}}))
        clock.now += 2
    assert output.getvalue().count("fault 'parser' matched 9 requests") == 2


@pytest.mark.parametrize(
    ("samples", "every_s", "told"),
    [
        ([("fixed", {"committed": number}) for number in range(5)], 0.9, ["fixed 0/161,", "fixed 3/161,"]),
        ([("fixed", {}), ("fixed", {"at_s": 63, "requests": 99, "in_flight": 0})], 60, ["fixed 50/161,"]),
        ([("incident", {}), ("fixed", {})], 2, ["incident 50/161,", "fixed 50/161,"]),
    ],
    ids=["at most every two seconds", "nothing that moved", "another arm"],
)
def test_which_samples_are_told(
    progress: Progress,
    output: io.StringIO,
    clock: Clock,
    samples: list[tuple[str, dict[str, int]]],
    every_s: float,
    told: list[str],
) -> None:
    for scope, changes in samples:
        progress.sample(scope, SAMPLE.model_copy(update=changes))
        clock.now += every_s
    assert [" ".join(line.split()[1:4:2]) for line in output.getvalue().splitlines()] == told


def test_the_last_sample_of_an_arm_is_not_held_back(progress: Progress, output: io.StringIO, clock: Clock) -> None:
    progress.sample("fixed", SAMPLE)
    clock.now += 0.1
    progress.sample("fixed", SAMPLE.model_copy(update={"committed": 161}), last=True)
    assert [line.split()[3] for line in output.getvalue().splitlines()] == ["50/161,", "161/161,"]


def test_a_terminal_gets_lines_of_its_width_under_their_text() -> None:
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    with os.fdopen(slave, "w", encoding="utf-8") as terminal:
        Progress(terminal).line("incident", "word " * 40)
        lines = os.read(master, 4096).decode().splitlines()
    os.close(master)
    assert 50 < max(map(len, lines)) <= 60
    assert {line[:17] for line in lines[1:]} == {" " * 17}


def test_standard_output_is_where_it_goes_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    Progress().line("stack", "x")
    assert capsys.readouterr().out.endswith("s stack    x\n")


@pytest.mark.parametrize("text", ["Kafka has not answered", lambda: "Kafka has not answered"])
def test_a_heartbeat_is_written_until_its_context_is_left(text: str | Callable[[], str]) -> None:
    lines: list[str] = []
    twice = threading.Event()

    def write_line(text: str) -> None:
        lines.append(text)
        if len(lines) == 2:
            twice.set()

    with heartbeat(write_line, text, every=timedelta(microseconds=1)):
        assert twice.wait(60)
    over = len(lines)
    assert all(text.startswith("Kafka has not answered, ") for text in lines)
    assert [thread for thread in threading.enumerate() if thread.name == "heartbeat"] == []
    assert len(lines) == over


def test_a_quick_context_writes_no_heartbeat() -> None:
    lines: list[str] = []
    with heartbeat(lines.append, "Kafka has not answered"):
        pass
    assert lines == []
