from devkit.programs.unknown_program import unknown_program


def test_the_near_miss_or_all_there_are() -> None:
    assert unknown_program("readr", ["html", "reader"]) == "there is no program 'readr'; did you mean 'reader'?"
    assert unknown_program("zzz", ["html", "reader"]) == "there is no program 'zzz'; there are: html, reader"
    assert unknown_program("html", []).startswith("there is no program 'html'; `programs` names none")
