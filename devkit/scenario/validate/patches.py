"""Checks for patches that do not fit their events; it generates the traffic to find them."""

from collections.abc import Iterator

from devkit.errors import UsageError
from devkit.scenario.model import Scenario
from devkit.traffic.all_streams import generate_all
from devkit.traffic.event_patch import Patch, UnfitPatchError
from devkit.traffic.model import TrafficSpec
from located_config.place import Location
from located_config.problem import Problem


def check_patches(scenario: Scenario) -> Iterator[Problem]:
    """Problems of patches; for each patch the first event that it does not fit."""
    traffic = scenario.traffic
    while any(patches for _, patches in traffic.patches_at()):
        try:
            generate_all(traffic)
        except UnfitPatchError as error:
            yield Problem(_place(scenario.traffic, error.patch), error.problem, error.hint or "write another value")
            traffic = _drop_patch(traffic, error.patch)
        except UsageError:
            return  # the traffic itself cannot be generated, which a run reports
        else:
            return


def _place(traffic: TrafficSpec, patch: Patch) -> Location:
    """Equal patches are distinct, as each is an object of its own."""
    return next(
        (*place, number)
        for place, patches in traffic.patches_at()
        for number, candidate in enumerate(patches)
        if candidate is patch
    )


def _drop_patch(traffic: TrafficSpec, patch: Patch) -> TrafficSpec:
    streams = {
        name: stream.model_copy(update={"patch": _remaining(stream.patch, patch)})
        for name, stream in traffic.streams.items()
    }
    return traffic.model_copy(update={"patch": _remaining(traffic.patch, patch), "streams": streams})


def _remaining(patches: tuple[Patch, ...], patch: Patch) -> tuple[Patch, ...]:
    return tuple(other for other in patches if other is not patch)
