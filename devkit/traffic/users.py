"""The people, bots and addresses behind the changes."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from pydantic import JsonValue

from devkit.traffic.moments import EPOCH, to_seconds
from devkit.traffic.vocabulary import languages

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class User:
    """A MediaWiki actor; the last three are None for an address without an account."""

    text: str
    groups: tuple[str, ...]
    is_bot: bool = False
    is_system: bool = False
    is_temp: bool = False
    user_id: int | None = None
    edit_count: int | None = None
    registered: datetime | None = None

    def fields(self) -> dict[str, JsonValue]:
        """The user as an event shows it; what an anonymous user lacks is absent."""
        fields: dict[str, JsonValue] = {
            "user_text": self.text,
            "groups": list(self.groups),
            "is_bot": self.is_bot,
            "is_system": self.is_system,
            "is_temp": self.is_temp,
        }
        if self.user_id is not None:
            fields["user_id"] = self.user_id
        if self.registered is not None:
            fields["registration_dt"] = to_seconds(self.registered)
        if self.edit_count is not None:
            fields["edit_count"] = self.edit_count
        return fields


NAMED_PAGE_EDITOR = User(
    text="Page keeper",
    groups=("user", "autoconfirmed"),
    user_id=100_001,
    edit_count=5_000,
    registered=EPOCH - 1000 * _DAY,
)
"""Edits the named pages: always the same, so that the length of their events does not depend on the seed."""


def draw_users(rng: Random, count: int) -> tuple[User, ...]:
    """`count` users: mostly registered, some bots, temporary accounts, addresses and a system user."""
    return tuple(_draw(rng, user_id) for user_id in range(200_001, 200_001 + count))


def _draw(rng: Random, user_id: int) -> User:
    registered = EPOCH - rng.randint(1, 5000) * _DAY
    kind = rng.choices(("registered", "sysop", "bot", "temporary", "address", "system"), (60, 8, 12, 10, 8, 2))[0]
    name = rng.choice(languages()).name(rng)
    groups: tuple[str, ...]
    match kind:
        case "address":
            return User(f"2001:DB8:0:{rng.randint(1, 0xFFFF):X}:0:0:0:{rng.randint(1, 0xFFFF):X}", ("*",))
        case "temporary":
            text = f"~2026-{rng.randint(10_000, 99_999)}-{rng.randint(1, 99):02d}"
            return User(text, ("*", "temp"), False, False, True, user_id, rng.randint(0, 30), EPOCH - _DAY)
        case "system":
            return User("Maintenance script", ("*", "user"), False, True, False, user_id, rng.randint(0, 9_999))
        case "bot":
            text, groups = f"{name} bot {user_id}", ("bot", "*", "user", "autoconfirmed")
        case "sysop":
            text, groups = f"{name} {user_id}", ("sysop", "*", "user", "autoconfirmed")
        case _:
            text, groups = f"{name} {user_id}", ("*", "user", "autoconfirmed")
    return User(text, groups, kind == "bot", False, False, user_id, rng.randint(1, 500_000), registered)
