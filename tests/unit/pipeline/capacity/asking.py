"""Questions for the model: a configuration and costs that make figures easy to see."""

from typing import Any

from pipeline.capacity.costs import Costs
from pipeline.config.pipeline_config import PipelineConfig
from tests.unit.pipeline.least_config import least_config

# Nothing costs anything, so that only waiting and numbers in flight count.
FREE = Costs(
    worker_s=0,
    worker_s_per_mib=0,
    jvm_s=0,
    jvm_s_per_mib=0,
    elsewhere_s=0,
    elsewhere_s_per_mib=0,
    batch_s=0,
    round_s=0,
    worker_requests=100,
)


def configured(**sections: Any) -> PipelineConfig:
    return PipelineConfig.model_validate(least_config(**sections))
