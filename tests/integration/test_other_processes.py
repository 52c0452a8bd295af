"""Another process makes, or finds, the same: traffic, pages, kept revisions, jars."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devkit.jvm.jars import jar_path
from devkit.stack.compose_file import REPOSITORY
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from mockapi.wiki.pages.coding import CODINGS
from pipeline.fetch.kept_revisions import KeptRevisions
from tests.unit.devkit.jvm.test_jars import JOIN_SECONDS, Mirror, contents, leftovers

ROOMS = ("devkit/traffic", "mockapi/wiki", "devkit/jvm", "pipeline/fetch")

DIGESTS = """
import hashlib
from mockapi.wiki.catalog import Located, default_catalog
from mockapi.wiki.pages.article import render_article
from mockapi.wiki.pages.article_source import generate
from mockapi.wiki.pages.block import Block
from mockapi.wiki.pages.coding import CODINGS, encoded
from mockapi.wiki.pages.document import Document
from mockapi.wiki.pages.outline import ArticleId
page = default_catalog(1, pages=7)[6]
located = Located(page, page.revisions[1])
data = [render_article(1, located), generate(ArticleId.of(1, located)).encode()]
for shape in (None, Block(300_000, 5_000)):
    data += [b"".join(encoded(coding, Document(1, located, shape).pieces())) for coding in CODINGS]
for document in data:
    print(hashlib.sha256(document).hexdigest())
"""
# A change of a digest changes every recorded run.
ARTICLE = "bd66bc3c5e6e1be0fffbd2c3563a90db28a9b51e53a631095d21806fc99c3781"
SPEC = TrafficSpec.model_validate({"seed": 7, "rate": "20/s", "for": "10s"})
SOURCE = "032181465bad9f8b05834d9715d296725bc4e7f403a318a8bbb3db105417aff5"


def test_traffic_is_the_same_with_other_hashing() -> None:
    program = (
        "import hashlib; from devkit.traffic.generate import generate; from devkit.traffic.model import TrafficSpec;"
        f"traffic = generate(TrafficSpec.model_validate_json({SPEC.model_dump_json(by_alias=True)!r}));"
        "print(hashlib.sha256(repr(traffic).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert digests == {hashlib.sha256(repr(generate(SPEC)).encode()).hexdigest() + "\n"}


def test_article_source_and_encoded_bytes_are_the_same(
    pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    command, environment = [sys.executable, "-c", DIGESTS], {"PYTHONHASHSEED": "77"}
    other = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=pytestconfig.rootpath, env=environment
    )
    exec(compile(DIGESTS, "digests", "exec"), {})
    assert capsys.readouterr().out == other.stdout
    digests = other.stdout.split()
    assert digests[:2] == [ARTICLE, SOURCE]
    assert len(set(digests)) == 2 + 2 * len(CODINGS)


def test_another_process_finds_a_kept_revision(tmp_path: Path) -> None:
    content = b"<p>\xc3\xa4</p>"
    kept = KeptRevisions(tmp_path / "kept", 1024 * 1024)
    kept.put("wiki", "Q1", 5, content, since=kept.now())
    program = (
        "import sys; from pathlib import Path; from pipeline.fetch.kept_revisions import KeptRevisions\n"
        "kept = KeptRevisions(Path(sys.argv[1]), 1024 * 1024)\n"
        "kept.put('wiki', 'Q2', 7, kept.get('wiki', 'Q1', 5), since=kept.now())\n"
        "print(kept.file_id)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "kept")]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    assert kept.get("wiki", "Q2", 7) == content
    assert ended.stdout.strip() == kept.file_id
    kept.close()


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Mirror]:
    mirror = Mirror()
    monkeypatch.setenv("DEVKIT_MAVEN_URL", mirror.url)
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "a cache"))
    yield mirror
    mirror.stop()


def test_two_processes_at_once_both_end_with_the_right_jars(mirror: Mirror, tmp_path: Path) -> None:
    """Each jar is answered only when both have asked for it, so both download all of them at the same time."""
    pins = [mirror.serve(f"org.example.deep:part-{n}_2.13:1.{n}", bytes([n]) * (4_000 + n)) for n in range(12)]
    lines = [f'"{pin.coordinate}" = {{ size = {pin.size}, sha256 = "{pin.sha256}" }}' for pin in pins]
    lock = tmp_path / "jars.lock"
    lock.write_text("\n".join(["[kafka]", *lines, ""]))
    mirror.crowd = 2
    program = "import sys, pathlib; from devkit.jvm.jars import ensure; ensure('kafka', lock=pathlib.Path(sys.argv[1]))"
    both = [
        subprocess.Popen([sys.executable, "-c", program, str(lock)], cwd=REPOSITORY, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    errors = [process.communicate(timeout=JOIN_SECONDS)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], errors
    assert set(mirror.requests.values()) == {2}
    assert contents(tuple(jar_path(pin) for pin in pins)) == [mirror.files[str(pin.path)] for pin in pins]
    assert leftovers() == []
