"""The kit's end of the mock's control interface, against a server that answers as the test says."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from devkit.errors import StackError, WaitTimeoutError
from devkit.stack.parts import mock_api
from devkit.stack.parts.mock_api import JournalEntry, MockApi, await_mock_api, start_mock_api
from devkit.stack.ports import free_port
from mockapi.client.journal_counts import JournalTotals
from mockapi.rules.model import Rule
from mockapi.wiki.catalog import CatalogPage, CatalogRevision
from tests.unit.devkit.stack.fakes import FakeGuardian

COUNTS = {
    "requests": 7,
    "in_flight": 1,
    "by_status": {"200": 6},
    "rules": {
        "huge page": {
            "requests": 2,
            "completed": 2,
            "max_real_bytes": 20,
            "max_wire_bytes": 10,
            "max_content_length": None,
            "max_duration_s": 0.5,
        }
    },
}


@dataclass
class Server:
    """`answers` by path; remembers method, path with query, and body."""

    endpoint: str = ""
    answers: dict[str, tuple[int, str]] = field(default_factory=dict)
    asked: list[tuple[str, str, Any]] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            state.asked.append((self.command, self.path, json.loads(body) if body else None))
            status, text = state.answers.get(self.path.partition("?")[0], (404, "no such place"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_PUT = do_PATCH = answer  # noqa: N815 — the names are http.server's

        def log_message(self, *_: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        state.endpoint = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield state
        listening.shutdown()
        thread.join()


@pytest.fixture
def mock(server: Server) -> Iterator[MockApi]:
    api = MockApi(server.endpoint)
    yield api
    api.close()


def test_populate_sets_everything_at_once_and_rules_as_they_were_written(server: Server, mock: MockApi) -> None:
    server.answers["/__mock/state"] = 200, "{}"
    moment = datetime(2026, 6, 1, tzinfo=UTC)
    page = CatalogPage(
        wiki="enwiki",
        domain="en.wikipedia.org",
        page_id=1,
        namespace_id=0,
        title="Huge",
        revisions=(CatalogRevision(rev_id=4097, parent_id=0, timestamp=moment),),
    )
    rule = Rule.model_validate({"name": "slow", "when": {"page": "Huge"}, "do": {"latency": "40ms"}})
    mock.populate(seed=7, catalog=[page], rules=[rule])
    ((method, path, body),) = server.asked
    assert (method, path, body["seed"]) == ("PUT", "/__mock/state", 7)
    assert [CatalogPage.model_validate(one) for one in body["catalog"]] == [page]
    assert [Rule.model_validate(rule) for rule in body["rules"]] == [rule]


SLOW = Rule.model_validate({"name": "slow", "do": {"latency": "40ms"}})
STATE = json.dumps({"seed": 1, "pages": 5, "rules": [{"name": "slow", "do": {"latency": "40ms"}}], "requests": 9})


def test_other_pages_leave_the_rules_as_they_are(server: Server, mock: MockApi) -> None:
    server.answers["/__mock/state"] = 200, STATE
    assert mock.current_rules() == (SLOW,)
    mock.replace_pages(seed=7, catalog=[])
    (*_, (method, _, body)) = server.asked
    assert (method, body["seed"], body["catalog"]) == ("PUT", 7, [])
    assert [Rule.model_validate(rule) for rule in body["rules"]] == [SLOW]


def changes(*actions: tuple[str, str]) -> tuple[int, str]:
    """The mock's answer that these were done, by whom."""
    listed = [
        {"n": n, "at": "2026-11-22T12:30:15Z", "action": action, "author": author}
        for n, (action, author) in enumerate(actions, 1)
    ]
    return 200, json.dumps(listed)


def test_changes_by_others_are_those_since_it_populated_the_mock(server: Server, mock: MockApi) -> None:
    authors = ("before", mock.author, "between", mock.author, "curl/8.5")
    server.answers["/__mock/journal/changes"] = changes(*(("populated", author) for author in authors))
    assert [(change.n, change.author) for change in mock.changes_by_others()] == [(5, "curl/8.5")]
    other = MockApi(server.endpoint)  # a run beside has a name of its own
    assert other.author != mock.author
    other.close()


def test_what_we_switched_hides_no_change_by_others(server: Server, mock: MockApi) -> None:
    ours = mock.author
    server.answers["/__mock/journal/changes"] = changes(
        ("populated", ours), ("removed", "curl"), ("switched on", ours), ("added", "curl"), ("switched off", ours)
    )
    assert [change.n for change in mock.changes_by_others()] == [2, 4]


def test_counts(server: Server, mock: MockApi) -> None:
    server.answers["/__mock/journal/counts"] = 200, json.dumps(COUNTS)
    assert mock.counts() == JournalTotals.model_validate(COUNTS)


