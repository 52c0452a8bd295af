"""MediaWiki's own tests of its API, against the mock. They are fetched from npm and Debian, hence slow."""

import pytest

from tests.conformance.api_testing import NEEDS_PROTECTION, NEEDS_VARIANTS, fetch
from tests.conformance.mock_side import serve_mock

ROOMS = ("mockapi/api", "mockapi/wiki")


@pytest.mark.slow
def test_the_mock_passes_mediawikis_own_tests() -> None:
    with serve_mock("api-testing.example", links_to_itself=True) as port:
        outcome = fetch().run(f"http://127.0.0.1:{port}/w/", without=(NEEDS_VARIANTS, NEEDS_PROTECTION))
    assert outcome.failures == ()
    assert outcome.passed == 132
