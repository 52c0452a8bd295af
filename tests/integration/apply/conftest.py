"""A real triple store, on a free port."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.oxigraph_server import OxigraphServer, free_port


@pytest.fixture
def make_server(tmp_path: Path) -> Iterator[Callable[[], OxigraphServer]]:
    """Makes a server that does not run yet, without triples."""
    made: list[OxigraphServer] = []

    def make() -> OxigraphServer:
        directory = tmp_path / f"oxigraph-{len(made)}"
        directory.mkdir()
        made.append(OxigraphServer(directory, free_port()))
        return made[-1]

    yield make
    for server in made:
        server.kill()


@pytest.fixture
def server(make_server: Callable[[], OxigraphServer]) -> OxigraphServer:
    """One that runs."""
    server = make_server()
    server.start()
    return server
