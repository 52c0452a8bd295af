from mockapi.server.reply import Held, Reply


def test_a_header_is_found_by_its_lower_case_name() -> None:
    reply = Reply.of(200, ((b"content-type", b"text/html"), (b"vary", b"x")), b"page")
    assert (reply.header(b"vary"), reply.header(b"etag")) == ("x", None)


def test_the_real_length_is_that_before_the_coding() -> None:
    assert Reply.of(200, (), b"page").real_bytes == 4
    assert Reply(200, (), Held(b"zip", 4000)).real_bytes == 4000
