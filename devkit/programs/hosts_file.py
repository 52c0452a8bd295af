"""The hosts file that an arm's programs have in the place of `/etc/hosts`: it names parts, until a fault hides a name.

A program finds such a part by `mock-api.devkit.test` instead of `127.0.0.1` (RFC 6761 reserves `.test`). The system's
resolver reads the file anew at each look-up, and for these programs it asks nothing else.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from devkit.errors import UsageError
from devkit.programs import own_mounts
from devkit.programs.places import Places

_HOSTS, _SWITCH = Path("/etc/hosts"), Path("/etc/nsswitch.conf")
_ADDRESS = "127.0.0.1"
_PYTHON = (sys.executable, "-I", "-S")
_PROBED = "probe"


def host_name(part: str) -> str:
    """The name that programs have for a part."""
    return f"{part}.devkit.test"


@dataclass(frozen=True)
class HostsFile:
    """`parts` are those that programs find by name. `switch` has the resolver ask this file alone; None where the
    system has no such file.
    """

    path: Path
    parts: frozenset[str]
    switch: Path | None = None

    @classmethod
    def write(cls, directory: Path, parts: Iterable[str]) -> "HostsFile":
        """Into the directory, with the machine's own names."""
        names = frozenset(parts)
        path, switch = directory / "hosts", directory / "nsswitch.conf"
        lines = [f"{_ADDRESS} {host_name(part)}" for part in sorted(names)]
        path.write_text("\n".join([*_read(_HOSTS).splitlines(), *lines, ""]), encoding="utf-8")
        if not _SWITCH.exists():
            return cls(path, names)
        others = re.sub(r"(?m)^\s*hosts\s*:.*\n?", "", _read(_SWITCH)).rstrip()
        switch.write_text(f"{others}\nhosts: files\n", encoding="utf-8")
        return cls(path, names, switch)

    @property
    def prefix(self) -> tuple[str, ...]:
        """What stands before a program's command line, so that it has this file."""
        switch = () if self.switch is None else (str(self.switch), str(_SWITCH))
        return (*_PYTHON, own_mounts.__file__, str(self.path), str(_HOSTS), *switch, "--")

    def named(self, part: str, address: str) -> str:
        """The part's address as programs get it. Raises UsageError where it is elsewhere than on loopback."""
        if part not in self.parts:
            return address
        if _ADDRESS not in address:
            raise UsageError(
                f"{host_name(part)} names {_ADDRESS} alone, and {part} is at {address}",
                hint="play the scenario on another stack, or leave its `dns_error` out",
            )
        return address.replace(_ADDRESS, host_name(part))

    def renamed(self, places: Places) -> Places:
        """The places as programs get them."""
        store = places.triple_store
        return replace(
            places,
            bootstrap=self.named("kafka", places.bootstrap),
            mock_endpoint=self.named("mock-api", places.mock_endpoint),
            s3_endpoint=self.named("object-store", places.s3_endpoint),
            triple_store=store
            and replace(
                store, query=self.named("triple-store", store.query), update=self.named("triple-store", store.update)
            ),
        )


def hide_name(path: Path, name: str) -> None:
    """Programs do not find the name any more. Raises FileNotFoundError when the run is over."""
    _write_first_byte(path, name, b"#")


def show_name(path: Path, name: str) -> None:
    """Programs find the name again. Raises FileNotFoundError when the run is over."""
    _write_first_byte(path, name, _ADDRESS[:1].encode())


def _write_first_byte(path: Path, name: str, byte: bytes) -> None:
    """One byte, in place: a program that reads the file meanwhile sees the line with or without it, and all others."""
    line = path.read_bytes().index(f"{_ADDRESS[1:]} {name}\n".encode()) - 1
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.pwrite(descriptor, byte, line)
    finally:
        os.close(descriptor)


def refusal_of_hosts_file() -> str:
    """Why programs on this machine cannot have a hosts file of their own; empty where they can. It is tried."""
    if sys.platform != "linux":
        return "a program has a hosts file of its own on Linux alone"
    with TemporaryDirectory() as directory:
        hosts = HostsFile.write(Path(directory), [_PROBED])
        look_up = f"import socket; socket.getaddrinfo({host_name(_PROBED)!r}, 80)"
        argv = [*hosts.prefix, *_PYTHON, "-c", look_up]
        tried = subprocess.run(argv, capture_output=True, text=True, check=False)
    if tried.returncode == 0:
        return ""
    return f"this system refuses a mount namespace: {tried.stderr.strip().splitlines()[-1]}"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
