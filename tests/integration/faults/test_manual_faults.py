"""Faults put in by hand on a run of values: a real process is what is paused, and a real one holds the fault."""

import os
import signal
from collections.abc import Iterator, Mapping
from datetime import timedelta
from types import SimpleNamespace

import psutil
import pytest

from devkit.errors import StackError, UsageError
from devkit.faults import manual_faults
from devkit.faults.attached_part import attached_parts
from devkit.faults.journal import Journal
from devkit.faults.manual_faults import Added, ManualFaults, parse
from devkit.guardian.run_state import LOGS, PartPlace, RunState, state_path
from devkit.waiting import wait_until
from tests.integration.part_server import part_server
from tests.unit.devkit.faults.fakes import FakePart

ROOMS = ("devkit/faults",)

PAUSE = {"pause": {"part": "store"}}
DEADLINE = timedelta(seconds=30)
Server = tuple[psutil.Process, str]


@pytest.fixture
def server() -> Iterator[Server]:
    with part_server() as (process, address):
        yield psutil.Process(process.pid), address


@pytest.fixture
def run(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunState]:
    """Guarded by this process, with one part of its own and one of another owner."""
    process, address = server
    me, directory = psutil.Process(), tmp_path_factory.mktemp("run")
    state = RunState(
        run_id="hand",
        guardian_pid=me.pid,
        guardian_started=me.create_time(),
        directory=directory,
        released=True,
        addresses={"kafka": "127.0.0.1:1", LOGS: str(directory)},
        parts=(
            PartPlace(name="store", address=address, pid=process.pid),
            PartPlace(name="kafka", address="h:1"),
            PartPlace(name="mock-api", address=address, pid=process.pid),
        ),
    )
    state.save()
    yield state
    for page in Journal("hand").pages():
        if page.entry.holder is not None and psutil.pid_exists(page.entry.holder):
            os.kill(page.entry.holder, signal.SIGKILL)
    state_path("hand").unlink()


@pytest.fixture
def hand(run: RunState) -> ManualFaults:
    return ManualFaults(run)


def add(
    hand: ManualFaults,
    do: Mapping[str, object] = PAUSE,
    *,
    name: str | None = None,
    at: str | None = None,
    for_: str | None = None,
) -> Added:
    return hand.add(parse(do, name=name, at=at, for_=for_), taken=frozenset())


def names(hand: ManualFaults) -> list[str]:
    return [page.entry.name for page in hand.listed()]


def is_stopped(process: psutil.Process) -> bool:
    return bool(process.status() == psutil.STATUS_STOPPED)


def test_a_fault_goes_on_after_the_command_and_is_removed_by_another(hand: ManualFaults, server: Server) -> None:
    added = add(hand)
    assert (added.name, added.text, added.waits) == ("pause-store", "", False)
    assert is_stopped(server[0])
    (page,) = hand.listed()
    assert (page.entry.name, page.entry.asked) == ("pause-store", "pause: {part: store}")
    with pytest.raises(UsageError, match="there is a fault 'pause-store' already"):
        add(hand, name="pause-store")
    assert hand.remove("pause-store")
    assert not is_stopped(server[0])
    assert names(hand) == []
    assert not hand.remove("pause-store")


def test_one_ends_after_its_time(hand: ManualFaults, server: Server) -> None:
    add(hand, for_="300ms")
    wait_until(lambda: not hand.listed(), what="the fault to end", deadline=DEADLINE)
    assert not is_stopped(server[0])


def test_one_that_waits_is_listed_and_can_be_removed(hand: ManualFaults, server: Server) -> None:
    assert add(hand, name="later", at="1h").waits
    (page,) = hand.listed()
    assert page.entry.waits
    hand.remove("later")
    assert not is_stopped(server[0])
    assert names(hand) == []


def test_one_whose_holder_was_killed_is_undone_by_its_removal(hand: ManualFaults, server: Server) -> None:
    add(hand, name="orphan")
    (page,) = hand.listed()
    assert page.entry.holder is not None
    holder = psutil.Process(page.entry.holder)
    holder.kill()
    wait_until(lambda: holder.status() == psutil.STATUS_ZOMBIE, what="it to die, unreaped", deadline=DEADLINE)
    assert is_stopped(server[0])
    assert hand.remove("orphan")
    assert not is_stopped(server[0])


