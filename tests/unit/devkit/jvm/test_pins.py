import io
from pathlib import Path

import pyspark
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.errors import SetupError
from devkit.jvm.download import DownloadProgress
from devkit.jvm.jars import JAR_SETS
from devkit.jvm.lock import beyond, render
from devkit.jvm.pins import LOCK, Pin, read_pins

LINE = f'"org.apache.kafka:kafka_2.13:4.3.1" = {{ size = 7, sha256 = "{"0a" * 32}" }}\n'
NAMES = st.from_regex(r"[a-z]{1,6}(-[a-z]{1,4})?(_2\.13)?", fullmatch=True)
PINS = st.builds(
    lambda group, artifact, version, size, digest: Pin(
        coordinate=f"{group}:{artifact}:{version}", size=size, sha256=digest
    ),
    st.from_regex(r"[a-z]{1,5}(\.[a-z]{1,5}){0,2}", fullmatch=True),
    NAMES,
    st.from_regex(r"[0-9]\.[0-9]{1,2}(\.[0-9])?(-GA|\.Final)?", fullmatch=True),
    st.integers(1, 10**9),
    st.from_regex(r"[0-9a-f]{64}", fullmatch=True),
)


def test_a_pin_is_kept_where_a_maven_repository_keeps_it() -> None:
    pin = Pin(coordinate="org.apache.kafka:kafka_2.13:4.3.1", size=7, sha256="0a" * 32)
    assert str(pin.path) == "org/apache/kafka/kafka_2.13/4.3.1/kafka_2.13-4.3.1.jar"


@pytest.mark.parametrize("coordinate", ["kafka", "a:b", "a:b:c:d", "../a:b:1", "a:b:../../x", "a/b:c:1"])
def test_a_coordinate_that_could_leave_the_cache_is_refused(coordinate: str, tmp_path: Path) -> None:
    (tmp_path / "jars.lock").write_text(f'[kafka]\n"{coordinate}" = {{ size = 7, sha256 = "{"0a" * 32}" }}\n')
    with pytest.raises(SetupError, match="is invalid"):
        read_pins("kafka", tmp_path / "jars.lock")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[kafka", "is invalid"),
        ("[kafka]\n" + LINE.replace("7", "0"), "size"),
        ("[kafka]\n" + LINE.replace("0a", "ZZ", 1), "sha256"),
        ("[kafka]\n" + LINE.replace("size", "bytes"), "bytes"),
        ("[spark]\n" + LINE, "unknown jar set 'kafka'"),
    ],
)
def test_a_broken_lock_is_named_with_its_fault(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "jars.lock"
    path.write_text(text)
    with pytest.raises(SetupError, match=problem) as raised:
        read_pins("kafka", path)
    assert str(path) in str(raised.value)
    assert raised.value.hint


def test_a_missing_lock_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"nowhere\.lock"):
        read_pins("kafka", tmp_path / "nowhere.lock")


def test_the_lock_of_the_kit_names_each_artifact_once_and_no_repository() -> None:
    assert "//" not in LOCK.read_text()
    for jar_set in JAR_SETS:
        artifacts = [pin.coordinate.split(":")[1] for pin in read_pins(jar_set)]
        assert len(artifacts) == len(set(artifacts)) > 0


def test_sparks_jars_are_those_that_pyspark_does_not_ship() -> None:
    shipped = [jar.name for jar in (Path(pyspark.__file__).parent / "jars").glob("*.jar")]
    for pin in read_pins("spark"):
        artifact = pin.coordinate.split(":")[1]
        assert not [name for name in shipped if name.startswith(artifact) and name[len(artifact) + 1].isdigit()]


@given(st.lists(PINS, min_size=1, max_size=8, unique_by=lambda pin: pin.coordinate))
def test_what_is_written_is_what_is_read(tmp_path_factory: pytest.TempPathFactory, pins: list[Pin]) -> None:
    path = tmp_path_factory.mktemp("lock") / "jars.lock"
    path.write_text(render({"kafka": pins, "spark": []}))
    assert read_pins("kafka", path) == tuple(pins)
    assert read_pins("spark", path) == ()


def pin(artifact: str, version: str) -> Pin:
    return Pin(coordinate=f"g:{artifact}:{version}", size=1, sha256="00" * 32)


def test_an_artifact_is_left_out_when_it_is_shipped_in_any_version_but_not_for_a_name_that_only_begins_alike() -> None:
    httpclient, netty, auth = pin("httpclient", "4.5.13"), pin("netty-codec", "4.1"), pin("auth", "2.35.4")
    shipped = ["httpclient-4.5.14.jar", "netty-codec-http-4.2.13.Final.jar", "auth-common-4.5.26.jar"]
    assert beyond([httpclient, netty, auth], shipped) == [netty, auth]


def test_a_scala_suffix_belongs_to_the_name() -> None:
    connector = pin("spark-sql-kafka-0-10_2.13", "4.2.0")
    assert beyond([connector], ["spark-sql_2.13-4.2.0.jar"]) == [connector]
    assert beyond([connector], [Path("jars/spark-sql-kafka-0-10_2.13-4.1.0.jar").name]) == []


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
