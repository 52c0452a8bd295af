"""How an operator's command gets to the brokers."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from pipeline.errors import PipelineError
from pipeline.kafka.cluster import BrokersAt, connected

CLIENT_ID = "enrichment-operator"
CONNECT_MS = 10_000


@contextmanager
def connecting(bootstrap: BrokersAt) -> Iterator[None]:
    """Turns what goes wrong with a connection into PipelineError."""
    try:
        yield
    except (KafkaError, OSError, ValueError) as error:
        raise PipelineError(
            f"Kafka at {bootstrap} does not answer: {error}",
            hint="look at `bootstrap_servers` and `kafka` in the job's file",
        ) from error


def cluster_id(bootstrap: BrokersAt) -> str | None:
    """The id of the cluster, None where it has none. Raises PipelineError."""
    with (
        connecting(bootstrap),
        closing(connected(KafkaAdminClient, bootstrap, {"bootstrap_timeout_ms": CONNECT_MS})) as admin,
    ):
        return admin.describe_cluster().get("cluster_id") or None
