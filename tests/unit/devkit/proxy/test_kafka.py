"""What the toxics of a Kafka listener make of requests and responses, frame by frame, without a broker."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any, get_args
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.admin import ListGroupsRequest
from kafka.protocol.consumer import (
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from kafka.protocol.metadata import (
    ApiVersionsRequest,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka.protocol.producer import ProduceRequest, ProduceResponse

from devkit.proxy.kafka.conversation import Conversation
from devkit.proxy.kafka.errors import ERRORS, ErrorName
from devkit.proxy.kafka.frame import FrameError, framed, parse_request_head, read_frame
from devkit.proxy.proof import ProxyProof
from devkit.proxy.toxics.kafka_error import KafkaEffect, KafkaError
from devkit.proxy.toxics.toxic import ToxicContext

TOPIC_ID = UUID(int=7)
PRODUCE_VERSIONS = (3, 8, 9, 12)
FETCH_VERSIONS = (4, 11, 12)


class Bench:
    """One connection, on which these toxics act."""

    def __init__(self, *toxics: dict[str, object], seed: int = 1) -> None:
        self.effects = [
            KafkaEffect(KafkaError.model_validate(toxic), ToxicContext(f"t{number}", seed, "both", 0.0, ProxyProof()))
            for number, toxic in enumerate(toxics)
        ]
        self.conversation = Conversation(1, lambda: self.effects, {})

    @property
    def requests(self) -> int:
        return self.effects[0].proof.counts.requests

    def ask(self, request: Any, correlation_id: int = 5) -> bytes:
        return self.conversation.request(written(request, correlation_id))

    def answer(self, response: Any, correlation_id: int = 5) -> bytes | None:
        return self.conversation.response(written(response, correlation_id))


def written(message: Any, correlation_id: int = 5) -> bytes:
    message.with_header(correlation_id=correlation_id)
    return bytes(message.encode(header=True))


def is_probe(frame: bytes) -> bool:
    return parse_request_head(frame).api_key == int(ApiVersionsRequest.API_KEY)


def produce(version: int, partitions: Sequence[int] = (0,), *, topic: str = "out", acks: int = -1) -> Any:
    topic_class = ProduceRequest.fields["topic_data"].data_class
    partition_class = topic_class.fields["partition_data"].data_class
    named: dict[str, object] = {"topic_id": TOPIC_ID} if version >= 13 else {"name": topic}
    data = [partition_class(version=version, index=index, records=b"records") for index in partitions]
    topics = [topic_class(version=version, partition_data=data, **named)]
    return ProduceRequest(version=version, acks=acks, timeout_ms=1000, topic_data=topics)


def produced(version: int, partitions: Sequence[int] = (0,), *, error: int = 0, topic: str = "out") -> Any:
    topic_class = ProduceResponse.fields["responses"].data_class
    partition_class = topic_class.fields["partition_responses"].data_class
    named: dict[str, object] = {"topic_id": TOPIC_ID} if version >= 13 else {"name": topic}
    data = [partition_class(version=version, index=index, error_code=error, base_offset=3) for index in partitions]
    return ProduceResponse(version=version, responses=[topic_class(version=version, partition_responses=data, **named)])


def fetch(version: int, *, epoch: int = 0, partitions: Sequence[int] = (0,)) -> Any:
    topic_class = FetchRequest.fields["topics"].data_class
    partition_class = topic_class.fields["partitions"].data_class
    data = [partition_class(version=version, partition=index, fetch_offset=9) for index in partitions]
    topics = [topic_class(version=version, topic="in", partitions=data)]
    sessions: dict[str, object] = {"session_id": 4 if epoch > 0 else 0, "session_epoch": epoch} if version >= 7 else {}
    return FetchRequest(version=version, max_wait_ms=500, min_bytes=1, topics=topics, **sessions)


def codes(response: Any, topics: str, partitions: str, index: str) -> dict[int, int]:
    return {
        getattr(partition, index): partition.error_code
        for topic in getattr(response, topics)
        for partition in getattr(topic, partitions)
    }


def produce_codes(frame: bytes | None, version: int) -> dict[int, int]:
    assert frame is not None
    response = ProduceResponse.decode(frame, version=version, header=True)
    return codes(response, "responses", "partition_responses", "index")


NOT_LEADER: dict[str, object] = {"error": "not_leader_or_follower", "api": "produce"}
UNTOUCHED: list[Any] = [
    produce(9),
    produce(9, acks=0),
    fetch(12, epoch=3),
    HeartbeatRequest(version=4, group_id="g", generation_id=1, member_id="m"),
    ApiVersionsRequest(version=3, client_software_name="x", client_software_version="1"),
    ListGroupsRequest(version=4),
    MetadataRequest(version=12),
]


@pytest.mark.parametrize("request_", UNTOUCHED, ids=lambda request: str(request.name))
def test_without_a_toxic_every_frame_passes_unchanged(request_: Any) -> None:
    bench, frame = Bench(), written(request_)
    assert bench.conversation.request(frame) is frame
    answer = (5).to_bytes(4, "big") + b"whatever the broker says"
    assert bench.conversation.response(answer) is answer


@pytest.mark.parametrize("request_", [request for request in UNTOUCHED if request.name != "ProduceRequest"])
def test_a_toxic_leaves_other_apis_unchanged(request_: Any) -> None:
    frame = written(request_)
    assert Bench(NOT_LEADER).conversation.request(frame) is frame


@pytest.mark.parametrize("version", PRODUCE_VERSIONS)
@pytest.mark.parametrize("error", [name for name, error in ERRORS.items() if "produce" in error.apis])
def test_a_produced_batch_fails_with_the_error(error: ErrorName, version: int) -> None:
    bench = Bench({"error": error, "api": "produce", "topic": "out"})
    frame = written(produce(version))
    sent = bench.conversation.request(frame)
    if ERRORS[error].applied:
        assert sent is frame
        answer = bench.answer(produced(version))
    else:
        assert is_probe(sent)
        assert bench.requests == 1
        answer = bench.conversation.response((5).to_bytes(4, "big") + b"what ApiVersions returned")
    assert produce_codes(answer, version) == {0: ERRORS[error].code}
    assert bench.requests == 1


@pytest.mark.parametrize("version", PRODUCE_VERSIONS)
def test_only_the_partition_that_is_meant_fails_and_the_others_reach_the_broker(version: int) -> None:
    bench = Bench({**NOT_LEADER, "partition": 1})
    sent = ProduceRequest.decode(bench.ask(produce(version, (0, 1, 2))), version=version, header=True)
    assert [one.index for topic in sent.topic_data for one in topic.partition_data] == [0, 2]
    assert produce_codes(bench.answer(produced(version, (0, 2))), version) == {0: 0, 1: 6, 2: 0}


@pytest.mark.parametrize("toxic", [{**NOT_LEADER, "topic": "in"}, {**NOT_LEADER, "partition": 3}])
def test_what_matches_nothing_passes_and_does_not_count(toxic: dict[str, object]) -> None:
    bench, frame = Bench(toxic), written(produce(9))
    assert bench.conversation.request(frame) is frame
    assert bench.effects[0].proof.counts.first_at is None


def test_a_client_that_waits_for_no_answer_gets_none() -> None:
    bench, frame = Bench(NOT_LEADER), written(produce(9, acks=0))
    assert bench.conversation.request(frame) is frame


def test_a_topic_with_an_id_is_known_by_the_metadata_that_passed() -> None:
    bench = Bench({**NOT_LEADER, "topic": "out"})
    untouched = written(produce(13))
    assert bench.conversation.request(untouched) is untouched
    bench.ask(MetadataRequest(version=12), correlation_id=4)
    topic = MetadataResponse.fields["topics"].data_class(version=12, name="out", topic_id=TOPIC_ID, partitions=[])
    answer = written(MetadataResponse(version=12, topics=[topic], brokers=[]), 4)
    assert bench.conversation.response(answer) is answer
    assert is_probe(bench.ask(produce(13)))
    assert produce_codes(bench.conversation.response(bytes(3) + b"\5"), 13) == {0: 6}


def test_an_answer_is_lost_after_the_broker_has_acknowledged() -> None:
    bench, frame = Bench({"error": "lost_answer", "api": "produce", "times": 1}), written(produce(9))
    assert bench.conversation.request(frame) is frame
    refused = written(produced(9, error=19))
    assert bench.conversation.response(refused) is refused, "no acknowledgement to lose"
    assert bench.requests == 0
    bench.conversation.request(frame)
    assert bench.answer(produced(9)) is None
    assert bench.requests == 1
    bench.conversation.request(frame)
    assert bench.answer(produced(9)) is not None, "once is enough"


def test_a_throttled_answer_says_for_how_long() -> None:
    bench = Bench({"error": "throttled", "api": "produce", "throttle": "2s"})
    bench.ask(produce(9))
    answer = bench.answer(produced(9))
    assert answer is not None
    assert ProduceResponse.decode(answer, version=9, header=True).throttle_time_ms == 2000


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_a_fetch_fails_at_once_and_outside_any_session(version: int) -> None:
    bench = Bench({"error": "offset_out_of_range", "api": "fetch", "partition": 1})
    sent = FetchRequest.decode(bench.ask(fetch(version, partitions=(0, 1))), version=version, header=True)
    assert [one.partition for topic in sent.topics for one in topic.partitions] == [0]
    assert (sent.session_epoch, sent.max_wait_ms) == (-1, 0)
    topic_class = FetchResponse.fields["responses"].data_class
    partition = topic_class.fields["partitions"].data_class(version=version, partition_index=0, records=b"data")
    topic = topic_class(version=version, topic="in", partitions=[partition])
    frame = bench.answer(FetchResponse(version=version, responses=[topic]))
    assert frame is not None
    answer = FetchResponse.decode(frame, version=version, header=True)
    assert codes(answer, "responses", "partitions", "partition_index") == {0: 0, 1: 1}
    assert [bytes(one.records) for one in answer.responses[0].partitions] == [b"data", b""]


def test_a_fetch_of_a_session_is_asked_to_begin_again_without() -> None:
    bench = Bench({"error": "offset_out_of_range", "api": "fetch"})
    assert is_probe(bench.ask(fetch(12, epoch=3)))
    frame = bench.conversation.response(bytes(3) + b"\5")
    assert frame is not None
    assert FetchResponse.decode(frame, version=12, header=True).error_code == 70
    assert bench.requests == 0


GROUP = OffsetFetchRequest.fields["groups"].data_class(version=8, group_id="g", topics=None)
JOIN = JoinGroupRequest(version=9, group_id="g", member_id="m", protocol_type="consumer", protocols=[])
HEARTBEAT = HeartbeatRequest(version=4, group_id="g", generation_id=1, member_id="m")


def error_of(answer: Any) -> Any:
    return answer.error_code


@pytest.mark.parametrize(
    ("api", "request_", "response", "read"),
    [
        ("heartbeat", HEARTBEAT, HeartbeatResponse, error_of),
        ("join_group", JOIN, JoinGroupResponse, lambda answer: answer.member_id == "m" and answer.error_code),
        ("offset_fetch", OffsetFetchRequest(version=7, group_id="g", topics=[]), OffsetFetchResponse, error_of),
        (
            "offset_fetch",
            OffsetFetchRequest(version=8, groups=[GROUP]),
            OffsetFetchResponse,
            lambda answer: {group.group_id: group.error_code for group in answer.groups}["g"],
        ),
        ("find_coordinator", FindCoordinatorRequest(version=3, key="g"), FindCoordinatorResponse, error_of),
        (
            "find_coordinator",
            FindCoordinatorRequest(version=4, coordinator_keys=["g"]),
            FindCoordinatorResponse,
            lambda answer: {one.key: one.error_code for one in answer.coordinators}["g"],
        ),
    ],
)
def test_a_group_s_request_fails_as_a_whole(api: str, request_: Any, response: Any, read: Any) -> None:
    bench = Bench({"error": "coordinator_not_available", "api": api})
    assert is_probe(bench.ask(request_))
    frame = bench.conversation.response(bytes(3) + b"\5")
    assert frame is not None
    assert read(response.decode(frame, version=request_.version, header=True)) == 15


def test_a_share_is_the_same_for_the_same_seed_and_not_for_another() -> None:
    def drawn(seed: int) -> list[bool]:
        bench = Bench({**NOT_LEADER, "share": "50%"}, seed=seed)
        return [is_probe(bench.ask(produce(9), number)) for number in range(40)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert 5 < sum(drawn(1)) < 35


def test_it_acts_so_many_times_and_no_more() -> None:
    bench = Bench({**NOT_LEADER, "times": 2})
    assert [is_probe(bench.ask(produce(9), number)) for number in range(4)] == [True, True, False, False]


def test_a_refusal_stays_one_when_the_toxic_ends_before_its_answer_and_others_pass() -> None:
    refusing, losing = Bench(NOT_LEADER), Bench({"error": "lost_answer", "api": "produce"})
    for bench in (refusing, losing):
        bench.ask(produce(9))
        bench.effects[0].end()
    assert produce_codes(refusing.conversation.response(bytes(3) + b"\5"), 9) == {0: 6}
    assert losing.answer(produced(9)) is not None


@pytest.mark.parametrize(
    ("toxic", "message"),
    [
        ({"error": "offset_out_of_range", "api": "produce"}, "a broker never answers produce with offset_out_of_range"),
        ({"error": "not_coordinator", "api": "heartbeat", "topic": "out"}, "requests of heartbeat are not by topic"),
        ({"error": "throttled", "api": "fetch"}, "throttle belongs to error: throttled alone"),
        ({**NOT_LEADER, "throttle": "2s"}, "throttle belongs to error: throttled alone"),
        ({"error": "throttled", "api": "fetch", "throttle": "2h"}, "throttle is more than 0 and at most 1h"),
    ],
)
def test_an_impossible_error_is_refused(toxic: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KafkaError.model_validate(toxic)


def test_every_error_that_may_be_named_is_one() -> None:
    assert set(get_args(ErrorName)) == ERRORS.keys()


@given(frames=st.lists(st.binary(max_size=40), max_size=5), data=st.data())
def test_frames_are_the_same_wherever_their_bytes_are_split(frames: list[bytes], data: st.DataObject) -> None:
    wire = b"".join(map(framed, frames))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(wire)), max_size=12)))

    async def read_all() -> list[bytes]:
        reader = asyncio.StreamReader()
        reading = asyncio.ensure_future(_frames(reader))
        for begin, end in zip([0, *cuts], [*cuts, len(wire)], strict=True):
            reader.feed_data(wire[begin:end])
            await asyncio.sleep(0)
        reader.feed_eof()
        return await reading

    assert asyncio.run(read_all()) == frames


async def _frames(reader: asyncio.StreamReader) -> list[bytes]:
    frames = list[bytes]()
    while (frame := await read_frame(reader)) is not None:
        frames.append(frame)
    return frames


@pytest.mark.parametrize("wire", [b"\0\0", framed(b"abc")[:-1], b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n"])
def test_what_is_no_frame_is_refused(wire: bytes) -> None:
    async def read() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(wire)
        reader.feed_eof()
        await read_frame(reader)

    with pytest.raises(FrameError):
        asyncio.run(read())


@given(st.binary(max_size=60))
def test_whatever_a_client_sends_passes_or_is_refused(frame: bytes) -> None:
    bench = Bench(NOT_LEADER, {"error": "offset_out_of_range", "api": "fetch"})
    with contextlib.suppress(FrameError):
        assert isinstance(bench.conversation.request(frame), bytes)
