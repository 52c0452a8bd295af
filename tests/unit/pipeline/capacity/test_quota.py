import pytest

from pipeline.capacity.quota import QuotaLimit, bottleneck, cpu_limit, memory_limit, parse_cpu, quota_lines
from pipeline.config.pipeline_config import MIB


@pytest.mark.parametrize(
    ("text", "thousandths"), [("2", 2000), ("0.5", 500), ("1.25", 1250), ("0.001", 1), ("200m", 200), ("0", 0)]
)
def test_cpu_is_written_as_kubernetes_does(text: str, thousandths: int) -> None:
    assert parse_cpu(text) == thousandths


@pytest.mark.parametrize("text", ["", "m", "-1", "2 cores", "0.0005", "1.5m", "1e3"])
def test_what_is_no_cpu_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write 2, 0\.5 or 500m"):
        parse_cpu(text)


CPU = cpu_limit(10_000, executor=2000, driver=1000, sidecar=250)
MEMORY = memory_limit(10_240 * MIB + 1, executor=2047 * MIB + 1, driver=1024 * MIB, sidecar=0)


@pytest.mark.parametrize(
    ("needed", "limits", "lines"),
    [
        pytest.param(
            3,
            [CPU, MEMORY],
            [
                "  CPU          3 x (2 + sidecar 0.25) + driver 1 + sidecar 0.25 = 8 of 10; (10 - 1.25) / 2.25 = 3.89",
                "  memory, MiB  3 x 2,048 + driver 1,024 = 7,168 of 10,240; (10,240 - 1,024) / 2,048 = 4.50",
                "fits: 3 executors needed, 3 fit; bottleneck: CPU",
            ],
            id="as many as fit",
        ),
        pytest.param(
            5,
            [MEMORY],
            [
                "  memory, MiB  5 x 2,048 + driver 1,024 = 11,264 of 10,240; (10,240 - 1,024) / 2,048 = 4.50",
                "does not fit: 5 executors needed, 4 fit; bottleneck: memory",
            ],
            id="one too many, by the only limit",
        ),
        pytest.param(
            1,
            [cpu_limit(1000, executor=1000, driver=1000, sidecar=500)],
            [
                "  CPU  1 x (1 + sidecar 0.5) + driver 1 + sidecar 0.5 = 3 of 1; (1 - 1.5) / 1.5 = -0.33",
                "does not fit: 1 executor needed, 0 fit; bottleneck: CPU",
            ],
            id="no room for the driver",
        ),
    ],
)
def test_the_sum_is_shown(needed: int, limits: list[QuotaLimit], lines: list[str]) -> None:
    assert list(quota_lines(needed, limits)) == ["in the namespace's quota:", *lines]


@pytest.mark.parametrize(
    ("limit", "fitting"), [(1250, 0), (3499, 0), (3500, 1), (5750, 2), (1249, -1)], ids=lambda value: f"{value}"
)
def test_an_executor_fits_as_a_whole_or_not_at_all(limit: int, fitting: int) -> None:
    assert cpu_limit(limit, executor=2000, driver=1000, sidecar=250).fitting == fitting


def test_the_bottleneck_has_the_fewest() -> None:
    assert bottleneck([MEMORY, CPU]) is CPU
