"""The Action API of a real process: what a client does in an hour, in its order, and what faults make of it."""

import json
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

import pytest

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
    (page,) = admin.get(
        action="query", prop="revisions", revids=edit["newrevid"], rvprop="content|user|size", rvslots="main"
    )["query"]["pages"]
    (revision,) = page["revisions"]
    assert (revision["user"], revision["size"], revision["slots"]["main"]["content"]) == ("Admin", 9, "''Hallo''")
    html = mock.page(edit["newrevid"], Host="en.wikipedia.org")
    assert (html.status, b"<i" in html.body) == (200, True)
    admin.post(action="move", **{"from": "Ünsere Seite"}, to="Your page", token=admin.token())
    assert (
        admin.get(action="query", titles="Ünsere Seite", redirects=1)["query"]["pages"][0]["pageid"] == edit["pageid"]
    )
    admin.post(action="delete", title="Your page", token=admin.token())
    assert mock.page(edit["newrevid"], Host="en.wikipedia.org").status == 404
    answer = Client(mock).get(action="query", revids=edit["newrevid"])["query"]
    assert answer == {"badrevids": {str(edit["newrevid"]): {"revid": edit["newrevid"], "missing": True}}}


def test_a_new_user_becomes_an_administrator(admin: Client, mock: Any) -> None:
    secret = {"password": "long enough", "retype": "long enough"}
    made = admin.post(
        action="createaccount",
        username="Mindy",
        **secret,
        createreturnurl="http://a/",
        createtoken=admin.token("createaccount"),
    )
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


def test_a_rule_for_one_revision_leaves_the_others_of_the_answer_alone(client: Client, mock: Any) -> None:
    mock.rules({"name": "gone", "when": {"revision": 28673}, "do": {"missing": True}})
    answer = client.get(action="query", prop="revisions", revids="28673|28674", rvprop="ids")["query"]
    assert list(answer["badrevids"]) == ["28673"]
    assert [one["revid"] for one in answer["pages"][0]["revisions"]] == [28674]
    (entry,) = mock.journal("?rule=gone")
    assert (entry["path"], entry["rules"], entry["status"]) == (PATH, ["gone"], 200)


def test_maxlag_sends_away_with_a_pause(mock: Any) -> None:
    mock.rules({"name": "lag", "do": {"database_lag": "7s"}})
    answer = mock.ask(f"{PATH}?action=query&format=json&maxlag=5", headers={"Host": "en.wikipedia.org"})
    assert (answer.status, answer["retry-after"], answer["x-database-lag"]) == (200, "5", "7")
    assert answer.json["error"]["info"] == "Waiting for a database server: 7 seconds lagged."


def test_the_same_query_gives_the_same_bytes(mock: Any, start_mock: Any) -> None:
    query = f"{PATH}?" + urlencode(
        {
            "action": "query",
            "prop": "revisions|info",
            "revids": "28673|28674|40961",
            "rvprop": "ids|flags|user|userid|timestamp|size|sha1|content|comment|parsedcomment|tags",
            "rvslots": "main",
            "format": "json",
        }
    )
    bodies = {one.ask(query, headers={"Host": "en.wikipedia.org"}).body for one in (mock, mock, start_mock())}
    assert len(bodies) == 1
    assert len(json.loads(bodies.pop())["query"]["pages"]) == 2


def test_jobs_are_never_left(mock: Any) -> None:
    body = b"title=Special:RunJobs&maxjobs=10&maxtime=100&async=&stats=1&tasks=&sigexpiry=9&signature=x"
    answer = mock.ask("/w/index.php", method="POST", headers=FORM, body=body)
    assert answer.json["reached"] == "none-ready"
