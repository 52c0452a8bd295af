"""Whose checkpoint it is: a small file beside Spark's own, which the job that makes the checkpoint writes.

--new         no position is there ─▶ job.json, over that of a start that failed, then Spark's files
a restart     job.json is this job's, or there is none and Spark's offsets are of this job's topic: it is written
otherwise     refused, with the choices: offsets of another topic, or of the same name in another cluster, would
              make the job read elsewhere than it should, silently
"""

from collections.abc import Collection
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from located_config.problem import in_line
from pipeline.config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.start import CHOICES

FILE = "job.json"
# What Spark puts there; hidden files are checksums of Hadoop's.
_OF_SPARK = frozenset({"metadata", "sources", "offsets", "commits", "state"})


class Identity(BaseModel):
    """`cluster` is the id of the source's Kafka cluster, None where it did not say."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    job: str
    source: str
    cluster: str | None = None
    sink: str

    @classmethod
    def of(cls, config: PipelineConfig, cluster: str | None) -> Self:
        """Of the job of a configuration; `cluster` is the id of its source's Kafka cluster, None
        when it is not known.
        """
        return cls(job=config.job, source=config.source.topic, cluster=cluster, sink=config.sink.topic)

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

    def in_words(self) -> str:
        cluster = f" in cluster {self.cluster}" if self.cluster else ""
        return f"{self.job}, from topic {self.source}{cluster} to {self.sink}"

    def differences(self, own: "Identity") -> list[str]:
        """In what it is another's, in words; a cluster that is not known is no difference."""
        pairs = [
            ("job", self.job, own.job),
            ("source topic", self.source, own.source),
            ("sink topic", self.sink, own.sink),
        ]
        if self.cluster is not None and own.cluster is not None:
            pairs.append(("source cluster", self.cluster, own.cluster))
        return [f"{what} {its}, not {mine}" for what, its, mine in pairs if its != mine]


def require_own(found: Identity | None, own: Identity, *, checkpoint: str, topics: Collection[str] = ()) -> None:
    """`topics` are those of Spark's offsets. Raises RefusedError for a checkpoint that another job has made."""
    foreign = sorted(set(topics) - {own.source})
    wrong = found.differences(own) if found else []
    if foreign and not wrong:
        wrong = [f"offsets of topic {', '.join(foreign)}, not {own.source}"]
    if wrong:
        raise RefusedError(
            f"checkpoint {checkpoint} is another job's: {'; '.join(wrong)}",
            hint="name this job's own checkpoint; or a place that holds nothing, with --new "
            f"{CHOICES}; or, to go on from that one's position, the place of a copy of it (`checkpoint fork`)",
        )


def require_checkpoint(entries: Collection[str], checkpoint: str) -> None:
    """`entries` is what lies at its top. Raises RefusedError when something else than a checkpoint is there."""
    foreign = sorted(name for name in entries if name not in _OF_SPARK and name != FILE and not name.startswith("."))
    if foreign:
        shown = ", ".join(foreign[:3]) + (f" and {len(foreign) - 3} more" if len(foreign) > 3 else "")
        raise RefusedError(
            f"{checkpoint} is no checkpoint of a job's: it holds {shown}",
            hint=f"name this job's own checkpoint, or a place that holds nothing, with --new {CHOICES}",
        )
