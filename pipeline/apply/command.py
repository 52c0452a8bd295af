"""`python -m pipeline apply --config FILE`: exit 0 stopped, 1 something failed, 2 refused, 3 stopped in the middle of a
request by a second signal.

SIGTERM ends it after the request under way; while the store is down it ends at once. Nothing is lost either way: what
is not in the store is read again.
"""

import math
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import click

from pipeline import log
from pipeline.apply.applier import Applier
from pipeline.apply.first_offset import KeptOffset, choose_offset
from pipeline.apply.mutation_store import PARTITION, MutationStore
from pipeline.apply.mutation_topic import MutationTopic, mutation_brokers, open_topic
from pipeline.apply.sparql_target import SparqlTarget
from pipeline.apply.work_report import WorkReport
from pipeline.config.apply_config import ApplyConfig
from pipeline.config.config_file import load_model
from pipeline.config.start_position import CHOICES, NewStart, parse_new
from pipeline.config.unsafe import require_safe, unsafe_apply_settings
from pipeline.consumer.claims import Claims
from pipeline.driver.process_exit import log_failure
from pipeline.driver.stop import StoppedEarlyError, StoppedHardError, StopRequest, on_signals, stop_early
from pipeline.errors import PipelineError
from pipeline.events import ApplyStarted, Configuration, MetricsServed, Stopped, Stopping, StoreRewound
from pipeline.metrics.apply_metrics import ApplyMetrics
from pipeline.ops.source import Bounds
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.records.record import SourcePartition

_SLICE_S = 0.2


