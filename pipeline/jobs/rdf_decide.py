"""rdf-decide: events of a Wikibase become operations on its entities.

The events are put in order and decided before this, in the plan of the stream (`pipeline.state.decided_by_entity`). A
message that was decided is an event with its outcomes; one that cannot be read comes as it is, and becomes an error
event. An operation goes to the output topic, what is late and what does not fit an entity's state to topics of
their own, all under the entity as key.
"""

from collections.abc import Sequence
from typing import NoReturn

import orjson

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.deadline import Deadline
from pipeline.jobs.job import Fetched, OutputPart
from pipeline.jobs.message import SourceMessage
from pipeline.rdf.operation import Operation
from pipeline.schemas import PAGE_DELETE_URI, PAGE_UNDELETE_URI, RDF_RECONCILE_URI, REVISION_CREATE_URI
from pipeline.updater.decided_event import DecidedEvent
from pipeline.updater.reorder import Outcome
from pipeline.updater.side_output import LapsedAction, side_record
from pipeline.updater.source_event import EntityPages, parse_source_event

# By the end of a topic's name; before it there may be that of a data centre.
_SCHEMAS = {
    "revision-create": REVISION_CREATE_URI,
    "page-delete": PAGE_DELETE_URI,
    "page-suppress": PAGE_DELETE_URI,
    "page-undelete": PAGE_UNDELETE_URI,
}
_MAX_SCHEMA_CHARACTERS = 200


class RdfDecideJob:
    """See `SplittingJob`."""

    def __init__(self, config: PipelineConfig) -> None:
        self._name = config.job
        self._pages = entity_pages(config)
        self._lapsed_topic = config.sink.effective_lapsed_topic
        self._inconsistency_topic = config.sink.inconsistency_topic

    def schema(self, message: SourceMessage) -> str:
        """The one that the event names, else that of its topic's events."""
        try:
            stated = orjson.loads(message.value or b"")["$schema"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            stated = None
        if isinstance(stated, str) and stated:
            return stated[:_MAX_SCHEMA_CHARACTERS]
        topic = message.position.topic
        return next((uri for end, uri in _SCHEMAS.items() if topic.endswith(end)), RDF_RECONCILE_URI)

    def parse(self, message: SourceMessage) -> DecidedEvent:
        """Raises InvalidEventError."""
        if message.decided:
            return DecidedEvent.from_bytes(message.value or b"")
        return DecidedEvent(parse_source_event(message, self._pages))

    def wants(self, event: DecidedEvent) -> bool:
        """Those that something came of."""
        return bool(event.outcomes)

    def needs_fetch(self, event: DecidedEvent) -> bool:  # noqa: ARG002 - part of the interface
        """Nothing is fetched."""
        return False

    def key(self, message: SourceMessage, event: DecidedEvent) -> bytes | None:
        """The entity: its operations have to stay in order."""
        return message.key if event.event is None else event.event.entity.encode()

    async def fetch(self, event: DecidedEvent, *, deadline: Deadline) -> NoReturn:
        """Is never asked for."""
        raise NotImplementedError

    def value(self, event: DecidedEvent, fetched: Fetched | None, *, stream: str) -> bytes:  # noqa: ARG002
        """Event and outcomes."""
        return event.to_bytes()

    def parts(
        self,
        event: DecidedEvent,
        fetched: Fetched | None,  # noqa: ARG002 - part of the interface
        *,
        stream: str,  # noqa: ARG002
        limit_bytes: int | None,  # noqa: ARG002
    ) -> Sequence[OutputPart]:
        """A record for each outcome."""
        return [self._part(outcome) for outcome in event.outcomes]

    def _part(self, outcome: Outcome) -> OutputPart:
        if isinstance(outcome, Operation):
            return OutputPart(outcome.value())
        topic = self._lapsed_topic if isinstance(outcome, LapsedAction) else self._inconsistency_topic
        assert topic is not None
        return OutputPart(side_record(outcome, topic=topic, emitter=self._name).value, topic=topic)


def entity_pages(config: PipelineConfig) -> EntityPages:
    """The pages that are entities by the configuration."""
    return EntityPages(config.rdf.domain, frozenset(config.updater.namespaces))
