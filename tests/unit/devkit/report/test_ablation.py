import pytest

from devkit.report.ablation import NEEDED, AblatedDifference, Ablation, ablation_lines

YES = AblatedDifference(
    difference="record_limit.policy",
    incident="none",
    fixed="serialized",
    needed="yes",
    outcome="fixed arm does not hold",
    reason="fixed: restarts: expected 0, measured 2",
    directory="runs/a/ablation/1",
)
NO = AblatedDifference(
    difference="batch.max_offsets",
    incident=None,
    fixed=50,
    needed="no",
    outcome="fixed arm holds",
    directory="runs/a/2",
)
UNCLEAR = AblatedDifference(difference="fetch.deadline", incident="9s", fixed="1s", reason="the rest is invalid")


def of(*differences: AblatedDifference) -> Ablation:
    return Ablation(scenario="a-storm", arm="fixed", against="incident", run="runs/a", differences=differences)


def test_as_text() -> None:
    assert list(ablation_lines(of(YES, NO, UNCLEAR))) == [
        "",
        "a-storm: what fixed needs of its differences from incident",
        "  difference           fixed       turned back to  without it               needed",
        "  record_limit.policy  serialized  none            fixed arm does not hold  yes",
        "  batch.max_offsets    50          not set         fixed arm holds          no",
        "  fetch.deadline       1s          9s              not played               unclear",
        "  record_limit.policy: fixed: restarts: expected 0, measured 2",
        "  fetch.deadline: the rest is invalid",
    ]


def test_two_that_do_the_same_are_told() -> None:
    assert "two or more of them do the same" in list(ablation_lines(of(NO, NO)))[-1]
    assert not any("do the same" in line for text in (of(NO), of(NO, YES)) for line in ablation_lines(text))


@pytest.mark.parametrize(("differences", "code"), [((YES, NO), 0), ((YES, UNCLEAR), 3)], ids=["known", "unclear"])
def test_the_exit_code_says_whether_all_is_known(differences: tuple[AblatedDifference, ...], code: int) -> None:
    assert of(*differences).exit_code == code


def test_an_outcome_that_decides_nothing_is_unclear() -> None:
    assert NEEDED.get("inconclusive", "unclear") == "unclear"


def test_it_can_be_read_again() -> None:
    assert Ablation.model_validate_json(of(YES, NO).model_dump_json()) == of(YES, NO)
