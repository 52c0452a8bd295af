from typing import Any

import pytest

from devkit.stack.parts.mock_api import JournalCounts

REVISION = 28674
GONE = {"name": "gone", "do": {"status": 404}}
SLOW = {"name": "slow", "when": {"page": "Huge"}, "do": {"latency": {"fixed": "40ms"}}}
PAGE = {
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


def test_what_is_no_json_is_refused(mock: Any) -> None:
    answer = mock.ask("/__mock/state", method="PUT", body=b"{seed: 1}")
    assert answer.status == 422
    assert "Invalid JSON" in answer.json[0]["problem"]


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
    assert (missing.status, missing.json[0]["hint"]) == (404, "did you mean 'slow'? allowed: slow")
    assert mock.ask("/__mock/rules", method="DELETE").status == 204
    assert mock.ask("/__mock/rules").json == []


def test_rules_are_replaced_as_a_whole_or_not_at_all(mock: Any) -> None:
    mock.rules(GONE)
    refused = mock.ask("/__mock/rules", method="PUT", body=[SLOW, {"name": "slow", "do": {"status": 500}}])
    assert refused.status == 422
    assert "there twice" in refused.json[0]["problem"]
    assert [rule["name"] for rule in mock.ask("/__mock/rules").json] == ["gone"]


def test_the_journal_is_filtered_counted_and_cleared(mock: Any) -> None:
    mock.rules(GONE, SLOW)
    for revision, request_id in ((REVISION, "a"), (REVISION, "b"), (4097, "a")):
        mock.page(revision, X_Request_Id=request_id)
    assert [entry["n"] for entry in mock.journal("?rule=gone")] == [1, 2, 3]
    assert [entry["n"] for entry in mock.journal(f"?revision={REVISION}&request_id=b")] == [2]
    assert [entry["n"] for entry in mock.journal("?limit=1")] == [3]
    counts = mock.ask("/__mock/journal/counts").json
    assert (counts["requests"], counts["in_flight"], counts["by_status"]) == (3, 0, {"404": 3})
    assert {name: rule["requests"] for name, rule in counts["rules"].items()} == {"gone": 3, "slow": 0}
    assert mock.ask("/__mock/journal", method="DELETE").status == 204
    assert mock.journal() == []
    assert mock.ask("/__mock/state").json["requests"] == 0


def test_the_kit_reads_every_figure_that_is_counted(mock: Any) -> None:
    """Most fields of the kit's model have a default, so a figure that is renamed here would be zero there."""
    mock.rules(GONE)
    mock.page(REVISION)
    counts = mock.ask("/__mock/journal/counts").json
    read = JournalCounts.model_validate(counts).model_dump()
    assert read.keys() == counts.keys()
    for part in ("latency", "upstream"):
        assert read[part].keys() == counts[part].keys()
    assert read["rules"]["gone"].keys() == counts["rules"]["gone"].keys()
    assert (read["fetches"], sum(read["latency"]["counts"]), read["rules"]["gone"]["by_status"]) == (1, 1, {"404": 1})


def test_an_entry_has_all_its_fields(mock: Any) -> None:
    mock.page(REVISION, X_Request_Id="a")
    (entry,) = mock.journal()
    assert set(entry) == {
        *(
            "n",
            "at",
            "at_s",
            "method",
            "path",
            "host",
            "wiki",
            "page",
            "revision",
            "request_id",
            "attempt",
            "rules",
            "draws",
        ),
        *("status", "content_length", "content_encoding", "wire_bytes", "real_bytes", "duration_s", "completed"),
    }
    assert (entry["wiki"], entry["revision"], entry["status"], entry["completed"]) == ("enwiki", REVISION, 200, True)


def test_a_wrong_parameter_or_path_is_told_and_not_journalled(mock: Any) -> None:
    wrong = mock.ask("/__mock/journal?limit=many")
    assert (wrong.status, wrong.json[0]["path"]) == (422, "limit")
    nowhere = mock.ask("/__mock/nothing")
    assert nowhere.status == 404
    assert "GET /journal/counts" in nowhere.json[0]["hint"]
    assert mock.ask("/__mock/state", method="PATCH").status == 405
    assert mock.journal() == []


def test_a_large_catalog_is_taken(mock: Any) -> None:
    catalog = [
        {
            **PAGE,
            "page_id": page_id,
            "revisions": [{"rev_id": page_id * 4096 + 1, "parent_id": 0, "timestamp": "2026-01-01T00:00:00Z"}],
        }
        for page_id in range(1, 20_001)
    ]
    put = mock.ask("/__mock/state", method="PUT", body={"seed": 1, "catalog": catalog})
    assert put.json["pages"] == 20_000
