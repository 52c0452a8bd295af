import http.client
from typing import Any

import pytest

from devkit.debug.mock_faults import FaultControl
from devkit.stack.parts.mock_api import MockApi
from mockapi.client.journal_counts import JournalTotals
from mockapi.rules.model import Rule

ROOMS = ("mockapi/client", "mockapi/control", "mockapi/journal", "mockapi/rules", "devkit/debug")
REVISION = 28674
GONE = {"name": "gone", "do": {"status": 404}}
SLOW = {"name": "slow", "when": {"page": "Huge"}, "do": {"latency": {"fixed": "40ms"}}}
PAGE: dict[str, Any] = {
    "wiki": "dewiki",
    "domain": "de.wikipedia.org",
    "page_id": 1,
    "namespace_id": 0,
    "title": "Brücke",
    "revisions": [{"rev_id": 4097, "parent_id": 0, "timestamp": "2026-01-01T00:00:00Z"}],
}


def test_state_replaces_everything(mock: Any) -> None:
    mock.rules(GONE)
    mock.page(REVISION, X_Request_Id="a")
    put = mock.ask("/__mock/state", method="PUT", body={"seed": 9, "catalog": [PAGE], "rules": [SLOW]})
    assert put.json == {"seed": 9, "pages": 1, "revisions": 1, "rules": [SLOW], "requests": 0}
    assert mock.ask("/__mock/state").json == put.json
    assert mock.journal() == []
    assert mock.page(4097, X_Request_Id="a").status == 200
    assert mock.page(REVISION).status == 404
    assert [entry["attempt"] for entry in mock.journal()] == [1, 1]
    again = mock.ask("/__mock/state", method="PUT", body={"seed": 9, "catalog": [PAGE], "rules": [SLOW]})
    assert (again.json, mock.journal()) == (put.json, [])


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"rules": [GONE, {"name": "x", "do": {"stauts": 404}}]}, "rules[1].do.stauts"),
        ({"catalog": [PAGE, {**PAGE, "page_id": 2}]}, "catalog[1]"),
        ({"catalog": [PAGE, PAGE]}, "catalog"),
        ({"seed": "x"}, "seed"),
        ({"sed": 1}, "sed"),
    ],
)
def test_a_broken_state_changes_nothing(mock: Any, broken: dict[str, Any], path: str) -> None:
    mock.rules(SLOW)
    mock.page(REVISION)
    before = mock.ask("/__mock/state").json
    answer = mock.ask("/__mock/state", method="PUT", body={"seed": 2, "catalog": [PAGE], "rules": [GONE], **broken})
    assert answer.status == 422
    assert [problem["path"] for problem in answer.json] == [path]
    assert set(answer.json[0]) == {"path", "problem", "hint"}
    assert mock.ask("/__mock/state").json == before
    assert mock.page(REVISION).status == 200


def test_rules_are_added_listed_and_deleted(mock: Any) -> None:
    assert mock.ask("/__mock/rules", method="POST", body=GONE).status == 201
    assert mock.page(REVISION).status == 404
    again = mock.ask("/__mock/rules", method="POST", body=GONE)
    assert (again.status, again.json[0]["path"]) == (409, "name")
    mock.ask("/__mock/rules", method="POST", body=SLOW)
    assert [rule["name"] for rule in mock.ask("/__mock/rules").json] == ["gone", "slow"]
    assert mock.ask("/__mock/rules/gone", method="DELETE").status == 204
    assert mock.page(REVISION).status == 200
    missing = mock.ask("/__mock/rules/slwo", method="DELETE")
    assert (missing.status, missing.json[0]["hint"]) == (404, "did you mean 'slow'?")
    assert mock.ask("/__mock/rules", method="DELETE").status == 204
    assert mock.ask("/__mock/rules").json == []


def test_rules_are_replaced_as_a_whole_or_not_at_all(mock: Any) -> None:
    mock.rules(GONE)
    refused = mock.ask("/__mock/rules", method="PUT", body=[SLOW, {"name": "slow", "do": {"status": 500}}])
    assert refused.status == 422
    assert "there twice" in refused.json[0]["problem"]
    assert [rule["name"] for rule in mock.ask("/__mock/rules").json] == ["gone"]


