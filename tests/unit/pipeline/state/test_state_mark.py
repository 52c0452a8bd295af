"""What a checkpoint fixes of its state, what a later start is refused for, and the settings of Spark's state store."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.state.state_mark import StateMark, pinned
from pipeline.state.store_settings import store_settings
from tests.unit.pipeline.conftest import MakeConfig

MARK = StateMark(operator="dedupeWithinWatermark", key="id", provider="rocksdb", partitions=3, delay_ms=600_000)


FIVE = MARK.model_copy(update={"partitions": 5})
SHORTEST, SHORTER, UNKNOWN = (MARK.model_copy(update={"delay_ms": ms}) for ms in (1, 60_000, None))
PLAIN: dict[str, Any] = {}
STORE = "spark.sql.streaming.stateStore"


def stateful(*, within: str = "10m", by: str = "id", **state: Any) -> dict[str, Any]:
    return {"source": {"deduplicate": {"within": within, "by": by}}, "state": state}


def first(config: PipelineConfig, slots: int | None = 3) -> StateMark | None:
    return pinned(None, config, checkpoint="place", slots=slots, exists=False)


def later(found: StateMark | None, config: PipelineConfig, slots: int | None = 8) -> StateMark | None:
    return pinned(found, config, checkpoint="place", slots=slots, exists=True)


def refused(found: StateMark | None, config: PipelineConfig) -> str:
    with pytest.raises(RefusedError) as caught:
        later(found, config)
    assert caught.value.hint
    assert "--new" in caught.value.hint
    return str(caught.value)


@pytest.mark.parametrize(
    ("slots", "sections", "mark"),
    [
        (3, stateful(), MARK),
        (3, stateful(partitions=5), FIVE),
        (3, PLAIN, None),
        (None, PLAIN, None),
        (None, stateful(partitions=3), MARK),
    ],
    ids=["a partition for each slot", "or as many as it says", "no state", "of no known slots", "not to be known"],
)
def test_a_first_start(make_config: MakeConfig, slots: int | None, sections: dict[str, Any], mark: StateMark) -> None:
    assert first(make_config(**sections), slots) == mark


def test_a_first_start_that_does_not_know_its_slots_is_refused(make_config: MakeConfig) -> None:
    with pytest.raises(RefusedError, match="how many slots") as caught:
        first(make_config(**stateful()), None)
    assert "spark.executor.instances" in (caught.value.hint or "")


def test_what_an_earlier_start_that_failed_has_left_does_not_bind(make_config: MakeConfig) -> None:
    assert pinned(MARK, make_config(), checkpoint="place", slots=3, exists=False) is None


@pytest.mark.parametrize(
    ("found", "slots", "sections", "mark"),
    [
        (MARK, None, stateful(), MARK),
        (MARK, 8, stateful(), MARK),
        (MARK, 8, stateful(partitions=3), MARK),
        (None, 8, PLAIN, None),
        # How long is remembered may change: the watermark stays where the shortest has brought it.
        (MARK, 8, stateful(within="1h"), MARK),
        (MARK, 8, stateful(within="1m"), SHORTER),
        (SHORTER, 8, stateful(within="1h"), SHORTER),
        # Where an earlier version did not write it: a longer one than there was would make every event late.
        *((UNKNOWN, 8, stateful(within=within), SHORTEST) for within in ("1m", "10m", "1h")),
    ],
)
def test_a_later_start_keeps_what_is_fixed(
    make_config: MakeConfig,
    found: StateMark | None,
    slots: int | None,
    sections: dict[str, Any],
    mark: StateMark | None,
) -> None:
    assert later(found, make_config(**sections), slots) == mark


FIXED = "the state in checkpoint place is fixed: "


@pytest.mark.parametrize(
    ("found", "sections", "message"),
    [
        (MARK, stateful(partitions=200), f"^{FIXED}state.partitions is 3, not 200$"),
        (MARK, stateful(provider="heap"), f"^{FIXED}state.provider is rocksdb, not heap$"),
        (MARK, stateful(by="event"), f"^{FIXED}source.deduplicate.by is id, not event$"),
        (MARK, stateful(within="ever"), f"^{FIXED}source.deduplicate.within is a duration, not ever$"),
        (MARK.model_copy(update={"schema_version": 2}), stateful(), "form of its key is 2, not 1$"),
        (None, stateful(), "has no state, and source.deduplicate needs it"),
        (MARK, PLAIN, r"\(deduplicate by id, 3 partitions in rocksdb\)"),
    ],
)
def test_another_state_is_refused_with_what_is_fixed(
    make_config: MakeConfig, found: StateMark | None, sections: dict[str, Any], message: str
) -> None:
    assert re.search(message, refused(found, make_config(**sections)))


def test_a_state_does_not_begin_on_the_way_where_slots_are_not_known(make_config: MakeConfig) -> None:
    with pytest.raises(RefusedError, match="has no state"):
        later(None, make_config(**stateful()), None)


def counting(make_config: MakeConfig, *, read: str = "proportional", **settings: Any) -> PipelineConfig:
    """`settings` are of the sections `source` and `count`, by name."""
    source = {"topics": ["a", "b"], "read": read} | ({"late": "lapse"} if read == "aligned" else {})
    of_source = {name: value for name, value in settings.items() if name in ("lateness", "pass_headers")}
    count = {"window": "1m"} | {name: value for name, value in settings.items() if name not in of_source}
    return make_config(job="edit-counts", source=source | of_source, count=count)


def test_counts_fix_their_window_and_how_many_streams_are_united(make_config: MakeConfig) -> None:
    """How late events may be is only of a job in which they lapse. The state is needed from the first batch on."""
    begun = first(counting(make_config), 2)
    assert begun is not None
    assert (begun.operator, begun.key, begun.window_ms, begun.streams) == ("stateStoreSave", "page", 60_000, 2)
    assert (begun.delay_ms, begun.lateness_ms, begun.headers) == (30_000, None, False)
    assert begun.in_words() == "count in windows of 60 s by page, 2 partitions in rocksdb"
    assert later(begun, counting(make_config)) == begun
    assert "count.window is 60 s, not 30 s" in refused(begun, counting(make_config, window="30s"))
    assert "source.topics, is 2, not 1" in refused(begun, counting(make_config, read="aligned"))
    assert "has no state, and the job edit-counts needs it" in refused(None, counting(make_config))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delay": "2m"}, "count.delay is 60 s, not 120 s"),
        ({"delay": "45s"}, "count.delay is 60 s, not 45 s"),
        ({"lateness": "10s"}, "source.lateness is 30 s, not 10 s"),
        ({"pass_headers": ["traceparent"]}, "source.pass_headers is empty, not with names"),
    ],
)
def test_counts_fix_what_decides_where_an_event_counts(
    make_config: MakeConfig, change: dict[str, Any], message: str
) -> None:
    settings = {"read": "aligned", "delay": "1m", "lateness": "30s"}
    begun = first(counting(make_config, **settings), 2)
    assert begun is not None
    assert later(begun, counting(make_config, **settings), 2) == begun
    changed = counting(make_config, **settings | change)
    assert refused(begun, changed) == f"{FIXED}{message}"
    # An earlier version has not written it: it is fixed from now on.
    unknown = begun.model_copy(update={"delay_ms": None, "lateness_ms": None, "headers": None})
    assert later(unknown, changed, 5) == first(changed, 2)


def test_decided_entities_fix_their_partitions_and_not_how_long_events_wait(make_config: MakeConfig) -> None:
    begun = first(make_config(job="rdf-decide"), 2)
    operator = "transformWithStateInPySparkExec"
    assert begun == StateMark(operator=operator, key="entity", provider="rocksdb", partitions=2, delay_ms=1)
    assert begun.in_words() == "decide by entity, 2 partitions in rocksdb"
    config = make_config(job="rdf-decide", updater={"reorder": "5m", "continue_at_once": False})
    assert later(begun, config) == begun
    assert "state.partitions is 2, not 4" in refused(begun, make_config(job="rdf-decide", state={"partitions": 4}))
    assert "has no state, and the job rdf-decide needs it" in refused(None, config)


def test_rocksdb_is_bounded_and_writes_changes_alone(make_config: Callable[..., PipelineConfig]) -> None:
    config = make_config(state={"partitions": 9, "max_bytes": "48MiB"})
    settings = store_settings(config, MARK)
    assert settings.pop(f"{STORE}.providerClass").endswith(".RocksDBStateStoreProvider")
    assert settings == {
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        f"{STORE}.rocksdb.changelogCheckpointing.enabled": "true",
        f"{STORE}.rocksdb.boundedMemoryUsage": "true",
        f"{STORE}.rocksdb.maxMemoryUsageMB": "48",
    }


def test_a_map_in_the_heap_has_no_settings_of_its_own(make_config: Callable[..., PipelineConfig]) -> None:
    settings = store_settings(make_config(), MARK.model_copy(update={"provider": "heap"}))
    assert settings.pop(f"{STORE}.providerClass").endswith(".HDFSBackedStateStoreProvider")
    assert settings == {
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    }


@pytest.mark.parametrize("job", ["edit-counts", "rdf-decide"])
def test_what_waits_may_leave_in_a_batch_without_events(make_config: Callable[..., PipelineConfig], job: str) -> None:
    settings = store_settings(make_config(job=job), MARK)
    assert settings["spark.sql.streaming.noDataMicroBatches.enabled"] == "true"
