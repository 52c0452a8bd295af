"""What tasks tell their driver: small things in lists, through one of Spark's accumulators.

Payloads go to Kafka; the driver needs to know only what came of them.
"""

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator, AccumulatorParam
    from pyspark.sql import SparkSession

T = TypeVar("T")


class ListParam(Generic[T]):
    """Adds lists; a driver looks at them when the action has returned. What Spark calls an AccumulatorParam.

    Not derived from Spark's: this module is imported while another thread imports PySpark itself.
    """

    def zero(self, value: list[T]) -> list[T]:  # noqa: ARG002 — the interface is Spark's
        """A new empty list: what each task begins with."""
        return []

    def addInPlace(self, value1: list[T], value2: list[T]) -> list[T]:  # noqa: N802
        """Extends `value1` and returns it."""
        value1 += value2  # a copy for each would grow with the square of their number
        return value1


def accumulated_list(spark: "SparkSession") -> "Accumulator[list[Any]]":
    """An empty one. To be made by one thread at a time: Spark numbers them without a lock."""
    empty: list[Any] = []
    return spark.sparkContext.accumulator(empty, cast("AccumulatorParam[list[Any]]", ListParam()))
