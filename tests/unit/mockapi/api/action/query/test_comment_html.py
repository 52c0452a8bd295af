from typing import Any

import pytest

from mockapi.api.action.query.revision_info import comment_html


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ('plain <b> & "q"', "plain &lt;b&gt; &amp; &quot;q&quot;"),
        ("see [[old harbour|there]]!", 'see <a href="/wiki/Old_harbour" title="Old harbour">there</a>!'),
        (
            "[[nope]]",
            '<a href="/w/index.php?title=Nope&amp;action=edit&amp;redlink=1" class="new" '
            'title="Nope (page does not exist)">nope</a>',
        ),
        ("[[<]] [[x", "[[&lt;]] [[x"),
        (
            "/* A b */ new section",
            '<span class="autocomment"><a href="/wiki/Old_harbour#A_b" title="Old harbour">'
            '→<bdi dir="ltr">A b</bdi></a>: </span> new section',
        ),
    ],
)
def test_comments_become_html(api: Any, comment: str, expected: str) -> None:
    wiki = api.world.wikis.by_name("enwiki")
    assert comment_html(wiki, wiki.page_by_id(1), comment) == expected
