from mockapi.upstream.upstream import Replicas


def test_a_lag_counts_from_the_first_question() -> None:
    replicas = Replicas()
    assert [replicas.behind("a", 3, now) for now in (5, 6, 7.9, 8, 9)] == [True, True, True, False, False]
    assert replicas.behind("b", 3, 9)


def test_what_was_asked_for_longest_ago_is_forgotten() -> None:
    replicas = Replicas(limit=1)
    assert replicas.behind("a", 3, 0)
    assert replicas.behind("b", 3, 1)
    assert replicas.behind("a", 3, 10)
