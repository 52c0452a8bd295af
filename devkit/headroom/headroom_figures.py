"""The headroom in a result: of an arm, and of the whole run."""

from pydantic import BaseModel, ConfigDict

from devkit.headroom.calibration import Calibration, StretchBy
from devkit.headroom.shortage import SLOWEST, Headroom, mean
from devkit.headroom.window import over, worst

_WINDOW_S = 10.0


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ArmHeadroom(_Model):
    """`slowdown` is of the whole arm, `worst_slowdown` of the slowest ten seconds, which begin at `worst_from_s`; up to
    `limit` the scenario leaves room. `core_slowdown` is the part of `slowdown` that slow cores made. `others_cores` is
    what processes used that are not the run's, `pressure` the share of the time in which tasks waited for a core.
    """

    slowdown: float
    worst_slowdown: float
    worst_from_s: float
    limit: float
    core_slowdown: float
    others_cores: float | None
    pressure: float | None

    @classmethod
    def of(cls, headroom: Headroom) -> "ArmHeadroom | None":
        """None where nothing was sampled."""
        samples = headroom.samples
        slow = worst(samples, _WINDOW_S)
        slowdown = over(samples, samples[0].from_s, samples[-1].to_s) if samples else None
        if slow is None or slowdown is None:
            return None
        others, pressure = mean(samples, "others_cores"), mean(samples, "pressure")
        return cls(
            slowdown=round(slowdown, 2),
            worst_slowdown=round(min(slow.slowdown, SLOWEST), 2),
            worst_from_s=round(slow.from_s, 1),
            limit=headroom.limit,
            core_slowdown=round(headroom.core_slowdown(samples[0].from_s, samples[-1].to_s), 2),
            others_cores=None if others is None else round(others, 2),
            pressure=None if pressure is None else round(pressure, 3),
        )


class FirstPlay(_Model):
    """A play of both arms that was short of time, and was followed by one with a larger stretch. Its evidence is in
    `directory`, beside this one's; `reasons` say what was short.
    """

    directory: str
    stretch: int
    reasons: tuple[str, ...]


class RunHeadroom(_Model):
    """`margin` is the scenario's. Every duration of the run was `stretch` times that of the file; `stretch_by` says
    what chose it. `first_play` is None where the arms were played once. `not_stretched` names settings of the programs
    that no stretch reaches.
    """

    margin: float
    stretch: int
    stretch_by: StretchBy
    calibration: Calibration
    first_play: FirstPlay | None = None
    not_stretched: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The line that is printed before anything starts."""
        slowdown = f"the machine is {self.calibration.slowdown:.1f} times slower than when it is free"
        unreached = f"no stretch reaches {' and '.join(self.not_stretched)}"
        chosen = {
            "command line": "as --stretch says",
            "calibration": "which is enough" if self.stretch == 1 else "to make up for that",
            "program": f"as {unreached}",
            "repeat": "as it was short of time before",
            "ablation": "as in the run that it belongs to",
        }[self.stretch_by]
        plays = "times are the file's" if self.stretch == 1 else f"all times are {self.stretch} times the file's"
        if self.stretch > 1 and self.not_stretched:
            chosen += f", though {unreached}"
        return f"{slowdown}; {plays}, {chosen}" + (
            f" ({self.calibration.doubtful})" if self.calibration.doubtful else ""
        )
