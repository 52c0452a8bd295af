"""One HTTP request and its whole answer, with the headers as they came: order, repetitions and all."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

_DEADLINE_S: Final = 120.0


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first header of that name, in any case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def json(self) -> Any:
        """The body; raises ValueError with its begin when it is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise ValueError(f"no JSON but {self.status} {self.body[:300]!r}") from None


@dataclass
class Client:
    """A client of one wiki on 127.0.0.1 that keeps cookies, as a browser of one user would."""

    port: int
    domain: str
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """Sends a request on a connection of its own; `form` is sent urlencoded."""
        sent = {"Host": self.domain, **(headers or {})}
        if form is not None:
            body = urlencode(form).encode()
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        if body is not None:
            sent["Content-Length"] = str(len(body))
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_DEADLINE_S)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            answer = Answer(response.status, response.reason, tuple(response.getheaders()), response.read())
        finally:
            connection.close()
        self._keep_cookies(answer)
        return answer

    def api(self, *, post: bool = False, **parameters: str) -> Any:
        """A call of the Action API as JSON, formatversion 2."""
        fields = {"format": "json", "formatversion": "2", **parameters}
        answer = self.call(fields, post=post)
        return answer.json

    def call(self, fields: Mapping[str, str], *, post: bool) -> Answer:
        """The same, with the whole answer and no parameters of its own."""
        if post:
            return self.ask("/w/api.php", method="POST", form=fields)
        return self.ask(f"/w/api.php?{urlencode(fields)}")

    def _keep_cookies(self, answer: Answer) -> None:
        for name, value in answer.headers:
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                content = rest.partition(";")[0]
                if content in {"", "deleted"}:
                    self.cookies.pop(key, None)
                else:
                    self.cookies[key] = content
