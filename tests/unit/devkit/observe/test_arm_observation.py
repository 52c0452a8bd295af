from tests.unit.devkit.observed import A_SAMPLE


def test_lag_is_what_is_published_and_not_committed() -> None:
    assert (A_SAMPLE.source_end, A_SAMPLE.committed, A_SAMPLE.lag) == (161, 160, 1)
