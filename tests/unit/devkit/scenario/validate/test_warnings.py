"""What may be meant is a warning with its place, and the file is played."""

from pathlib import Path

import pytest

from devkit.scenario.load import load_file
from tests.unit.devkit.conftest import Edited

INCIDENT = "    content_limit: { measure: content_length }\n    record_limit: { policy: none }\n"
FIXED = "    record_limit: { policy: serialized }\n"
ITEM = "timeline: [{{ name: still, do: {{ pause: {{ part: kafka }} }}, at: 1s{arms} }}]\nkafka:\n"
OWN = ("kafka:\n", "programs: { mine: { run: 'command sh -c true' } }\nkafka:\n")
ONLY_DRAINED = "{ drained: true }"
COUNTS = [
    ("kafka:\n", "programs: { counts: { run: pipeline edit-counts } }\nkafka:\n"),
    ("  batch: {", "  source: { read: aligned, late: lapse }\n  batch: {"),
]
PAGE = "when: { page: Huge"
WINDOW = (PAGE, f"{PAGE}, window: {{ from: 2s }}")
LATE_WINDOW = (PAGE, f"{PAGE}, window: {{ from: 8s }}")
TO_THE_END = ("{ drained: true }, { replays: 2 }", ONLY_DRAINED)
WHEN_RUNNING = ("kafka:\n", "traffic_begins: when running\nkafka:\n")
BOTH = "{ differs: content_limit.measure }, { differs: record_limit.policy }"
SAME = [(INCIDENT, ""), (FIXED, "")]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([], ""),
        # Which arm it is, a command may read from its environment.
        ([*SAME, OWN], ""),
        ([*SAME, ("kafka:\n", ITEM.format(arms=", arms: [incident]"))], ""),
        (
            [
                ("kafka:\n", ITEM.format(arms=", arms: [incident]")),
                ("arms:\n", f"cause: [{{ fault: still, absent_in: [fixed] }}, {BOTH}]\narms:\n"),
            ],
            "",
        ),
        ([("kafka:\n", ITEM.format(arms=", arms: [fixed]"))], ""),
        ([("kafka:\n", ITEM.format(arms=""))], ""),
        ([("kafka:\n", ITEM.format(arms=", for: 8s"))], ""),
        ([("kafka:\n", ITEM.format(arms=", for: 7s")), OWN], ""),
        ([("{ replays: 2 }", "{ elapsed: 12s, restarts: 1 }")], ""),
        ([("{ replays: 2 }", "{ elapsed: 20s }")], ""),
        ([("{ replays: 2 }", "{ running_for: 12s }")], ""),
        ([("{ replays: 2 }", "{ elapsed: 12s }"), OWN], ""),
        ([*COUNTS, ("{ drained: true }, { replays: 2 }", "{ drained: true, running_for: 20s }")], ""),
        (
            [("arms:\n", "cause: [{ differs: record_limit.policy }]\narms:\n")],
            ":30:1: warning: cause: incident and fix differ in content_limit.measure as well, so the verdict may rest",
        ),
        (
            [WINDOW, TO_THE_END],
            ":17:37: warning: mock.rules[0].when.window.from: it counts from the first request, and events come for 0s",
        ),
        ([WINDOW, TO_THE_END, WHEN_RUNNING], ""),
        (
            [LATE_WINDOW, TO_THE_END, WHEN_RUNNING],
            ":17:37: warning: mock.rules[0].when.window.from: it counts from the first request, and events come for 7",
        ),
    ],
)
def test_what_is_warned_of(tmp_path: Path, edited: Edited, changes: list[tuple[str, str]], message: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(edited(*changes))
    found = load_file(path).warnings()
    assert len(found) == bool(message)
    assert all(one.startswith(f"{path}{message}") for one in found)
