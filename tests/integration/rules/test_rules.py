"""The pipeline's rules, each by what a run of it leaves when the rule is obeyed; `python -m tests.mutants` switches
them off one by one and shows that these tests, and a few others, say so.

Set-up: one run of a real pipeline for all tests (see `tests.integration.rules.day`), on a real Kafka, object store and
mock MediaWiki. Its pages are what the rules are about: too large by a few bytes, hanging, answering 503 slowly.
"""

import copy
import hashlib
from typing import Any

import orjson
import pytest

from devkit.guardian import Guardian
from devkit.stack.stack import CLAIM_CHECKS, Stack
from tests.integration.rules import day as of
from tests.integration.rules.day import Day, play

ROOMS = ("pipeline/deferral", "pipeline/fetch", "pipeline/memory", "pipeline/records", "pipeline/worker")

# Of a batch and a record by Kafka's format, as its producer reckons them: key, value and headers come on top.
_OVERHEAD = 61 + 21
_MAX_ERROR_BYTES = 2048


@pytest.fixture(scope="session")
def day(stack: tuple[Guardian, Stack], tmp_path_factory: pytest.TempPathFactory) -> Day:
    return play(*stack, tmp_path_factory.mktemp("rules") / "bench")


def test_a_record_over_the_producers_limit_by_its_headers_alone_goes_by_claim_check(day: Day) -> None:
    """Of pages whose records are a few bytes apart, exactly those go inline whose whole record fits."""
    assert day.drained, f"the job did not get on: {day.last_words}"
    fits_but_for_headers = 0
    for arrival in day.outputs_of(*of.EDGES):
        claim, title = arrival.headers.get("claim-check-length"), day.name_of(arrival)
        value_bytes = int(claim) if claim else len(arrival.value)
        source = {name: content for name, content in arrival.headers.items() if name.startswith("source-")}
        inline_bytes = record_bytes(of.key_of(title), value_bytes, source)
        assert (claim is not None) == (inline_bytes > of.LIMIT_BYTES), f"{title}: {inline_bytes} bytes"
        fits_but_for_headers += claim is not None and record_bytes(of.key_of(title), value_bytes, {}) <= of.LIMIT_BYTES
    assert fits_but_for_headers


def test_content_is_measured_decoded_and_not_by_its_content_length(day: Day) -> None:
    """The page is over the content limit when it is decoded, and below it on the wire."""
    assert {request["status"] for request in day.of_page(of.HEAVY)} == {200}
    assert all(request["content_length"] < of.CONTENT_LIMIT_BYTES for request in day.of_page(of.HEAVY))
    (arrival,) = day.outputs_of(of.HEAVY)
    assert "claim-check-key" in arrival.headers, "it went inline"


def test_an_event_too_large_without_content_ends_as_an_error_event(day: Day) -> None:
    assert day.drained, f"the job did not get on: {day.last_words}"
    assert error_types(day, of.TOO_LARGE) == ["source_event_too_large"]


def test_what_is_too_large_is_in_the_store_whole_and_the_event_refers_to_it(day: Day) -> None:
    assert not day.errors_of(of.HEAVY), "the event was given up"
    (arrival,) = day.outputs_of(of.HEAVY)
    event = orjson.loads(arrival.value)
    assert "content_body" not in event["revision"]["content_slots"]["main"]
    assert "html_diff" not in event
    headers = {name: value.decode() for name, value in arrival.headers.items()}
    assert {name for name in headers if name.startswith("claim-check-")} == {
        f"claim-check-{part}" for part in ("bucket", "key", "length", "sha256", "content-type")
    }, "the event does not say where its payload is"
    assert headers["claim-check-bucket"] == CLAIM_CHECKS
    stored = day.bench._client.get_object(Bucket=CLAIM_CHECKS, Key=headers["claim-check-key"])["Body"].read()
    assert len(stored) == int(headers["claim-check-length"])
    assert hashlib.sha256(stored).hexdigest() == headers["claim-check-sha256"]
    payload = orjson.loads(stored)
    body = payload["revision"]["content_slots"]["main"].pop("content_body")
    assert len(body.encode()) == 40 * of.KIB
    assert payload.pop("html_diff")["format"] == "unified"
    assert payload == event


def test_an_error_event_is_small_whatever_it_is_about(day: Day) -> None:
    assert error_types(day, of.MALFORMED) == ["malformed_json"], f"it did not come through: {day.last_words}"
    for arrival in day.errors:
        assert len(arrival.value) < _MAX_ERROR_BYTES
        assert record_bytes(None, len(arrival.value), arrival.headers) < of.LIMIT_BYTES


def test_all_requests_for_a_record_share_one_deadline(day: Day) -> None:
    """Five answers 503 of 900 ms each, twice at once: more than the allowance, so the event is deferred meanwhile."""
    assert answers(day, of.DRAGGING) == {"latest": {503, 200}, "parent": {503, 200}}
    assert of.DRAGGING in day.put_aside(), "all requests were made inline, beyond the allowance"


def test_a_gateways_timeout_is_not_asked_again_inline(day: Day) -> None:
    assert answers(day, of.GATEWAY) == {"latest": {504, 200}, "parent": {504, 200}}
    assert of.GATEWAY in day.put_aside(), "504 was retried inline"


def test_a_pause_that_is_asked_for_is_kept(day: Day) -> None:
    for requests in by_role(day, of.BUSY).values():
        assert [request["status"] for request in requests] == [429, 200]
        pause_s = requests[1]["at_s"] - requests[0]["at_s"]
        assert pause_s >= of.RETRY_AFTER_S, f"asked again after {pause_s} s"


def test_a_page_that_hangs_holds_no_batch(day: Day) -> None:
    assert not day.held, "the batch waited for the page that hangs"
    assert of.HANGING in day.put_aside()


