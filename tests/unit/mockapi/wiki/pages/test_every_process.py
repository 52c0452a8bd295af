"""What a seed promises: the same bytes in every process. A change of a digest changes every recorded run."""

import subprocess
import sys

import pytest

from mockapi.wiki.pages.coding import CODINGS

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
ARTICLE = "bd66bc3c5e6e1be0fffbd2c3563a90db28a9b51e53a631095d21806fc99c3781"
SOURCE = "032181465bad9f8b05834d9715d296725bc4e7f403a318a8bbb3db105417aff5"


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
