"""The events that the kit writes into a run's timeline."""

from devkit.observe.timeline.kit_events import KIT_EVENT_CLASSES
from docs.generate.log_events import event_section
from docs.generate.markdown import page

_INTRODUCTION = """\
A run's `events.jsonl` has a line for each of these, in the order in which they were observed. Each has the seconds
since the run began (`t_s`), the name of the event (`kind`), if applicable the arm (`arm`) and the program (`program`),
and the fields below. The file also has the [log events](log-events.md) of the programs under test."""


def run_events() -> str:
    """Every event, in the order of `devkit.observe.timeline.kit_events`."""
    return page("Run events", _INTRODUCTION, *(event_section(name, one) for name, one in KIT_EVENT_CLASSES.items()))
