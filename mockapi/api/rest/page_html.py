"""A page as HTML: the spelling of its title comes before the question whether it is there."""

from mockapi.api.endpoint import Context
from mockapi.api.rest import documents
from mockapi.api.rest.envelope import JSON_TYPE, coding_of, json_text, sealed
from mockapi.api.rest.errors import denied_revision, denied_title, nonexistent_title, unavailable_revision
from mockapi.api.rest.html_render import CACHE_CONTROL, Render
from mockapi.api.rest.metadata import page_members
from mockapi.api.rest.page_asked import PageAsked
from mockapi.api.rest.preconditions import Validators, bare_reply, conditional, decide
from mockapi.api.rest.redirects import LOCATION_CACHE, redirect_reply, target_of
from mockapi.api.rest.system_message import SystemMessage
from mockapi.api.rest.visible import Visible
from mockapi.server.reply import Headers, Reply
from mockapi.wiki.pages.flavor import Flavor


async def rendered(asked: PageAsked, context: Context, seen: Visible | None, flavor: Flavor, *, follow: bool) -> Reply:
    """The page as HTML, or the way to it; `follow` says whether redirects of the wiki are. Raises RestError."""
    message = SystemMessage.of(asked.wiki, asked.title) if seen is None and asked.title is not None else None
    if message is not None:
        return _message(asked, context, message)
    render = None
    if seen is not None:
        if flavor == "fragment":
            raise unavailable_revision()
        if "text" in seen.hidden:
            raise denied_revision(seen.located.revision.rev_id)
        render = Render(context.world.seed, seen, asked.form, flavor, context.request.language)
    return await _page(asked, context, render, follow=follow)


async def _page(asked: PageAsked, context: Context, render: Render | None, *, follow: bool) -> Reply:
    request, wiki = context.request, asked.wiki
    validators = Validators(None, None, exists=False)
    if render is not None:
        validators = Validators(render.etag, render.rendered_at, exists=True)
    if conditional(request) and (status := decide(request, validators)):
        return bare_reply(status, context.request_id)
    if asked.title is None:
        raise denied_title(asked.text)
    known = () if render is None else render.validators
    if asked.text != asked.title.dbkey:
        return redirect_reply(301, asked.places.of(asked.title), (LOCATION_CACHE, *known), context)
    if render is None:
        raise nonexistent_title(asked.text)
    target = target_of(wiki, render.seen)
    if target is not None and follow:
        return redirect_reply(307, asked.places.of(target), (LOCATION_CACHE, *known), context)
    if asked.form == "html":
        own = documents.html_of_page(render, wiki.language, render.cache_control)
        return await documents.html_reply(context, render, own)
    own = documents.with_html_of_page(render, render.cache_control)
    members, after = page_members(wiki, render.seen), asked.places.members(target)
    return await documents.with_html_reply(context, render, own, members, after)


def _message(asked: PageAsked, context: Context, message: SystemMessage) -> Reply:
    """The system message that stands where no page is."""
    request = context.request
    etag = message.etag(asked.form)
    if conditional(request) and (status := decide(request, Validators(etag, None, exists=True))):
        return bare_reply(status, context.request_id)
    tag: Headers = ((b"etag", etag.encode()),)
    if asked.text != message.title.dbkey:
        return redirect_reply(301, asked.places.of(message.title), (LOCATION_CACHE, *tag), context)
    coding, request_id = coding_of(context), context.request_id
    if asked.form == "html":
        own = (CACHE_CONTROL, *tag)
        return sealed(200, own, message.html.encode(), request_id, coding=coding, php_type=True)
    return sealed(200, (JSON_TYPE, CACHE_CONTROL, *tag), json_text(message.members), request_id, coding=coding)
