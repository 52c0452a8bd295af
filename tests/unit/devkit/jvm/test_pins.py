from pathlib import Path

import pyspark
import pytest

from devkit.errors import SetupError
from devkit.jvm.jars import JAR_SETS
from devkit.jvm.pins import LOCK, Pin, read_pins

LINE = f'"org.apache.kafka:kafka_2.13:4.3.1" = {{ size = 7, sha256 = "{"0a" * 32}" }}\n'


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
