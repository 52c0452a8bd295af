from typing import Any

import pytest


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/w/rest.php/v1/revision", "/v1/revision"),
        ("/w/rest.php/v1/page/A/", "/v1/page/A/"),
        ("/w/rest.php/v1/page/A/b/html", "/v1/page/A/b/html"),
        ("/w/rest.php/v1/p%61ge/A", "/v1/p%61ge/A"),
        ("/w/rest.php/v2/page/A", "/v2/page/A"),
        ("/w/rest.php/content/v1/pages/A", "/pages/A"),
        ("/w/rest.php/content/v3/page/A", "/content/v3/page/A"),
        ("/w/rest.php/", "/"),
        ("/wiki/Old_harbour", "/wiki/Old_harbour"),
    ],
)
def test_a_path_without_a_handler_is_named(wiki: Any, path: str, named: str) -> None:
    answer = wiki.ask(path, headers={"x-restbase-compat": "true"})
    text = f"The requested relative path ({named}) did not match any known handler"
    assert (answer.status, answer.json["errorKey"], answer.json["detail"]) == (404, "rest-no-match", text)


def test_the_root_lacks_its_slash(wiki: Any) -> None:
    answer = wiki.ask("/w/rest.php?x=1")
    assert (answer.status, answer["location"], answer["content-length"]) == (308, "/w/rest.php/", None)
