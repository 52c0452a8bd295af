"""The live view, read by a small terminal that understands what the view sends it."""

import io
import re
from dataclasses import dataclass, field
from typing import Literal

import pytest
from rich.console import Console

from devkit.observe.samples.sample import Sample
from devkit.report.live import LiveProgress, progress_for
from devkit.report.progress import Progress
from tests.unit.devkit.faults.fakes import Clock

SAMPLE = Sample(at_s=3, committed=50, source_end=161, outputs=47, errors=1, requests=96, in_flight=4)
_PIECES = re.compile(r"\x1b\[(\??\d*)([A-Za-z])|(\n)|(\r)|([^\x1b\n\r]+)")


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
