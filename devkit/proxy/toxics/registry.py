"""All toxics by their keys. Adding one is a file and a line here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final

from pydantic import PlainSerializer, PlainValidator

from devkit.proxy.toxics.bandwidth import Bandwidth
from devkit.proxy.toxics.blackhole import Blackhole
from devkit.proxy.toxics.cut import Cut
from devkit.proxy.toxics.half_open import HalfOpen
from devkit.proxy.toxics.kafka_error import KafkaError
from devkit.proxy.toxics.latency import LatencyToxic
from devkit.proxy.toxics.reset import Reset
from devkit.proxy.toxics.store_error import StoreError
from devkit.proxy.toxics.store_slow import StoreSlow
from devkit.proxy.toxics.store_watch import StoreWatch
from devkit.proxy.toxics.toxic import Toxic
from located_config.near import near_miss

TOXICS: Final[Mapping[str, type[Toxic]]] = MappingProxyType(
    {
        toxic.key: toxic
        for toxic in (
            LatencyToxic,
            Bandwidth,
            Cut,
            Blackhole,
            Reset,
            HalfOpen,
            StoreError,
            StoreSlow,
            StoreWatch,
            KafkaError,
        )
    }
)


def parse_do(value: object) -> Toxic:
    """A toxic from `{latency: {time: 200ms}}`; raises ValueError."""
    if isinstance(value, Toxic):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ValueError("one toxic by its key is expected, such as {latency: {time: 200ms}}")
    [(key, parameters)] = value.items()
    if key not in TOXICS:
        raise ValueError(f"no toxic {key!r}; {near_miss(str(key), TOXICS)}")
    return TOXICS[key].model_validate(parameters)


Do = Annotated[Toxic, PlainValidator(parse_do), PlainSerializer(lambda do: {do.key: do.model_dump(mode="json")})]
"""A toxic, written as a mapping of its key to its parameters."""
