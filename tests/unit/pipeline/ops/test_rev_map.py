from pathlib import Path

import pytest

from pipeline.errors import RefusedError
from pipeline.ops.rev_map import read_rev_map


def written(place: Path, *texts: str) -> list[Path]:
    files = [place / f"{number}.csv" for number in range(1, len(texts) + 1)]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, newline="")
    return files


MAPS: dict[str, tuple[tuple[str, ...], dict[str, int], int]] = {
    "one file": (("Q42,123\nP31,7\n",), {"Q42": 123, "P31": 7}, 0),
    "no end of the last line": (("Q42,123",), {"Q42": 123}, 0),
    "lines as on Windows": (("L1,5\r\nM2,6\r\n",), {"L1": 5, "M2": 6}, 0),
    "parts, one of which is empty": (("Q1,1\n", "", "Q2,2\n"), {"Q1": 1, "Q2": 2}, 0),
    "a line that stands again": (("Q1,1\nQ2,2\n", "Q1,1\n"), {"Q1": 1, "Q2": 2}, 1),
    "the largest revision": ((f"Q1,{2**63 - 1}\n",), {"Q1": 2**63 - 1}, 0),
}


@pytest.mark.parametrize("name", MAPS)
def test_entities_and_their_revisions(tmp_path: Path, name: str) -> None:
    texts, revisions, repeated = MAPS[name]
    read = 0

    def advance(size: int) -> None:
        nonlocal read
        read += size

    rev_map = read_rev_map(written(tmp_path, *texts), advance)
    assert (rev_map.revisions, rev_map.repeated) == (revisions, repeated)
    assert read == sum(map(len, texts))


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "a header": (("entity,revision\nQ1,1\n",), "1.csv:1: 'entity' is no entity's id"),
    "a line without a revision": (("Q1,1\nQ2\n",), "1.csv:2: 'Q2' is not entity,revision"),
    "an empty line": (("Q1,1\n", "Q2,2\n\nQ3,3\n"), "2.csv:2: '' is not entity,revision"),
    "three values": (("Q1,1,2\n",), "1.csv:1: 'Q1,1,2' is not entity,revision"),
    "quotes": (('"Q1",1\n',), """1.csv:1: '"Q1"' is no entity's id"""),
    "an IRI": (("http://www.wikidata.org/entity/Q1,1\n",), "'http://www.wikidata.org/entity/Q1' is no entity's id"),
    "a form of a lexeme": (("L1-F1,1\n",), "'L1-F1' is no entity's id"),
    "an id that begins with 0": (("Q01,1\n",), "'Q01' is no entity's id"),
    "no number": (("Q1,one\n",), "1.csv:1: 'one' is no revision of Q1: not a number from 1 to 9223372036854775807"),
    "an empty revision": (("Q1,\n",), "'' is no revision of Q1"),
    "revision 0": (("Q1,0\n",), "'0' is no revision of Q1"),
    "a negative revision": (("Q1,-5\n",), "'-5' is no revision of Q1"),
    "a revision of another script": (("Q1,٣\n",), "'٣' is no revision of Q1"),
    "more than a long": ((f"Q1,{2**63}\n",), "'9223372036854775808' is no revision of Q1"),
    "two revisions": (("Q1,1\n", "Q2,2\nQ1,3\n"), "2.csv:2: revision 3 of Q1, and an earlier line says 1"),
    "nothing": (("", ""), "--revisions: no entity in any of the files"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named_with_file_line_and_value(tmp_path: Path, name: str) -> None:
    texts, why = REFUSED[name]
    with pytest.raises(RefusedError) as refused:
        read_rev_map(written(tmp_path, *texts))
    assert why in str(refused.value)
    assert refused.value.hint


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"--revisions .*none.csv: cannot be read: No such file"):
        read_rev_map([tmp_path / "none.csv"])


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(b"Q1,1\n\xff\xfe,2\n")
    with pytest.raises(RefusedError, match=r"1.csv:2: '..' is no entity's id"):
        read_rev_map([tmp_path / "1.csv"])
