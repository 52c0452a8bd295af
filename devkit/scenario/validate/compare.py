"""Comparisons of arms that no run can make: of an arm that there is not, or that is played only after this one."""

from collections.abc import Collection, Iterator, Sequence

from devkit.expectations import Expectation
from devkit.expectations.compare import Comparison
from located_config.near import near_miss


def compared(arms: Collection[str], expectation: Expectation) -> Iterator[tuple[str, Expectation]]:
    """The figure that is compared as an expectation of each of its arms; nothing for another expectation."""
    argument = expectation.argument
    if isinstance(argument, Comparison):
        inner = Expectation.of(argument.figure, argument.argument)
        yield from ((arm, inner) for arm in argument.ratio.arms if arm in arms)


def check_comparison(arms: Sequence[str], arm: str, expectation: Expectation) -> Iterator[tuple[str, str]]:
    """`arms` are those of the scenario in the order in which they are played, `arm` is the one that expects it."""
    argument = expectation.argument
    if not isinstance(argument, Comparison):
        return
    for one in argument.ratio.arms:
        if one not in arms:
            yield "", f"there is no arm {one!r}; {near_miss(one, arms)}"
        elif arms.index(one) > arms.index(arm):
            yield "", f"arm {one} is played after this one: let it stand in expect.{one}"
    if arm not in argument.ratio.arms and {*argument.ratio.arms} <= {*arms}:
        yield "", f"this arm is not among the two: let it stand in expect.{argument.ratio.arms[0]}"
