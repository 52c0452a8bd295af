"""A triple store: Oxigraph's server from its wheel, with its data on disk. On an external stack it is any SPARQL 1.1
server.

It is a part of a stack only where it is asked for: `StackRequest.triple_store`.
"""

import shutil
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import requests

from devkit.errors import PartError, SetupError
from devkit.guardian import Guardian
from devkit.loopback import loopback_session
from devkit.network_cause import network_cause
from devkit.stack.parts.data_directory import DataDirectory
from devkit.stack.parts.part import TRIPLE_STORE, Lead, unproxied
from devkit.stack.parts.part_life import READY, Life, require_running
from devkit.stack.parts.process import ProcessPart
from devkit.stack.ports import LOOPBACK, claim_port
from devkit.waiting import wait_until

_BINARY: Final = "oxigraph"
_TIMEOUT_S: Final = 60.0
_PROBE_S: Final = 2.0
_PROBE: Final = "<urn:devkit:probe>"
_ANSWERS: Final = "ASK {}"
_HOLDS_SOMETHING: Final = "ASK { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"


class TripleStoreSilentError(PartError):
    """The triple store did not answer at all."""

    def __init__(self, message: str) -> None:
        super().__init__(message, TRIPLE_STORE)


@dataclass(frozen=True)
class StoreLogin:
    """A login by HTTP Basic. Programs read the password from `file`, which ends with the run."""

    user: str
    password: str = field(repr=False)
    file: Path | None = None


@dataclass
class TripleStore:
    """URLs of the SPARQL 1.1 protocol: programs use `query` and `update`, maybe through a proxy; the kit itself uses
    `direct_query` and `direct_update`.

    `login` is None for a store that asks for none. `copied` are the triples that it had when its data was last copied,
    None where there is no copy of this arm.
    """

    query: str
    update: str
    direct_query: str
    direct_update: str
    login: StoreLogin | None = None
    copied: frozenset[str] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def at(cls, address: str, direct: str) -> "TripleStore":
        """A server that has the paths of Oxigraph. Both are `host:port`."""
        return cls(
            f"http://{address}/query",
            f"http://{address}/update",
            f"http://{direct}/query",
            f"http://{direct}/update",
        )

    def answers(self) -> bool:
        """Whether it answers a query. Raises PartError when it answers with an error."""
        try:
            return self._ask(_ANSWERS, timeout_s=_PROBE_S)
        except TripleStoreSilentError:
            return False

    def is_empty(self) -> bool:
        """Whether it has no triple, neither in the default graph nor in a named one. Raises PartError."""
        return not self._ask(_HOLDS_SOMETHING)

    def has_union_default_graph(self) -> bool:
        """Whether its default graph has the triples of named graphs too; leaves no triple. Raises PartError."""
        try:
            self.change(f"INSERT DATA {{ GRAPH {_PROBE} {{ {_PROBE} {_PROBE} {_PROBE} }} }}")
            return self._ask(f"ASK {{ {_PROBE} {_PROBE} {_PROBE} }}")
        finally:
            self.change(f"CLEAR SILENT GRAPH {_PROBE}")

    def select(self, query: str, timeout_s: float = _TIMEOUT_S) -> dict[str, Any]:
        """The answer to a query, as the SPARQL 1.1 Query Results JSON Format has it. Raises PartError."""
        return self._select(query, timeout_s)

    def change(self, update: str) -> None:
        """Carry out a SPARQL 1.1 update. Raises PartError."""
        self._send(self.direct_update, {"update": update}, _TIMEOUT_S)

    def clear(self) -> None:
        """Delete all triples of all graphs, and forget the copy. Raises PartError."""
        self.copied = None
        self.change("CLEAR ALL")

    def _ask(self, query: str, timeout_s: float = _TIMEOUT_S) -> bool:
        return bool(self._select(query, timeout_s).get("boolean"))

    def _select(self, query: str, timeout_s: float) -> dict[str, Any]:
        answer = self._send(self.direct_query, {"query": query}, timeout_s)
        try:
            document = answer.json()
        except requests.JSONDecodeError as error:
            raise PartError(f"{self.direct_query} answered no JSON: {answer.text[:200]!r}", TRIPLE_STORE) from error
        if not isinstance(document, dict):
            raise PartError(f"{self.direct_query} answered no results of a query", TRIPLE_STORE)
        return document

    def _send(self, url: str, form: dict[str, str], timeout_s: float) -> requests.Response:
        login = self.login
        # requests encodes both as Latin-1, and UTF-8 is to be sent.
        auth = (_as_latin_1(login.user), _as_latin_1(login.password)) if login else None
        with loopback_session() as session:
            try:
                answer = session.post(
                    url, data=form, headers={"Accept": "application/sparql-results+json"}, timeout=timeout_s, auth=auth
                )
            except requests.RequestException as error:
                raise TripleStoreSilentError(
                    f"the triple store did not answer {url}: {network_cause(error)}"
                ) from error
        if not answer.ok:
            text = f"the triple store answered {answer.status_code} at {url}: {answer.text[:500]}"
            raise PartError(text, TRIPLE_STORE)
        return answer


def _as_latin_1(text: str) -> str:
    """The text whose bytes in Latin-1 are those of `text` in UTF-8."""
    return text.encode().decode("latin-1")


def oxigraph_binary() -> Path:
    """The server that the wheel installed, else one on PATH. Raises SetupError when there is none."""
    installed = Path(sysconfig.get_path("scripts")) / _BINARY
    path = str(installed) if installed.is_file() else shutil.which(_BINARY)
    if path is None:
        raise SetupError(
            f"there is no triple store: {installed} is missing, and no {_BINARY} is on PATH",
            hint=f"install the wheel `{_BINARY}`, or set up again: remove .venv and run ./justw --setup scenario",
        )
    return Path(path)


def start_triple_store(
    guardian: Guardian, logs: Path, *, port: int | None = None, lead: Lead = unproxied
) -> tuple[TripleStore, ProcessPart]:
    """Start an empty store; returns as soon as it has begun. Raises SetupError when it is not installed."""
    binary = oxigraph_binary()
    address = f"{LOOPBACK}:{claim_port(port, 'the triple store')}"
    advertised = lead(TRIPLE_STORE, address)
    store = TripleStore.at(advertised, address)
    data = DataDirectory.below(guardian.directory / TRIPLE_STORE)
    return store, ProcessPart(
        guardian,
        TRIPLE_STORE,
        [str(binary), "serve", "--location", str(data.path), "--bind", address],
        address=f"http://{advertised}",
        ready=lambda life: await_triple_store(store, life),
        logs=logs,
        data=data,
    )


def await_triple_store(store: TripleStore, life: Life) -> None:
    """Wait until it answers a query. Raises StackError when it has ended."""

    def is_ready() -> bool:
        require_running(life)
        return store.answers()

    wait_until(
        is_ready,
        what=f"the triple store to answer at {store.direct_query}",
        deadline=READY,
        hint=f"its log is {life.stderr}",
    )
