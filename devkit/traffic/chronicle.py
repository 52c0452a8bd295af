"""Lets changes happen to pages, one at a time; `devkit.traffic.fate` says what must become of each event."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from typing import Literal
from uuid import UUID

from devkit.traffic.fate import fate_of
from devkit.traffic.life import PageLife, Place, Visibility, draw_sha1, sha1_of
from devkit.traffic.page_change import Change, JsonObject, event_of
from devkit.traffic.population import Population
from devkit.traffic.records import Expected
from devkit.traffic.users import NAMED_PAGE_EDITOR, User
from devkit.traffic.vocabulary import Language, languages

LifeKind = Literal[
    "edit",
    "create",
    "create_redirect",
    "move",
    "move_with_redirect",
    "delete",
    "undelete",
    "visibility_change",
    "not_wikitext",
    "redirect",
]

_NAMED_COMMENT = "Regular work"
_NAMED_SIZE_BYTES = 20_000


@dataclass(frozen=True, slots=True)
class Happening:
    """An event that has happened to `page`, and its fate."""

    event: JsonObject
    page: PageLife
    expected: Expected


class Chronicle:
    """Applies changes to a population in order of time; every draw comes from `rng`."""

    def __init__(self, rng: Random, population: Population, users: tuple[User, ...]) -> None:
        self._rng, self._population, self._users = rng, population, users
        self._pending_redirect: PageLife | None = None
        self._kinds: dict[LifeKind, Callable[[datetime], Happening]] = {
            "edit": self._edit,
            "create": self._create,
            "create_redirect": self._create_redirect,
            "move": lambda when: self._move(when, leaves_redirect=False),
            "move_with_redirect": lambda when: self._move(when, leaves_redirect=True),
            "delete": self._delete,
            "undelete": self._undelete,
            "visibility_change": self._change_visibility,
            "not_wikitext": self._edit_not_wikitext,
            "redirect": self._redirect,
        }

    def happen(self, kind: LifeKind, when: datetime) -> Happening:
        """Makes one change of that kind to a page that allows it."""
        return self._kinds[kind](when)

    def edit_named(self, title: str, when: datetime) -> Happening:
        """Edits a named page; the length of every member is the same under every seed."""
        page = self._population.named[title]
        before = page.latest
        page.revise(when, NAMED_PAGE_EDITOR, _NAMED_COMMENT, _NAMED_SIZE_BYTES, draw_sha1(self._rng))
        return _happened(replace(self._change("edit", page, when, NAMED_PAGE_EDITOR), prior_revision=before))

    def _edit(self, when: datetime) -> Happening:
        page, user = self._population.take_to_edit(), self._user()
        change = self._edited(page, when, user)
        self._population.settle(page)
        return _happened(change)

    def _edit_not_wikitext(self, when: datetime) -> Happening:
        page, user = self._population.take_not_wikitext(), self._user()
        change = self._edited(page, when, user)
        self._population.settle(page)
        return _happened(change)

    def _redirect(self, when: datetime) -> Happening:
        """An edit that makes a page a redirect, or one that makes a redirect a page of its own again."""
        rng = self._rng
        former = self._population.redirects.take(rng) if rng.random() < 0.5 else None
        page, user = former or self._population.take_live(), self._user()
        before, left = page.latest, page.redirect_to
        if left is not None:
            page.lead_nowhere()
            page.revise(when, user, f"Removed redirect to [[{left.title}]]", rng.randint(200, 8_000), draw_sha1(rng))
        else:
            target = self._population.target_of(page)
            page.lead_to(target.place, target.page_id)
            text = page.text or ""
            page.revise(when, user, f"Redirected page to [[{target.place.title}]]", len(text.encode()), sha1_of(text))
        self._population.settle(page)
        return _happened(replace(self._change("edit", page, when, user), prior_revision=before))

    def _edited(self, page: PageLife, when: datetime, user: User) -> Change:
        before, rng = page.latest, self._rng
        size = max(0, before.size_bytes + rng.randint(-400, 900))
        page.revise(when, user, self._language().summary(rng), size, draw_sha1(rng), is_minor=rng.random() < 0.3)
        return replace(self._change("edit", page, when, user), prior_revision=before)

    def _create(self, when: datetime) -> Happening:
        size, comment = self._rng.randint(50, 8_000), self._language().summary(self._rng)
        return self._begin(self._population.new(), when, size, comment)

    def _create_redirect(self, when: datetime) -> Happening:
        page, self._pending_redirect = self._pending_redirect, None
        if page is None or page.redirect_to is None:
            raise AssertionError("a redirect is created only after the move that left it")
        size = len(f"#REDIRECT [[{page.redirect_to.title}]]".encode())
        return self._begin(page, when, size, f"→ [[{page.redirect_to.title}]]")

    def _begin(self, page: PageLife, when: datetime, size_bytes: int, comment: str) -> Happening:
        user = self._user()
        page.revise(when, user, comment, size_bytes, draw_sha1(self._rng))
        self._population.settle(page)
        return _happened(self._change("create", page, when, user))

    def _move(self, when: datetime, leaves_redirect: bool) -> Happening:
        rng, population = self._rng, self._population
        page, user, reason = population.take_live(), self._user(), self._language().reason(self._rng)
        before, old = page.latest, page.place
        namespace_id = population.other_namespace(page) if rng.random() < 0.2 else old.namespace_id
        page.place = population.free_place(page.wiki, namespace_id)
        page.revise_in_place(when, user, f"{user.text} moved page [[{old.title}]] to [[{page.place.title}]]: {reason}")
        redirect = self._leave_redirect(page, old) if leaves_redirect else None
        population.settle(page)
        change = self._change("move", page, when, user)
        return _happened(
            replace(change, reason=reason, prior_place=old, prior_revision=before, created_redirect=redirect)
        )

    def _leave_redirect(self, moved: PageLife, old: Place) -> PageLife:
        redirect = self._population.new_at(moved.wiki, moved.domain, old)
        redirect.lead_to(moved.place)
        self._pending_redirect = redirect
        return redirect

    def _delete(self, when: datetime) -> Happening:
        page, user = self._population.take_live(), self._user()
        change = replace(self._change("delete", page, when, user), reason=self._language().reason(self._rng))
        if self._rng.random() < 0.25:
            # Suppressed pages do not come back: only an oversighter could restore them.
            change = replace(change, is_suppressed=True, performer=None, prior_flags=page.latest.visibility.flags())
        else:
            self._population.deleted.add(page)
        return _happened(change)

    def _undelete(self, when: datetime) -> Happening:
        page, user = self._population.take_deleted(), self._user()
        self._population.settle(page)
        change = replace(self._change("undelete", page, when, user), reason=self._language().reason(self._rng))
        return _happened(change)

    def _change_visibility(self, when: datetime) -> Happening:
        hidden = self._population.hidden.take(self._rng) if self._rng.random() < 0.5 else None
        page, user = hidden or self._population.take_live(), self._user()
        before = page.latest.visibility
        after = Visibility() if hidden else self._rng.choice(_one_flag_changed(before))
        page.show(after)
        self._population.settle(page)
        changed = {name: flag for name, flag in before.flags().items() if after.flags()[name] != flag}
        performer = None if self._rng.random() < 0.2 else user
        change = replace(self._change("visibility_change", page, when, performer), prior_flags=changed)
        return _happened(change)

    def _change(
        self,
        kind: Literal["create", "edit", "move", "delete", "undelete", "visibility_change"],
        page: PageLife,
        when: datetime,
        performer: User | None,
    ) -> Change:
        return Change(kind, page, when, self.draw_id(), str(self.draw_id()), performer)

    def draw_id(self) -> UUID:
        """A random UUID, of the traffic's own randomness."""
        return UUID(int=self._rng.getrandbits(128), version=4)

    def _user(self) -> User:
        return self._rng.choice(self._users)

    def _language(self) -> Language:
        return self._rng.choice(languages())


def _happened(change: Change) -> Happening:
    event = event_of(change)
    return Happening(event, change.page, fate_of(event))


def _one_flag_changed(visibility: Visibility) -> tuple[Visibility, ...]:
    return (
        replace(visibility, content=not visibility.content),
        replace(visibility, editor=not visibility.editor),
        replace(visibility, comment=not visibility.comment),
    )
