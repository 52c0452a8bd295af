"""Whose checkpoint it is: a small file beside Spark's own, which the job that makes the checkpoint writes.

--new         no position is there ─▶ job.json, over that of a start that failed, then Spark's files
a restart     job.json is this job's, or there is none and Spark's offsets are of this job's topics: it is written, and
              one of an earlier version that names no ids is completed
otherwise     refused, with the choices: offsets of another topic, or of the same name in another cluster, would
              make the job read elsewhere than it should, silently
"""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, field_serializer

from located_config.problem import in_line
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.start_position import CHOICES
from pipeline.deferral.ledger_start import LedgerMark
from pipeline.errors import RefusedError
from pipeline.state.initial_state import DIRECTORY, InitialState
from pipeline.state.state_mark import StateMark

FILE = "job.json"
# What Spark puts there.
_OF_SPARK = frozenset({"metadata", "sources", "offsets", "commits", "state"})
_KNOWN = _OF_SPARK | {FILE, DIRECTORY}
# What `mkfs.ext4` makes at the top of a volume; only root can list it.
_OF_FILE_SYSTEM = frozenset({"lost+found"})


def _several(value: Any) -> Any:
    """Sorted: it is the same job in whatever order its configuration names them."""
    if isinstance(value, str):
        return [value]
    return sorted(value, key=str) if isinstance(value, list | tuple) else value


class Identity(BaseModel):
    """`source` are the topics, in the file one is a text. `cluster` is the id of their Kafka cluster, None where it did
    not say; `source_ids` are Kafka's of the topics, of those that were known. `sink` is None in a copy that no job has
    started from. `ledger` is None for a job that has never deferred, or that an earlier version began. `state` is what
    the checkpoint fixes of its state, None without one.
    `bootstrap` is what its first batch begins with, None where that is nothing.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    job: str
    source: Annotated[tuple[str, ...], BeforeValidator(_several)]
    cluster: str | None = None
    sink: str | None
    source_ids: Mapping[str, str] = {}
    ledger: LedgerMark | None = None
    state: StateMark | None = None
    bootstrap: InitialState | None = None

    @classmethod
    def of(cls, config: PipelineConfig, cluster: str | None, source_ids: Mapping[str, str] | None = None) -> Self:
        """The identity of a configuration's job. `cluster` is the id of its source's Kafka cluster, None when it is
        unknown; `source_ids` are the known ids of its topics.
        """
        return cls(
            job=config.job,
            source=config.source.all_topics,
            cluster=cluster,
            sink=config.sink.topic,
            source_ids=source_ids or {},
        )

    def completed(self, own: "Identity", ledger: LedgerMark | None) -> "Identity":
        """With what a start knows beside: ids that this one does not name, its state, and the ledger that was taken.
        The epoch of a ledger that it names already stays: what the ledger has to know is at least that.
        """
        known = self.ledger
        same = known and ledger and (known.topic, known.id) == (ledger.topic, ledger.id) and known.epoch <= ledger.epoch
        return self.model_copy(
            update={
                "cluster": self.cluster or own.cluster,
                "source_ids": {**own.source_ids, **self.source_ids},
                "sink": self.sink or own.sink,
                "ledger": known if ledger is None or same else ledger,
                "state": own.state or self.state,
            }
        )

    @classmethod
    def read(cls, text: str | bytes, checkpoint: str) -> Self:
        """Raises RefusedError when it is none."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise RefusedError(
                f"checkpoint {checkpoint}: {FILE} does not say whose it is: {in_line(error, cls)}",
                hint="is it a job's? delete the file to have Spark's offsets decide, or name another checkpoint",
            ) from error

    @property
    def has_begun(self) -> bool:
        """Whether the job has ever started: before that, a bootstrap fixes nothing of the state."""
        return self.bootstrap is None or self.state is not None

    def in_words(self) -> str:
        """As in `html-enrichment, from topic events in cluster abc to output`; a copy has no output yet."""
        cluster = f" in cluster {self.cluster}" if self.cluster else ""
        topics = "topic" if len(self.source) == 1 else "topics"
        sink = "; a copy, which no job has started from" if self.sink is None else f" to {self.sink}"
        return f"{self.job}, from {topics} {', '.join(self.source)}{cluster}{sink}"

    @field_serializer("source")
    def _one_as_text(self, source: tuple[str, ...]) -> str | tuple[str, ...]:
        return source[0] if len(source) == 1 else source

    def differences(self, own: "Identity") -> list[str]:
        """The differences from `own` in words. An unknown cluster is no difference."""
        pairs: list[tuple[str, str | None, str | None]] = [
            ("job", self.job, own.job),
            ("source topic", ", ".join(self.source), ", ".join(own.source)),
        ]
        if self.sink is not None:
            pairs.append(("sink topic", self.sink, own.sink))
        if self.cluster is not None and own.cluster is not None:
            pairs.append(("source cluster", self.cluster, own.cluster))
        pairs += [
            (f"id of topic {topic}", self.source_ids[topic], own.source_ids[topic])
            for topic in self.source
            if topic in self.source_ids and topic in own.source_ids
        ]
        return [f"{field} {value}, not {own_value}" for field, value, own_value in pairs if value != own_value]


def require_own(made_by: Identity | None, own: Identity, *, checkpoint: str, topics: Collection[str] = ()) -> None:
    """`topics` are those of Spark's offsets. Raises RefusedError for a checkpoint that another job has made."""
    foreign = sorted(set(topics) - set(own.source))
    conflicts = made_by.differences(own) if made_by else []
    if foreign and not conflicts:
        conflicts = [f"offsets of topic {', '.join(foreign)}, not {', '.join(own.source)}"]
    if conflicts:
        raise RefusedError(
            f"checkpoint {checkpoint} is another job's: {'; '.join(conflicts)}",
            hint="name this job's own checkpoint; or a place that holds nothing, with --new "
            f"{CHOICES}; or, to go on from that one's position, the place of a copy of it (`checkpoint fork`)",
        )


def content_names(entries: Collection[str]) -> list[str]:
    """The names at the top of a place that say it is in use, sorted: without hidden ones, such as Hadoop's checksums,
    and without what the file system of a new volume holds.
    """
    return sorted(name for name in entries if not name.startswith(".") and name not in _OF_FILE_SYSTEM)


def require_checkpoint(entries: Collection[str], checkpoint: str) -> None:
    """`entries` is what lies at its top. Raises RefusedError when something else than a checkpoint is there."""
    foreign = [name for name in content_names(entries) if name not in _KNOWN]
    if foreign:
        names = ", ".join(foreign[:3]) + (f" and {len(foreign) - 3} more" if len(foreign) > 3 else "")
        raise RefusedError(
            f"{checkpoint} is no checkpoint of a job's: it holds {names}",
            hint=f"name this job's own checkpoint, or a place that holds nothing, with --new {CHOICES}",
        )
