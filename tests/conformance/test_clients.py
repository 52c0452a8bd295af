"""Clients that people use, unchanged, against the mock: they connect, log in, read pages and write one."""

from collections.abc import Iterator
from typing import Any

import mwapi
import mwclient
import pytest

from tests.conformance.edits import ADMIN
from tests.conformance.mock_side import serve_mock

ROOMS = ("mockapi/api", "mockapi/wiki")
DOMAIN = "clients.example"
AGENT = "conformance suite of a mock"


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    with serve_mock(DOMAIN) as port:
        yield f"127.0.0.1:{port}"


@pytest.fixture
def site(host: str) -> Iterator[Any]:
    """mwclient as one connects with it; what it keeps open is closed at the end."""
    site = mwclient.Site(host, scheme="http", clients_useragent=AGENT)
    yield site
    site.connection.close()


@pytest.fixture
def session(host: str) -> Iterator[Any]:
    session = mwapi.Session(f"http://{host}", user_agent=AGENT, formatversion=2)
    yield session
    session.session.close()


def test_mwclient_connects_and_reads_a_page(site: Any) -> None:
    assert site.version[:2] >= (1, 43)
    assert site.site["sitename"]
    assert site.namespaces[1] == "Talk"
    page = site.pages["Main Page"]
    assert page.exists
    assert page.namespace == 0
    assert page.text() == "Set up."
    assert [revision["revid"] for revision in site.revisions([page.revision])] == [page.revision]


def test_mwclient_sees_that_a_page_is_missing(site: Any) -> None:
    page = site.pages["Never made"]
    assert not page.exists
    assert page.text() == ""


def test_mwclient_logs_in_and_writes_a_page(site: Any) -> None:
    site.login(ADMIN.name, ADMIN.password)
    assert site.logged_in
    page = site.pages["Written by mwclient"]
    made = page.save("First.", summary="made")
    assert made["result"] == "Success"
    changed = page.save("Second.", summary="changed")
    assert changed["oldrevid"] == made["newrevid"]
    again = site.pages["Written by mwclient"]
    assert again.text() == "Second."
    assert again.revision == changed["newrevid"]
    assert [revision["comment"] for revision in again.revisions()] == ["changed", "made"]


def test_mwclient_moves_and_deletes_a_page(site: Any) -> None:
    site.login(ADMIN.name, ADMIN.password)
    site.pages["To be moved"].save("Text.", summary="made")
    site.pages["To be moved"].move("Moved", reason="moved")
    assert site.pages["Moved"].text() == "Text."
    assert site.pages["To be moved"].redirect
    assert site.pages["To be moved"].redirects_to().name == "Moved"
    site.pages["Moved"].delete(reason="gone")
    assert not site.pages["Moved"].exists


def test_mwclient_is_told_what_is_wrong(site: Any) -> None:
    with pytest.raises(mwclient.errors.LoginError):
        site.login(ADMIN.name, "wrong")
    with pytest.raises(mwclient.errors.APIError) as caught:
        site.api("query", prop="revisions", revids="abc")
    assert caught.value.code == "badinteger"


def test_mwapi_reads_a_page(session: Any) -> None:
    found = session.get(action="query", prop="revisions", titles="Main Page", rvprop=["ids", "content"], rvslots="main")
    (page,) = found["query"]["pages"]
    assert page["revisions"][0]["slots"]["main"]["content"] == "Set up."


def test_mwapi_logs_in_and_writes_a_page(session: Any) -> None:
    session.login(ADMIN.name, ADMIN.password)
    token = session.get(action="query", meta="tokens")["query"]["tokens"]["csrftoken"]
    made = session.post(action="edit", title="Written by mwapi", text="Text.", token=token)["edit"]
    assert made["result"] == "Success"
    found = session.get(action="query", prop="info", titles="Written by mwapi")
    assert found["query"]["pages"][0]["lastrevid"] == made["newrevid"]


def test_mwapi_is_told_what_is_wrong(session: Any) -> None:
    with pytest.raises(mwapi.errors.APIError) as caught:
        session.get(action="query", prop="revisions", revids="abc")
    assert caught.value.code == "badinteger"
    with pytest.raises(mwapi.errors.LoginError):
        session.login(ADMIN.name, "wrong")
