"""`python -m pipeline plan --rate 400/s --latency 10s`: what that needs; exit 0, or 2 when it was refused or
does not fit into the quota.

With `--config FILE` and no rate: what that configuration reaches, and its bottleneck.
"""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import click

from located_config.duration import parse_duration
from located_config.rate import parse_rate
from located_config.share import parse_share
from located_config.size import parse_size
from pipeline.capacity.costs import MEASURED, MIB, Costs
from pipeline.capacity.limits import forecast
from pipeline.capacity.load import Executors, Load
from pipeline.capacity.plan_lines import forecast_lines, plan_lines
from pipeline.capacity.quota import QuotaLimit, bottleneck, cpu_limit, memory_limit, parse_cpu
from pipeline.capacity.sizing import CapacityPlan
from pipeline.capacity.sizing import plan as plan_for
from pipeline.config.config_file import load_config
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.spark_slots import main_slots
from pipeline.errors import RefusedError
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.memory.spark import driver_memory
from pipeline.ops.exit_codes import exit_codes
from pipeline.ops.options import Number

_NUMBER = re.compile(r"\d+(\.\d+)?")
# What has to be there in a configuration, and makes no difference here.
_ANY = {
    "source": {"bootstrap_servers": "localhost:9092"},
    "sink": {"bootstrap_servers": "localhost:9092"},
    "mediawiki": {"endpoint": "http://localhost"},
    "checkpoint": "checkpoint",
}


class _Quantity(click.ParamType[Any]):
    """A number with its unit, by the function that reads it."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _seconds(text: str) -> float:
    return parse_duration(text).total_seconds()


def _rate(text: str) -> float:
    """A bare number is a second's, as it has always been here."""
    return parse_rate(f"{text}/s" if _NUMBER.fullmatch(text) else text)


def _show(context: click.Context, _option: click.Parameter, value: bool) -> None:
    """Prints the costs that the model uses, and exits."""
    if not value:
        return
    for field in fields(Costs):
        click.echo(f"{field.name}={getattr(Costs(), field.name):g}")
    click.echo(f"measured: {MEASURED}; seconds of one processor, s_per_mib for each MiB fetched")
    context.exit()


_RATE, _DURATION = _Quantity("rate", _rate), _Quantity("duration", _seconds)
_SIZE, _SHARE = _Quantity("size", parse_size), _Quantity("share", parse_share)
_CPU = _Quantity("cpu", parse_cpu)
_DRIVER_CPU = 1000
"""Spark's default for `spark.driver.cores`, in thousandths."""


@dataclass(frozen=True)
class _Quota:
    """The options about the namespace's quota, as they were given: CPU in thousandths, memory in bytes."""

    cpu: int | None
    memory: int | None
    sidecar_cpu: int | None
    sidecar_memory: int | None
    driver_cpu: int | None
    driver_memory: int | None

    def require_used(self, rate: float | None) -> None:
        """Raises RefusedError for an option that would not be used."""
        for resource in ("cpu", "memory"):
            is_given = getattr(self, resource) is not None
            if is_given and rate is None:
                raise RefusedError(f"--quota-{resource} without --rate", hint="add --rate, or leave it out")
            for pod in ("sidecar", "driver"):
                if getattr(self, f"{pod}_{resource}") is not None and not is_given:
                    raise RefusedError(
                        f"--{pod}-{resource} without --quota-{resource}",
                        hint=f"add --quota-{resource}, or leave it out",
                    )

    def limits(self, plan: CapacityPlan) -> Iterator[QuotaLimit]:
        """Those that were given, with what the plan's pods take. Raises RefusedError for a driver that is too small."""
        if self.cpu is not None:
            driver = _DRIVER_CPU if self.driver_cpu is None else self.driver_cpu
            cores = round(1000 * plan.place.cores)
            yield cpu_limit(self.cpu, executor=cores, driver=driver, sidecar=self.sidecar_cpu or 0)
        if self.memory is not None:
            least = driver_memory(plan.config)
            if self.driver_memory is not None and self.driver_memory < least:
                raise RefusedError(
                    f"--driver-memory {self.driver_memory // MIB}MiB is too small: the driver needs "
                    f"{-(-least // MIB)}MiB",
                    hint="leave it out, and the plan has what the driver needs",
                )
            driver = least if self.driver_memory is None else self.driver_memory
            yield memory_limit(self.memory, executor=plan.sizes.memory, driver=driver, sidecar=self.sidecar_memory or 0)