def test_the_journal_is_counted_and_cleared(mock: Any) -> None:
    mock.rules(GONE, SLOW)
    for revision in (REVISION, REVISION, 4097):
        mock.page(revision)
    counts = mock.counts()
    assert (counts["requests"], counts["in_flight"], counts["by_status"]) == (3, 0, {"404": 3})
    assert {name: rule["requests"] for name, rule in counts["rules"].items()} == {"gone": 3, "slow": 0}
    assert mock.ask("/__mock/journal", method="DELETE").status == 204
    assert mock.journal() == []
    assert mock.ask("/__mock/state").json["requests"] == 0


def test_the_kit_knows_its_own_changes_from_those_of_others(mock: Any) -> None:
    endpoint = f"http://127.0.0.1:{mock.port}"
    api, by_hand = MockApi(endpoint), FaultControl(endpoint)
    mock.rules(GONE)
    api.populate(seed=1, catalog=[], rules=[Rule.model_validate(GONE)])
    before = api.counts().revision  # of other tests, too
    assert api.changes_by_others() == ()
    by_hand.remove("gone")
    by_hand.add([GONE])
    mock.ask("/__mock/rules/gone", method="PATCH", body={"enabled": False})
    assert api.counts().revision == before + 3
    changes = [("removed", "devkit fault"), ("added", "devkit fault"), ("switched off", "")]
    expected = [(action, ("gone",), author) for action, author in changes]
    assert [(change.action, change.rules, change.author) for change in api.changes_by_others()] == expected


def test_the_kit_reads_every_figure_that_is_counted(mock: Any) -> None:
    """Most fields of the kit's model have a default, so a figure that is renamed here would be zero there."""
    mock.rules(GONE)
    mock.page(REVISION)
    counts = mock.counts()
    read = JournalTotals.model_validate(counts).model_dump()
    assert read.keys() == counts.keys()
    for part in ("latency", "upstream"):
        assert read[part].keys() == counts[part].keys()
    assert read["rules"]["gone"].keys() == counts["rules"]["gone"].keys()
    assert (read["fetches"], sum(read["latency"]["counts"]), read["rules"]["gone"]["by_status"]) == (1, 1, {"404": 1})


def test_an_entry_has_all_its_fields(mock: Any) -> None:
    mock.page(REVISION, X_Request_Id="a")
    (entry,) = mock.journal()
    assert set(entry) == {
        *("n", "at", "at_s", "method", "path", "query", "host", "client", "wiki", "page", "revision", "revisions"),
        *("key", "request_id", "attempt", "rules", "draws", "status", "content_length", "content_encoding"),
        *("wire_bytes", "real_bytes", "duration_s", "completed", "changed_by"),
    }
    assert (entry["wiki"], entry["revision"], entry["status"], entry["completed"]) == ("enwiki", REVISION, 200, True)


@pytest.mark.parametrize(
    ("method", "path", "status", "place"),
    [
        ("GET", "/journal?lmit=1", 422, "lmit"),
        ("GET", "/journal?limit=many", 422, "limit"),
        ("GET", "/journal?status=5x", 422, "status"),
        ("GET", "/journal?since=-1", 422, "since"),
        ("GET", "/journal?explain=nobody", 404, "name"),
        ("GET", "/rules?limit=1", 422, "limit"),
        ("GET", "/rules/nobody", 404, "name"),
        ("PATCH", "/rules/nobody", 422, ""),
        ("PUT", "/state", 422, ""),
        ("GET", "/truth/revision/x", 422, "rev_id"),
        ("GET", "/truth/revision/28674?wki=enwiki", 422, "wki"),
        ("GET", "/truth?wiki=enwiki", 422, "path"),
        ("GET", "/truth?wiki=enwik&path=/w/api.php", 404, "wiki"),
        ("GET", "/truth?wiki=enwiki&path=/w/rest.php/v1/revision/5", 404, "path"),
        ("POST", "/journal", 405, "/__mock/journal"),
        ("GET", "/nothing", 404, "/__mock/nothing"),
    ],
)
def test_every_refusal_names_its_place(mock: Any, method: str, path: str, status: int, place: str) -> None:
    answer = mock.ask(f"/__mock{path}", method=method)
    assert (answer.status, answer.json[0]["path"]) == (status, place)
    assert set(answer.json[0]) == {"path", "problem", "hint"}
    assert mock.journal() == []


