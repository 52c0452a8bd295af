"""`kafka_error: {error: not_leader_or_follower, api: produce}`: a broker answers requests with an error of its own."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field
from typing_extensions import override

from devkit.faults.fault import Context
from devkit.faults.kafka.cluster import resolve_topic
from devkit.faults.proxied_fault import ProxiedFault
from devkit.proxy.toxics.kafka_error import KafkaError
from devkit.proxy.toxics.toxic import Toxic
from devkit.stack.front import PROTOCOL_SUFFIX


def _broker(part: str) -> str:
    if part.partition("-")[0] != "kafka":
        raise ValueError(f"{part!r} is no broker; write kafka, or kafka-1 where there are several")
    return part


class KafkaProtocolError(KafkaError, ProxiedFault):
    """Also a lost answer, and a throttle time; of the requests that match, a share."""

    name: ClassVar[str] = "kafka_error"
    summary: ClassVar[str] = "a broker answers with an error of Kafka's, by API, topic, partition and share"
    example: ClassVar[str] = "{error: not_leader_or_follower, api: produce, topic: output, share: 30%}"
    toxic: ClassVar[type[Toxic]] = KafkaError
    listener_suffix: ClassVar[str] = PROTOCOL_SUFFIX

    part: Annotated[str, AfterValidator(_broker)] = Field(
        default="kafka", description="Broker whose clients are meant; the kit's own are spared."
    )

    @override
    def _as_toxic(self, context: Context) -> Toxic:
        topic = None if self.topic is None else resolve_topic(context, self.topic)
        return super()._as_toxic(context).model_copy(update={"topic": topic})