@click.command(short_help="Show what a rate needs, or what a configuration reaches.")
@click.option(
    "--rate",
    type=_RATE,
    help="Show what this event rate needs, for example 400/s. Default: show the rate that --config reaches.",
)
@click.option(
    "--latency",
    "latency_s",
    type=_DURATION,
    required=True,
    help="Duration of a request to the upstream, for example 10s.",
)
@click.option(
    "--requests",
    type=click.IntRange(1),
    help="Number of requests for an event. Default: that of the job in --config, otherwise 2.",
)
@click.option(
    "--parent-hits",
    type=_SHARE,
    default="0%",
    show_default=True,
    help="Share of events whose parent revision is not requested, as the job published it last.",
)
@click.option(
    "--page-size", "page_bytes", type=_SIZE, default="50KiB", show_default=True, help="Size of a response body."
)
@click.option(
    "--slow-share", type=_SHARE, default="0%", show_default=True, help="Share of events with one slow request."
)
@click.option(
    "--slow-latency",
    "slow_latency_s",
    type=_DURATION,
    default="0s",
    show_default=True,
    help="Duration of a slow request.",
)
@click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    help="The job's YAML file. Default: a configuration of defaults.",
)
@click.option(
    "--partitions",
    type=click.IntRange(1),
    help="Number of partitions of the source topic; without --rate only. Default: the number of Python workers.",
)
@click.option(
    "--executors",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Number of executors; without --rate only.",
)
@click.option(
    "--cores-per-executor",
    "cores",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Number of cores of an executor.",
)
@click.option(
    "--slots-per-executor",
    "slots",
    type=click.IntRange(1),
    help="Number of Spark slots of an executor. Default: --cores-per-executor.",
)
@click.option(
    "--memory-limit",
    "executor_memory",
    type=_SIZE,
    help="Memory of an executor; with --rate only. Default: as much as it needs.",
)
@click.option(
    "--quota-cpu",
    type=_CPU,
    help="CPU quota of the Kubernetes namespace, for example 40; with --rate only. Default: not considered.",
)
@click.option(
    "--quota-memory",
    type=_SIZE,
    help="Memory quota of the namespace, for example 120GiB; with --rate only. Default: not considered.",
)
@click.option(
    "--sidecar-cpu", type=_CPU, help="CPU of the other containers of each pod, for example 200m. Default: none."
)
@click.option(
    "--sidecar-memory",
    type=_SIZE,
    help="Memory of the other containers of each pod, for example 256MiB. Default: none.",
)
@click.option("--driver-cpu", type=_CPU, help="CPU of the driver, with --quota-cpu. Default: 1.")
@click.option(
    "--driver-memory", type=_SIZE, help="Memory of the driver, with --quota-memory. Default: as much as it needs."
)
@click.option(
    "--headroom",
    type=Number(max=1000),
    default=1.5,
    show_default=True,
    help="Factor by which the steady rate has to exceed --rate.",
)
@click.option(
    "--cost",
    "costs",
    multiple=True,
    metavar="NAME=VALUE",
    help="Replace a measured cost by this value; --costs lists the names.",
)
@click.option(
    "--costs",
    "show_costs",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show,
    help="Print the costs that the model uses, and exit.",
)
def plan(
    rate: float | None,
    latency_s: float,
    requests: int | None,
    parent_hits: float,
    page_bytes: int,
    slow_share: float,
    slow_latency_s: float,
    config_file: Path | None,
    partitions: int | None,
    executors: int,
    cores: int,
    slots: int | None,
    executor_memory: int | None,
    quota_cpu: int | None,
    quota_memory: int | None,
    sidecar_cpu: int | None,
    sidecar_memory: int | None,
    driver_cpu: int | None,
    driver_memory: int | None,
    headroom: float,
    costs: tuple[str, ...],
) -> None:
    """Show by the capacity model what a rate needs, or the rate that a configuration reaches.

    With a quota of a Kubernetes namespace, the exit code is 2 if the executors that the rate needs do not fit into it.
    """
    quota = _Quota(quota_cpu, quota_memory, sidecar_cpu, sidecar_memory, driver_cpu, driver_memory)
    limits: list[QuotaLimit] = []
    with exit_codes():
        quota.require_used(rate)
        if rate is None and executor_memory is not None:
            raise RefusedError("--memory-limit without --rate", hint="add --rate, or leave it out")
        if rate is None and config_file is None:
            raise RefusedError(
                "plan needs --rate or --config",
                hint="--rate 400/s says what that rate needs; --config FILE says which rate FILE reaches",
            )
        if rate is not None and partitions is not None:
            raise RefusedError(
                "--partitions with --rate", hint="leave one out: with --rate the plan has the partitions"
            )
        config = load_config(config_file) if config_file else PipelineConfig.model_validate(_ANY)
        measured = _costs(costs)
        of_an_event = requests or JOB_DEFAULTS[config.job].requests
        if parent_hits and (of_an_event < 2 or not config.kept_bytes):
            raise RefusedError(
                "--parent-hits of a job that keeps no parents",
                hint="html-enrichment does, with parent_cache.policy: last",
            )
        load = Load(latency_s, of_an_event - parent_hits, page_bytes, slow_share, slow_latency_s)
        if slow_share and slow_latency_s <= latency_s:
            raise RefusedError("--slow-share without a longer --slow-latency", hint="for example --slow-latency 40s")
        if rate is not None:
            needs = plan_for(
                rate,
                load,
                config,
                measured,
                cores=cores,
                slots=slots or cores,
                headroom=headroom,
                memory_limit=executor_memory,
            )
            limits = list(quota.limits(needs))
            lines = plan_lines(needs, load, measured, headroom, limits)
        else:
            all_slots = executors * (slots or cores)
            place = Executors(executors, cores, slots or cores, partitions or main_slots(all_slots, config))
            lines = forecast_lines(forecast(config, load, place, measured), load, place)
        for line in lines:
            click.echo(line)
    if limits and needs.sizes.executors > bottleneck(limits).fitting:
        sys.exit(RefusedError.exit_code)


def _costs(changes: tuple[str, ...]) -> Costs:
    costs = Costs()
    names = {field.name for field in fields(Costs)}
    for change in changes:
        name, _, value = change.partition("=")
        if name not in names:
            raise RefusedError(f"--cost {change!r}: no such cost", hint=f"there are {', '.join(sorted(names))}")
        if not _NUMBER.fullmatch(value):
            raise RefusedError(f"--cost {change!r}: {value!r} is no number", hint="for example batch_s=0.3")
        number: Any = int(float(value)) if name == "worker_requests" else float(value)
        costs = replace(costs, **{name: number})
    if costs.worker_requests < 1:
        raise RefusedError("--cost worker_requests has to be at least 1")
    return costs
