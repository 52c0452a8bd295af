"""The requests and responses of one connection: what the toxics change in each, without any socket."""

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from devkit.proxy.kafka.api import APIS, FETCH, PRODUCE, KafkaApi, Target, UndecodableError, decode
from devkit.proxy.kafka.frame import (
    FrameError,
    FrameHead,
    api_versions_request,
    correlation_id_of,
    parse_request_head,
    response_body_start,
    response_head,
)
from devkit.proxy.toxics.kafka_error import KafkaEffect

_FETCH_SESSION_ID_NOT_FOUND: Final = 70
_NO_SESSION: Final = -1


@dataclass(frozen=True)
class _Act:
    effect: KafkaEffect
    targets: Sequence[Target]


@dataclass(frozen=True)
class _Pending:
    """A request whose response is changed; with `replaced`, the broker answers another request in its place."""

    api: KafkaApi
    version: int
    request: Any
    acts: Sequence[_Act] = ()
    replaced: bool = False
    forgets_session: bool = False


class Conversation:
    """Both directions of connection `number`. `names` of topics by id are shared by a listener's connections."""

    def __init__(
        self, number: int, effects: Callable[[], Sequence[KafkaEffect]], names: MutableMapping[UUID, str]
    ) -> None:
        self._number, self._effects, self._names = number, effects, names
        self._pending: dict[int, _Pending] = {}
        self._metadata: dict[int, int] = {}

    def request(self, frame: bytes) -> bytes:
        """The frame that goes to the broker in place of this one: the same, unless a toxic acts. Raises FrameError."""
        head = parse_request_head(frame)
        if head.api_key == int(MetadataRequest.API_KEY):
            self._metadata[head.correlation_id] = head.version
        api = APIS.get(head.api_key)
        if api is None or not api.knows(head.version):
            return frame
        effects = [effect for effect in self._effects() if effect.toxic.api == api.name]
        if not effects:
            return frame
        start = head.body_start(frame, flexible=api.is_flexible(head.version))
        try:
            request = api.decode_request(frame[start:], head.version)
        except UndecodableError as error:
            raise FrameError(str(error)) from error
        if api is PRODUCE and request.acks == 0:
            return frame  # the client waits for no answer
        if api is FETCH:
            return self._fetch(frame, head, start, request, effects)
        return self._apply(frame, head, start, request, effects)

    def response(self, frame: bytes) -> bytes | None:
        """The frame that goes to the client in place of this one; None where the connection ends instead.

        Raises FrameError.
        """
        correlation_id = correlation_id_of(frame)
        if correlation_id in self._metadata:
            self._learn(frame, self._metadata.pop(correlation_id))
        pending = self._pending.pop(correlation_id, None)
        if pending is None:
            return frame
        acts = [act for act in pending.acts if act.effect.refuses or not act.effect.ended]
        if not acts and not pending.replaced:
            return frame
        api, version = pending.api, pending.version
        flexible = api.is_flexible(version)
        if pending.replaced:
            head = response_head(correlation_id, flexible=flexible)
            response = api.refusal(pending.request, version)
        else:
            start = response_body_start(frame, flexible=flexible)
            head = frame[:start]
            try:
                response = api.decode_response(frame[start:], version)
            except UndecodableError as error:
                raise FrameError(str(error)) from error
        if pending.forgets_session:
            response.error_code = _FETCH_SESSION_ID_NOT_FOUND
        changes = [self._change(act, api, response, len(frame)) for act in acts]
        if "lost" in changes:
            return None
        return head + bytes(response.encode()) if any(changes) or pending.replaced else frame

    def _fetch(self, frame: bytes, head: FrameHead, start: int, request: Any, effects: Sequence[KafkaEffect]) -> bytes:
        """A fetch session would hide which partitions are asked for: the client is asked to begin again without one."""
        if request.session_epoch > 0:
            self._pending[head.correlation_id] = _Pending(
                FETCH, head.version, request, replaced=True, forgets_session=True
            )
            return api_versions_request(head.correlation_id)
        changed = request.session_epoch != _NO_SESSION
        request.session_epoch = _NO_SESSION
        if changed:
            frame = frame[:start] + bytes(request.encode())
        return self._apply(frame, head, start, request, effects)

    def _apply(self, frame: bytes, head: FrameHead, start: int, request: Any, effects: Sequence[KafkaEffect]) -> bytes:
        api = APIS[head.api_key]
        left, acts = api.targets(request, self._names), list[_Act]()
        refused: list[Target] = []
        for effect in effects:
            if chosen := effect.choose(left):
                acts.append(_Act(effect, chosen))
                if effect.refuses:
                    effect.proof.answered(self._number)
                    refused += chosen
                    left = [target for target in left if target not in chosen]
        if not acts:
            return frame
        replaced = not left
        self._pending[head.correlation_id] = _Pending(api, head.version, request, acts, replaced)
        if replaced:
            return api_versions_request(head.correlation_id)
        if not refused:
            return frame
        api.strip(request, refused)
        if api is FETCH:
            request.max_wait_ms = 0  # a broker answers at once when a partition has an error
        return frame[:start] + bytes(request.encode())

    def _change(self, act: _Act, api: KafkaApi, response: Any, size: int) -> str:
        """What became of the response: "", "changed" or "lost"."""
        effect, toxic = act.effect, act.effect.toxic
        error = toxic.broker_error
        if effect.refuses:
            assert error is not None
            api.put_error(response, act.targets, error.code)
            return "changed"
        if toxic.throttle is not None:
            response.throttle_time_ms = max(response.throttle_time_ms, round(toxic.throttle.total_seconds() * 1000))
            effect.proof.answered(self._number)
            return "changed"
        if not api.is_success(response, act.targets):
            effect.release()  # the broker has not done it, so there is no acknowledgement to lose
            return ""
        effect.proof.answered(self._number)
        if error is None:
            effect.proof.dropped(self._number, size)
            return "lost"
        api.put_error(response, act.targets, error.code)
        return "changed"

    def _learn(self, frame: bytes, version: int) -> None:
        if not 10 <= version <= int(MetadataRequest.max_version):
            return  # versions before 10 have no ids
        try:
            body = frame[response_body_start(frame, flexible=True) :]
            topics = decode(MetadataResponse, body, version).topics
        except (FrameError, UndecodableError):
            return  # its client has to judge it
        self._names.update({topic.topic_id: topic.name for topic in topics if topic.topic_id and topic.name})
