"""The hosts file of programs."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from devkit.programs import own_mounts
from devkit.programs.hosts_file import HostsFile, refusal_of_hosts_file
from devkit.programs.places import NOWHERE, StorePlace

BY_NAME = {
    "kafka": replace(NOWHERE, bootstrap="kafka.devkit.test:1"),
    "mock-api": replace(NOWHERE, mock_endpoint="http://mock-api.devkit.test:1"),
    "object-store": replace(NOWHERE, s3_endpoint="http://object-store.devkit.test:1"),
    "triple-store": replace(
        NOWHERE, triple_store=StorePlace("http://triple-store.devkit.test:1", "http://triple-store.devkit.test:1")
    ),
}


@pytest.mark.parametrize("part", BY_NAME)
def test_only_a_part_with_a_name_is_found_by_it(tmp_path: Path, part: str) -> None:
    assert HostsFile.write(tmp_path, [part]).renamed(NOWHERE) == BY_NAME[part]


def test_a_system_without_namespaces_says_what_it_refuses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_flags: int) -> None:
        raise PermissionError(1, "Operation not permitted", "unshare")

    monkeypatch.setattr(own_mounts, "_unshare", refuse)
    assert own_mounts.main(["hosts", "/etc/hosts", "--", "true"]) == 126
    assert capsys.readouterr().err == "Operation not permitted: unshare\n"


def test_another_system_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert refusal_of_hosts_file() == "a program has a hosts file of its own on Linux alone"
