"""What a checkpoint fixes of the state in it: the operator, its key, the store and the number of its partitions.

Spark itself takes another number of partitions or another store from the checkpoint, without a word, and answers
another operator or key with an exception of its own. So the first start writes what holds into `job.json`, and a later
one with something else is refused.
"""

from datetime import timedelta
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.start_position import CHOICES
from pipeline.errors import RefusedError

_SCHEMA = 1
_LEAST_MS = 1
"""Goes up when the form of the key changes, so that what a key of the old form remembers is not passed over."""


ByEntity = Literal["transformWithStateInPySparkExec"]
BY_ENTITY: ByEntity = "transformWithStateInPySparkExec"
"""Spark's name for the operator with a state by entity."""


class StateMark(BaseModel):
    """`operator` is Spark's name for it, `schema_version` that of the key's form. `streams` are those of the union that
    the state is of. `delay_ms` is that of the watermark: of counts, and the shortest that repeats were ever looked for;
    None without a watermark, and in the mark of an earlier version. `window_ms`, `lateness_ms` and `headers` are those
    of counts, None where nothing is counted; `lateness_ms` also where nothing lapses. How long events wait in a
    state by entity is not fixed: what waits leaves by what holds when its time is over.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    operator: Literal["dedupeWithinWatermark", "dedupe", "stateStoreSave", ByEntity]
    key: Literal["id", "event", "page", "entity"]
    schema_version: PositiveInt = _SCHEMA
    provider: Literal["rocksdb", "heap"]
    partitions: PositiveInt
    window_ms: PositiveInt | None = None
    delay_ms: PositiveInt | None = None
    lateness_ms: NonNegativeInt | None = None
    headers: bool | None = None
    streams: PositiveInt = 1

    @classmethod
    def of(cls, config: PipelineConfig, *, slots: int | None) -> Self | None:
        """The mark of a first start, with this number of slots for the main lane; None without state.

        Raises RefusedError when neither the configuration nor Spark gives the number of partitions.
        """
        if not has_state(config):
            return None
        partitions = config.state.partitions or slots
        if partitions is None:
            raise RefusedError(
                "state.partitions is left out, and Spark's settings do not say how many slots the cluster will have",
                hint="write state.partitions, one for each slot that works on batches; or give Spark "
                "spark.executor.instances and spark.executor.cores, or spark.cores.max",
            )
        if counts_edits(config):
            return cls(
                operator="stateStoreSave",
                key="page",
                provider=config.state.provider,
                partitions=partitions,
                window_ms=max(1, _milliseconds(config.count.window)),
                # With a longer one, late events get a time that the watermark of the shorter one has passed already.
                delay_ms=max(1, _milliseconds(config.count.delay)),
                # What lapses is no page's while it waits in the state, and is asked once more when it leaves.
                lateness_ms=_milliseconds(config.source.lateness) if config.source.late == "lapse" else None,
                # Whole rows are in the state.
                headers=bool(config.source.pass_headers),
                streams=len(config.source.all_topics) if config.source.read == "proportional" else 1,
            )
        if decides_operations(config):
            return cls(
                operator=BY_ENTITY,
                key="entity",
                provider=config.state.provider,
                partitions=partitions,
                delay_ms=_LEAST_MS,
            )
        deduplicate = config.source.deduplicate
        assert deduplicate is not None
        return cls(
            operator="dedupe" if deduplicate.within == "ever" else "dedupeWithinWatermark",
            key=deduplicate.by,
            provider=config.state.provider,
            partitions=partitions,
            delay_ms=None if deduplicate.within == "ever" else max(1, _milliseconds(deduplicate.within)),
        )

    def in_words(self) -> str:
        """As in `deduplicate by id, 4 partitions in rocksdb`."""
        ever = ", within: ever" if self.operator == "dedupe" else ""
        operation = "deduplicate" if self.window_ms is None else f"count in windows of {self.window_ms / 1000:g} s"
        operation = "decide" if self.key == "entity" else operation
        partitions = "1 partition" if self.partitions == 1 else f"{self.partitions} partitions"
        return f"{operation} by {self.key}{ever}, {partitions} in {self.provider}"


def pinned(
    mark: StateMark | None, config: PipelineConfig, *, checkpoint: str, slots: int | None, exists: bool
) -> StateMark | None:
    """The state that the job has: what its checkpoint fixes, or for one that does not `exists` yet what the
    configuration says; None without state. Raises RefusedError for another one than the checkpoint's.
    """
    # What is fixed needs no slots, and what is refused below does not hang on them.
    own = StateMark.of(config, slots=(slots or (mark.partitions if mark else 1)) if exists else slots)
    if not exists:
        return own
    if mark is None and own is not None:
        raise RefusedError(
            f"checkpoint {checkpoint} has no state, and {_needing(config)} needs it from the first batch on",
            hint=f"remove source.deduplicate; or name a place that holds nothing, with --new {CHOICES}"
            if config.source.deduplicate
            else f"name a place that holds nothing, with --new {CHOICES}",
        )
    if mark is not None and own is None:
        raise RefusedError(
            f"checkpoint {checkpoint} has a state ({mark.in_words()}), and the configuration has no source.deduplicate",
            hint=f"write it as it was; or name a place that holds nothing, with --new {CHOICES}",
        )
    if mark is None or own is None:
        return None
    if config.state.partitions is None:
        own = own.model_copy(update={"partitions": mark.partitions})
    conflicts = differences(mark, own)
    if conflicts:
        raise RefusedError(
            f"the state in checkpoint {checkpoint} is fixed: {'; '.join(conflicts)}",
            hint="write what it has, or leave state.partitions out; to change it, name a place that holds nothing, "
            f"with --new {CHOICES}: it begins with an empty state",
        )
    if mark.delay_ms is None:
        # What an earlier version did not write is fixed from now on. It did not write for how short a time repeats were
        # ever looked for, so the watermark may be anywhere behind the latest event time: least is what is always right.
        return own.model_copy(update={"delay_ms": _LEAST_MS}) if own.delay_ms and own.window_ms is None else own
    # A watermark never goes back, so it stays where the shortest delay has brought it.
    return mark.model_copy(update={"delay_ms": min(mark.delay_ms, own.delay_ms or mark.delay_ms)})


def differences(mark: StateMark, own: StateMark) -> list[str]:
    """The differences between a checkpoint's state and the configuration, in words."""
    pairs: tuple[tuple[str, object, object], ...] = (
        ("source.deduplicate.within", _within(mark), _within(own)),
        ("source.deduplicate.by", mark.key, own.key),
        ("form of its key", mark.schema_version, own.schema_version),
        ("state.provider", mark.provider, own.provider),
        ("state.partitions", mark.partitions, own.partitions),
        ("count.window", _seconds(mark.window_ms), _seconds(own.window_ms)),
        ("number of streams, by source.read and source.topics,", mark.streams, own.streams),
    )
    if mark.window_ms is not None and mark.delay_ms is not None:
        pairs += (
            ("count.delay", _seconds(mark.delay_ms), _seconds(own.delay_ms)),
            ("source.lateness", _seconds(mark.lateness_ms), _seconds(own.lateness_ms)),
            ("source.pass_headers", _some(is_there=mark.headers), _some(is_there=own.headers)),
        )
    return [
        f"{setting} is {pinned_value}, not {own_value}"
        for setting, pinned_value, own_value in pairs
        if pinned_value != own_value
    ]


def has_state(config: PipelineConfig) -> bool:
    """Whether the job remembers anything from one batch to the next."""
    return leaves_later(config) or config.source.deduplicate is not None


def counts_edits(config: PipelineConfig) -> bool:
    """Whether rows are counted, before the job sees them."""
    return config.job == "edit-counts"


def decides_operations(config: PipelineConfig) -> bool:
    """Whether events are decided by the state of their entity, before the job sees them."""
    return config.job == "rdf-decide"


def leaves_later(config: PipelineConfig) -> bool:
    """Whether an event may leave in a later batch than the one that read it, when its window or its time is over."""
    return counts_edits(config) or decides_operations(config)


def _needing(config: PipelineConfig) -> str:
    return "source.deduplicate" if config.source.deduplicate else f"the job {config.job}"


def _milliseconds(duration: timedelta) -> int:
    return round(duration.total_seconds() * 1000)


def _seconds(ms: int | None) -> str:
    return "none" if ms is None else f"{ms / 1000:g} s"


def _some(*, is_there: bool | None) -> str:
    return "with names" if is_there else "empty"


def _within(mark: StateMark) -> str:
    return "ever" if mark.operator == "dedupe" else "a duration"
