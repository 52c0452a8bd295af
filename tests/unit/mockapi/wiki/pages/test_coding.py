import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.block import Block
from mockapi.wiki.pages.coding import CODINGS, Coding, encoded
from mockapi.wiki.pages.document import Document

Decode = Callable[[Coding, bytes], bytes]

_PRINT_DIGESTS = """
import hashlib
from mockapi.wiki.catalog import default_catalog
from mockapi.wiki.pages.block import Block
from mockapi.wiki.pages.coding import CODINGS, encoded
from mockapi.wiki.pages.document import Document
from mockapi.wiki.catalog import Located
page = default_catalog(1, pages=7)[6]
for shape in (None, Block(300_000, 5_000)):
    document = Document(1, Located(page, page.revisions[1]), shape)
    for coding in CODINGS:
        print(hashlib.sha256(b"".join(encoded(coding, document.pieces()))).hexdigest())
"""


@pytest.mark.parametrize("coding", CODINGS)
@given(pieces=st.lists(st.binary(max_size=200)))
def test_a_decoder_gives_the_document_back(decode: Decode, coding: Coding, pieces: list[bytes]) -> None:
    assert decode(coding, b"".join(encoded(coding, pieces))) == b"".join(pieces)


@pytest.mark.parametrize("coding", CODINGS)
def test_a_long_document_comes_back_too(decode: Decode, located: Located, coding: Coding) -> None:
    document = Document(1, located, Block(1_000_000, 65_536))
    packed = b"".join(encoded(coding, document.pieces()))
    assert decode(coding, packed) == b"".join(document.pieces())


def test_the_encoded_bytes_are_the_same_in_every_process(
    pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    there = subprocess.run(
        [sys.executable, "-c", _PRINT_DIGESTS],
        capture_output=True,
        text=True,
        check=True,
        cwd=pytestconfig.rootpath,
        env={"PYTHONHASHSEED": "77"},
    )
    exec(compile(_PRINT_DIGESTS, "digests", "exec"), {})
    assert capsys.readouterr().out == there.stdout
    assert len(set(there.stdout.split())) == 2 * len(CODINGS)


@given(st.binary(max_size=100_000), st.integers(1, 70_000))
def test_gzip_does_not_depend_on_how_its_input_is_cut(data: bytes, cut: int) -> None:
    packed = b"".join(encoded("gzip", [data[:cut], data[cut:]]))
    assert packed == b"".join(encoded("gzip", [data]))
    assert packed[4:8] == bytes(4)
