"""An arm's observation and the machine's headroom as a file, so that the arm can be judged again."""

from dataclasses import dataclass, replace
from pathlib import Path

import orjson
from pydantic import TypeAdapter

from devkit.headroom.shortage import Headroom
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.samples.metrics import NOTHING_SCRAPED
from located_config.redaction import redacted

RECORDING = "observation.json"


@dataclass(frozen=True)
class Recording:
    """The input of a verdict on an arm, besides its scenario. Pages of metrics have their own files."""

    observation: ArmObservation
    headroom: Headroom

    def write(self, directory: Path) -> None:
        """Write or replace `observation.json`, without secrets."""
        programs = tuple(replace(program, metrics=NOTHING_SCRAPED) for program in self.observation.programs)
        bare = replace(self, observation=replace(self.observation, programs=programs))
        (directory / RECORDING).write_bytes(orjson.dumps(redacted(_ADAPTER.dump_python(bare, mode="json"))))

    @staticmethod
    def read(data: bytes) -> "Recording":
        """Raises pydantic's ValidationError."""
        return _ADAPTER.validate_json(data)


_ADAPTER = TypeAdapter(Recording)
