"""A kind of program from another package, in one file: what a person would write to have one more.

    run: tally python tally.py     a command that is told nothing but the broker and its topics

It says with an exit code of its own that it refuses, and calls itself ready by `started`.
"""

SOURCE = """
import shlex
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from devkit.observe.observable import OBSERVABLES
from devkit.programs.launch import Addition, Launch
from devkit.programs.registry import register
from devkit.programs.program_topics import ProgramTopics


class TallySettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str = "tally.source"
    every: int = 10


class TallyView:
    says_when_it_runs = True
    writes_events = True
    worker_events = ()
    introduction = ""
    beginning = "it counted anything"
    shows_offsets = False
    has_checkpoint = False

    def __init__(self, state):
        self._state = state

    def shows_life(self):
        return False

    def refused(self, exit_code):
        return exit_code == 64

    def committed(self):
        return self._state.source_ends if self._state.drained else {}

    def not_observable(self, deferrals):
        return OBSERVABLES

    def look(self, publisher, sample, *, published_all, last):
        self._state.drained = published_all and sample.outputs + sample.errors >= sample.source_end


@dataclass(frozen=True)
class ConfiguredTally:
    argv: tuple
    bootstrap: str
    settings: TallySettings
    serves_metrics: bool = False
    metrics: None = None
    config: None = None
    reads_source: bool = True
    commit_within: None = None
    truth: None = None

    @property
    def topics(self):
        return ProgramTopics((self.settings.source,), "tally.out", "tally.error", "tally.deferred", defers=False)

    def effective(self):
        return self.settings.model_dump(mode="json")

    def launch(self, context):
        environment = {"BROKER": self.bootstrap, "SOURCE": self.topics.source, "OUT": self.topics.output}
        return Launch(self.argv, environment, again=Addition(("--again",)))

    def follows(self, context):
        return None

    def try_start(self, context):
        return None

    def view(self, state, context):
        return TallyView(state)

    def role_of(self, process, first):
        return "driver" if process.pid == first else None


@dataclass(frozen=True)
class Tally:
    argv: tuple
    model: type = TallySettings
    given_by_stack: tuple = (("broker",),)
    unstretchable: str = "the file tally.ini"
    takes_debugger: bool = False
    runs_on_spark: bool = False
    needs_triple_store: bool = False
    shows_running: bool = True

    @property
    def command(self):
        return shlex.join(self.argv)

    def configure(self, places, settings):
        return ConfiguredTally(self.argv, places.bootstrap, TallySettings.model_validate(settings))

    def fetch(self):
        pass

    def after_verdict(self, say):
        pass


@dataclass(frozen=True)
class TallyKind:
    name: str = "tally"
    example: str = "tally python tally.py"

    def program(self, words):
        return Tally(tuple(shlex.split(words)))


register(TallyKind())
"""
