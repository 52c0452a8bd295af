from mockapi.api.action.result import ApiResult, old_style
from mockapi.api.action.tree import Content


def names(result: ApiResult) -> list[str]:
    return list(result.tree(old_style))


def test_members_stand_in_the_order_of_their_coming() -> None:
    result = ApiResult()
    result.add("query", {})
    result.add("limits", {})
    result.add_on_top("continue", {})
    result.add_on_top("batchcomplete", True)
    assert names(result) == ["batchcomplete", "continue", "query", "limits"]


def test_warnings_precede_what_was_there() -> None:
    result = ApiResult()
    result.add("query", {})
    result.warn("query", "x", "text")
    assert names(result) == ["warnings", "query"]
    result.add_on_top("batchcomplete", True)
    assert names(result) == ["batchcomplete", "warnings", "query"]
    result = ApiResult()
    result.add_on_top("batchcomplete", True)
    result.warn("main", "x", "text")
    assert names(result) == ["warnings", "batchcomplete"]


def test_an_error_in_place_of_the_result_keeps_the_warnings() -> None:
    result = ApiResult()
    result.add("query", {})
    result.warn("main", "x", "text")
    result.clear()
    result.add_on_top("error", {})
    result.add("requestid", "7")
    assert names(result) == ["error", "warnings", "requestid"]


def test_the_module_that_warned_last_is_named_first_and_each_text_said_once() -> None:
    result = ApiResult()
    for module, text in [("query+info", "a"), ("query+info", "b"), ("query+info", "a"), ("main", "c")]:
        result.warn(module, "code", text)
    answer = old_style(result.warnings)
    assert isinstance(answer, dict)
    assert list(answer.items()) == [("main", {"warnings": Content("c")}), ("info", {"warnings": Content("a\nb")})]


def test_a_deprecation_says_where_to_read_on() -> None:
    result = ApiResult()
    result.deprecate("login", "old", "feature")
    codes = [("login", "deprecation"), ("main", "deprecation-help")]
    assert [(one.module, one.code) for one in result.warnings] == codes


def test_what_does_not_fit_is_not_counted() -> None:
    result = ApiResult(limit=10)
    assert result.fits("x" * 6)
    assert not result.fits("x" * 5)
    assert result.fits("x" * 4)
    text = "This result was truncated because it would otherwise be larger than the limit of 10 bytes."
    assert [one.english for one in result.warnings] == [text]
