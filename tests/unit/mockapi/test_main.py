import pytest

from mockapi.__main__ import main

REMEDY = "write an address and the length of its prefix, such as 172.16.0.0/12"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--port", "abc", "abc is not a port: 0 to 65535"),
        ("--port", "-1", "-1 is not a port: 0 to 65535"),
        ("--port", "65536", "65536 is not a port: 0 to 65535"),
        ("--allow-control", "here", f"'here' is not a network: {REMEDY}"),
        ("--allow-control", "10.0.0.1/8", "'10.0.0.1/8' is not a network: did you mean 10.0.0.0/8?"),
        ("--base-url", "127.0.0.1:8090", "'127.0.0.1:8090' is not a base URL: write scheme, host and port alone"),
        ("--base-url", "ftp://127.0.0.1", "is not a base URL"),
        ("--base-url", "http://127.0.0.1/w/", "is not a base URL"),
    ],
)
def test_a_value_that_does_not_fit_is_told_with_what_does(
    option: str, value: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([option, value])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
