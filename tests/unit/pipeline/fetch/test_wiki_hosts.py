import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pipeline.config.pipeline_config import MediaWiki
from pipeline.errors import RefusedError
from pipeline.events import Event, WikisFileRead, WikisFileUnusable
from pipeline.fetch.wiki_hosts import WikiHosts

TWO = "dewiki: de.example\nfrwiki: fr.example\n"


class Table:
    """The file, and the seconds that pass since it was changed. `ahead` is the clock of its machine."""

    def __init__(self, file: Path) -> None:
        self.file, self.ahead = file, 0.0
        self.events: list[Event] = []
        self._passed = self._changed = 0.0

    def rename(self, text: str) -> None:
        """Another file in its place in one step, as one who changes it should."""
        new = self.file.with_suffix(".new")
        new.write_text(text)
        new.replace(self.file)
        self._changed = self._passed

    def write(self, text: str, mode: str = "w") -> None:
        """In place."""
        with self.file.open(mode) as opened:
            opened.write(text)
        self._changed = self._passed

    def wait(self, seconds: float) -> None:
        self._passed += seconds

    def now(self) -> float:
        return time.time() + self._passed - self._changed - self.ahead

    def clock(self) -> float:
        return self._passed

    def hosts(self, sleep: Callable[[float], None] | None = None) -> WikiHosts:
        config = MediaWiki(endpoint="http://127.0.0.1:1", wikis_file=str(self.file))
        return WikiHosts(config, now=self.now, clock=self.clock, sleep=sleep or self.wait, emit=self.events.append)

    def new_events(self, hosts: WikiHosts) -> list[Event]:
        """What is said when nobody asks for a host, in looks of several seconds."""
        for _ in range(5):
            hosts.look()
            self.wait(1)
        events = list(self.events)
        self.events.clear()
        return events


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path / "wikis.yaml")


@pytest.fixture
def hosts(table: Table) -> WikiHosts:
    table.rename(TWO)
    return table.hosts()


def found(hosts: WikiHosts, *wikis: str) -> Sequence[str | None]:
    return [hosts.host_of(wiki) for wiki in wikis]


def test_a_table_of_the_configuration() -> None:
    known = WikiHosts(MediaWiki(endpoint="http://127.0.0.1:1", wikis={"dewiki": "de.example"}))
    assert found(known, "dewiki", "enwiki") == ["de.example", None]


def test_a_file_is_read_again_when_it_has_changed(table: Table, hosts: WikiHosts) -> None:
    assert found(hosts, "dewiki", "frwiki", "newwiki") == ["de.example", "fr.example", None]
    table.rename("dewiki: other.example\nnewwiki: new.example\n")
    table.wait(1)
    assert found(hosts, "dewiki", "frwiki", "newwiki") == ["other.example", None, "new.example"]


@pytest.mark.parametrize(
    "written", ["", "dewiki: de.example\n", "dewiki: de.example\nfrw", "dewiki: de.ex", "dewiki: ["]
)
def test_a_file_that_is_being_written_takes_no_wiki_away(table: Table, hosts: WikiHosts, written: str) -> None:
    table.write(written)
    for _ in range(3):
        assert found(hosts, "dewiki", "frwiki") == ["de.example", "fr.example"]
        table.wait(0.3)
    table.write(TWO + "newwiki: new.example\n")
    table.wait(1)
    assert found(hosts, "dewiki", "frwiki", "newwiki") == ["de.example", "fr.example", "new.example"]


def test_a_wiki_is_taken_away_by_a_file_that_stands_still(table: Table, hosts: WikiHosts) -> None:
    table.write("dewiki: de.example\n")
    assert hosts.host_of("frwiki") == "fr.example"
    table.wait(1)
    assert hosts.host_of("frwiki") is None


def test_a_wiki_that_is_added_is_known_at_once(table: Table, hosts: WikiHosts) -> None:
    table.write("newwiki: new.example\nlastwiki: last.ex", mode="a")
    assert hosts.host_of("newwiki") == "new.example"
    assert hosts.is_another("dewiki", "NEW.example")
    assert hosts.host_of("lastwiki") is None, "its host may be half written"
    table.write("ample\n", mode="a")
    assert hosts.host_of("lastwiki") == "last.example"


