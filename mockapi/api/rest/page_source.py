"""A page as its source or its metadata: that it is there comes before the spelling of its title."""

from mockapi.api.endpoint import Context
from mockapi.api.rest.envelope import JSON_TYPE, coding_of, compatible, json_text, sealed_long
from mockapi.api.rest.errors import denied_revision, invalid_title, nonexistent_title
from mockapi.api.rest.html_render import CACHE_CONTROL, source_etag, source_validators
from mockapi.api.rest.metadata import compatible_members, page_members
from mockapi.api.rest.page_asked import PageAsked
from mockapi.api.rest.path import page_path
from mockapi.api.rest.preconditions import Validators, bare_reply, conditional, decide
from mockapi.api.rest.redirects import redirect_reply, target_of, written_target
from mockapi.api.rest.system_message import SystemMessage
from mockapi.api.rest.visible import Visible
from mockapi.server.reply import Reply
from mockapi.wiki.facts import facts


async def described(asked: PageAsked, context: Context, seen: Visible | None) -> Reply:
    """The page's source or metadata, or the way to it. Raises RestError."""
    request, world, wiki = context.request, context.world, asked.wiki
    message = seen is None and asked.title is not None and SystemMessage.of(wiki, asked.title) is not None
    etag = source_etag(seen.located.revision.rev_id if seen else None, readable=asked.title is not None)
    changed = seen.located.revision.timestamp if seen else None
    validators = Validators(etag, changed, exists=seen is not None or message)
    if conditional(request) and (status := decide(request, validators)):
        return bare_reply(status, context.request_id)
    if asked.title is None:
        raise invalid_title(asked.text)
    if seen is None:
        raise nonexistent_title(asked.text)
    known = source_validators(etag, changed)
    if asked.text != asked.title.dbkey:
        return redirect_reply(301, asked.places.of(asked.title), known, context)
    if compatible(request):
        redirect = written_target(seen.located) is not None
        members = compatible_members(wiki, world.seed, seen, redirect=redirect)
    elif asked.form == "bare":
        members = page_members(wiki, seen)
        members["html_url"] = wiki.server + page_path(asked.module, asked.title.text, "html")
    else:
        if "text" in seen.hidden:
            # Here, and only here, MediaWiki writes the id as a number is written: 28,674.
            raise denied_revision(f"{seen.located.revision.rev_id:,}")
        members = page_members(wiki, seen)
        members["source"] = facts(world.seed, seen.located).text
    members |= asked.places.members(target_of(wiki, seen))
    own = (JSON_TYPE, CACHE_CONTROL, *known)
    return await sealed_long(200, own, json_text(members), context.request_id, coding=coding_of(context))