def test_events_of_a_page_leave_in_their_order_and_each_once(day: Day) -> None:
    """The first of the page hangs, so all others of it could overtake it: in its batch, and one in a later batch."""
    left = sorted(day.outputs_of(of.HANGING, of.LATE), key=lambda arrival: (arrival.partition, arrival.offset))
    offsets = [arrival.source[2] for arrival in left if arrival.source is not None]
    assert day.late_comes_later, "there was no later batch"
    assert offsets == sorted(offsets), "events of one page overtook each other"
    assert len(offsets) == len(set(offsets)) == 7


def test_bounds_are_those_of_the_executor_as_a_whole(day: Day) -> None:
    """Two workers of the main lane share the bounds; the slow lane has its own."""
    first, settings = day.logged("bounds")[0], day.logged("memory")[0]["settings"]
    assert first["workers"] == of.WORKERS
    assert first["requests"] == of.CONCURRENCY // of.WORKERS, "each worker has the whole bound on requests"
    in_flight = settings["fetch.max_in_flight_bytes"]
    assert first["bytes"] == in_flight // of.WORKERS, "each worker has the whole bound on bytes"
    assert first["slow_round_requests"] == of.SLOW_CONCURRENCY
    assert most_at_once(day, of.CROWD) <= of.CONCURRENCY + of.SLOW_CONCURRENCY


def test_memory_comes_from_the_limit(day: Day) -> None:
    """All parts are within it, and what the job and its JVM have as effective settings is what was derived."""
    memory, (spark,) = day.logged("memory")[0], day.logged("effective_settings")
    assert sum(memory["parts"].values()) <= memory["limit"]["bytes"] == 8 * of.KIB**3
    assert spark["heap_bytes"] <= memory["parts"]["JVM heap"]
    effective, bounds = day.logged("configuration")[0]["effective"], day.logged("bounds")[0]
    assert {
        "fetch.max_in_flight_bytes": effective["fetch"]["max_in_flight_bytes"],
        "deferral.slow_lane.max_in_flight_bytes": bounds["slow_round_bytes"],
        "claim_check.max_bytes": effective["claim_check"]["max_bytes"],
        "result_buffer": effective["result_buffer"],
    } == memory["settings"], "what is effective is not what the limit leaves"


def test_the_configuration_in_force_is_said_before_all_else(day: Day) -> None:
    assert [line["event"] for line in day.lines[:1]] == ["configuration"], "the configuration is not said"
    logged, given = copy.deepcopy(day.lines[0]["effective"]), day.bench.config.model_dump(mode="json", by_alias=True)
    # What the memory limit decides is looked at elsewhere.
    for config in (logged, given):
        for section, key in ((config["fetch"], "max_in_flight_bytes"), (config["claim_check"], "max_bytes")):
            del section[key]
        del config["deferral"]["slow_lane"]["max_in_flight_bytes"], config["result_buffer"]
    assert logged == given
    assert day.lines[0]["unsafe"] == []


def test_an_event_chooses_no_host(day: Day) -> None:
    """One event names a wiki that is not configured, one only the domain of another host."""
    assert {request["host"] for request in day.requests} <= {"en.wikipedia.org"}, "an event's host was asked"
    assert error_types(day, of.FOREIGN) == ["unknown_wiki"]
    assert len(day.outputs_of(of.BORROWED)) == 1


def test_the_run_as_a_whole(day: Day) -> None:
    """What the other tests look at happened in a run that ended well, in which nothing else went wrong."""
    assert day.drained, day.last_words
    assert day.exit_code == 0
    ends = [arrival.source for arrival in (*day.outputs, *day.errors)]
    assert sorted(end[1:] for end in ends if end) == sorted(day.names)
    assert {day.name_of(arrival) for arrival in day.errors} == {of.MALFORMED, of.FOREIGN, of.TOO_LARGE}


def record_bytes(key: bytes | None, value_bytes: int, headers: dict[str, bytes]) -> int:
    """As Kafka's producer reckons it, by its format's description and not by the pipeline's code."""
    size = _OVERHEAD + varint(len(headers)) + varint(value_bytes) + value_bytes
    size += 1 if key is None else varint(len(key)) + len(key)
    for name, content in headers.items():
        size += varint(len(name.encode())) + len(name.encode()) + varint(len(content)) + len(content)
    return size


def varint(number: int) -> int:
    """Bytes of a length: seven bits in each, one of which is its sign."""
    return next(count for count in range(1, 6) if number < 1 << (7 * count - 1))


def error_types(day: Day, name: str) -> list[str]:
    return [orjson.loads(arrival.value)["error_type"] for arrival in day.errors_of(name)]


def by_role(day: Day, title: str) -> dict[str, list[dict[str, Any]]]:
    """Requests for the page's latest and parent revision that the client waited for, in their order."""
    found: dict[str, list[dict[str, Any]]] = {"latest": [], "parent": []}
    for request in sorted(day.of_page(title), key=lambda request: request["at_s"]):
        if request["completed"]:
            found[request["request_id"].rpartition(":")[2]].append(request)
    return found


def answers(day: Day, title: str) -> dict[str, set[int]]:
    return {role: {request["status"] for request in requests} for role, requests in by_role(day, title).items()}


def most_at_once(day: Day, titles: list[str]) -> int:
    """Most requests for the pages that were under way together. The last tenth of each does not count: the client may
    have had its answer before the server was done with it.
    """
    ended = [request for title in titles for request in day.of_page(title) if request["completed"]]
    steps = sorted(
        step
        for request in ended
        for step in ((request["at_s"], 1), (request["at_s"] + 0.9 * request["duration_s"], -1))
    )
    most = under_way = 0
    for _at, change in steps:
        under_way += change
        most = max(most, under_way)
    return most
