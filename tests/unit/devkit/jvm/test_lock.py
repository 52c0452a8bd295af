from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.jvm.lock import beyond, render
from devkit.jvm.pins import Pin, read_pins

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
