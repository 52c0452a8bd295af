from devkit.headroom.headroom_figures import ArmHeadroom
from devkit.headroom.shortage import UNMEASURED, Headroom
from tests.unit.devkit.headroom.readings import samples


def test_the_slowest_ten_seconds_are_told_beside_the_whole() -> None:
    figures = ArmHeadroom.of(Headroom(samples(*[2] * 20, *[6] * 10, *[2] * 10), margin=4, stretch=2))
    assert figures is not None
    assert (figures.worst_slowdown, figures.worst_from_s, figures.limit) == (6.0, 20.0, 8.0)
    assert figures.slowdown == 3.0
    assert (figures.core_slowdown, figures.others_cores, figures.pressure) == (1.0, None, None)


def test_what_others_used_and_waited_is_a_mean() -> None:
    one, two = samples(1, 1)
    figures = ArmHeadroom.of(
        Headroom(
            (
                one.model_copy(update={"others_cores": 1.0, "pressure": 0.5}),
                two.model_copy(update={"others_cores": 2.0}),
            )
        )
    )
    assert figures is not None
    assert (figures.others_cores, figures.pressure) == (1.5, 0.5)


def test_without_samples_there_is_nothing_to_tell() -> None:
    assert ArmHeadroom.of(UNMEASURED) is None
