"""The tests with real parts that `./justw test --all` runs beside the unit tests, one for each main path, cheap first.

They are chosen by value: together they take two minutes of one core, and what breaks the contract between two rooms
breaks one of them. Everything else that is not slow is in `./justw test-more`.
"""

from typing import Final

MAIN_PATHS: Final = {
    "tests/conformance/test_conformance.py": "the mock answers as a real MediaWiki was recorded to",
    "tests/integration/mockapi/test_rest_api.py": "the mock as a process of its own, asked over HTTP",
    "tests/integration/test_claim_checks.py": "payloads in a real store, named by records of a real topic",
    "tests/integration/rules/test_rules.py": "all rules of the pipeline, on one run of it with broker, store and Spark",
    "tests/integration/test_scenario_verdict.py::test_the_incident_is_reproduced_and_fixed": (
        "the main incident, both arms and the verdict, by the command line"
    ),
}
"""Node ids, of files or of functions with all their parameters, and what each stands for."""


def is_main_path(node_id: str) -> bool:
    """Whether a test is one of them."""
    return any(node_id == known or node_id.startswith((f"{known}::", f"{known}[")) for known in MAIN_PATHS)
