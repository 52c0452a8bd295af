"""What a checkpoint fixes of its state, and what a later start is refused for."""

from collections.abc import Callable
from typing import Any

import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.state.state_mark import StateMark, pinned

MakeConfig = Callable[..., PipelineConfig]
MARK = StateMark(operator="dedupeWithinWatermark", key="id", provider="rocksdb", partitions=3, delay_ms=600_000)


def stateful(make_config: MakeConfig, *, within: str = "10m", by: str = "id", **state: Any) -> PipelineConfig:
    return make_config(source={"deduplicate": {"within": within, "by": by}}, state=state)


def refused(found: StateMark | None, config: PipelineConfig) -> str:
    with pytest.raises(RefusedError) as caught:
        pinned(found, config, checkpoint="place", slots=8, exists=True)
    assert caught.value.hint
    assert "--new" in caught.value.hint
    return str(caught.value)


def test_a_first_start_has_a_partition_for_each_slot(make_config: MakeConfig) -> None:
    begun = pinned(None, stateful(make_config), checkpoint="place", slots=3, exists=False)
    assert begun == MARK
    chosen = pinned(None, stateful(make_config, partitions=5), checkpoint="place", slots=3, exists=False)
    assert chosen is not None
    assert chosen.partitions == 5
    assert pinned(None, make_config(), checkpoint="place", slots=3, exists=False) is None


def test_a_first_start_that_does_not_know_its_slots_is_refused(make_config: MakeConfig) -> None:
    with pytest.raises(RefusedError, match="how many slots") as caught:
        pinned(None, stateful(make_config), checkpoint="place", slots=None, exists=False)
    assert "spark.executor.instances" in (caught.value.hint or "")
    assert pinned(None, make_config(), checkpoint="place", slots=None, exists=False) is None
    chosen = pinned(None, stateful(make_config, partitions=3), checkpoint="place", slots=None, exists=False)
    assert chosen == MARK


def test_a_later_start_need_not_know_its_slots(make_config: MakeConfig) -> None:
    assert pinned(MARK, stateful(make_config), checkpoint="place", slots=None, exists=True) == MARK
    with pytest.raises(RefusedError, match="has no state"):
        pinned(None, stateful(make_config), checkpoint="place", slots=None, exists=True)


def test_what_an_earlier_start_that_failed_has_left_does_not_bind(make_config: MakeConfig) -> None:
    assert pinned(MARK, make_config(), checkpoint="place", slots=3, exists=False) is None


def test_a_later_start_with_other_slots_keeps_the_partitions(make_config: MakeConfig) -> None:
    assert pinned(MARK, stateful(make_config), checkpoint="place", slots=8, exists=True) == MARK
    assert pinned(MARK, stateful(make_config, partitions=3), checkpoint="place", slots=8, exists=True) == MARK


def test_how_long_is_remembered_may_change_and_the_shortest_is_kept(make_config: MakeConfig) -> None:
    """The watermark stays where that has brought it."""

    def later(found: StateMark, within: str) -> StateMark | None:
        return pinned(found, stateful(make_config, within=within), checkpoint="place", slots=8, exists=True)

    assert later(MARK, "1h") == MARK
    shorter = MARK.model_copy(update={"delay_ms": 60_000})
    assert later(MARK, "1m") == shorter
    assert later(shorter, "1h") == shorter


@pytest.mark.parametrize("within", ["1m", "10m", "1h"])
def test_where_an_earlier_version_did_not_write_how_long_the_shortest_is_taken(
    make_config: MakeConfig, within: str
) -> None:
    """The watermark and this time say how late an event is: a longer one than there was makes every event late."""
    config = stateful(make_config, within=within)
    taken = pinned(MARK.model_copy(update={"delay_ms": None}), config, checkpoint="place", slots=8, exists=True)
    assert taken == MARK.model_copy(update={"delay_ms": 1})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"partitions": 200}, "state.partitions is 3, not 200"),
        ({"provider": "heap"}, "state.provider is rocksdb, not heap"),
        ({"by": "event"}, "source.deduplicate.by is id, not event"),
        ({"within": "ever"}, "source.deduplicate.within is a duration, not ever"),
    ],
)
def test_another_state_is_refused_with_what_is_fixed(
    make_config: MakeConfig, change: dict[str, Any], message: str
) -> None:
    assert refused(MARK, stateful(make_config, **change)) == f"the state in checkpoint place is fixed: {message}"