def test_a_wrong_path_or_method_is_told_with_what_there_is(mock: Any) -> None:
    assert "GET /__mock/journal/counts" in mock.ask("/__mock/nothing").json[0]["hint"]
    wrong_method = mock.ask("/__mock/state", method="PATCH")
    assert (wrong_method.status, wrong_method["allow"]) == (405, "GET, PUT")
    no_json = mock.ask("/__mock/state", method="PUT", body=b"{seed: 1}")
    assert "invalid JSON" in no_json.json[0]["problem"]


@pytest.mark.parametrize(
    ("content_type", "body", "status"),
    [
        ("text/plain", b'{"seed": 1}', 415),
        ("application/x-www-form-urlencoded", b'{"seed": 1}', 415),
        ("application/json; charset=utf-8", b'{"seed": 1}', 200),
        ("application/problem+json", b'{"seed": 1}', 200),
        ("application/json", b"", 422),
        ("application/json", b"{seed: 1}", 422),
        ("application/json", b"\xff\xfe", 422),
        ("application/json", b'{"seed": NaN}', 422),
        ("application/json", b'{"seed": 1e400}', 422),
        ("application/json", b'{"seed": 18446744073709551616}', 422),
        ("application/json", b'{"seed": 1, "rules": [{"name": "\\ud800", "do": {"status": 404}}]}', 422),
        ("application/json", b"[" * 100_000, 422),
        ("application/json", b"null", 422),
    ],
)
def test_a_body_is_json_or_refused(mock: Any, content_type: str, body: bytes, status: int) -> None:
    before = mock.ask("/__mock/state").json
    answer = mock.ask("/__mock/state", method="PUT", body=body, headers={"Content-Type": content_type})
    assert answer.status == status
    if status != 200:
        assert answer.json[0]["problem"]
        assert mock.ask("/__mock/state").json == before


def test_one_rule_is_read_replaced_switched_and_deleted(mock: Any) -> None:
    name = "/__mock/rules/a%2Fb"
    rule = {"name": "a/b", "do": {"status": {"code": 404}}, "times": 5}
    assert mock.ask(name, method="PUT", body=rule).status == 201
    assert mock.ask(name).json == rule
    assert mock.page(REVISION).status == 404
    assert mock.ask(name, method="PUT", body={**rule, "do": {"status": 410}}).status == 200
    assert mock.page(REVISION).status == 410
    off = mock.ask(name, method="PATCH", body={"enabled": False})
    assert off.json == {**rule, "do": {"status": {"code": 410}}, "enabled": False}
    assert mock.page(REVISION).status == 200
    assert mock.ask(name, method="PATCH", body={"enabled": True}).status == 200
    assert mock.page(REVISION).status == 410
    assert mock.ask(name, method="PUT", body={**rule, "name": "b"}).json[0]["path"] == "name"
    assert mock.ask(name, method="PATCH", body={"enable": True}).json[0]["hint"].startswith("did you mean 'enabled'?")
    assert mock.ask(name, method="DELETE").status == 204
    assert mock.ask(name).status == 404


def test_what_was_read_can_be_put_back(mock: Any) -> None:
    mock.rules(SLOW, {"name": "often", "do": {"latency": {"p50": "1ms", "p99": "3ms"}}, "ttl": "1h", "times": 3})
    read = mock.ask("/__mock/rules").json
    assert mock.ask("/__mock/rules", method="PUT", body=read).json == read


