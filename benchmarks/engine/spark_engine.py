"""The engine as it is deployed: `python -m pipeline run html-enrichment` in a process of its own, Spark local.

What differs from the defaults stands in `settings.yaml`, and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from benchmarks.engine.contestant import Place
from devkit.guardian import ManagedProcess
from devkit.programs.places import merge
from devkit.programs.spark.launch import prepare_launch
from devkit.programs.spark.place import SparkPlace
from devkit.stack.stack import CHECKPOINTS
from pipeline.config.pipeline_config import PipelineConfig

SETTINGS = Path(__file__).with_name("settings.yaml")
_NO_STORE = "http://127.0.0.1:1"
_REPOSITORY = Path(__file__).parents[2]


def read_settings(path: Path = SETTINGS) -> dict[str, Any]:
    """`pipeline` are settings of the job, `spark` those of the place it runs in."""
    settings: dict[str, Any] = YAML(typ="safe").load(path.read_text())
    return settings


@dataclass(frozen=True)
class Engine:
    """`s3a` puts the checkpoint into the object store; `environment` is set for its process besides, and `options` are
    those of `pipeline run`. `source_topics` are read in the place of the run's one.
    """

    settings: dict[str, Any] = field(default_factory=read_settings)
    name: str = "engine"
    s3a: bool = False
    overrides: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    source_topics: tuple[str, ...] = ()

    def prepare(self) -> None:
        """It runs in the project's own environment."""

    def start(self, place: Place) -> list[ManagedProcess]:
        config = self.configuration(place)
        spark = self.settings["spark"]
        store = place.stack.store
        spark_place = SparkPlace(
            store.endpoint if store else _NO_STORE,
            place.stack.guardian.directory,
            slots=spark["slots"],
            driver_memory=spark["driver_memory"],
            settings={name: str(value) for name, value in spark.get("settings", {}).items()},
        )
        credentials = store.credentials() if store else None
        launch = prepare_launch(config, spark_place, place.directory, credentials=credentials, options=self.options)
        environment = {**launch.environment, **self.environment, "PYTHONPATH": str(_REPOSITORY)}
        started = replace(launch, environment=environment).spawn(place.stack.guardian, "engine", logs=place.directory)
        return [started]

    def configuration(self, place: Place) -> PipelineConfig:
        """Of the job, at this place."""
        topics, store = place.topics, place.stack.store
        source = {"topics": self.source_topics} if self.source_topics else {"topic": topics.source}
        places: dict[str, Any] = {
            "source": {"bootstrap_servers": place.bootstrap, **source},
            "sink": {"bootstrap_servers": place.bootstrap, "topic": topics.out, "error_topic": topics.errors},
            "mediawiki": {"endpoint": place.endpoint},
            "deferral": {"topic": topics.deferred},
            "claim_check": {"endpoint": store.endpoint if store else _NO_STORE},
            "checkpoint": f"s3a://{CHECKPOINTS}/{topics.out}" if self.s3a else str(place.directory / "checkpoint"),
        }
        return PipelineConfig.model_validate(merge(merge(places, self.settings["pipeline"]), self.overrides))
