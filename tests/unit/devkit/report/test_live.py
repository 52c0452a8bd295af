"""The live view, read by a small terminal that understands what the view sends it."""

import io
import re
from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from devkit.observe.samples.sample import Sample
from devkit.report.live import LiveProgress, progress_for
from devkit.report.live_block import ASCII, BLOCKS, ArmView, Mark, bar, block_lines, fitted, marks, sparkline
from devkit.report.progress import Progress
from tests.unit.devkit.faults.fakes import Clock

SAMPLE = Sample(at_s=3, committed=50, source_end=161, outputs=47, errors=1, requests=96, in_flight=4)
_PIECES = re.compile(r"\x1b\[(\??\d*)([A-Za-z])|(\n)|(\r)|([^\x1b\n\r]+)")
FIRST_SAMPLE = Sample(at_s=0.5, committed=0, source_end=0, outputs=0, errors=0, requests=0, in_flight=0)


@dataclass
class Terminal(io.StringIO):
    """Rows of text, wrapped at its width; knows line ends, cursor up, erase below, colours and the hidden cursor."""

    columns: int = 80
    height: int = 24
    rows: list[str] = field(default_factory=lambda: [""])
    at: int = 0
    hidden: bool = False
    sent: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def isatty(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def console(self, colour: Literal["standard"] | None = None) -> Console:
        self.drawn_by = Console(
            file=self, force_terminal=True, color_system=colour, width=self.columns, height=self.height, _environ={}
        )
        return self.drawn_by

    def write(self, text: str) -> int:
        self.sent += text
        for number, command, newline, _, printed in _PIECES.findall(text):
            match command:
                case "A":
                    self.at = max(0, self.at - int(number))
                case "K":
                    self.rows[self.at] = ""
                case "h" | "l":
                    assert number == "?25"
                    self.hidden = command == "l"
            if printed:
                self.rows[self.at] += printed
                while len(self.rows[self.at]) > self.columns:
                    self.rows.insert(self.at + 1, self.rows[self.at][self.columns :])
                    self.rows[self.at] = self.rows[self.at][: self.columns]
                    self.at += 1
            if newline:
                self.at += 1
                if self.at == len(self.rows):
                    self.rows.append("")
        return len(text)

    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows).rstrip()

    def reflow(self, columns: int) -> None:
        """The person makes the window narrower, and the terminal wraps what stands there."""
        wrapped = [row[n : n + columns] for row in self.rows for n in range(0, max(1, len(row)), columns)]
        self.at += len(wrapped) - len(self.rows)
        self.rows, self.columns = wrapped, columns
        self.drawn_by.width = columns


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


@pytest.fixture
def live(terminal: Terminal) -> LiveProgress:
    return LiveProgress(terminal.console(), clock=Clock())


def test_lines_scroll_above_and_the_block_stays_below(live: LiveProgress, terminal: Terminal) -> None:
    live.line("stack", "starting")
    live.phase("incident", "arm", "topics", moment="arm begins")
    live.sample("incident", SAMPLE)
    live.phase("incident", "restart", "process 2", moment="restart")
    rows = terminal.text().splitlines()
    assert rows[:3] == [
        "   0.0s stack    starting",
        "   0.0s incident arm: topics",
        "   0.0s incident restart: process 2",
    ]
    assert rows[3].startswith("incident  restart: process 2")
    assert [row.split()[0] for row in rows[4:]] == ["committed", "lag", "out", "requests", "restarts"]


def test_each_sample_replaces_the_block(live: LiveProgress, terminal: Terminal) -> None:
    live.phase("incident", "arm", "topics", moment="arm begins")
    for n in range(30):
        live.sample("incident", SAMPLE.model_copy(update={"at_s": n, "committed": n}))
    assert len(terminal.text().splitlines()) == 6
    assert "29/161" in terminal.text()


def test_the_last_sample_leaves_a_line(live: LiveProgress, terminal: Terminal) -> None:
    live.sample("incident", SAMPLE, last=True)
    live.close()
    assert terminal.text() == "   0.0s incident committed 50/161, lag 111, out 47, errors 1, fetches 96"


def test_another_arm_begins_with_an_empty_block(live: LiveProgress, terminal: Terminal) -> None:
    live.phase("incident", "arm", "topics", moment="arm begins")
    live.phase("incident", "restart", "process 2", moment="restart")
    live.phase("fixed", "arm", "topics", moment="arm begins")
    assert terminal.text().splitlines()[-1] == "fixed     arm: topics"


