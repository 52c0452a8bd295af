import pytest
from pydantic import ValidationError

from devkit.report.result import Result


@pytest.mark.parametrize("which", ["good", "failed"])
def test_reads_back_as_it_was_written(which: str, request: pytest.FixtureRequest) -> None:
    result: Result = request.getfixturevalue(which)
    assert Result.model_validate_json(result.model_dump_json()) == result


def test_an_outcome_that_is_none_is_refused(good: Result) -> None:
    with pytest.raises(ValidationError, match="outcome"):
        Result.model_validate(good.model_dump() | {"outcome": "fine"})


def test_an_unknown_field_is_refused(good: Result) -> None:
    with pytest.raises(ValidationError, match="surprise"):
        Result.model_validate(good.model_dump() | {"surprise": 1})
