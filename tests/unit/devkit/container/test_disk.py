"""The disk that a directory takes."""

from pathlib import Path

from devkit.container.disk import clear, disk_usage

MIB = 1 << 20


def test_files_at_any_depth_count_and_links_do_not(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "large").write_bytes(b"x" * 4 * MIB)
    scratch = tmp_path / "scratch"
    (scratch / "a" / "b").mkdir(parents=True)
    (scratch / "one").write_bytes(b"x" * MIB)
    (scratch / "a" / "b" / "two").write_bytes(b"x" * MIB)
    (scratch / "link").symlink_to(elsewhere)
    assert 2 * MIB <= disk_usage(scratch) < 3 * MIB


def test_a_directory_that_is_gone_takes_nothing(tmp_path: Path) -> None:
    assert disk_usage(tmp_path / "gone") == 0


def test_what_is_in_it_goes_and_what_a_link_leads_to_stays(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    scratch = tmp_path / "scratch"
    (scratch / "a" / "b").mkdir(parents=True)
    (scratch / "a" / "b" / "two").write_bytes(b"x")
    (scratch / "one").touch()
    (scratch / "link").symlink_to(elsewhere)
    clear(scratch)
    assert list(scratch.iterdir()) == []
    assert (elsewhere / "kept").exists()
    clear(tmp_path / "gone")