def test_what_another_fault_acts_on_is_refused_with_its_name_and_remaining_time(
    hand: ManualFaults, server: Server
) -> None:
    add(hand, name="first", for_="1h")
    message = r"fault 'first' \(pause: {part: store}\) acts on part store for another 3\d\d\d s"
    with pytest.raises(UsageError, match=message):
        add(hand, {"kill": {"part": "store"}}, name="second")
    assert names(hand) == ["first"]
    hand.remove("first")
    assert not is_stopped(server[0])


def test_what_the_timeline_acts_on_is_refused_and_not_removed_by_hand(hand: ManualFaults, server: Server) -> None:
    do = parse(PAUSE, name="x", at=None, for_=None).do
    page = Journal("hand").open("of the file", do, lasts_s=3600)
    Journal("hand").claim(page, do.claims({}))
    with pytest.raises(UsageError, match=r"fault 'of the file' .*, of the scenario's timeline, acts on part store for"):
        add(hand)
    with pytest.raises(UsageError, match="fault 'of the file' is"):
        hand.remove("of the file")
    page.close()
    assert not is_stopped(server[0])


def test_one_that_waited_is_refused_by_the_process_that_holds_it(hand: ManualFaults, server: Server) -> None:
    add(hand, name="first", for_="1h")
    assert add(hand, name="later", at="1s", for_="1h").waits
    wait_until(hand.refused, what="it to be refused", deadline=DEADLINE)
    assert names(hand) == ["first"]
    assert is_stopped(server[0])
    hand.remove("first")
    (refused,) = hand.refused()
    assert (refused.name, refused.asked) == ("later", "pause: {part: store}")
    assert refused.why.startswith("it could not begin: fault 'first' (pause: {part: store}) acts on part store")
    # It stays until it is removed, or another of its name is added.
    assert hand.remove("later")
    assert hand.refused() == ()
    assert not hand.remove("later")


def test_one_that_waited_and_acted_was_not_refused(hand: ManualFaults, server: Server) -> None:
    add(hand, name="later", at="100ms")
    wait_until(lambda: is_stopped(server[0]), what="it to begin", deadline=DEADLINE)
    hand.remove("later")
    assert hand.refused() == ()


NETWORK = {"network_cut": {"part": "store"}}


@pytest.mark.parametrize("part", ["kafka", "mock-api"])
def test_a_name_is_hidden_by_a_timeline_alone(hand: ManualFaults, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manual_faults, "attached_parts", lambda _run: {part: FakePart(part)})
    with pytest.raises(UsageError, match=f"programs of stack hand find {part} by its address"):
        add(hand, {"dns_error": {"part": part}})


def test_a_fault_of_the_network_is_refused_where_the_proxy_stands_before_another_part(
    run: RunState, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Control:
        def __init__(self, endpoint: str) -> None:
            assert endpoint == "http://127.0.0.1:2"

        def listeners(self) -> list[SimpleNamespace]:
            return [SimpleNamespace(name="kafka")]

        def disconnect(self) -> None:
            """There is no connection."""

    monkeypatch.setattr(manual_faults, "ProxyControl", Control)
    proxy = PartPlace(name="proxy", address="http://127.0.0.1:2", pid=os.getpid())
    with pytest.raises(UsageError, match="no proxy stands in front of store"):
        add(ManualFaults(run.model_copy(update={"parts": (*run.parts, proxy)})), NETWORK)


@pytest.mark.parametrize(
    ("do", "error", "message", "hint"),
    [
        ({"pause": {"part": "stor"}}, UsageError, "has no part 'stor'", ""),
        ({"pause": {"part": "kafka"}}, UsageError, "it is not ours to stop", ""),
        ({"kill": {"part": "mock-api"}}, UsageError, "its pages and rules are in its memory", ""),
        (NETWORK, UsageError, "no proxy stands in front of store of stack hand", "`devkit up --proxied`"),
        ({"kill_process": {"process": "worker"}}, StackError, "kill_process: .*no worker process of a program", ""),
    ],
)
def test_what_the_stack_cannot_is_refused_and_leaves_nothing(
    hand: ManualFaults, do: dict[str, object], error: type[Exception], message: str, hint: str
) -> None:
    with pytest.raises(error, match=message) as refused:
        add(hand, do)
    assert hint in str(getattr(refused.value, "hint", ""))
    assert names(hand) == []


def test_a_part_that_died_says_so(run: RunState, server: Server) -> None:
    part = attached_parts(run)["store"]
    assert part.life.exit_code is None
    server[0].kill()
    server[0].wait()
    assert part.life.exit_code == -signal.SIGKILL
    with pytest.raises(StackError, match="is gone"):
        part.pull("pause")
