"""What a start-up that went wrong is held to: that a program never ran, and with which settings one did."""

import pytest

from devkit.expectations import Expectation
from devkit.observe.arm_end import EndByRefusal
from devkit.observe.settings import OtherSetting, other_settings
from tests.unit.devkit.observed import a_program, an_observation


def expecting(**written: object) -> Expectation:
    return Expectation.model_validate(written)


class TestNeverRan:
    def test_of_one_that_does_not_say_when_it_runs_nothing_is_known(self) -> None:
        finding = expecting(never_ran=True).judge(an_observation())
        assert (finding.holds, finding.measured) == (None, "n/a: it does not say when it runs")

    @pytest.mark.parametrize(("ran", "holds"), [(True, False), (False, True)])
    def test_one_of_several_is_named(self, *, ran: bool, holds: bool) -> None:
        seen = an_observation(ran=not ran, programs=(a_program("html"), a_program("reader", ran=ran)))
        assert expecting(never_ran={"program": "reader"}).judge(seen).holds is holds

    def test_that_it_ran_or_refused_is_no_matter_of_time(self) -> None:
        never = expecting(never_ran=True)
        assert never.depends_on_time(an_observation(ran=True)) is None
        assert never.depends_on_time(an_observation(ran=False, end=EndByRefusal())) is None
        assert never.depends_on_time(an_observation(ran=False)) == "arm"


class TestOtherSettings:
    def test_where_no_configuration_was_logged_nothing_is_known(self) -> None:
        finding = expecting(other_settings=0).judge(an_observation())
        assert (finding.holds, finding.measured) == (None, "n/a: it logged no configuration")

    def test_a_key_covers_what_is_below_it_and_no_name_that_only_begins_so(self) -> None:
        seen = an_observation(other_settings={"batch_size": OtherSetting(declared=1, ran=2)})
        assert not expecting(other_settings={"key": "batch"}).judge(seen).holds
        assert expecting(other_settings={"key": "batch_size"}).judge(seen).holds

    def test_what_is_left_open_is_derived_and_counts_for_none(self) -> None:
        declared = {"a": {"b": 1, "open": None}, "list": [1], "gone": 3}
        ran = {"a": {"b": 2, "open": 7}, "list": [1], "new": 4}
        assert other_settings(declared, ran) == {
            "a.b": OtherSetting(declared=1, ran=2),
            "gone": OtherSetting(declared=3, ran=None),
        }

    def test_a_section_that_is_no_mapping_any_more_is_one_difference(self) -> None:
        assert list(other_settings({"a": {"b": 1}}, {"a": "none"})) == ["a"]