def test_a_key_of_another_form_is_refused(make_config: MakeConfig) -> None:
    later = MARK.model_copy(update={"schema_version": 2})
    assert refused(later, stateful(make_config)).endswith("form of its key is 2, not 1")


def test_a_state_neither_begins_nor_ends_on_the_way(make_config: MakeConfig) -> None:
    assert "has no state, and source.deduplicate needs it" in refused(None, stateful(make_config))
    assert "(deduplicate by id, 3 partitions in rocksdb)" in refused(MARK, make_config())
    assert pinned(None, make_config(), checkpoint="place", slots=8, exists=True) is None


def counting(make_config: MakeConfig, *, read: str = "proportional", **settings: Any) -> PipelineConfig:
    """`settings` are of the sections `source` and `count`, by name."""
    source = {"topics": ["a", "b"], "read": read} | ({"late": "lapse"} if read == "aligned" else {})
    of_source = {name: value for name, value in settings.items() if name in ("lateness", "pass_headers")}
    count = {"window": "1m"} | {name: value for name, value in settings.items() if name not in of_source}
    return make_config(job="edit-counts", source=source | of_source, count=count)


def test_counts_fix_their_window_and_how_many_streams_are_united(make_config: MakeConfig) -> None:
    begun = pinned(None, counting(make_config), checkpoint="place", slots=2, exists=False)
    assert begun is not None
    assert (begun.operator, begun.key, begun.window_ms, begun.streams) == ("stateStoreSave", "page", 60_000, 2)
    assert begun.in_words() == "count in windows of 60 s by page, 2 partitions in rocksdb"
    assert pinned(begun, counting(make_config), checkpoint="place", slots=4, exists=True) == begun
    assert "count.window is 60 s, not 30 s" in refused(begun, counting(make_config, window="30s"))
    assert "source.topics, is 2, not 1" in refused(begun, counting(make_config, read="aligned"))


def test_counts_need_their_state_from_the_first_batch_on(make_config: MakeConfig) -> None:
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
    first = {"read": "aligned", "delay": "1m", "lateness": "30s"}
    begun = pinned(None, counting(make_config, **first), checkpoint="place", slots=2, exists=False)
    assert begun is not None
    assert pinned(begun, counting(make_config, **first), checkpoint="place", slots=2, exists=True) == begun
    later = counting(make_config, **first | change)
    assert refused(begun, later) == f"the state in checkpoint place is fixed: {message}"
    # An earlier version has not written it: it is fixed from now on.
    unknown = begun.model_copy(update={"delay_ms": None, "lateness_ms": None, "headers": None})
    completed = pinned(unknown, later, checkpoint="place", slots=5, exists=True)
    assert completed == pinned(None, later, checkpoint="place", slots=2, exists=False)


def test_how_late_events_may_be_is_only_of_a_job_in_which_they_lapse(make_config: MakeConfig) -> None:
    begun = pinned(None, counting(make_config), checkpoint="place", slots=2, exists=False)
    assert begun is not None
    assert (begun.delay_ms, begun.lateness_ms, begun.headers) == (30_000, None, False)


def test_decided_entities_fix_their_partitions_and_not_how_long_events_wait(make_config: MakeConfig) -> None:
    begun = pinned(None, make_config(job="rdf-decide"), checkpoint="place", slots=2, exists=False)
    assert begun is not None
    assert begun == StateMark(
        operator="transformWithStateInPySparkExec", key="entity", provider="rocksdb", partitions=2, delay_ms=1
    )
    assert begun.in_words() == "decide by entity, 2 partitions in rocksdb"
    later = make_config(job="rdf-decide", updater={"reorder": "5m", "continue_at_once": False})
    assert pinned(begun, later, checkpoint="place", slots=8, exists=True) == begun
    other = make_config(job="rdf-decide", state={"partitions": 4})
    assert "state.partitions is 2, not 4" in refused(begun, other)
    assert "has no state, and the job rdf-decide needs it" in refused(None, later)
