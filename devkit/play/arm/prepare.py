"""The first phases of an arm: pages, topics, a triple store that has the dump, and the start that is tried first."""

from dataclasses import replace
from typing import cast

from devkit.observe.expected_output.truth import LoadedOutputs
from devkit.observe.timeline.kit_events import ProgramsNamed
from devkit.observe.wikibase.store_loading import load_store
from devkit.play.arm.arm import Arm
from devkit.play.arm.warm_up import populate
from devkit.play.topics_to_make import topics_to_make
from devkit.stack.topics import recreate_topics
from devkit.traffic.records import DumpedEntities
from located_config.count import counted


def prepare(arm: Arm) -> None:
    """Raises StackError."""
    arm.clock.begin()
    arm.log.say("arm", "topics, traffic and pipeline", moment="arm begins")
    if len(arm.programs) > 1:
        arm.log.add(ProgramsNamed(names=tuple(run.name for run in arm.programs)))
    populate(arm)
    if (store := arm.context.stack.triple_store) is not None:
        store.clear()
    topics: dict[str, tuple[int, dict[str, str]]] = {}
    for run in reversed(arm.programs):
        names, own_times = run.configured.topics, arm.traffic.has_event_time and run is arm.main
        if run is arm.main and (wikibase := arm.scenario.traffic.wikibase_topics) is not None:
            # Those that no program of this arm reads are published all the same.
            names = replace(names, sources=tuple(dict.fromkeys((*names.sources, *wikibase.names))))
        topics |= topics_to_make(arm.scenario.kafka.topics, names, own_times=own_times)
    recreate_topics(arm.bootstrap, topics)
    if arm.traffic.has_event_time or arm.topics.event_time:
        sources = counted(len(arm.topics.sources), "source topic")
        arm.log.say("topics", f"{sources} with message.timestamp.type CreateTime and retention.ms -1")
    if (dump := arm.traffic.dump) is not None:
        _load(arm, dump)


def _load(arm: Arm, dump: DumpedEntities) -> None:
    """Write the dump's revisions into a file, and its entities into the triple store. Raises StackError."""
    arm.revisions_file.write_text("".join(f"{entity},{rev}\n" for entity, rev in dump.revisions.items()))
    store, truth = arm.context.stack.triple_store, cast("object", arm.truth)  # it may have both protocols
    if store is None or (applied := arm.applied) is None or not isinstance(truth, LoadedOutputs):
        return
    load_store(store, truth.loaded(), applied.graph)
    arm.log.say("store", f"loaded with the dump's {counted(len(dump.revisions), 'entity', 'entities')}")


def try_first(arm: Arm) -> None:
    """Try the start, and leave nothing of it. Raises StackError if the program neither refuses nor begins."""
    if arm.tried_first is None:
        return
    directory = arm.directory / "tried-first"
    directory.mkdir()
    tried = arm.tried_first.try_start(replace(arm.main.context, directory=directory, debugger=None))
    if tried is None:
        return
    arm.state.tried_first = tried
    arm.log.of(arm.main.name).say(
        arm.main.label, "tried first, and " + (f"refused: {tried.refusal}" if tried.refusal else "it started")
    )
