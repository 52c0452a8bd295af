import re
from pathlib import Path

import certifi
import pytest

from devkit.doctor import CHECKS, MachineFinding, run_checks
from devkit.doctor.docker import check_docker
from devkit.doctor.downloads import check_certificates, check_jars
from devkit.doctor.finding import GIB
from devkit.doctor.machine import available_memory, check_disk, check_memory, check_ports, nearest_existing
from devkit.doctor.runtimes import check_class_cache, check_java, check_python, check_triple_store
from devkit.errors import SetupError
from devkit.jvm import jars
from devkit.jvm.class_cache import ClassCache
from devkit.jvm.jars import JAR_SETS, jar_path
from devkit.jvm.pins import read_pins
from devkit.programs.spark import place

pytestmark = pytest.mark.starts_process("docker, Java and the triple store are scripts that give the answers")


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_every_check_is_in_the_registry() -> None:
    directory = Path(__file__).parents[4] / "devkit" / "doctor"
    functions = {
        name
        for path in directory.glob("*.py")
        for name in re.findall(r"^def (check_\w+)", path.read_text(), re.MULTILINE)
    }
    assert functions == {check.__name__ for check in CHECKS.values()}


def test_each_finding_bears_the_name_of_its_check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path))
    assert [finding.name for finding in run_checks()] == list(CHECKS)


def test_a_check_that_fails_to_do_its_work_is_a_finding_and_the_others_are_still_made() -> None:
    def broken() -> MachineFinding:
        raise SetupError("no runtime", hint="install it")

    def worse() -> MachineFinding:
        raise PermissionError(13, "Permission denied", "/x")

    assert run_checks({"broken": broken, "worse": worse, "fine": lambda: MachineFinding("fine", "ok", "yes")}) == [
        MachineFinding("broken", "fail", "no runtime", "install it"),
        MachineFinding("worse", "fail", "could not be checked: [Errno 13] Permission denied: '/x'"),
        MachineFinding("fine", "ok", "yes"),
    ]


@pytest.mark.parametrize(
    ("version", "largest_int", "status"),
    [((3, 11), 2**63 - 1, "ok"), ((4, 0), 2**63 - 1, "ok"), ((3, 10), 2**63 - 1, "fail"), ((3, 13), 2**31 - 1, "fail")],
)
def test_python(version: tuple[int, int], largest_int: int, status: str) -> None:
    finding = check_python(version, largest_int)
    assert finding.status == status
    assert (finding.hint is None) == (status == "ok")


@pytest.mark.parametrize(
    ("free", "status"),
    [(4 * GIB, "ok"), (4 * GIB - 1, "warn"), (2 * GIB, "warn"), (2 * GIB - 1, "fail"), (0, "fail")],
)
def test_memory(free: int, status: str) -> None:
    assert check_memory(free).status == status


def test_the_limit_of_a_container_counts_less_what_it_uses(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert available_memory(tmp_path) == 3000


@pytest.mark.parametrize("limit", ["max\n", None])
def test_without_a_limit_the_machine_counts(limit: str | None, tmp_path: Path) -> None:
    if limit:
        (tmp_path / "memory.max").write_text(limit)
        (tmp_path / "memory.current").write_text("2000\n")
    assert available_memory(tmp_path) > 2000


@pytest.mark.parametrize(
    ("cache", "temporary", "status"),
    [(3, 3, "ok"), (2, 9, "warn"), (9, 2, "warn"), (0.5, 9, "fail"), (2, 0.5, "fail")],
)
def test_disk_is_judged_by_the_place_with_least(
    cache: float, temporary: float, status: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path))
    finding = check_disk(lambda path: int((cache if path == tmp_path else temporary) * GIB))
    assert finding.status == status
    assert f"{cache:.1f} GiB free for cache ({tmp_path})" in finding.detail


def test_a_directory_to_come_is_measured_where_it_will_be(tmp_path: Path) -> None:
    assert nearest_existing(tmp_path / "not" / "yet") == tmp_path


def test_ports() -> None:
    assert check_ports().status == "ok"
    # 203.0.113.0/24 is kept for documentation: no machine has it
    refused = check_ports("203.0.113.1")
    assert refused.status == "fail"
    assert "203.0.113.1" in refused.detail