def test_what_is_left_of_a_rule_is_shown(mock: Any) -> None:
    mock.rules({**GONE, "times": 2, "ttl": "1h"}, {**SLOW, "enabled": False})
    for _ in range(3):
        mock.page(REVISION)
    gone, slow = mock.ask("/__mock/status").json
    assert (gone["phase"], gone["fired"], gone["times_remaining"]) == ("spent", 2, 0)
    assert 3500 < gone["ttl_remaining_s"] < 3600
    assert (slow["phase"], slow["fired"], slow["rule"]["enabled"]) == ("switched off", 0, False)
    assert [entry["status"] for entry in mock.journal()] == [404, 404, 200]


def test_a_change_holds_for_the_next_request_on_an_open_connection(mock: Any) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=30)

    def status() -> int:
        connection.request("GET", f"/w/rest.php/v1/revision/{REVISION}/html")
        with connection.getresponse() as response:
            response.read()
            return response.status

    assert status() == 200
    kept = connection.sock
    mock.rules(GONE)
    assert status() == 404
    mock.ask("/__mock/rules/gone", method="PATCH", body={"enabled": False})
    assert status() == 200
    mock.ask("/__mock/state", method="PUT", body={"seed": 1, "catalog": [PAGE]})
    assert status() == 404
    mock.ask("/__mock/reset", method="POST")
    assert status() == 200
    assert connection.sock is kept
    connection.close()


def test_reset_is_as_at_the_start(mock: Any) -> None:
    mock.ask("/__mock/state", method="PUT", body={"seed": 9, "catalog": [PAGE], "rules": [SLOW]})
    mock.page(4097)
    state = mock.ask("/__mock/reset", method="POST")
    assert state.json == {"seed": 1, "pages": 1000, "revisions": 3984, "rules": [], "requests": 0}
    assert mock.ask("/__mock/state").json == state.json


def test_a_request_says_why_a_rule_did_not_fire(mock: Any) -> None:
    mock.rules({"name": "near", "when": {"revision": REVISION, "method": "HEAD"}, "do": {"status": 404}})
    mock.page(REVISION)
    mock.page(REVISION + 1)
    mock.ask(f"/w/rest.php/v1/revision/{REVISION}/html", method="HEAD")
    near, far, met = mock.journal("?explain=near")
    assert near["why"] == [{"key": "method", "wanted": "HEAD", "got": "GET"}]
    assert [one["key"] for one in far["why"]] == ["method", "revision"]
    assert (met["rules"], met["why"]) == (["near"], [])
    assert "why" not in mock.journal()[0]


def test_the_journal_is_filtered_by_all_that_it_has(mock: Any) -> None:
    mock.rules({**GONE, "when": {"revision": REVISION + 1}})
    for revision, request_id in ((REVISION, "a"), (REVISION + 1, "b"), (REVISION - 1, "a")):
        mock.page(revision, X_Request_Id=request_id)
    title = mock.journal()[0]["page"].replace(" ", "_")
    expected = {
        f"?key={REVISION}": [1],
        f"?revision={REVISION}&request_id=a": [1],
        "?request_id=a": [1, 3],
        "?rule=gone": [2],
        "?status=404": [2],
        "?status=2xx": [1, 3],
        "?limit=1": [3],
        "?since=1&limit=1": [3],
        "?path=/w/rest.php/*": [1, 2, 3],
        f"?page={title}&status=200": [1, 3],
    }
    assert {query: [entry["n"] for entry in mock.journal(query)] for query in expected} == expected


def test_another_sites_page_may_not_control(mock: Any) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        answer = mock.ask("/__mock/rules", method="DELETE", headers=headers)
        assert (answer.status, answer["access-control-allow-origin"]) == (403, None)
        assert mock.ask("/metrics", headers=headers).status == 403
    assert mock.ask("/__mock/rules", headers={"Host": "en.wikipedia.org"}).status == 200


def test_a_large_catalog_is_taken(mock: Any) -> None:
    (revision,) = PAGE["revisions"]
    catalog = [
        {**PAGE, "page_id": page_id, "revisions": [{**revision, "rev_id": page_id * 4096 + 1}]}
        for page_id in range(1, 20_001)
    ]
    put = mock.ask("/__mock/state", method="PUT", body={"seed": 1, "catalog": catalog})
    assert put.json["pages"] == 20_000
