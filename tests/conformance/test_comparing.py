"""The suite's own parts: what they call the same is the same, and no change of an answer gets past them."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.compare import differences
from tests.conformance.edits import Wiki
from tests.conformance.expectations import load, save
from tests.conformance.html_shape import MOST_LINES, shape
from tests.conformance.ids import Ids
from tests.conformance.known import Comparison, Known, compare, count, load_known, write_counts
from tests.conformance.questions import load_questions
from tests.conformance.recorded import Recorder
from tests.conformance.table import document
from tests.conformance.wire import Answer

ROOMS = ("docs",)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab*<", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.builds(
    lambda status, headers, value: {"status": status, "headers": headers, "json": value, "written": "compact"},
    st.sampled_from([200, 404]),
    st.lists(st.sampled_from([["Vary", "a"], ["Vary", "b"], ["ETag", "x"], ["Age", "1"]]), max_size=4),
    JSON,
)


def answer(body: str, *headers: tuple[str, str], status: int = 200) -> Answer:
    return Answer(status, "", headers, body.encode())


def recorder() -> Recorder:
    ids = Ids()
    ids.add_revision("Plain", 720_001, 410_001, "2026-11-21T16:00:00Z")
    ids.add_revision("Plain", 720_002, 410_001, "2026-11-21T16:00:05Z")
    return Recorder(Wiki(0, "wiki.example", ids))


@given(RECORDS)
def test_a_record_does_not_differ_from_itself(record: dict[str, Any]) -> None:
    assert differences(record, deepcopy(record)) == []


@given(RECORDS, RECORDS)
def test_two_records_differ_unless_they_are_written_alike(one: dict[str, Any], other: dict[str, Any]) -> None:
    # repr tells 1 from True, and one order of members or headers from another.
    assert (differences(one, other) == []) == (repr(one) == repr(other))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"status": 404}, "status"),
        ({"headers": [["Vary", "b"], ["ETag", "x"]]}, "header vary"),
        ({"headers": [["ETag", "x"], ["Vary", "a"]]}, "order of headers"),
        ({"headers": [["Vary", "a"]]}, "header etag"),
        ({"json": {"b": 1, "a": [1, {"c": "x"}]}}, "json order of members"),
        ({"json": {"a": [1, {"c": "y"}], "b": 1}}, "json/a/1/c"),
        ({"json": {"a": [1, {"c": "x"}], "b": True}}, "json/b"),
        ({"json": {"a": [1, {"c": "x"}], "b": 1, "d": 0}}, "json/d"),
        ({"json": {"a": [1], "b": 1}}, "json/a"),
        ({"written": "compact, ascii"}, "how the JSON is written"),
    ],
)
def test_a_difference_is_told_by_its_place(change: dict[str, Any], place: str) -> None:
    real = {
        "status": 200,
        "headers": [["Vary", "a"], ["ETag", "x"]],
        "json": {"a": [1, {"c": "x"}], "b": 1},
        "written": "compact",
    }
    assert [difference.place for difference in differences(real, {**real, **change})] == [place]


def test_html_differs_in_head_or_body() -> None:
    def record(text: str) -> dict[str, Any]:
        return {"status": 200, "headers": [], "html": shape(text)}

    real = record("<!DOCTYPE html>\n<html><head><title>A</title></head><body><p>B</p></body></html>")
    other = record("<!DOCTYPE html>\n<html><head><title>A</title></head><body><p><b>B</b></p></body></html>")
    assert [difference.place for difference in differences(real, other)] == ["html, body"]
    other = record("<!DOCTYPE html>\n<html><head><title>C</title></head><body><p>B</p></body></html>")
    assert [difference.place for difference in differences(real, other)] == ["html, head"]


def test_the_shape_shows_nesting_and_cuts_what_is_long() -> None:
    assert shape('<p id="mwAb">a<br/><b class="x">b</b></p><i>c</i>') == [
        '<p id="mw…">',
        " a",
        " <br/>",
        ' <b class="x">',
        "  b",
        "<i>",
        " c",
    ]
    long = shape("".join(f"<p>{n}</p>" for n in range(MOST_LINES)))
    assert len(long) == MOST_LINES + 1
    assert long != shape("".join(f"<p>{n}</p>" for n in range(MOST_LINES - 1)) + "<p>other</p>")


def test_numbers_and_times_are_recorded_as_what_they_are() -> None:
    body = (
        '{"id":720001,"page":{"id":410001,"key":"Plain"},"size":40,"userid":17,"timestamp":"2026-11-21T16:00:00Z",'
        '"other":"2026-11-21T16:00:05Z","url":"/revision/720002/html"}'
    )
    etag = '"720001/d7616c55-e5c5-11f1-8824-0242d1661de4/view/html"'
    headers = [
        ("ETag", etag),
        ("Date", "now"),
        ("Last-Modified", "Sat, 21 Nov 2026 16:00:00 GMT"),
        ("Content-Length", "7"),
    ]
    record = recorder().record("a", answer(body, *headers), ["Plain:1"])
    assert record["json"] == {
        "id": "<revision Plain:1>",
        "page": {"id": "<page Plain>", "key": "Plain"},
        "size": 40,
        "userid": "<user id>",
        "timestamp": "<its time>",
        "other": "<time>",
        "url": "/revision/<revision Plain:2>/html",
    }
    assert record["headers"] == [
        ["ETag", '"<revision Plain:1>/<uuid v1>/view/html"'],
        ["Last-Modified", "<time of the parse>"],
        ["Content-Length", "7"],
    ]
    assert record["written"] == "compact"


def test_an_etag_is_the_hash_of_its_revision_or_stays_as_it_is() -> None:
    right = '"6f8d9f8d1c0b9e0c0a5b6c7d8e9f00112233aabb"'
    names = recorder().names
    known = next(digest for digest, label in names.hashes.items() if label == "sha1 of Plain:1 a1")
    record = recorder().record("a", answer("{}", ("ETag", f'"{known}"'), ("X-Other", right)), [])
    assert record["headers"] == [["ETag", '"<sha1 of Plain:1 a1>"'], ["X-Other", right]]


def test_how_json_is_written_is_kept() -> None:
    written = {text: recorder().record("a", answer(text), [])["written"] for text in ('{"a":"é"}', '{"a":"\\u00e9"}')}
    assert list(written.values()) == ["compact, utf-8", "compact, ascii"]
    assert recorder().record("a", answer('{"a": 1}'), [])["written"] == "otherwise"
    assert recorder().record("a", answer('{"a":"\\/"}'), [])["written"] == "compact, slashes escaped"


def test_the_same_html_again_is_referred_to() -> None:
    one = recorder()
    page = "<!DOCTYPE html>\n<html><body><p>x</p></body></html>"
    assert isinstance(one.record("first", answer(page), [])["html"], list)
    assert one.record("second", answer(page), [])["html"] == "as of first"


def test_an_entry_that_covers_too_few_or_too_many_is_seen() -> None:
    real = {"g": {"one": {"status": 200, "headers": []}, "two": {"status": 200, "headers": []}}}
    mock = {"g": {"one": {"status": 500, "headers": []}, "two": {"status": 404, "headers": []}}}
    comparison = compare(real, mock)
    counts, news = count([Known("it is broken", "g", ("on*",), ("header *", "status"), 1)], comparison)
    assert (counts, [found.question for found in news]) == ({0: 1}, ["two"])
    assert comparison.differing("g") == 2


@pytest.mark.parametrize(
    "records", [({}, {}), ({"g": {}}, {"g": {}}), ({"g": {"a": {}}}, {"g": {}}), ({"g": {"a": {}}}, {"g": {"b": {}}})]
)
def test_a_run_that_compares_nothing_or_not_all_fails(records: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match=r"nothing was compared|not asked of both"):
        compare(*records)


def test_an_entry_without_a_reason_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "differences.yaml"
    file.write_text("- {place: status, count: 1}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"differences\.yaml, entry 1: `why` and `count` are needed"):
        load_known(file)


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    records = load()
    save(records, "MediaWiki 0", tmp_path / "expected")
    assert load(tmp_path / "expected") == records


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("- {gett: /}", "unknown keys"),
        ("- {get: /, post: /}", "one of"),
        ("- {get: /a}\n- {get: /a}", "asked twice"),
    ],
)
def test_a_question_that_is_not_one_is_refused(tmp_path: Path, entry: str, message: str) -> None:
    (tmp_path / "x.yaml").write_text(entry, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_questions(tmp_path)


def two_differences() -> Comparison:
    real = {
        "01-revision": {"one": {"status": 200, "headers": []}, "two": {"status": 200, "headers": [["Vary", "a|b"]]}}
    }
    mock = {"01-revision": {"one": {"status": 200, "headers": []}, "two": {"status": 404, "headers": [["Vary", "c"]]}}}
    return compare(real, mock)


def test_the_document_counts_answers_and_shows_an_example_of_each_difference() -> None:
    known = [
        Known("told apart | by it", "*", ("*",), ("header vary",), 1),
        Known("never there", "*", ("*",), ("status",), 1),
    ]
    text = document(two_differences(), known, "MediaWiki 0.1")
    assert "MediaWiki 0.1" in text
    assert "Of 2 answers, 1 are identical." in text
    assert "| Every form of the revision routes for every kind of revision. | 2 | 1 | `01-revision` |" in text
    assert "| 1 | told apart \\| by it | `` two: header vary `` | `` a\\|b `` | `` c `` |" in text
    assert "| 1 | never there | `` two: status `` | `` 200 `` | `` 404 `` |" in text


def test_counts_are_written_where_they_belong(tmp_path: Path) -> None:
    file = tmp_path / "differences.yaml"
    file.write_text("# why\n- why: a\n  place: status\n  count: 0\n- why: b\n  count: 7\n", encoding="utf-8")
    counts, _ = count(load_known(file), two_differences())
    write_counts(counts, file)
    assert file.read_text(encoding="utf-8") == "# why\n- why: a\n  place: status\n  count: 1\n- why: b\n  count: 1\n"
