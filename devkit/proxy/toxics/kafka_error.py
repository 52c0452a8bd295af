"""Kafka error: matching requests get an error of Kafka's protocol, or their answer is lost or throttled.

Whether a partition of a request is among the `share` is a function of (seed, toxic, API, topic, partition, attempt),
and an attempt is counted for each partition from when the toxic began.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, model_validator

from devkit.proxy.kafka.errors import ERRORS, TOPIC_APIS, Api, BrokerError, ErrorName
from devkit.proxy.proof import ProxyProof
from devkit.proxy.toxics.toxic import Layer, Toxic, ToxicContext, uniform
from located_config.duration import Duration
from located_config.share import Share

if TYPE_CHECKING:
    from devkit.proxy.kafka.api import Target


class KafkaError(Toxic):
    """Requests to a broker fail with an error of Kafka's own."""

    key: ClassVar[str] = "kafka_error"
    layer: ClassVar[Layer] = "kafka"

    error: ErrorName | Literal["lost_answer", "throttled"] = Field(
        description="Kafka's name for the error. `lost_answer`: the broker does what it was asked, and the connection "
        "ends in place of its answer. `throttled`: the answer asks the client to wait for `throttle`."
    )
    api: Api = Field(description="Kind of the requests that are meant.")
    topic: str | None = Field(default=None, description="Topic that is meant. Default: every topic.")
    partition: int | None = Field(default=None, ge=0, description="Partition that is meant. Default: every partition.")
    share: Share = Field(default=1.0, description="Share of the matching requests that it acts on, by partition.")
    times: int | None = Field(default=None, ge=1, description="Most requests that it acts on. Default: no limit.")
    throttle: Duration | None = Field(default=None, description="Time that a throttled client is asked to wait.")

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.api not in TOPIC_APIS and (self.topic is not None or self.partition is not None):
            raise ValueError(
                f"requests of {self.api} are not by topic; leave topic and partition out, "
                f"or use one of {', '.join(sorted(TOPIC_APIS))}"
            )
        known = self.broker_error
        if known is not None and self.api not in known.apis:
            raise ValueError(
                f"a broker never answers {self.api} with {self.error}; it does for {', '.join(sorted(known.apis))}"
            )
        if (self.error == "throttled") != (self.throttle is not None):
            raise ValueError("throttle belongs to error: throttled alone, which needs it: {throttle: 2s}")
        if self.throttle is not None and not timedelta(0) < self.throttle <= timedelta(hours=1):
            raise ValueError("throttle is more than 0 and at most 1h")
        return self

    @property
    def broker_error(self) -> BrokerError | None:
        """None for those that are no error of the protocol."""
        return ERRORS.get(self.error)


class KafkaEffect:
    """A Kafka error that acts now."""

    def __init__(self, toxic: KafkaError, context: ToxicContext) -> None:
        self.toxic = toxic
        self.proof: ProxyProof = context.proof
        self.ended = False
        self._context = context
        self._attempts: Counter[tuple[str, int]] = Counter()
        self._chosen = 0

    @property
    def refuses(self) -> bool:
        """Whether what it acts on does not reach the broker."""
        error = self.toxic.broker_error
        return error is not None and not error.applied

    def choose(self, targets: Sequence["Target"]) -> list["Target"]:
        """Those of a request that it acts on; each that matches counts as an attempt, drawn or not."""
        chosen = [target for target in targets if self._matches(target) and self._draw(target)]
        if not chosen or (self.toxic.times is not None and self._chosen >= self.toxic.times):
            return []
        self._chosen += 1
        return chosen

    def release(self) -> None:
        """A request that was chosen was not acted on, so it does not count among the `times`."""
        self._chosen -= 1

    def end(self) -> None:
        """Requests that it has refused stay so; others under way get their answers as they come."""
        self.ended = True

    def _matches(self, target: "Target") -> bool:
        return self.toxic.topic in (None, target.topic) and self.toxic.partition in (None, target.partition)

    def _draw(self, target: "Target") -> bool:
        identity = (target.topic, target.partition)
        self._attempts[identity] += 1
        context = self._context
        draw = uniform(context.seed, context.name, self.toxic.api, *identity, self._attempts[identity])
        return draw < self.toxic.share