def test_a_machine_whose_clock_is_ahead_delays_nothing_for_longer(table: Table) -> None:
    table.ahead = 3600
    table.rename(TWO)
    hosts = table.hosts()
    table.rename("dewiki: other.example\n")
    table.wait(0.5)
    assert hosts.host_of("dewiki") == "de.example"
    table.wait(1.5)
    assert hosts.host_of("dewiki") == "other.example"


@pytest.mark.parametrize("broken", ["dewiki: [", "dewiki: a host\n", "- dewiki\n", "", "{}\n"])
def test_a_file_that_is_no_table_changes_nothing_in_a_running_job(table: Table, hosts: WikiHosts, broken: str) -> None:
    table.rename(broken)
    table.wait(1)
    assert hosts.host_of("dewiki") == "de.example"
    table.file.unlink()
    assert hosts.host_of("dewiki") == "de.example"
    table.rename("newwiki: new.example\n")
    table.wait(1)
    assert found(hosts, "dewiki", "newwiki") == [None, "new.example"]


def test_a_file_that_stays_broken_is_said_once(table: Table, hosts: WikiHosts) -> None:
    file, hint = str(table.file), "write a line `enwiki: en.wikipedia.org` for each wiki"
    assert table.new_events(hosts) == []

    def unusable(place: str, problem: str) -> WikisFileUnusable:
        reason = f"mediawiki.wikis_file: {file}:{place} is no table of wikis: {problem}"
        return WikisFileUnusable(file=file, reason=reason, hint=hint, wikis=2)

    table.rename("dewiki: de.example\nfrwiki: a host\n")
    (event,) = table.new_events(hosts)
    assert isinstance(event, WikisFileUnusable)
    assert event == unusable("2:1", event.reason.partition("wikis: ")[2])
    assert "frwiki" in event.reason
    assert "'a host'" in event.reason
    table.rename("dewiki: de.example\nfrwiki: a host\n")
    assert table.new_events(hosts) == [], "the same once more"
    table.write("dewiki: [")
    (event,) = table.new_events(hosts)
    assert isinstance(event, WikisFileUnusable)
    assert f"{file}:1:" in event.reason
    assert found(hosts, "dewiki", "frwiki") == ["de.example", "fr.example"]
    table.rename("dewiki: other.example\n")
    assert table.new_events(hosts) == [WikisFileRead(file=file, wikis=1)]
    assert found(hosts, "dewiki", "frwiki") == ["other.example", None]


def test_a_file_that_is_gone_is_said_when_none_has_come_in_its_place(table: Table, hosts: WikiHosts) -> None:
    table.file.unlink()
    hosts.look()
    table.rename(TWO)
    assert [event.event for event in table.new_events(hosts)] == ["wikis_file_read"]
    table.file.unlink()
    (event,) = table.new_events(hosts)
    assert isinstance(event, WikisFileUnusable)
    assert event.reason == f"mediawiki.wikis_file: {table.file} cannot be read: No such file or directory"
    assert hosts.host_of("dewiki") == "de.example"
    table.rename(TWO)
    assert table.new_events(hosts) == [WikisFileRead(file=str(table.file), wikis=2)]


def test_threads_that_look_at_once_say_it_once(table: Table, hosts: WikiHosts) -> None:
    table.rename("{}\n")
    table.wait(1)
    threads = [threading.Thread(target=hosts.host_of, args=["dewiki"]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.event for event in table.events] == ["wikis_file_unusable"]


def test_a_start_waits_for_a_file_that_is_being_written(table: Table) -> None:
    pieces = iter(["", "dewiki: de.example\nfr", TWO])
    table.rename("dewiki: [")

    def sleep(_seconds: float) -> None:
        table.wait(0.5)
        if (piece := next(pieces, None)) is not None:
            table.write(piece)

    assert found(table.hosts(sleep), "dewiki", "frwiki") == ["de.example", "fr.example"]


def test_a_start_does_not_wait_for_ever(table: Table) -> None:
    table.rename(TWO)

    def sleep(_seconds: float) -> None:
        table.wait(0.9)
        table.write("# and on\n", mode="a")

    with pytest.raises(RefusedError, match="does not stop changing"):
        table.hosts(sleep)


def test_without_a_table_nothing_begins(table: Table) -> None:
    with pytest.raises(RefusedError, match="cannot be read: No such file"):
        table.hosts()
    for text in ("- dewiki\n", "{}\n"):
        table.rename(text)
        with pytest.raises(RefusedError, match="is no table of wikis"):
            table.hosts()
