from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.errors import StackError
from devkit.faults.condition import RequestSeen
from devkit.faults.programs.kill_process import KillProcess
from devkit.faults.request_watch import NoWatch, RequestWatch, watch_for
from devkit.faults.timeline_item import TimelineItem
from devkit.proxy.client import ProxyControl, ProxyGoneError
from devkit.proxy.toxics.store_watch import StoreWatch


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