def test_truth_is_of_a_revision_or_of_any_path_of_a_wiki(server: Server, mock: MockApi) -> None:
    server.answers |= {"/__mock/truth/revision/4097": (200, "<p>é</p>"), "/__mock/truth": (200, "{}")}
    assert mock.truth("enwiki", 4097) == "<p>é</p>"
    assert mock.truth_at("enwiki", "/w/api.php?a=b&c=é") == b"{}"
    assert server.asked == [
        ("GET", "/__mock/truth/revision/4097?wiki=enwiki", None),
        ("GET", "/__mock/truth?wiki=enwiki&path=%2Fw%2Fapi.php%3Fa%3Db%26c%3D%C3%A9", None),
    ]


def test_a_refusal_is_an_error_with_the_mocks_own_words(server: Server, mock: MockApi) -> None:
    server.answers["/__mock/journal/counts"] = 400, "the journal is closed"
    refusal = r"^mock API answered 400 to GET /__mock/journal/counts: the journal is closed$"
    with pytest.raises(StackError, match=refusal):
        mock.counts()


def test_a_mock_that_does_not_answer() -> None:
    mock = MockApi(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(StackError, match=r"^mock API did not answer GET /__mock/journal/counts: "):
        mock.counts()


def test_a_proxy_of_the_environment_is_not_asked(
    server: Server, mock: MockApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    server.answers["/__mock/journal/counts"] = 200, json.dumps(COUNTS)
    assert mock.counts().requests == 7


def test_it_is_started_on_loopback_and_says_where(tmp_path: Path) -> None:
    guardian = FakeGuardian(tmp_path)
    port = free_port()
    mock, part = start_mock_api(guardian.real(), tmp_path, seed=3, port=port)
    ((_, argv, _),) = guardian.started
    assert argv[1:] == ["-m", "mockapi", "--host", "127.0.0.1", "--port", str(port), "--seed", "3"]
    (tmp_path / "mock-api.out").write_text(f"loading\nready on http://127.0.0.1:{port}\n")
    await_mock_api(mock, part.life)
    assert mock.endpoint == part.address == f"http://127.0.0.1:{port}"


def test_an_answer_before_it_has_said_so_is_somebody_elses(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers["/__mock/journal/counts"] = 200, json.dumps(COUNTS)
    monkeypatch.setattr(mock_api, "READY", mock_api.READY * 0)
    monkeypatch.setattr(mock_api, "claim_port", lambda port, part: int(server.endpoint.rpartition(":")[2]))
    _, part = start_mock_api(FakeGuardian(tmp_path).real(), tmp_path)
    (tmp_path / "mock-api.out").write_text("loading\n")
    with pytest.raises(WaitTimeoutError, match="for the mock API to say that it is ready"):
        part.await_ready()


def test_one_that_was_started_again_gets_the_pages_and_rules_it_had(server: Server, mock: MockApi) -> None:
    server.answers["/__mock/state"] = 200, "{}"
    mock.populate_again()
    assert server.asked == []
    mock.populate(seed=7, catalog=[], rules=[Rule.model_validate({"name": "slow", "do": {"latency": "1s"}})])
    mock.populate_again()
    assert server.asked[1] == server.asked[0]


def test_a_mock_that_ends_while_it_starts_is_not_waited_for(tmp_path: Path) -> None:
    guardian = FakeGuardian(tmp_path)
    _, part = start_mock_api(guardian.real(), tmp_path)
    (tmp_path / "mock-api.out").write_text("loading\n")
    guardian.processes[0].exit_code = 2
    with pytest.raises(StackError, match=r"^mock-api ended with exit code 2"):
        part.await_ready()


def test_entries_of_a_rule_say_which_revisions_met_it(server: Server, mock: MockApi) -> None:
    entry = {"n": 1, "wiki": "enwiki", "revision": 28673, "page": "X", "rules": ["slow page"], "status": 200}
    server.answers["/__mock/journal"] = 200, json.dumps([entry, entry | {"wiki": None, "revision": None}])
    assert mock.entries("slow page") == [
        JournalEntry(wiki="enwiki", revision=28673),
        JournalEntry(wiki=None, revision=None),
    ]
    assert server.asked[-1] == ("GET", "/__mock/journal?rule=slow+page", None)


def test_a_rule_is_switched_also_for_a_mock_that_begins_anew(server: Server, mock: MockApi) -> None:
    rules = [Rule.model_validate({"name": name, "do": {"latency": "1s"}}) for name in ("slow/one", "other")]
    server.answers["/__mock/state"] = 200, "{}"
    mock.populate(seed=7, catalog=[], rules=rules)
    server.answers["/__mock/rules/slow%2Fone"] = 200, "{}"
    mock.switch("slow/one", on=False)
    assert server.asked[-1] == ("PATCH", "/__mock/rules/slow%2Fone", {"enabled": False})
    mock.populate_again()
    _, _, body = server.asked[-1]
    assert [rule.get("enabled", True) for rule in body["rules"]] == [False, True]
