import gzip
import http.client
from typing import Any
from urllib.parse import quote

import pytest

ROOMS = ("mockapi/control", "mockapi/faults", "mockapi/journal")
REVISION = 28674
LOG_NORMAL = {"name": "slow", "do": {"latency": {"p50": "2ms", "p99": "10ms", "cap": "20ms"}}}


def test_a_proxy_gives_up(mock: Any) -> None:
    mock.rules({"name": "gives up", "when": {"revision": REVISION}, "do": {"status": 504}})
    answer = mock.page(REVISION)
    assert answer.status == 504
    assert answer.header_names == ["date", "content-length", "content-type", "server"]
    assert (answer.body, answer["content-type"]) == (b"upstream request timeout", "text/plain")
    assert mock.page(REVISION - 1).status == 200


def test_the_attempt_is_counted_by_request_id(mock: Any) -> None:
    mock.rules(LOG_NORMAL)
    for request_id in ("a", "b", "a", "a"):
        mock.page(REVISION, X_Request_Id=request_id)
    entries = mock.journal()
    assert [(entry["request_id"], entry["attempt"]) for entry in entries] == [("a", 1), ("b", 1), ("a", 2), ("a", 3)]
    draws = [entry["draws"]["latency_s"] for entry in entries]
    assert draws[0] == draws[1]
    assert len(set(draws)) == 3


def test_a_body_of_an_exact_size_for_revision_and_parent(mock: Any) -> None:
    body = {"size": 17_300_219, "changed": "one block", "encoding": "gzip"}
    mock.rules({"name": "huge", "when": {"page": mock_title(mock)}, "do": {"body": body}})
    new, old = (mock.page(revision, Accept_Encoding="gzip") for revision in (REVISION, REVISION - 1))
    assert new["content-length"] == str(len(new.body))
    new_lines, old_lines = (gzip.decompress(answer.body).split(b"\n") for answer in (new, old))
    assert sum(map(len, new_lines)) + len(new_lines) - 1 == 17_300_219
    assert 600 < sum(a != b for a, b in zip(new_lines, old_lines, strict=True)) < 700

    def counts() -> dict[str, int]:
        of_rule: dict[str, int] = mock.counts()["rules"]["huge"]
        return of_rule

    # The client may have read the last byte before the mock counts the answer as completed.
    mock.until("both answers are counted as completed", lambda: counts()["completed"] == 2)
    assert (counts()["requests"], counts()["max_real_bytes"]) == (2, 17_300_219)
    assert counts()["max_wire_bytes"] == counts()["max_content_length"] == max(len(new.body), len(old.body))


@pytest.mark.parametrize(
    "rule", [None, {"name": "big", "do": {"status": 503, "latency": "1h", "body": {"size": "1MiB"}}}]
)
def test_truth_is_what_a_fetch_gets(mock: Any, rule: dict[str, Any] | None) -> None:
    mock.rules(*([rule] if rule else []))
    truth = mock.ask(f"/__mock/truth/revision/{REVISION}?wiki=enwiki").body
    assert mock.journal() == []
    mock.rules(*([{**rule, "do": {"body": rule["do"]["body"]}}] if rule else []))
    assert mock.page(REVISION).body == truth
    assert mock.journal()[-1]["attempt"] == 1


@pytest.mark.parametrize(
    "path",
    [
        f"/w/rest.php/v1/revision/{REVISION}",
        f"/w/rest.php/v1/revision/{REVISION}/html",
        f"/w/api.php?action=query&format=json&prop=revisions&revids={REVISION}&rvprop=content&rvslots=main",
    ],
)
def test_truth_of_any_route_is_what_it_answers_without_faults(mock: Any, path: str) -> None:
    mock.rules({"name": "away", "do": {"status": 503, "latency": "1h", "missing": True}})
    truth = mock.ask(f"/__mock/truth?wiki=enwiki&path={quote(path, safe='')}").body
    assert mock.journal() == []
    mock.rules()
    assert mock.ask(path, headers={"Host": "en.wikipedia.org"}).body == truth


def test_truth_of_an_unknown_revision(mock: Any) -> None:
    assert mock.ask("/__mock/truth/revision/5").status == 404
    assert mock.ask(f"/__mock/truth/revision/{REVISION}?wiki=dewiki").status == 404


def test_a_client_that_leaves_while_it_waits_is_not_completed(mock: Any) -> None:
    mock.rules({"name": "stuck", "do": {"latency": "1h"}})
    connection = begin_fetch(mock)
    mock.until_in_flight(1)
    (open_request,) = mock.ask("/__mock/journal/in-flight").json
    assert (open_request["revision"], open_request["rules"]) == (REVISION, ["stuck"])
    connection.close()
    entry = mock.ended("stuck")
    assert (entry["completed"], entry["status"], entry["wire_bytes"]) == (False, None, 0)
    assert mock.counts()["by_status"] == {"none": 1}


def test_a_client_that_leaves_in_mid_body_is_not_completed(mock: Any) -> None:
    mock.rules({"name": "big", "do": {"body": {"size": "16MiB"}}})
    connection = begin_fetch(mock)
    response = connection.getresponse()
    assert len(response.read(100_000)) == 100_000
    response.close()
    connection.close()
    entry = mock.ended("big")
    assert (entry["status"], entry["completed"], entry["real_bytes"]) == (200, False, 16 * 1024 * 1024)
    assert 100_000 <= entry["wire_bytes"] < 16 * 1024 * 1024


def begin_fetch(mock: Any) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=30)
    connection.request("GET", f"/w/rest.php/v1/revision/{REVISION}/html", headers={"Accept-Encoding": "identity"})
    return connection


def mock_title(mock: Any) -> str:
    mock.page(REVISION)
    title: str = mock.journal()[-1]["page"]
    mock.ask("/__mock/journal", method="DELETE")
    return title
