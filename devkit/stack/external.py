"""The external stack: parts that an operator runs, at addresses that are given.

The kit has no lever there but the mock's control, and is a guest: before anything starts it asks for all that a run
will need, and refuses by name what it may not do. Topics that are there already are not deleted unless it is
said; what the kit puts into the object store stays below the run's id.
"""

import contextlib
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError
from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from kafka.errors import KafkaError
from typing_extensions import override

from devkit.errors import PartError, StackError, UsageError
from devkit.guardian import Guardian
from devkit.stack.addresses import LOGIN_VARIABLES, VARIABLES, Addresses, read_addresses
from devkit.stack.external_lease import ExternalLease, lapsed
from devkit.stack.parts.kafka import KafkaBroker
from devkit.stack.parts.mock_api import MockApi
from devkit.stack.parts.object_store import ObjectStore
from devkit.stack.parts.part import TRIPLE_STORE, Lever, Part
from devkit.stack.parts.triple_store import TripleStore, TripleStoreSilentError
from devkit.stack.stack import BUCKETS, NO_WISHES, Ports, Stack, StackRequest, by_name

_NOWHERE = Path("/dev/null")
_KAFKA_MS = 10_000
_OTHER_TOPICS = "choose other topics in the scenario, or set `may_recreate_topics: true` where they are not needed"


@dataclass(frozen=True)
class RemoteLife:
    """A part that is not ours: it has no end that we would see. See `devkit.stack.parts.part_life.Life`."""

    name: str
    pid: None = None
    container: None = None
    stdout: Path = _NOWHERE
    stderr: Path = _NOWHERE
    exit_code: None = None

    def require_guardian(self) -> None:
        """The kit does not keep it."""

    def last_words(self, lines: int = 5) -> str:  # noqa: ARG002 - part of the interface
        """Says that the operator has the log."""
        return "(its log is not ours)"


class RemotePart(Part):
    """A part of an external stack, with no lever."""

    def __init__(self, name: str, address: str) -> None:
        self._address, self._life = address, RemoteLife(name)

    @property
    @override
    def name(self) -> str:
        return self._life.name

    @property
    @override
    def address(self) -> str:
        return self._address

    @property
    @override
    def life(self) -> RemoteLife:
        return self._life

    @override
    def refusal(self, lever: Lever) -> str:
        return f"{self._address} belongs to an external stack, which is not the kit's to pause or end"

    @override
    def pull(self, lever: Lever) -> None:
        self.require(lever)


def start_external(guardian: Guardian, logs: Path, request: StackRequest = NO_WISHES) -> Stack:  # noqa: ARG001
    """The stack at the given addresses. Raises UsageError for what cannot work there, StackError for what is silent."""
    if request.ports != Ports():
        raise UsageError("the ports of an external stack are not ours to choose", hint="leave the port options out")
    if request.proxied:
        raise UsageError(
            f"the kit cannot put a proxy before {', '.join(sorted(request.proxied))} of an external stack",
            hint="use a stack of the kit's own for faults of the network and of the store's answers",
        )
    given = request.addresses
    addresses = given if isinstance(given, Addresses) else read_addresses(given)
    kafka = KafkaBroker(addresses.kafka, addresses.kafka)
    store = ObjectStore(
        addresses.s3_endpoint,
        addresses.s3_endpoint,
        "external",
        addresses.access_key,
        addresses.secret_key,
        addresses.s3_region,
    )
    mock = MockApi(addresses.mock_api)
    triple_store = _triple_store(addresses, guardian.directory) if request.triple_store else None
    leftovers = {topic for lease in lapsed() if lease.addresses.kafka == addresses.kafka for topic in lease.topics}
    require_brokers(addresses, request.brokers)
    require_topics(addresses, request.topics, probe=f"devkit.probe.{guardian.run_id}", leftovers=leftovers)
    require_buckets(store, probe=f"{guardian.run_id}/probe")
    require_control(mock)
    if triple_store is not None:
        require_triple_store(triple_store, may_clear=addresses.may_clear_triple_store)
    lease = ExternalLease(
        run_id=guardian.run_id,
        addresses=addresses,
        topics=request.topics,
        cleared=triple_store.direct_update if triple_store else None,
    )
    lease.write()
    parts = by_name(
        RemotePart("kafka", kafka.bootstrap),
        RemotePart("object-store", store.endpoint),
        RemotePart("mock-api", mock.endpoint),
        *([RemotePart(TRIPLE_STORE, triple_store.query)] if triple_store else ()),
    )
    return Stack(kafka, store, mock, parts, triple_store=triple_store, prefix=lease.prefix, leave=lease.release)


def _triple_store(addresses: Addresses, directory: Path) -> TripleStore:
    """Its password is in a file of the run's `directory`. Raises UsageError when the addresses name none."""
    query, update = addresses.triple_store_query, addresses.triple_store_update
    if query is None or update is None:
        raise UsageError(
            "the external stack has no triple store, and one is asked for",
            hint="give `triple_store_query` and `triple_store_update` in the file of addresses, or "
            f"{VARIABLES['triple_store_query']} and {VARIABLES['triple_store_update']}",
        )
    login = addresses.triple_store_login(directory / "triple-store-password")
    if login is not None and login.file is not None:
        login.file.touch(mode=0o600)
        login.file.write_text(login.password, encoding="utf-8")
    return TripleStore(query, update, query, update, login)