def test_closing_takes_the_block_away_and_gives_the_cursor_back(live: LiveProgress, terminal: Terminal) -> None:
    live.phase("incident", "arm", "topics", moment="arm begins")
    assert terminal.hidden
    live.close()
    live.close()
    live.line("report", "x")
    assert (terminal.hidden, terminal.text()) == (False, "   0.0s incident arm: topics\n   0.0s report   x")


def test_so_does_an_interruption(live: LiveProgress, terminal: Terminal) -> None:
    def interrupted() -> None:
        with live:
            live.sample("incident", SAMPLE)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (terminal.hidden, terminal.text()) == (False, "")


@pytest.mark.parametrize("columns", [30, 45, 79, 80, 81, 200])
def test_it_is_never_wider_than_the_terminal(columns: int) -> None:
    terminal = Terminal(columns=columns)
    live = LiveProgress(terminal.console())
    for n in range(5):
        live.phase("incident", "pipeline", "word " * 30)
        live.sample(
            "incident", SAMPLE.model_copy(update={"at_s": n, "faults": {"a fault with a name that is long": 7}})
        )
    live.close()
    assert all(len(line) <= columns for line in re.sub(r"\x1b\[\??\d*[A-Za-z]", "", terminal.sent).splitlines())


def test_a_terminal_made_narrower_is_left_clean(live: LiveProgress, terminal: Terminal) -> None:
    live.line("stack", "starting")
    live.phase("incident", "arm", "topics", moment="arm begins")
    live.sample("incident", SAMPLE)
    terminal.reflow(30)
    live.sample("incident", SAMPLE)
    live.close()
    assert terminal.text() == "   0.0s stack    starting\n   0.0s incident arm: topics"


def test_a_low_terminal_gets_fewer_lines() -> None:
    terminal = Terminal(height=5)
    live = LiveProgress(terminal.console())
    live.sample("incident", SAMPLE)
    assert len(terminal.text().splitlines()) == 3


def test_colour_adds_nothing_but_colour(terminal: Terminal) -> None:
    plain = Terminal()
    for console in (terminal.console("standard"), plain.console()):
        live = LiveProgress(console, clock=Clock())
        live.phase("incident", "restart", "process 2", moment="restart")
        live.sample("incident", SAMPLE.model_copy(update={"faults": {"x": 1}}))
    assert terminal.text() == plain.text()
    assert "\x1b[33mfault 'x' 1, now\x1b[0m" in terminal.sent
    assert "\x1b[3" not in plain.sent


class TestWhichView:
    @pytest.mark.parametrize(
        ("output", "plain", "term", "view"),
        [
            (Terminal(), False, "xterm", LiveProgress),
            (Terminal(), False, "dumb", Progress),
            (Terminal(), False, None, Progress),
            (Terminal(), True, "xterm", Progress),
            (io.StringIO(), False, "xterm", Progress),
        ],
        ids=["a terminal", "one that cannot be drawn on", "no kind of terminal", "lines are asked for", "a file"],
    )
    def test_by_what_it_writes_to(self, output: io.StringIO, plain: bool, term: str | None, view: type) -> None:
        environment = {} if term is None else {"TERM": term}
        assert type(progress_for(output, plain=plain, environment=environment)) is view

    def test_no_color_is_obeyed(self, terminal: Terminal) -> None:
        live = progress_for(terminal, plain=False, environment={"TERM": "xterm", "NO_COLOR": "1"})
        live.phase("incident", "restart", "process 2", moment="restart")
        assert not re.search(r"\x1b\[\d+m", terminal.sent)


