"""The look at versions in the JVM never calls an event certain of which the job's parser says otherwise.

Set-up: texts of events as producers may write them, in every way of JSON that could hide another `$schema`: keys twice,
escaped, nested, in text, cut off, not UTF-8, long, in another order. Checked, with Spark: what a parser would refuse is
among what is uncertain; and what producers usually write is certain.
"""

import itertools
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession

from pipeline.driver.version_check import count_uncertain, is_certain
from pipeline.jobs.message import SourceMessage
from pipeline.records.page_change import InvalidEventError, parse
from pipeline.records.record import Position
from pipeline.worker.unknown_versions import versions_of
from tests.integration.local_spark import local_spark

ROOMS = ("pipeline/driver", "pipeline/worker")
GOOD, OTHER_MINOR, BAD = (f"/mediawiki/page/change/{version}" for version in ("1.2.0", "1.9.9", "2.0.0"))
TOPIC = "source"
READABLE = {(TOPIC, GOOD), (TOPIC, OTHER_MINOR)}
COLUMNS = "topic string, key binary, value binary, partition int, offset long"
KEYS = ('"$schema"', r'"\u0024schema"', r'"$\u0073chema"', r'"$sche\u006Da"', r'"$sche\u006da"', r'"$schem\u0061"')
USUAL = {
    "as Python writes it": json.dumps({"$schema": GOOD, "meta": {"id": "a"}, "comment": "Größe \U0001f600 \x01 <b>"}),
    "without spaces": json.dumps({"$schema": OTHER_MINOR, "comment": "a $schema of ours"}, separators=(",", ":")),
    "not escaped": json.dumps({"$schema": GOOD, "comment": "Größe \U0001f600"}, ensure_ascii=False),
    "indented": json.dumps({"$schema": GOOD, "meta": {}}, indent=2),
    "large": json.dumps({"$schema": GOOD, "comment": "x" * 1_000_000}),
}


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with local_spark(1) as session:
        yield session


def is_unreadable(value: bytes | None) -> bool:
    """By the job's own parser."""
    named = versions_of([message(value)], unreadable)
    return named.unknown == 1


def message(value: bytes | None) -> SourceMessage:
    return SourceMessage(Position(TOPIC, 0, 1), None, value, datetime(2026, 1, 1, tzinfo=UTC))


def unreadable(one: SourceMessage) -> str | None:
    try:
        parse(one.value, str(one.position))
    except InvalidEventError as error:
        return BAD if error.failure.error_type == "unknown_schema_version" else None
    return None


def disguised() -> list[bytes | None]:
    """Events of which some name a version that cannot be read, in a way that a search for text may overlook."""
    found: list[bytes | None] = [None, b"", b"null", b"[]", b"{}", b'"$schema"', b"\xff\xfe{", b"\xef\xbb\xbf{}"]
    for one, other in itertools.product(KEYS, repeat=2):
        for first, second in itertools.permutations((GOOD, BAD, "/another/1.0.0"), 2):
            pair = f'{one}: "{first}", "a": {{}}, {other}: "{second}"'
            found += [f"{{{pair}}}".encode(), f'{{"x": 1, {pair}}}'.encode(), f"{{{pair}".encode()]
            nested = f'{{"a": {{{one}: "{first}"}}, {other}: "{second}"}}'
            behind = f'{{{one}: "{first}", "a": [{{{other}: "{second}"}}]}}'
            found += [nested.encode(), behind.encode(), f' \n{{ {one} :\t"{first}"}}'.encode()]
    far = " " * 400
    found += [f'{{{far}"$schema": "{name}"}}'.encode() for name in (GOOD, BAD)]
    found += [f'{{"$schema": "{name}"{far}, "$schema": "{BAD}"}}'.encode() for name in (GOOD, BAD)]
    found += [f'{{"$schema": "{GOOD}", "a": "{name}"}}'.encode() for name in (BAD, r"\"$schema\": \"" + BAD + r"\"")]
    found += [f'{{"$schema": {name}}}'.encode() for name in ("7", "null", "[]", f'["{GOOD}"]', f'"{GOOD}\\n"')]
    chance = random.Random(7)
    whole = [one for one in found if one]
    for value in chance.choices(whole, k=1000):
        at = chance.randrange(len(value))
        found.append(value[:at] + chance.choice((b"", b"\\", b'"', b"\xff", b" ", b"$schema")) + value[at + 1 :])
    return found


def count(spark: SparkSession, values: list[bytes | None], *, topic: str = TOPIC) -> tuple[int, int]:
    """As a batch of the topic has them."""
    rows = [(topic, None, value, 0, at) for at, value in enumerate(values)]
    return count_uncertain(spark.createDataFrame(rows, COLUMNS), READABLE)


def certain(spark: SparkSession, values: list[bytes | None]) -> list[bytes | None]:
    """Which they are, found by the same expression, a row at a time."""
    rows = spark.createDataFrame([(TOPIC, value) for value in values], "topic string, value binary")
    texts = rows.withColumn("text", rows["value"].cast("string"))
    kept = texts.where(is_certain(READABLE)).select("value").collect()
    return [None if row[0] is None else bytes(row[0]) for row in kept]


def test_nothing_is_certain_that_the_parser_cannot_read(spark: SparkSession) -> None:
    values = disguised()
    assert sum(map(is_unreadable, values)) > 100, "there is something to overlook"
    found = certain(spark, values)
    assert len(found) > 10
    assert [value for value in found if is_unreadable(value)] == []
    assert count(spark, values) == (len(values), len(values) - len(found))


def test_what_producers_usually_write_is_certain(spark: SparkSession) -> None:
    assert count(spark, [text.encode() for text in USUAL.values()]) == (len(USUAL), 0)


def test_a_schema_that_is_readable_in_another_topic_is_not_certain(spark: SparkSession) -> None:
    assert count(spark, [USUAL["indented"].encode()], topic="another") == (1, 1)


def test_an_empty_batch(spark: SparkSession) -> None:
    assert count(spark, []) == (0, 0)
