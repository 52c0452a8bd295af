import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.journal.tally import route_family


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("/w/rest.php/v1/revision/5/html", "rest revision/html"),
        ("/w/rest.php/content/v1/revision/5/with_html", "rest revision/with_html"),
        ("/w/rest.php/v1/revision/5/bare", "rest revision/bare"),
        ("/w/rest.php/v1/revision/5", "rest revision"),
        ("/w/rest.php/v1/page/A/B/html", "rest page/html"),
        ("/w/rest.php/v1/page/html", "rest page"),
        ("/w/rest.php/v1/page", "rest page"),
        ("/w/rest.php/v1/search", "rest other"),
        ("/w/rest.php/", "rest other"),
        ("/api/rest_v1/page/html/A", "restbase"),
        ("/w/api.php", "action"),
        ("/", "other"),
        ("", "other"),
    ],
)
def test_a_path_is_of_one_part(path: str, family: str) -> None:
    assert route_family(path) == family


@given(st.text(), st.sampled_from(["", "/w/rest.php/v1/", "/w/rest.php/v1/page/", "/w/api.php"]))
def test_there_are_few_names_whatever_is_asked(text: str, prefix: str) -> None:
    forms = {f"rest {noun}{form}" for noun in ("page", "revision") for form in ("", "/html", "/bare", "/with_html")}
    assert route_family(prefix + text) in {"rest other", "restbase", "action", "other", *forms}
