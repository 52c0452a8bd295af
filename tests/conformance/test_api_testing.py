"""MediaWiki's own tests of its API, against the mock. They are fetched from npm and Debian, hence slow."""

import pytest

from tests.conformance.api_testing import fetch
from tests.conformance.mock_side import serve_mock


@pytest.mark.slow
def test_the_mock_passes_mediawikis_own_tests() -> None:
    with serve_mock("api-testing.example") as port:
        outcome = fetch().run(f"http://127.0.0.1:{port}/w/", variants=False)
    assert outcome.failures == ()
    assert outcome.passed == 82
