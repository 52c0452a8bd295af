"""The jar cache against a Maven repository on loopback that can be made to misbehave."""

import hashlib
import os
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from devkit.errors import SetupError
from devkit.jvm.jars import ensure, jar_path
from devkit.jvm.pins import Pin

JOIN_SECONDS = 60


class Mirror:
    """Serves `files` by path; `cut` shortens the next answers of a path, `status` replaces its answer.

    With `crowd`, a path is answered once so many requests for it have come.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: Counter[str] = Counter()
        self.status: dict[str, int] = {}
        self.requests: Counter[str] = Counter()
        self.crowd = 1
        self.crowded = threading.Condition()
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                mirror.answer(self)

            def log_request(self, *_: object) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/maven"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.removeprefix("/maven/")
        with self.crowded:
            self.requests[path] += 1
            self.crowded.notify_all()
            self.crowded.wait_for(lambda: self.requests[path] >= self.crowd, JOIN_SECONDS)
            short = self.cut[path] > 0
            self.cut[path] -= short
        body = self.files.get(path, b"")
        request.send_response(self.status.get(path, 200 if path in self.files else 404))
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: len(body) // 2] if short else body)

    def serve(self, coordinate: str, content: bytes) -> Pin:
        pin = Pin(coordinate=coordinate, size=len(content), sha256=hashlib.sha256(content).hexdigest())
        self.files[str(pin.path)] = content
        return pin

    def stop(self) -> None:
        """Close the port: connections are refused from now on."""
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Mirror]:
    mirror = Mirror()
    monkeypatch.setenv("DEVKIT_MAVEN_URL", mirror.url)
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "a cache"))
    yield mirror
    if mirror.thread.is_alive():
        mirror.stop()


@pytest.fixture
def pins(mirror: Mirror) -> list[Pin]:
    return [mirror.serve(f"org.example.deep:part-{n}_2.13:1.{n}", bytes([n]) * (4_000 + n)) for n in range(12)]


@pytest.fixture
def lock(pins: list[Pin], tmp_path: Path) -> Path:
    lines = [f'"{pin.coordinate}" = {{ size = {pin.size}, sha256 = "{pin.sha256}" }}' for pin in pins]
    path = tmp_path / "jars.lock"
    path.write_text("\n".join(["[kafka]", *lines, ""]))
    return path


def contents(paths: tuple[Path, ...]) -> list[bytes]:
    return [path.read_bytes() for path in paths]


def leftovers() -> list[Path]:
    return list((Path(os.environ["DEVKIT_CACHE"]) / "jars" / "partial").iterdir())


def test_a_fresh_cache_is_filled_in_the_order_of_the_lock(
    mirror: Mirror, pins: list[Pin], lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = ensure("kafka", lock=lock)
    assert contents(paths) == [mirror.files[str(pin.path)] for pin in pins]
    assert paths[3].name == "part-3_2.13-1.3.jar"
    assert leftovers() == []
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.splitlines()[-1] == "downloading 12 kafka jars: 0.0 of 0.0 MB, 100 %"


def test_a_full_cache_needs_no_network(
    mirror: Mirror, lock: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ensure("kafka", lock=lock)
    capsys.readouterr()
    mirror.stop()
    monkeypatch.setenv("DEVKIT_MAVEN_URL", "not even an address")
    assert ensure("kafka", lock=lock) == before
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("damage", [b"", b"\x05" * 4_000, b"x" * 4_005], ids=["empty", "short", "same size"])
def test_a_damaged_jar_is_noticed_and_only_that_is_fetched(
    mirror: Mirror, pins: list[Pin], lock: Path, damage: bytes
) -> None:
    ensure("kafka", lock=lock)
    jar_path(pins[5]).write_bytes(damage)
    mirror.requests.clear()
    assert ensure("kafka", lock=lock)[5].read_bytes() == b"\x05" * 4_005
    assert mirror.requests == {str(pins[5].path): 1}


def test_a_transfer_that_breaks_off_is_tried_again(mirror: Mirror, pins: list[Pin], lock: Path) -> None:
    mirror.cut[str(pins[0].path)] = 1
    assert ensure("kafka", lock=lock)[0].read_bytes() == mirror.files[str(pins[0].path)]
    assert mirror.requests[str(pins[0].path)] == 2


def test_a_transfer_that_breaks_off_twice_is_an_error_and_leaves_nothing(
    mirror: Mirror, pins: list[Pin], lock: Path
) -> None:
    mirror.cut[str(pins[0].path)] = 2
    with pytest.raises(
        SetupError, match=r"part-0_2\.13-1\.0\.jar: the transfer broke off after \d+ of 4000 bytes: [a-z ]+$"
    ):
        ensure("kafka", lock=lock)
    assert not jar_path(pins[0]).exists()
    assert leftovers() == []


def test_another_file_under_the_name_is_refused_twice_and_both_hashes_are_told(
    mirror: Mirror, pins: list[Pin], lock: Path
) -> None:
    other = b"y" * pins[7].size
    mirror.files[str(pins[7].path)] = other
    with pytest.raises(SetupError) as raised:
        ensure("kafka", lock=lock)
    assert f"expected {pins[7].size} bytes, sha256 {pins[7].sha256}" in str(raised.value)
    assert f"got {pins[7].size} bytes, sha256 {hashlib.sha256(other).hexdigest()}" in str(raised.value)
    assert "DEVKIT_MAVEN_URL" in (raised.value.hint or "")
    assert mirror.requests[str(pins[7].path)] == 2
    assert not jar_path(pins[7]).exists()


def test_a_jar_the_repository_lacks_is_named(mirror: Mirror, pins: list[Pin], lock: Path) -> None:
    del mirror.files[str(pins[2].path)]
    with pytest.raises(SetupError, match=r"/org/example/deep/part-2_2\.13/.*: the repository answered 404") as raised:
        ensure("kafka", lock=lock)
    assert "another Maven repository" in (raised.value.hint or "")


def test_no_network_is_told_with_the_ways_out(mirror: Mirror, lock: Path) -> None:
    mirror.stop()
    with pytest.raises(
        SetupError, match=r"^http://127\.0\.0\.1:\S+\.jar: not reachable: connection refused$"
    ) as raised:
        ensure("kafka", lock=lock)
    for way_out in ("DEVKIT_MAVEN_URL", "SSL_CERT_FILE", "HTTPS_PROXY"):
        assert way_out in (raised.value.hint or "")


def test_a_mirror_that_is_no_address_is_refused(mirror: Mirror, lock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEVKIT_MAVEN_URL", "mirror.example/maven")
    with pytest.raises(SetupError, match=r"DEVKIT_MAVEN_URL='mirror\.example/maven' is not"):
        ensure("kafka", lock=lock)


def test_a_cache_that_cannot_be_written_is_named(
    mirror: Mirror, lock: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "file"))
    with pytest.raises(SetupError, match=r"cannot .*/file") as raised:
        ensure("kafka", lock=lock)
    assert raised.value.hint