def test_certificates(tmp_path: Path) -> None:
    assert check_certificates({}).status == "ok"
    good = check_certificates({"SSL_CERT_FILE": certifi.where(), "REQUESTS_CA_BUNDLE": str(tmp_path)})
    assert good.status == "ok"
    assert "certificates)" in good.detail
    assert "(a directory)" in good.detail
    for bad in (tmp_path / "gone.pem", tmp_path / "bad.pem"):
        (tmp_path / "bad.pem").write_text("not a certificate")
        finding = check_certificates({"REQUESTS_CA_BUNDLE": str(bad)})
        assert finding.status == "fail"
        assert f"REQUESTS_CA_BUNDLE={bad}" in finding.detail
        assert finding.hint


def test_java_of_the_kit_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path))
    finding = check_java()
    assert finding.status == "ok"
    assert "version" in finding.detail


def test_java_that_does_not_start_is_quoted(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "java", "echo 'Error occurred during initialization' >&2; exit 1")
    finding = check_java(lambda: tmp_path)
    assert finding.status == "fail"
    assert "ended with 1: Error occurred during initialization" in finding.detail


@pytest.mark.parametrize(
    ("script", "status", "detail"),
    [
        ("echo oxigraph 0.5.13", "ok", "oxigraph 0.5.13"),
        ("echo 'no such library' >&2; exit 1", "warn", "ended with 1: no such library"),
        (None, "warn", "cannot be run: "),
    ],
)
def test_a_triple_store_that_does_not_start_is_quoted(
    tmp_path: Path, script: str | None, status: str, detail: str
) -> None:
    binary = tmp_path / "oxigraph" if script is None else program(tmp_path / "oxigraph", script)
    finding = check_triple_store(lambda: binary)
    assert (finding.status, detail in finding.detail) == (status, True)


def test_where_there_is_no_triple_store_only_some_scenarios_cannot_run() -> None:
    def missing() -> Path:
        raise SetupError("there is no triple store", hint="install it")

    assert check_triple_store(missing) == MachineFinding(
        "triple store", "warn", "there is no triple store", "install it"
    )


def test_a_class_cache_whose_training_failed_is_told_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path))
    cache = ClassCache(["java 25", "a.jar"])
    monkeypatch.setattr(place, "class_cache", lambda: cache)
    assert check_class_cache().status == "ok"
    assert "the next run makes it" in check_class_cache().detail
    cache.keep_failure("waited 180 s\nin vain")
    finding = check_class_cache()
    assert (finding.status, finding.detail) == ("warn", "there is none, as its training failed: waited 180 s")
    assert "devkit doctor --train" in (finding.hint or "")


def test_whether_there_is_a_class_cache_is_known_without_a_jar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path))
    monkeypatch.setattr(jars, "ensure", lambda _: pytest.fail("doctor downloads nothing"))
    assert check_class_cache().status == "ok"


def test_jars_not_there_are_counted_and_damaged_ones_told_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path))
    pins = [pin for jar_set in JAR_SETS for pin in read_pins(jar_set)]
    damaged = jar_path(pins[0])
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"half")
    finding = check_jars()
    assert finding.status == "warn"
    assert f"{len(pins)} of {len(pins)} jars to download" in finding.detail
    assert "1 of them damaged" in finding.detail


def test_docker_is_only_told(tmp_path: Path) -> None:
    assert check_docker(lambda _: None).status == "ok"
    engine = program(tmp_path / "docker", "echo 27.1")
    assert check_docker(lambda _: str(engine)) == MachineFinding("docker", "ok", "engine 27.1 answers, Compose 27.1")
    bare = program(
        tmp_path / "bare", '[ "$1" = version ] && echo 27.1 || { echo "unknown flag: --short" >&2; exit 1; }'
    )
    finding = check_docker(lambda _: str(bare))
    assert (finding.status, finding.hint is None) == ("warn", False)
    assert "the docker command has no `compose`" in finding.detail
    asleep = program(tmp_path / "asleep", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    finding = check_docker(lambda _: str(asleep))
    assert finding.status == "warn"
    assert "Cannot connect" in finding.detail
