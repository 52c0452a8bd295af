"""The truths by the name of their job. A further one of the project needs a line here; one of another package calls
`register`.
"""

from devkit.observe.expected_output.content_truth import ContentTruth
from devkit.observe.expected_output.decide_truth import DecideTruth
from devkit.observe.expected_output.edit_counts_truth import EditCountsTruth
from devkit.observe.expected_output.html_truth import HtmlTruth
from devkit.observe.expected_output.rdf_truth import RdfTruth
from devkit.observe.expected_output.truth import MakeTruth
from located_config.registry import Registry

TRUTHS: Registry[MakeTruth] = Registry(
    "truth of a job",
    {
        "html-enrichment": HtmlTruth,
        "content-enrichment": ContentTruth,
        "edit-counts": EditCountsTruth,
        "rdf-resolve": RdfTruth,
        "rdf-decide": DecideTruth,
    },
)


def register(job: str, make: MakeTruth) -> None:
    """Add the truth of a job: `make` is called once in each arm. Raises ValueError when the job has one."""
    TRUTHS.add(job, make)
