"""A name that does not resolve: a line of a hosts file that goes and comes back, with real files and a real watch."""

import sys
from pathlib import Path

import pytest

from devkit.errors import StackError, UsageError
from devkit.faults.fault import Context, Undo
from devkit.faults.network.dns_error import DnsError
from devkit.faults.network.file_reads import FileReads
from devkit.programs.hosts_file import HostsFile

LINE = "127.0.0.1 mock-api.devkit.test"
MOCK = DnsError(part="mock-api")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.fixture
def hosts(tmp_path: Path) -> HostsFile:
    return HostsFile.write(tmp_path, ["mock-api", "kafka"])


def on(hosts: HostsFile | None, plans: list[Undo]) -> Context:
    return Context({}, "127.0.0.1:1", plans.append, hosts=hosts)


def lines(hosts: HostsFile) -> list[str]:
    return hosts.path.read_text().splitlines()


@pytest.mark.parametrize(
    ("look_ups", "words"),
    [(0, "no program looked up a name"), (1, "looked up names once"), (3, "looked up names 3 times")],
)
def test_look_ups_while_the_name_is_away_are_the_proof(hosts: HostsFile, look_ups: int, words: str) -> None:
    acting = MOCK.begin(on(hosts, []))
    for _ in range(look_ups):
        assert LINE not in lines(hosts)
    proof = acting.end()
    assert (proof.acted, words in proof.did) == (look_ups > 0, True), proof
    assert LINE in lines(hosts)


def test_other_names_and_the_file_itself_stay(hosts: HostsFile) -> None:
    before, file = lines(hosts), hosts.path.stat().st_ino
    MOCK.begin(on(hosts, []))
    assert [line for line in before if line not in lines(hosts)] == [LINE]
    assert hosts.path.stat().st_ino == file, "a mount is of the file, not of its path"


def test_another_process_undoes_it_and_twice_is_harmless(hosts: HostsFile) -> None:
    plans = list[Undo]()
    MOCK.begin(on(hosts, plans))
    for _ in range(2):
        DnsError.undo(plans[0])
        assert LINE in lines(hosts)
    hosts.path.unlink()
    DnsError.undo(plans[0])


@pytest.mark.parametrize("part", ["mock-api", "object-store"])
def test_it_is_refused_where_programs_know_no_name(hosts: HostsFile, part: str) -> None:
    plans = list[Undo]()
    with pytest.raises(StackError, match=f"programs find {part} by its address"):
        DnsError.model_validate({"part": part}).begin(on(None if part == "mock-api" else hosts, plans))
    assert plans == []


def test_a_name_stays_where_its_file_cannot_be_watched(hosts: HostsFile, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_reads: FileReads, path: Path) -> None:
        raise StackError(f"{path} cannot be watched")

    monkeypatch.setattr(FileReads, "__init__", refuse)
    with pytest.raises(StackError, match="cannot be watched"):
        MOCK.begin(on(hosts, []))
    assert LINE in lines(hosts)


def test_a_part_elsewhere_than_on_loopback_has_no_name(hosts: HostsFile) -> None:
    with pytest.raises(UsageError, match=r"mock-api is at http://wiki\.example:80"):
        hosts.named("mock-api", "http://wiki.example:80")
