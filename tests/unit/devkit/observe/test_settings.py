from devkit.observe.settings import ChangedValue, not_as_shipped

ONE = ChangedValue(place="arms.fixed.batch.max_offsets", before=None, value=100)
OTHER = ChangedValue(place="traffic.rate", before="20/s", value="40/s")


def test_a_run_of_the_file_as_it_is_says_nothing() -> None:
    assert not_as_shipped([]) == ""


def test_every_change_is_told_with_what_the_file_says() -> None:
    assert not_as_shipped([ONE, OTHER]) == (
        "not the file as it is: arms.fixed.batch.max_offsets: not set → 100; traffic.rate: 20/s → 40/s"
    )
