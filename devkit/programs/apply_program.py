"""`run: apply`: the process that applies the mutations of a topic to the triple store, beside the job that writes them.

Its configuration is `pipeline.config.apply_config.ApplyConfig`; by default it reads the output of `rdf-resolve`.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psutil
from pydantic import BaseModel

from devkit.errors import StackError, UsageError
from devkit.observe.applied_offsets import FollowerOffsets, OffsetInStore, OffsetOfGroup
from devkit.observe.arm_observation import FirstTry
from devkit.observe.checkpoint import Offsets
from devkit.observe.kafka.deferrals import Deferrals
from devkit.observe.kafka.group_offsets import GroupOffsets
from devkit.observe.observable import OBSERVABLES, Observable
from devkit.observe.samples.sample import Sample
from devkit.programs.launch import Addition, Launch
from devkit.programs.places import Places, StorePlace, merge
from devkit.programs.program import Program, ServedMetrics
from devkit.programs.program_base import ProgramBase
from devkit.programs.program_context import ProgramContext
from devkit.programs.program_state import ProgramState
from devkit.programs.program_topics import ProgramTopics
from devkit.programs.role import Role
from devkit.programs.served_metrics import served_metrics
from devkit.programs.spark.configuration import write_json
from devkit.stack.parts.triple_store import TripleStore
from devkit.traffic.publish import Publisher
from pipeline.config.apply_config import ApplyConfig
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.metrics.apply_catalogue import APPLY_METRICS

_REFUSED = 2
_MUTATIONS = JOB_DEFAULTS["rdf-resolve"].output_topic
_GIVEN_BY_STACK = (
    ("source", "bootstrap_servers"),
    ("apply", "endpoint"),
    ("apply", "query_endpoint"),
    ("claim_check", "endpoint"),
    ("claim_check", "bucket"),
)


class ApplyView:
    """The view of `apply`, which says when it runs, and of whose work the triple store shows the rest."""

    says_when_it_runs = True
    writes_events = True
    worker_events = ()
    introduction = ""
    beginning = "it read anything"
    shows_offsets = False
    has_checkpoint = False

    def shows_life(self) -> bool:
        """False: only its event `apply_started` shows that it reads."""
        return False

    def refused(self, exit_code: int) -> bool:
        """True for exit code 2: its configuration, the topic or the store's offset is wrong."""
        return exit_code == _REFUSED

    def committed(self) -> Offsets:
        """Always empty: it reads no source events."""
        return {}

    def not_observable(self, deferrals: Deferrals) -> frozenset[Observable]:  # noqa: ARG002 - part of the interface
        """All but words: it has no batches of source events, and defers nothing."""
        return OBSERVABLES - {"words"}

    def look(self, publisher: Publisher, sample: Sample, *, published_all: bool, last: bool) -> None:
        """Does nothing: the sample has how far it has come."""


@dataclass(frozen=True)
class ConfiguredApply:
    """`apply` with the configuration of an arm."""

    apply_config: ApplyConfig
    config: None = None
    serves_metrics: bool = True
    reads_source: bool = False
    truth: None = None
    commit_within: None = None

    @property
    def metrics(self) -> ServedMetrics:
        """By its catalogue."""
        return served_metrics(APPLY_METRICS, self.apply_config.metrics.rename)

    @property
    def topics(self) -> ProgramTopics:
        """The topic of mutations is all that it has."""
        topic = self.apply_config.source.topic
        return ProgramTopics(sources=(topic,), output=topic, error=topic, deferral=topic, defers=False)

    def effective(self) -> dict[str, Any]:
        """Under the keys of a configuration file, defaults included."""
        return self.apply_config.model_dump(mode="json", by_alias=True)

    def follows(self, context: ProgramContext) -> FollowerOffsets:
        """Where its next offset is kept. Raises StackError without a triple store."""
        source, settings = self.apply_config.source, self.apply_config.apply
        if settings.offset == "kafka":
            return OffsetOfGroup(GroupOffsets(context.stack.kafka.direct, source.group), source.topic, settings.graph)
        return OffsetInStore(_store_of(context), source.topic, settings.graph)

    def launch(self, context: ProgramContext) -> Launch:
        """Its first start begins with the first mutation; later ones continue from the offset that is kept."""
        config_file = write_json(self.effective(), context.directory)
        argv = (sys.executable, "-m", "pipeline", "apply", "--config", str(config_file), "--allow-unsafe")
        new = Addition(("--new", "earliest"))
        return Launch(argv, context.stack.object_store.credentials(), first=new, scratch=context.scratch)

    def try_start(self, context: ProgramContext) -> FirstTry | None:  # noqa: ARG002 - part of the interface
        """None: what it refuses shows at its start."""
        return None

    def view(self, state: ProgramState, context: ProgramContext) -> ApplyView:  # noqa: ARG002 - part of the interface
        """Ignores both arguments, as its events and the store show everything."""
        return ApplyView()

    def role_of(self, process: psutil.Process, first: int) -> Role | None:
        """`driver` for its one process."""
        return "driver" if process.pid == first else None


@dataclass(frozen=True)
class ApplyProgram(ProgramBase):
    """Needs a job beside it that writes the mutations."""

    model: type[BaseModel] = ApplyConfig
    given_by_stack: tuple[tuple[str, ...], ...] = _GIVEN_BY_STACK
    needs_triple_store: bool = True

    def configure(self, places: Places, settings: Mapping[str, Any]) -> ConfiguredApply:
        """Raises pydantic's ValidationError, and StackError where the stack has no triple store."""
        store = places.triple_store
        if store is None:
            raise StackError("this stack has no triple store, and `run: apply` needs one")
        # A group of its own, as a broker may keep the offsets of an earlier arm's topic.
        group = re.sub(r"[^A-Za-z0-9._-]+", ".", f"apply.{places.checkpoint.removeprefix('s3a://')}")
        given = {
            "source": {"bootstrap_servers": places.bootstrap, "topic": _MUTATIONS, "group": group},
            "apply": {"endpoint": store.update, "query_endpoint": store.query} | _login(store),
            "claim_check": {"endpoint": places.s3_endpoint, "bucket": places.claim_bucket},
            "metrics": {"port": 0},
        }
        return ConfiguredApply(ApplyConfig.model_validate(merge(given, settings)))


def _login(store: StorePlace) -> dict[str, str]:
    login = store.login
    return {} if login is None else {"username": login.user, "password_file": str(login.file)}


@dataclass(frozen=True)
class ApplyKind:
    """`apply`, without further words."""

    name: str = "apply"
    example: str = "apply"

    def program(self, words: str) -> Program:
        """Raises UsageError where there are words."""
        if words:
            raise UsageError(f"run: apply takes no {words!r}", hint="its settings are in `configuration`")
        return ApplyProgram()


def _store_of(context: ProgramContext) -> TripleStore:
    if context.stack.triple_store is None:
        raise StackError("this stack has no triple store, and `run: apply` needs one")
    return context.stack.triple_store
