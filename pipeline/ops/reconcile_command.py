"""`python -m pipeline reconcile ENTITY… --config FILE`: exit 0, 1 Kafka failed, 2 refused.

It writes events into a topic that `rdf-decide` reads, so that the operations have the numbers (`seq`) of their
entities, and the job's state is as the store.
"""

import uuid
from datetime import UTC, datetime
from pathlib import Path

import click
import orjson

from located_config.count import counted
from pipeline.config.config_file import load_config
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.kafka.cluster import source_brokers
from pipeline.ops.bootstrap import require_job
from pipeline.ops.copying import Copy, copy_all, opened_target
from pipeline.ops.exit_codes import exit_codes
from pipeline.ops.source import opened_topic
from pipeline.rdf.operation import ENTITY_ID
from pipeline.records.error_event import rfc3339
from pipeline.schemas import RDF_RECONCILE_URI

_STREAM = "rdf-streaming-updater.reconcile"
_LAST_SEEN = 1
"""As a revision: the job takes the newer one of its state and the event."""
_MOST = 2**53 - 1


@click.command(short_help="Have entities written to the store again, or deleted from it.")
@click.argument("entities", nargs=-1, required=True, metavar="ENTITY[:REVISION]…")
@click.option(
    "--topic",
    "chosen",
    metavar="TOPIC",
    help=f"Source topic of rdf-decide to write to. Default: the first one whose name ends in {_STREAM}.",
)
@click.option(
    "--config", "config_file", type=click.Path(path_type=Path), required=True, help="YAML file of rdf-decide."
)
def reconcile(entities: tuple[str, ...], chosen: str | None, config_file: Path) -> None:
    """Have rdf-decide make an operation reconcile for each ENTITY: the store then has all of it, and nothing else.

    The revision is the last one that the job has seen, unless a later REVISION is given: for an entity that the job has
    not seen, or takes for deleted. An entity that the wiki has deleted is deleted from the store.
    """
    with exit_codes():
        config = load_config(config_file)
        require_job(config)
        revisions = [_parse(text) for text in entities]
        topic = _topic(config, chosen)
        now = datetime.now(UTC)
        bootstrap = source_brokers(config)
        with opened_topic(bootstrap, topic) as source:
            source.bounds()  # the topic is there, and the brokers answer
        with opened_target(bootstrap, topic, config.sink.max_request_size) as target:
            sent = copy_all((_copy(entity, rev, now, config.rdf.domain) for entity, rev in revisions), target)
        click.echo(f"{counted(sent, 'event')} written to {topic}; rdf-decide makes the operations")


def _parse(text: str) -> tuple[str, int]:
    """Entity and revision. Raises RefusedError."""
    entity, colon, revision = text.partition(":")
    if not ENTITY_ID.fullmatch(entity):
        raise RefusedError(f"{entity[:100]!r} is no entity's id", hint="write Q42, or Q42:124 with its revision")
    if not colon:
        return entity, _LAST_SEEN
    if not (revision.isascii() and revision.isdecimal() and 0 < int(revision) <= _MOST):
        raise RefusedError(
            f"{revision[:100]!r} is no revision of {entity}", hint=f"write a number from 1 to {_MOST}, as in Q42:124"
        )
    return entity, int(revision)


def _topic(config: PipelineConfig, chosen: str | None) -> str:
    """Raises RefusedError for a topic that the job does not read."""
    topics = config.source.all_topics
    found = [topic for topic in topics if (topic == chosen if chosen else topic.endswith(_STREAM))]
    if not found:
        raise RefusedError(
            f"--topic {chosen}: the job does not read it" if chosen else f"the job reads no topic {_STREAM}",
            hint=f"it reads {', '.join(topics)}",
        )
    return found[0]


def _copy(entity: str, revision: int, now: datetime, domain: str) -> Copy:
    event = {
        "$schema": RDF_RECONCILE_URI,
        "meta": {
            "stream": _STREAM,
            "domain": domain,
            "id": str(uuid.uuid4()),
            "request_id": str(uuid.uuid4()),
            "dt": rfc3339(now),
        },
        "item": entity,
        "reconciliation_action": "CREATION",
        "reconciliation_source": "operator",
        "revision_id": revision,
    }
    return Copy(entity.encode(), orjson.dumps(event), ())
