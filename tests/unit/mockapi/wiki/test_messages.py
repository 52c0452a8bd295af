from mockapi.wiki.title import Title
from mockapi.wiki.wiki import system_message


def test_a_message_is_there_without_a_page() -> None:
    assert (
        system_message(Title(8, "Newpage-desc", "MediaWiki")) == "Start a new page for a topic that has been requested."
    )


def test_other_pages_are_no_messages() -> None:
    assert system_message(Title(0, "Newpage-desc")) is None
    assert system_message(Title(8, "No_such_message", "MediaWiki")) is None
