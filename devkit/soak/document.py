"""The scenario of a soak, as a file that plays it again."""

from datetime import timedelta
from io import StringIO

from ruamel.yaml import YAML

from devkit.programs.stack_job import RDF_UPDATER
from devkit.soak.drawn_faults import DrawnFault, draw_faults
from devkit.soak.job_document import job_document
from devkit.soak.lanes import JOB_LANES, UPDATER_LANES
from devkit.soak.updater_document import updater_document

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
    faults = faults_of(seed, length, job)
    if job == RDF_UPDATER:
        document, control = updater_document(seed, length, faults), _UPDATER_CONTROL
    else:
        document, control = job_document(seed, length, faults, job), _JOB_CONTROL
    text = StringIO()
    yaml = YAML()
    yaml.width = 120
    yaml.dump(document, text)
    return _HEAD.format(seed=seed, control=control) + text.getvalue()
