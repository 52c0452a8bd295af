import io

from devkit.jvm.download import DownloadProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_one_line_that_is_rewritten() -> None:
    out = Terminal()
    progress = DownloadProgress("downloading 2 kafka jars", 2_000_000, out)
    progress.add(1_000_000)
    progress.add(1_000_000)
    progress.close()
    assert out.getvalue() == (
        "\rdownloading 2 kafka jars: 0.0 of 2.0 MB, 0 %"
        "\rdownloading 2 kafka jars: 1.0 of 2.0 MB, 50 %"
        "\rdownloading 2 kafka jars: 2.0 of 2.0 MB, 100 %\n"
    )


def test_a_file_gets_a_line_a_quarter_and_no_control_characters() -> None:
    out = io.StringIO()
    progress = DownloadProgress("x", 1_000, out)
    for _ in range(1_000):
        progress.add(1)
    progress.close()
    assert [line.rsplit(", ")[1] for line in out.getvalue().splitlines()] == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    assert "\r" not in out.getvalue()


def test_bytes_thrown_away_do_not_count() -> None:
    out = io.StringIO()
    progress = DownloadProgress("x", 100, out)
    progress.add(60)
    progress.add(-60)
    progress.add(100)
    assert out.getvalue().splitlines()[-1].endswith("100 %")
    assert len(out.getvalue().splitlines()) == 3
