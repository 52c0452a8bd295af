import pytest

from mockapi.wiki.wiki import language_of


@pytest.mark.parametrize(
    ("domain", "language"),
    [
        ("de.wikipedia.org", "de"),
        ("zh-min-nan.wikipedia.org", "zh-min-nan"),
        ("www.wikidata.org", "en"),
        ("commons.wikimedia.org", "en"),
        ("localhost", "en"),
    ],
)
def test_the_domain_names_the_language(domain: str, language: str) -> None:
    assert language_of(domain) == language
