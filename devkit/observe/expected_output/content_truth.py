"""content-enrichment: the source of the main slot, as the wiki's REST API says it. The job asks the Action API."""

import orjson

from devkit.errors import StackError
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.expected_output.enriched_event import EnrichedEvent
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.traffic.records import Expected
from pipeline.config.pipeline_config import PipelineConfig

_NO_EVENT = ("malformed_json", "schema_violation", "unknown_schema", "unknown_schema_version")
_OTHER_MODEL = "content_model"


class ContentTruth:
    """See `JobTruth`."""

    def __init__(self, config: PipelineConfig, wiki: WikiAnswers) -> None:
        self._stream, self._models, self._body = config.sink.topic, config.content.models, wiki.body

    def expected(self, topic: str, value: bytes, stated: Expected) -> Expected:  # noqa: ARG002 - part of the interface
        """The generator's, but for the content models: there this job goes by its configuration."""
        if stated.reason == "canary" or stated.reason in _NO_EVENT:
            return stated
        revision = orjson.loads(value)["revision"]
        model = revision.get("content_slots", {}).get("main", {}).get("content_model")
        if model is None:
            return stated
        if self._models != "all" and model not in self._models:
            return stated.model_copy(update={"fate": "filtered", "reason": _OTHER_MODEL})
        if stated.reason != _OTHER_MODEL:
            return stated
        return stated.model_copy(update={"fate": "output", "reason": None, "latest_revision": revision["rev_id"]})

    def key(self, event: SourceEvent) -> bytes:
        """The source's."""
        return event.key

    def output(self, event: SourceEvent) -> EnrichedEvent:
        """With the source of the event's revision, where it is fetched."""
        expected, body = event.entry.expected, None
        if expected.page is not None and expected.latest_revision is not None:
            body = self._source(expected.page.wiki, expected.latest_revision)
        return EnrichedEvent(event.value, stream=self._stream, body=body)

    def _source(self, wiki: str, revision: int) -> str:
        answer = self._body(wiki, f"/w/rest.php/v1/revision/{revision}")
        try:
            return str(orjson.loads(answer)["source"])
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise StackError(
                f"the mock's source of revision {revision} of {wiki} is not readable: {error!r}"
            ) from error
