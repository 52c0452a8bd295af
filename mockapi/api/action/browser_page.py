"""Pages of the API for people with a browser."""

import html

from mockapi.wiki.wiki import Wiki


def page(wiki: Wiki, heading: str, *, items: tuple[str, ...] = (), data: bytes = b"") -> bytes:
    """A page with a list of `items` and a text in JSON, if there are."""
    shown = "".join(f"<li>{html.escape(item)}</li>\n" for item in items)
    listed = f"<ul>\n{shown}</ul>\n" if items else ""
    text = f'<pre class="api-pretty-content">{html.escape(data.decode())}</pre>\n' if data else ""
    return (
        f'<!DOCTYPE html>\n<html class="client-nojs" lang="{wiki.language}" dir="ltr">\n<head>\n'
        '<meta charset="UTF-8">\n'
        f"<title>{html.escape(f'{heading} - {wiki.sitename}')}</title>\n</head>\n"
        f"<body>\n<h1>{html.escape(heading)}</h1>\n{listed}{text}</body>\n</html>"
    ).encode()
