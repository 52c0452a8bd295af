"""`client_quota: {produce: 100KiB}`: the broker holds clients back that send, fetch or ask too much.

kafka-python's admin client has no call for quotas but knows the broker's requests for them, which are sent here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import orjson
from kafka import KafkaAdminClient
from kafka.errors import for_code
from kafka.protocol.admin import AlterClientQuotasRequest, DescribeClientQuotasRequest
from pydantic import Field, model_validator
from typing_extensions import override

from devkit.errors import PartError
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.faults.kafka.cluster import Cluster, cluster
from located_config.rate import PER_SECOND
from located_config.size import Size

_EXACT, _DEFAULT = 0, 1
_ENTITY = "client-id"


class ClientQuota(Fault):
    """By bytes a second, or share of the time of the broker's request threads (100 is one thread).

    Without `client` it holds for each client id by itself that has no quota of its own, the kit's own among them. The
    broker answers late instead of refusing, so clients see slowness and no error.
    """

    name: ClassVar[str] = "client_quota"
    summary: ClassVar[str] = "the broker holds back clients that produce, fetch or ask too much"
    example: ClassVar[str] = "{produce: 100KiB}"

    client: Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="Client id that the quota is for. Default: each client id that has no quota of its own.",
    )
    produce: Annotated[Size, Field(gt=0), PER_SECOND] | None = Field(
        default=None, description="Bytes a second that a client may send to each broker."
    )
    fetch: Annotated[Size, Field(gt=0), PER_SECOND] | None = Field(
        default=None, description="Bytes a second that a client may read from each broker."
    )
    request_percentage: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="Share of the time of the broker's request threads, in percent; 100 is one thread."
    )

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.quotas:
            raise ValueError("no quota; give one of produce, fetch (bytes a second), request_percentage")
        return self

    @property
    def quotas(self) -> dict[str, float]:
        """By Kafka's own names."""
        rates = {
            "producer_byte_rate": self.produce,
            "consumer_byte_rate": self.fetch,
            "request_percentage": self.request_percentage,
        }
        return {key: float(value) for key, value in rates.items() if value is not None}

    @override
    def needs(self) -> tuple[Need, ...]:
        return ()

    @override
    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:
        who = f"client {self.client}" if self.client else "each client"
        return frozenset(f"{key} of {who}" for key in self.quotas)

    @override
    def begin(self, context: Context) -> Acting:
        with cluster(context.kafka) as kafka:
            own = _quotas(kafka, self.client)
            before = {key: own.get(key) for key in self.quotas}
            data = {"kafka": context.kafka, "before": orjson.dumps(before).decode()}
            undo = Undo(data=data | ({"client": self.client} if self.client else {}), outlives_run=context.is_guest)
            context.plan(undo)
            _alter(kafka, self.client, self.quotas)
        return _Held(context.kafka, self.client, before, self.quotas, undo)

    @classmethod
    @override
    def undo(cls, undo: Undo) -> None:
        with cluster(undo.data["kafka"]) as kafka:
            _alter(kafka, undo.data.get("client"), orjson.loads(undo.data["before"]))


@dataclass(frozen=True)
class _Held:
    bootstrap: str
    client: str | None
    before: Mapping[str, float | None]
    asked: Mapping[str, float]
    how_undone: Undo

    def end(self) -> Proof:
        """Proves that the quota is set; only the broker's own metrics say which clients it slows."""
        with cluster(self.bootstrap) as kafka:
            now = _quotas(kafka, self.client)
        ClientQuota.undo(self.how_undone)
        had = {key: now.get(key) for key in self.asked}
        before = ", ".join(f"{key} {value:g}" if value is not None else f"no {key}" for key, value in had.items())
        who = f"client {self.client}" if self.client else "each client"
        if self.before == dict(self.asked):
            return Proof(acted=False, did=f"what was asked for {who} was so before: nothing changed")
        did = f"the broker had {before} for {who}, and has what it had before; whom that slowed is not measured"
        return Proof(had == dict(self.asked), did)


def _quotas(kafka: Cluster, client: str | None) -> dict[str, float]:
    match = (_ENTITY, _DEFAULT if client is None else _EXACT, client)
    answer = _send(kafka, DescribeClientQuotasRequest(components=[match], strict=True))
    _require(answer.error_code, answer.error_message)
    return {value.key: float(value.value) for entry in answer.entries or () for value in entry.values}


def _alter(kafka: Cluster, client: str | None, quotas: Mapping[str, float | None]) -> None:
    operations = [(key, value or 0.0, value is None) for key, value in quotas.items()]
    request = AlterClientQuotasRequest(entries=[([(_ENTITY, client)], operations)], validate_only=False)
    for entry in _send(kafka, request).entries:
        _require(entry.error_code, entry.error_message)


def _send(kafka: Cluster, request: object) -> Any:
    def send(admin: KafkaAdminClient) -> Any:
        manager = admin._manager  # noqa: SLF001 - as the admin client sends what it has calls for
        return manager.run(manager.send, request)

    return kafka.ask(send)


def _require(code: int, message: str | None) -> None:
    if code:
        raise PartError(f"Kafka refused the quota: {message or for_code(code).__name__}", "kafka")