@pytest.fixture
def block() -> ArmView:
    block = ArmView("incident", phase="pipeline: running, from checkpoint", restarts=1)
    for n in range(1, 9):
        counted = {"at_s": n * 0.5, "committed": 25 * (n // 2), "source_end": 20 * n, "outputs": 24 * (n // 2)}
        faults = {"huge page": n // 4, "slow page": 0}
        block.add(FIRST_SAMPLE.model_copy(update=counted | {"requests": 30 * n, "faults": faults}))
    return block


def test_what_it_shows(block: ArmView) -> None:
    assert block_lines(block, 78) == [
        f"{'incident  pipeline: running, from checkpoint':<73}4.0 s",
        "committed █████████████████████░░░░░░░░░░░░░  100/160",
        "lag       ▃▃▅▄▆▆█▇".ljust(44) + "  60",
        "out       █▁█▁█▁█".ljust(44) + "  96, 48/s, errors 0",
        "requests  ███████".ljust(44) + "  240, 60/s, open 0",
        "restarts 1 · fault 'huge page' 2, now",
    ]


def test_commits_that_are_not_observable_are_not_drawn(block: ArmView) -> None:
    block.shows_offsets = False
    assert block_lines(block, 78)[1:3] == ["committed".ljust(44) + "  n/a, published 160", "lag".ljust(44) + "  n/a"]


UPSTREAM = {"at_s": 4.5, "queued": 40, "parses": 10, "abandoned": 5, "deferred": 3}


@pytest.mark.parametrize(
    ("changes", "row", "drawn"),
    [
        ({}, -1, "restarts 1 · fault 'huge page' 2"),
        ({"read_again": 50}, -1, "restarts 1 · up to 50 repeats after replays · fault 'huge page' 2"),
        ({"at_s": 4.5, "waiting": {"apply": 181}}, 5, "apply     ▁▁▁▁▁▁▁▁█".ljust(44) + "  181 behind"),
        (UPSTREAM, 5, "queued    ▁▁▁▁▁▁▁▁█".ljust(44) + "  40, 50% abandoned"),
        (UPSTREAM, 6, "deferred  ▁▁▁▁▁▁▁▁█".ljust(44) + "  3"),
    ],
    ids=[
        "a fault whose count does not grow is not active",
        "repeats beside the restarts",
        "what waits for a program behind",
        "requests that are queued at the upstream",
        "events that are deferred",
    ],
)
def test_what_a_further_sample_shows(block: ArmView, changes: dict[str, object], row: int, drawn: str) -> None:
    block.add(block.samples[-1].model_copy(update=changes))
    assert block_lines(block, 78)[row] == drawn


@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("width", range(1, 120, 7))
def test_no_line_is_wider_than_asked(block: ArmView, width: int, unicode: bool) -> None:
    block.phase = "pipeline: 漢字 " + "query failed " * 20
    lines = block_lines(block, width, unicode=unicode)
    assert max(cell_len(line) for line in lines) <= width


def test_without_unicode_it_is_ascii(block: ArmView) -> None:
    block.phase = "größer"
    assert all(line.isascii() for line in block_lines(block, 78, unicode=False))


def test_before_the_first_sample_there_is_the_phase() -> None:
    assert block_lines(ArmView("fixed", phase="arm: topics"), 40) == ["fixed     arm: topics".ljust(40)]


def test_what_deserves_attention(block: ArmView) -> None:
    assert marks(block) == [
        Mark("incident", "arm"),
        Mark("restarts 1", "restart"),
        Mark("fault 'huge page' 2, now", "fault"),
    ]


@pytest.mark.parametrize(
    ("values", "width", "drawn"),
    [
        ([0, 1, 2, 4, 8], 8, "▁▂▃▅█"),
        ([8, 0, 1], 2, "▁█"),
        ([0, 0], 9, "▁▁"),
        ([1000, 1], 9, "█▂"),
        ([-3, 2], 9, "▁█"),
        ([], 9, ""),
        ([1, 2], 0, ""),
    ],
)
def test_a_sparkline(values: list[float], width: int, drawn: str) -> None:
    assert sparkline(values, width) == drawn


def test_a_sparkline_without_unicode() -> None:
    assert sparkline([0, 4, 8], 9, ASCII) == "_+#"
    assert len(ASCII) == len(BLOCKS)


@pytest.mark.parametrize(
    ("share", "drawn"), [(0, "░░░░"), (0.5, "██░░"), (0.99, "███░"), (1, "████"), (2, "████"), (-1, "░░░░")]
)
def test_a_bar_is_full_only_at_the_end(share: float, drawn: str) -> None:
    assert bar(share, 4) == drawn


@given(st.text(), st.integers(0, 30))
def test_fitted_text_fits_and_is_safe(text: str, width: int) -> None:
    line = fitted(text, width)
    assert cell_len(line) <= width
    assert line.isprintable()


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [("große Seite", 40, "große Seite"), ("abcdef", 4, "abc~"), ("漢字漢字", 4, "漢 ~"), ("\x1b[2Jabc", 4, "?[2~")],
)
def test_text_that_does_not_fit_is_cut(text: str, width: int, line: str) -> None:
    assert fitted(text, width) == line
