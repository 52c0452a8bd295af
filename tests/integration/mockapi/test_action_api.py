"""The Action API of a real process: what a client does in an hour, in its order, and what faults make of it."""

from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

import pytest

ROOMS = ("mockapi/api", "mockapi/wiki")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PATH = "/w/api.php"


@dataclass
class Client:
    """Keeps cookies; asks in formatversion 2."""

    mock: Any
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, parameters: dict[str, Any], *, post: bool = False) -> Any:
        sent = urlencode({"format": "json", "formatversion": 2, **parameters})
        headers = {"Host": "en.wikipedia.org", **(FORM if post else {})}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        path = PATH if post else f"{PATH}?{sent}"
        answer = self.mock.ask(
            path, method="POST" if post else "GET", headers=headers, body=sent.encode() if post else None
        )
        assert answer.status == 200
        for name, value in answer.headers:
            if name == "set-cookie":
                self.cookies |= {key: morsel.value for key, morsel in SimpleCookie(value).items()}
        return answer.json

    def get(self, **parameters: Any) -> Any:
        return self.ask(parameters)

    def post(self, **parameters: Any) -> Any:
        return self.ask(parameters, post=True)

    def token(self, kind: str = "csrf") -> str:
        token: str = self.get(action="query", meta="tokens", type=kind)["query"]["tokens"][f"{kind}token"]
        return token


@pytest.fixture
def client(mock: Any) -> Client:
    return Client(mock)


@pytest.fixture
def admin(client: Client) -> Client:
    answer = client.post(action="login", lgname="Admin", lgpassword="dockerpass", lgtoken=client.token("login"))
    assert answer["login"]["result"] == "Success"
    return client


def test_log_in_write_read_move_and_delete(admin: Client, mock: Any) -> None:
    edit = admin.post(action="edit", title="ünsere_Seite", text="''Hallo''", token=admin.token())["edit"]
    assert (edit["new"], edit["title"]) == (True, "Ünsere Seite")
    query = {"action": "query", "prop": "revisions", "rvprop": "content|user|size", "rvslots": "main"}
    (page,) = admin.get(**query, revids=edit["newrevid"])["query"]["pages"]
    (revision,) = page["revisions"]
    assert (revision["user"], revision["size"], revision["slots"]["main"]["content"]) == ("Admin", 9, "''Hallo''")
    html = mock.page(edit["newrevid"], Host="en.wikipedia.org")
    assert (html.status, b"<i" in html.body) == (200, True)
    admin.post(action="move", **{"from": "Ünsere Seite"}, to="Your page", token=admin.token())
    redirected = admin.get(action="query", titles="Ünsere Seite", redirects=1)["query"]["pages"]
    assert redirected[0]["pageid"] == edit["pageid"]
    admin.post(action="delete", title="Your page", token=admin.token())
    assert mock.page(edit["newrevid"], Host="en.wikipedia.org").status == 404
    answer = Client(mock).get(action="query", revids=edit["newrevid"])["query"]
    assert answer == {"badrevids": {str(edit["newrevid"]): {"revid": edit["newrevid"], "missing": True}}}


def test_a_new_user_becomes_an_administrator(admin: Client, mock: Any) -> None:
    asked = {"username": "Mindy", "password": "long enough", "retype": "long enough", "createreturnurl": "http://a/"}
    made = admin.post(action="createaccount", **asked, createtoken=admin.token("createaccount"))
    assert made == {"createaccount": {"status": "PASS", "username": "Mindy"}}
    rights = admin.post(action="userrights", user="Mindy", add="sysop", token=admin.token("userrights"))["userrights"]
    assert rights["added"] == ["sysop"]
    mindy = Client(mock)
    mindy.post(action="login", lgname="Mindy", lgpassword="long enough", lgtoken=mindy.token("login"))
    answer = mindy.get(action="query", meta="userinfo", uiprop="groups", **{"assert": "user"})["query"]["userinfo"]
    assert (answer["name"], answer["groups"]) == ("Mindy", ["sysop", "*", "user", "autoconfirmed"])


def test_no_writes_survive_a_new_state(admin: Client, mock: Any) -> None:
    rev_id = admin.post(action="edit", title="Mine", text="x", token=admin.token())["edit"]["newrevid"]
    assert mock.ask("/__mock/state", method="PUT", body={"seed": 1}).status == 200
    answer = admin.get(action="query", revids=rev_id, meta="userinfo")["query"]
    assert ("badrevids" in answer, answer["userinfo"]["id"]) == (True, 0)
