"""Schemathesis throws what the OpenAPI document allows, and what it does not, at a running mock: no 500, nothing on
stderr, and it goes on serving.

Control and wiki apart: the control changes rules, and a rule may well ask for a 500 of the wiki.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOMS = ("mockapi/api", "mockapi/control")
SHORT = ("--phases", "examples,fuzzing", "--max-examples", "3")
LONG = ("--phases", "examples,coverage,fuzzing", "--max-examples", "60")
CONTROL, WIKI = "^/(__mock|metrics)", "^/(w|api)/"


@pytest.mark.parametrize("part", [CONTROL, WIKI])
def test_no_500_that_no_rule_asked_for(mock: Any, part: str, tmp_path: Path) -> None:
    fuzz(mock, part, tmp_path, *SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("part", [CONTROL, WIKI])
def test_no_500_that_no_rule_asked_for_in_many_requests(mock: Any, part: str, tmp_path: Path) -> None:
    fuzz(mock, part, tmp_path, *LONG)


def fuzz(mock: Any, part: str, place: Path, *options: str) -> None:
    document = place / "openapi.json"
    document.write_text(json.dumps(without_refusal(mock.ask("/openapi.json").json)))
    ended = subprocess.run(
        [
            *(Path(sys.executable).parent / "st", "run", document, "--url", f"http://127.0.0.1:{mock.port}"),
            *("--checks", "not_a_server_error", "--seed", "1", "--no-shrink", "--request-timeout", "20"),
            *("--include-path-regex", part, *options),
        ],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=550,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-5000:]
    assert " generated, " in ended.stdout
    unasked = [entry for entry in mock.journal("?status=5xx") if not entry["rules"]]
    assert unasked == []
    assert mock.ask("/__mock/reset", method="POST").status == 200
    assert mock.page(28674).status == 200


def without_refusal(document: dict[str, Any]) -> dict[str, Any]:
    """A rule that closes the listener would end the run itself."""
    del document["components"]["schemas"]["Do-Input"]["properties"]["refuse"]
    for operations in document["paths"].values():
        for operation in operations.values():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            body.get("examples", {}).pop("refuse", None)
    return document
