"""The real mock, served in a thread of this process: what it answers is what a person will read."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import requests
import uvicorn

from devkit.waiting import wait_until
from mockapi.clock import Clock
from mockapi.server.app import create_app
from mockapi.server.server import bind
from mockapi.world import World, Worlds


def _wait_until(condition: Callable[[], bool], what: str) -> None:
    wait_until(condition, what=what, deadline=timedelta(seconds=10), interval=timedelta(milliseconds=5))


@dataclass(frozen=True)
class ServedMock:
    endpoint: str
    worlds: Worlds

    def fetch(self, revision: int) -> int:
        """The status of a request for a revision's HTML; it is in the journal when this returns."""
        before = self.worlds.current.counts().requests
        with requests.Session() as session:
            session.trust_env = False
            status = session.get(f"{self.endpoint}/w/rest.php/v1/revision/{revision}/html", timeout=10).status_code
        _wait_until(lambda: self.worlds.current.counts().requests > before, "the request to be in the journal")
        return status


@contextlib.contextmanager
def served_mock() -> Iterator[ServedMock]:
    clock = Clock()
    worlds = Worlds(World(7, None, (), clock), clock)
    listener = bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(create_app(worlds), lifespan="off", log_level="error", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    _wait_until(lambda: server.started, "the mock to be served")
    yield ServedMock(f"http://127.0.0.1:{listener.getsockname()[1]}", worlds)
    server.should_exit = True
    thread.join(10)
    listener.close()
