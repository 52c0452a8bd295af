"""`apply` between a topic of mutations and a triple store of its own, with the names that the runbooks show."""

import json
import shutil
import uuid
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

from kafka import KafkaProducer

from devkit.guardian import Guardian
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from pipeline.apply.mutation_store import Divergence, MutationStore
from pipeline.apply.sparql_target import SparqlTarget
from pipeline.config.apply_config import Apply
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.mutation import mutation_records
from pipeline.rdf.operation import Operation
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.records.record import Position
from tests.integration.json_lines import json_lines
from tests.oxigraph_server import OxigraphServer, free_port

_NAMES = JOB_DEFAULTS["rdf-resolve"]
MUTATIONS = _NAMES.output_topic
RECONCILES = "eqiad.rdf-streaming-updater.reconcile"
BASE = "http://www.wikidata.org"
ENTITY = "Q42"


def statement(value: str) -> str:
    """A triple of the entity."""
    return f'<{BASE}/entity/{ENTITY}> <{BASE}/prop/direct/P1> "{value}" .'


class ApplyPlace:
    """Its directory has `apply.yaml` and `rdf-decide.yaml`. The store is empty, and so are the topics of mutations and
    of reconcile events.
    """

    def __init__(self, guardian: Guardian, stack: Stack, directory: Path) -> None:
        directory.mkdir()
        self.guardian, self._stack = guardian, stack
        recreate_topics(stack.kafka.direct, {RECONCILES: (1, {}), MUTATIONS: (1, {})})
        self.store_server = OxigraphServer(directory, free_port())
        self.store_server.start()
        self._data, self._copy = directory / "data", directory / "copy"
        self.metrics_port = free_port()
        self._seq = 0
        settings = Apply(endpoint=self.store_server.update_url)
        self._target = SparqlTarget(settings, lambda _: False)
        self._store = MutationStore(self._target, ConceptNamespaces(BASE), MUTATIONS)
        self.config_file = directory / "apply.yaml"
        self.config_file.write_text(
            json.dumps(
                {
                    "source": {
                        "bootstrap_servers": stack.kafka.bootstrap,
                        "topic": MUTATIONS,
                        "group": f"apply-{uuid.uuid4().hex}",
                    },
                    "apply": {"endpoint": self.store_server.update_url, "count": "probe", "timeout": "10s"},
                    "metrics": {"port": self.metrics_port, "lag_interval": "200ms"},
                }
            )
        )

        at_brokers = {"bootstrap_servers": stack.kafka.bootstrap}
        decide = {"job": "rdf-decide", "source": at_brokers, "sink": at_brokers, "checkpoint": "unused"}
        self.config_file.with_name("rdf-decide.yaml").write_text(
            json.dumps(decide | {"mediawiki": {"endpoint": stack.mock_api.endpoint}})
        )

    @property
    def job_environment(self) -> dict[str, str]:
        """Credentials of the object store."""
        return self._stack.object_store.credentials()

    def write(self, *, added: Sequence[str] = (), deleted: Sequence[str] = ()) -> None:
        """The next mutation of the entity: an import at first, then diffs."""
        self._seq += 1
        is_first = self._seq == 1
        operation = Operation(
            ENTITY,
            "import" if is_first else "diff",
            self._seq,
            None if is_first else self._seq - 1,
            "2026-03-02T09:00:00Z",
            self._seq,
            (Position("source", 0, self._seq),),
        )
        self.write_mutation(operation, TripleDiff(added=tuple(added), deleted=tuple(deleted)))

    def write_mutation(self, operation: Operation, diff: TripleDiff) -> None:
        """What rdf-resolve makes of an operation."""
        records = mutation_records(operation, diff, topic=MUTATIONS, domain="wiki.example", characters=128_000)
        with closing(KafkaProducer(bootstrap_servers=self._stack.kafka.direct, acks="all")) as producer:
            for record in (chunk.record for chunk in records):
                producer.send(record.topic, record.value, record.key, list(record.headers)).get(30)

    def next_offset(self) -> int | None:
        """That of the store; None where it has none."""
        return self._store.next_offset()

    def divergence(self, present: Sequence[str], absent: Sequence[str]) -> Divergence:
        """Of the statements with these values, from what the store has."""
        return self._store.measure_divergence([*map(statement, present)], [*map(statement, absent)])

    def delete_by_hand(self, value: str) -> None:
        """As something else would that writes to the store."""
        self._target.update(f"DELETE DATA {{ {statement(value)} }}")

    def copy_store(self) -> None:
        """The store is stopped for it."""
        self.store_server.kill()
        shutil.copytree(self._data, self._copy)
        self.store_server.start()

    def empty_store(self) -> None:
        """It starts again without any data."""
        self.store_server.kill()
        shutil.rmtree(self._data)
        self.store_server.start()

    def restore_store(self) -> None:
        """It starts again with the copy."""
        self.store_server.kill()
        shutil.rmtree(self._data)
        self._copy.rename(self._data)
        self.store_server.start()

    def has_no_lag(self) -> bool:
        """By its own metrics."""
        with urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=30) as page:
            lines = page.read().decode().splitlines()
        return [line.rpartition(" ")[2] for line in lines if line.startswith("enrichment_lag_events{")] == ["0.0"]

    def line_count(self) -> int:
        """Lines of applied mutations in the log."""
        log = self.config_file.with_name("apply.log")
        return sum(line["event"] == "mutations_applied" for line in json_lines(log))

    def close(self) -> None:
        """Of the store nothing runs."""
        self._target.close()
        self.store_server.kill()