def require_topics(
    addresses: Addresses, topics: Sequence[str], *, probe: str, leftovers: Set[str] = frozenset()
) -> None:
    """Raises StackError without a broker, UsageError without the permission to make and delete topics.

    `topics` will be made afresh for each arm; those that are there already need `may_recreate_topics`. `leftovers`
    are some that killed runs of this machine made.
    """
    with _admin(addresses) as admin:
        try:
            taken = sorted(set(admin.list_topics()) & set(topics))
        except KafkaError as error:
            raise UsageError(f"Kafka at {addresses.kafka} does not tell its topics: {error}") from error
        if taken and not addresses.may_recreate_topics:
            origin = "a run of this machine that was killed left them" if set(taken) <= leftovers else ""
            raise UsageError(
                f"Kafka at {addresses.kafka} has topics that each arm would delete and make afresh: {', '.join(taken)}",
                hint="; ".join(filter(None, (origin, _OTHER_TOPICS))),
            )
        try:
            admin.create_topics([NewTopic(probe, num_partitions=1, replication_factor=-1)], timeout_ms=_KAFKA_MS)
            admin.delete_topics([probe], timeout_ms=_KAFKA_MS)
        except KafkaError as error:
            raise UsageError(
                f"Kafka at {addresses.kafka} does not let us make and delete topics, which each arm does: {error}",
                hint="give the user these rights, or use a stack of the kit's own",
            ) from error


def require_brokers(addresses: Addresses, brokers: int) -> None:
    """Raises UsageError when there are fewer brokers than a scenario asks for, StackError without any."""
    if brokers == 1:
        return
    with _admin(addresses) as admin:
        available = len(admin.describe_cluster()["brokers"])
    if available < brokers:
        raise UsageError(
            f"Kafka at {addresses.kafka} has {available} of the {brokers} brokers that are asked for",
            hint="use a larger cluster, or `--stack embedded`",
        )


@contextlib.contextmanager
def _admin(addresses: Addresses) -> Iterator[KafkaAdminClient]:
    try:
        admin = KafkaAdminClient(bootstrap_servers=addresses.kafka.split(","), bootstrap_timeout_ms=_KAFKA_MS)
    except (KafkaError, OSError) as error:
        raise StackError(
            f"Kafka at {addresses.kafka} does not answer: {error}", hint="check the address, and what it advertises"
        ) from error
    with contextlib.closing(admin):
        yield admin


def require_buckets(store: ObjectStore, *, probe: str) -> None:
    """Raises UsageError when a bucket cannot be written and read, StackError when no store answers."""
    client = store.client()
    for bucket in BUCKETS:
        try:
            with contextlib.suppress(client.exceptions.BucketAlreadyOwnedByYou, client.exceptions.BucketAlreadyExists):
                client.create_bucket(Bucket=bucket)
            client.put_object(Bucket=bucket, Key=probe, Body=b"")
            client.list_objects_v2(Bucket=bucket, Prefix=probe)
            client.delete_object(Bucket=bucket, Key=probe)
        except ClientError as error:
            raise UsageError(
                f"the object store at {store.endpoint} refuses bucket {bucket}: {error}",
                hint="make the bucket, and let the keys of DEVKIT_S3_ACCESS_KEY and DEVKIT_S3_SECRET_KEY write to it",
            ) from error
        except BotoCoreError as error:
            raise PartError(f"the object store at {store.endpoint} does not answer: {error}", "object-store") from error


def require_control(mock: MockApi) -> None:
    """Raises StackError when the mock is silent, UsageError when its control is closed to us: faults need it."""
    try:
        mock.counts()
    except StackError as error:
        if "403" not in str(error):
            raise
        raise UsageError(
            f"the mock API at {mock.endpoint} does not let this machine control it, and every fault needs that",
            hint="start it with --allow-control and this machine's network",
        ) from error


def require_triple_store(store: TripleStore, *, may_clear: bool) -> None:
    """Raises StackError when it is silent; UsageError when it has triples, does not let us change them, or has those of
    named graphs in the default graph too.

    Each arm begins with an empty store, and a run leaves it so.
    """
    try:
        if not store.is_empty() and not may_clear:
            raise UsageError(
                f"the triple store at {store.query} has triples, which each arm would delete",
                hint="use an empty one, or set `may_clear_triple_store: true` where they are not needed",
            )
        if store.has_union_default_graph():
            raise UsageError(
                f"the default graph of the triple store at {store.query} has the triples of all named graphs; the kit "
                "writes the expected triples to named graphs, so the store would seem to match whatever it has",
                hint="start it without that option (`--union-default-graph` of Oxigraph, `tdb2:unionDefaultGraph` of "
                "Fuseki), or use `--stack embedded`",
            )
    except TripleStoreSilentError:
        raise
    except PartError as error:
        raise UsageError(
            f"{error}; each arm changes the triples there",
            hint=f"it has to let {'this user' if store.login else 'this machine'} query and update it; "
            f"{' and '.join(LOGIN_VARIABLES)} are its login",
        ) from error