@click.command(short_help="Apply mutations to a triple store until SIGTERM.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), required=True, help="The YAML file.")
@click.option(
    "--new",
    "new_start",
    metavar="POSITION",
    help=f"Begin at {CHOICES}, and write that offset into the store. Default: continue from the store's offset.",
)
@click.option("--allow-unsafe", is_flag=True, help="Start although the configuration is unsafe. Default: refuse.")
def apply(config_file: Path, new_start: str | None, *, allow_unsafe: bool) -> None:
    """Apply the mutations of a topic to a triple store, by SPARQL 1.1 Update, until SIGTERM.

    The next offset is a triple of the store, written by the request that changes its triples. A store without it is
    refused unless --new says where to begin, and so is one that is behind the beginning of the topic.
    """
    on_signals(stop_early)
    try:
        config = load_model(config_file, ApplyConfig)
        unsafe = unsafe_apply_settings(config)
        if not allow_unsafe:
            require_safe(unsafe)
        new = parse_new(new_start, datetime.now(UTC)) if new_start is not None else None
        log.emit(Configuration(unsafe=tuple(unsafe), effective=config.model_dump(mode="json", by_alias=True)))
        run_apply(config, new)
    except (StoppedEarlyError, KeyboardInterrupt):
        log.emit(Stopped(seconds=0, rounds_given_up=0))
    except PipelineError as error:
        log_failure(error)
        sys.exit(error.exit_code)


def run_apply(config: ApplyConfig, new: NewStart | None) -> None:
    """Until a signal. Raises PipelineError."""
    stop = StopRequest(math.inf, time.monotonic)
    settings, topic_name = config.apply, config.source.topic
    applier: Applier | None = None
    with closing(SparqlTarget(settings, lambda seconds: _pause(seconds, stop))) as target:
        metrics = ApplyMetrics(
            config.metrics,
            mutation_brokers(config),
            SourcePartition(topic_name, PARTITION),
            next_offset=lambda: None if applier is None else applier.next_offset,
            is_store_down=lambda: target.is_down,
        )
        namespaces = ConceptNamespaces(settings.concept_base)
        store = MutationStore(target, namespaces, topic_name, graph=settings.graph, atomic=settings.atomic)
        topic = open_topic(config)
        try:
            # The store first: nothing that it has is behind the end of the topic then.
            stored = store.adopt() if settings.offset == "store" else None
            bounds = topic.bounds()
            applied = store.applied_offset if new is None else None
            is_replayed = applied is None or store.torn_until > applied
            start = _first_offset(config, topic, store, stored, bounds, new)
            topic.read_from(start)
            applier = Applier(
                topic,
                store,
                settings,
                Claims(config.claim_check).resolve,
                WorkReport(metrics.recorder, time.monotonic),
                start=start,
                replay_end=bounds.end[PARTITION] if is_replayed else applied or start,
                applied_offset=applied or start,
            )
            with _serving(metrics, config):
                _handle_signals(stop, settings.timeout.total_seconds())
                applier.run(lambda: stop.is_there)
        finally:
            topic.close(applier.next_offset if applier is not None and settings.offset == "store" else None)
    log.emit(Stopped(seconds=round(stop.seconds, 3), rounds_given_up=0))


def _first_offset(
    config: ApplyConfig,
    topic: MutationTopic,
    store: MutationStore,
    stored: int | None,
    bounds: Bounds,
    new: NewStart | None,
) -> int:
    """The offset to begin at; a new one is written down where it is kept. `stored` is the store's."""
    keeper = config.apply.offset
    committed = topic.committed_offset()
    kept = stored if keeper == "store" else committed
    first, end = bounds.first[PARTITION], bounds.end[PARTITION]
    new_offset = None if new is None else _resolve_new(topic, bounds, new)
    topic_id = topic.id() if keeper == "store" else None
    kept_ids = store.topic_ids() if keeper == "store" else frozenset[str]()
    state = KeptOffset(topic.topic, keeper, kept, first, end, topic_id, kept_ids)
    offset = choose_offset(state, new=None if new is None else new.name, new_offset=new_offset)
    is_new = new_offset is not None
    # Before anything is read, as a restart has no `--new`; and a store is this process's from here on.
    if keeper == "store":
        store.write_offset(offset, None if is_new else store.applied_offset)
        if topic_id is not None and kept_ids != {topic_id}:
            store.write_topic_id(topic_id)
    elif kept is None:
        topic.commit(offset)
    if keeper == "store" and kept is not None and not is_new and committed is not None and committed > kept:
        log.emit(StoreRewound(store_offset=kept, expected_offset=committed))
    log.emit(
        ApplyStarted(
            topic=topic.topic,
            endpoint=config.apply.endpoint,
            next_offset=offset,
            kept_in="new" if is_new else keeper,
            behind=max(0, end - offset),
        )
    )
    return offset


def _resolve_new(topic: MutationTopic, bounds: Bounds, new: NewStart) -> int:
    if new.timestamp_ms is not None:
        return topic.offset_at(new.timestamp_ms, bounds)
    return (bounds.end if new.name == "latest" else bounds.first)[PARTITION]


@contextmanager
def _serving(metrics: ApplyMetrics, config: ApplyConfig) -> Iterator[None]:
    if config.metrics.port is not None:
        log.emit(MetricsServed(url=metrics.start()))
    try:
        yield
    finally:
        metrics.close()


def _handle_signals(stop: StopRequest, within_s: float) -> None:
    def handle(number: int, _frame: FrameType | None) -> None:
        is_first = not stop.is_there
        stop.signal(number)
        if stop.ends_now is not None:
            for signal_number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(signal_number, signal.SIG_IGN)
            raise StoppedHardError(
                f"stopped in the middle of a request, as {stop.ends_now}",
                hint="whether the store executes it or not, the next start continues from the store's offset",
            )
        if is_first:
            log.emit(Stopping(batch=None, rounds=0, within_s=within_s))

    on_signals(handle)


def _pause(seconds: float, stop: StopRequest) -> bool:
    """Whether the time is over and no stop was requested; a signal is noticed within a fraction of a second."""
    until = time.monotonic() + seconds
    while not stop.is_there and (left_s := until - time.monotonic()) > 0:
        time.sleep(min(_SLICE_S, left_s))
    return not stop.is_there
