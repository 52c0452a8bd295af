import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.config.pipeline_config import MediaWiki
from pipeline.errors import RefusedError
from pipeline.fetch.wiki_hosts import WikiHosts


@pytest.fixture
def table(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the file, in one step as one who changes it should, and each time at another moment."""
    moments = iter(range(1, 99))

    def write(text: str) -> Path:
        new, file = tmp_path / "new.yaml", tmp_path / "wikis.yaml"
        new.write_text(text)
        os.utime(new, (moment := next(moments), moment))
        return new.replace(file)

    return write


def hosts(file: str) -> WikiHosts:
    return WikiHosts(MediaWiki(endpoint="http://127.0.0.1:1", wikis_file=file))


def test_a_table_of_the_configuration() -> None:
    known = WikiHosts(MediaWiki(endpoint="http://127.0.0.1:1", wikis={"dewiki": "de.example"}))
    assert (known.host_of("dewiki"), known.host_of("enwiki")) == ("de.example", None)


def test_a_file_is_read_again_when_it_has_changed(table: Callable[[str], Path]) -> None:
    known = hosts(str(table("dewiki: de.example\n")))
    assert (known.host_of("dewiki"), known.host_of("newwiki")) == ("de.example", None)
    table("dewiki: other.example\nnewwiki: new.example\n")
    assert (known.host_of("dewiki"), known.host_of("newwiki")) == ("other.example", "new.example")


@pytest.mark.parametrize("broken", ["dewiki: [", "dewiki: a host\n", "- dewiki\n", ""])
def test_a_file_that_cannot_be_read_while_the_job_runs_changes_nothing(
    table: Callable[[str], Path], broken: str
) -> None:
    file = table("dewiki: de.example\n")
    known = hosts(str(file))
    table(broken)
    assert known.host_of("dewiki") == "de.example"
    file.unlink()
    assert known.host_of("dewiki") == "de.example"
    table("newwiki: new.example\n")
    assert known.host_of("newwiki") == "new.example"


def test_without_a_table_nothing_begins(table: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="cannot be read: No such file"):
        hosts(str(tmp_path / "missing.yaml"))
    with pytest.raises(RefusedError, match="is no table of wikis"):
        hosts(str(table("- dewiki\n")))
