"""The requests to the object store that faults of a timeline wait for, watched by the proxy before it.

    client ── request ──▶ proxy: it waits here ──▶ store
                            │ seen              ▲
                            ▼                   │ let go
                          Runner ── begins the fault, which acts now

So a fault acts at exactly that point and not some looks later. What was sent goes on to the store then, also when the
fault has killed its client, as it would on a network. A request is not held for ever: after the time in which the fault
has to begin it goes on, and the fault has missed it.
"""

import contextlib
from collections.abc import Sequence
from typing import Protocol

from typing_extensions import override

from devkit.errors import StackError
from devkit.faults.condition import RequestSeen
from devkit.faults.timeline_item import TimelineItem
from devkit.proxy.client import ProxyControl
from devkit.proxy.toxics.store_watch import StoreWatch
from devkit.stack.front import REQUESTS_SUFFIX


class Watch(Protocol):
    """A watch for the requests that a timeline waits for at the proxy."""

    def begin(self) -> None:
        """Watch from now on. Raises StackError."""

    def seen(self) -> frozenset[RequestSeen]:
        """The requests that have come; each is reported until its item is released."""

    def missed(self, item: str) -> str:
        """Why what this item waited for is past; empty where it still waits, or nothing had to."""

    def release(self, item: str) -> None:
        """Let the requests go on that wait for this item; no other waits for it."""

    def end(self) -> None:
        """Let all go."""


class NoWatch(Watch):
    """The watch of a timeline that waits for no request."""

    @override
    def begin(self) -> None: ...
    @override
    def seen(self) -> frozenset[RequestSeen]:
        return frozenset()

    @override
    def missed(self, item: str) -> str:
        return ""

    @override
    def release(self, item: str) -> None: ...
    @override
    def end(self) -> None: ...


class RequestWatch(Watch):
    """The watch for these items, by the proxy that `control` drives; `end` closes its connections."""

    def __init__(self, items: Sequence[TimelineItem], control: ProxyControl) -> None:
        self._waiting = {item.name: item.when for item in items if isinstance(item.when, RequestSeen)}
        self._hold = {item.name: item.do.begins_within for item in items}
        self._watched: dict[str, RequestSeen] = {}
        self._control = control

    @override
    def begin(self) -> None:
        for name, condition in self._waiting.items():
            pattern = condition.model_dump(exclude={"part"})
            watch = StoreWatch.model_validate(pattern | {"hold": self._hold[name]})
            self._control.add(_listener(condition), _toxic(name), watch)
            self._watched[name] = condition

    @override
    def seen(self) -> frozenset[RequestSeen]:
        with contextlib.suppress(StackError):  # a proxy that is gone is reported as a part that died
            return frozenset(
                condition
                for name, condition in tuple(self._watched.items())
                if self._control.toxic(_listener(condition), _toxic(name)).counts.requests
            )
        return frozenset()

    @override
    def missed(self, item: str) -> str:
        condition = self._watched.get(item)
        if condition is None:
            return ""
        try:
            missed = self._control.toxic(_listener(condition), _toxic(item)).counts.missed
        except StackError as error:
            return f"whether it acted before the request went on is not known: {error}"
        held_s = self._hold[item].total_seconds()
        return f"it missed the request that it waited for, which went on after {held_s:g} s" if missed else ""

    @override
    def release(self, item: str) -> None:
        if (condition := self._watched.pop(item, None)) is not None:
            with contextlib.suppress(StackError):
                self._control.remove(_listener(condition), _toxic(item))

    @override
    def end(self) -> None:
        for name in tuple(self._watched):
            self.release(name)
        self._control.disconnect()


def watch_for(items: Sequence[TimelineItem], proxy: ProxyControl | None) -> Watch:
    """The watch for these items. Raises StackError when one waits for a request and there is no proxy."""
    if not any(isinstance(item.when, RequestSeen) for item in items):
        return NoWatch()
    if proxy is None:
        raise StackError("no proxy stands before the object store, where a fault waits for a request")
    return RequestWatch(items, ProxyControl(proxy.endpoint))


def _listener(condition: RequestSeen) -> str:
    return condition.part + REQUESTS_SUFFIX


def _toxic(item: str) -> str:
    return f"{item} (waits for a request)"
