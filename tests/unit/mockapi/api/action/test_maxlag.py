from datetime import timedelta
from typing import Any

import pytest

from mockapi.api.action.call import lag_seconds


def lagging(make_api: Any, lag: str) -> Any:
    return make_api(rules=({"name": "lag", "do": {"database_lag": lag}},))


@pytest.mark.parametrize(("maxlag", "refused"), [("-2", True), ("-1", False), ("0", False), ("5", False)])
def test_a_single_server_is_one_second_ahead(api: Any, maxlag: str, refused: bool) -> None:
    answer = api.get(action="query", maxlag=maxlag)
    assert ("error" in answer.json) == refused


def test_more_lag_than_the_client_takes_sends_it_away(make_api: Any) -> None:
    answer = lagging(make_api, "7.5s").get(action="query", titles="Old harbour", maxlag="7")
    assert answer.status == 200
    assert (answer["retry-after"], answer["x-database-lag"]) == ("7", "7")
    assert answer.error == ("maxlag", "Waiting for a database server: 7.5 seconds lagged.")
    assert list(answer.json["error"].items())[2:5] == [("host", ""), ("lag", 7.5), ("type", "db")]
    assert answer.names.index("retry-after") < answer.names.index("mediawiki-api-error")


@pytest.mark.parametrize(("lag", "words"), [("1s", "1 second"), ("2s", "2 seconds"), ("1500ms", "1.5 seconds")])
def test_the_least_pause_is_five_seconds(make_api: Any, lag: str, words: str) -> None:
    answer = lagging(make_api, lag).get(action="query", maxlag="0")
    assert answer["retry-after"] == "5"
    assert answer.error[1] == f"Waiting for a database server: {words} lagged."


@pytest.mark.parametrize("maxlag", [{}, {"maxlag": "9"}])
def test_lag_alone_changes_nothing(make_api: Any, maxlag: dict[str, str]) -> None:
    assert lagging(make_api, "7s").get(action="query", **maxlag).json == {"batchcomplete": True}


def test_siteinfo_tells_the_lag(make_api: Any) -> None:
    answer = lagging(make_api, "7s").query(meta="siteinfo", siprop="dbrepllag")["dbrepllag"]
    assert answer == [{"host": "", "lag": 7}]


@pytest.mark.parametrize(
    ("lag", "expected"), [(None, -1), (timedelta(seconds=3), 3), (timedelta(milliseconds=2500), 2.5)]
)
def test_whole_seconds_have_no_fraction(lag: timedelta | None, expected: float) -> None:
    assert repr(lag_seconds(lag)) == repr(expected)
