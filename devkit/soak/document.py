"""The scenario of a soak, as a file that plays it again."""

from datetime import timedelta
from io import StringIO
from typing import Any

from ruamel.yaml import YAML

from devkit.programs.stack_job import RDF_UPDATER
from devkit.soak.drawn_faults import STARTS, DrawnFault, draw_faults
from devkit.soak.job_sections import job_sections
from devkit.soak.lanes import JOB_LANES, UPDATER_LANES
from devkit.soak.updater_sections import updater_sections
from located_config.duration import format_duration

_SETTLES = timedelta(minutes=4)
"""For starts, replays and deferred events after the last fault, above what any soak took."""
_HEAD = """\
# A soak: random faults under live traffic, drawn from seed {seed}. All end before the traffic does; then the programs
# drain, and nothing may be lost, out of order for its page, or repeated beyond what restarts read again.
#   devkit soak --replay THIS-FILE
# The incident arm is a control, which a soak does not play: {control}
#   devkit scenario run THIS-FILE --arm incident
"""
_UPDATER_CONTROL = "deletions are not applied."
_JOB_CONTROL = """its producer gives a record up, and what was
# written beside it overtakes it."""


def faults_of(seed: int, length: timedelta, job: str) -> tuple[DrawnFault, ...]:
    """As `draw_faults` has them, for a job by its name."""
    return draw_faults(seed, length, UPDATER_LANES if job == RDF_UPDATER else JOB_LANES)


def soak_text(seed: int, length: timedelta, job: str) -> str:
    """The file, in YAML."""
    control = _UPDATER_CONTROL if job == RDF_UPDATER else _JOB_CONTROL
    text = StringIO()
    yaml = YAML()
    yaml.width = 120
    yaml.dump(_document(seed, length, job), text)
    return _HEAD.format(seed=seed, control=control) + text.getvalue()


def _document(seed: int, length: timedelta, job: str) -> dict[str, Any]:
    is_updater = job == RDF_UPDATER
    sections = updater_sections(seed, length) if is_updater else job_sections(seed, length, job)
    return {
        "name": f"soak-{seed}",
        "title": f"{format_duration(length)} of random faults{' on the updater' if is_updater else ''}, of seed {seed}",
        "incident": {"reference": "none"},
        "timeline": [_item(fault) for fault in faults_of(seed, length, job)],
        "supervisor": {"delay": "500ms"},
        "until": {"any": [{"drained": True}], "deadline": format_duration(length + STARTS + _SETTLES)},
        # A fault may find nothing to act on, a store that is not asked for a second. That makes a soak no worse, but of
        # one in which none acted nothing was seen.
        "cause": [{"timeline": "any"}],
        **sections,
    }


def _item(fault: DrawnFault) -> dict[str, Any]:
    lasts = {} if fault.lasts is None else {"for": format_duration(fault.lasts)}
    return {"name": fault.name, "do": fault.do, "at": format_duration(fault.at), **lasts}
