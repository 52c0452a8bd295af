import pytest

from pipeline.config.pipeline_config import MIB
from pipeline.driver.spark_conf import Given
from pipeline.errors import RefusedError
from pipeline.memory.budget import budget, require_heap
from pipeline.memory.division import derive
from tests.unit.pipeline.making import make_config

GIB = 1024 * MIB
CLUSTER = {"spark.master": Given("spark://here:7077", "conf:1")}


def test_without_a_limit_nothing_is_derived() -> None:
    config = make_config()
    resolved = budget(config, CLUSTER)
    assert resolved.config is config
    assert (resolved.spark, resolved.plan, resolved.given) == ({}, None, CLUSTER)


def test_slots_alone_are_those_of_a_local_spark() -> None:
    local = {"spark.master": Given("local[4]", "conf:1")}
    assert budget(make_config(), local, slots=7).spark == {"spark.master": "local[7]"}
    assert budget(make_config(), {}, slots=7).spark == {"spark.master": "local[7]"}
    assert budget(make_config(), CLUSTER, slots=7).spark == {"spark.executor.cores": "7"}
    with pytest.raises(RefusedError, match=r"spark.executor.cores is 2 \(conf:2\), and --slots 7"):
        budget(make_config(), CLUSTER | {"spark.executor.cores": Given("2", "conf:2")}, slots=7)


def test_a_limit_takes_the_slots_from_the_master_where_it_says_them() -> None:
    resolved = budget(make_config(), {"spark.master": Given("local[3]", "conf:1")}, limit=4 * GIB)
    assert resolved.plan is not None
    assert resolved.plan.slots == 3
    assert resolved.config.fetch.max_in_flight_bytes == resolved.plan.in_flight
    assert resolved.config.claim_check.max_bytes == resolved.plan.body
    cores = CLUSTER | {"spark.executor.cores": Given("2", "conf:2")}
    of_cluster = budget(make_config(), cores, limit=4 * GIB).plan
    assert of_cluster is not None
    assert (of_cluster.slots, of_cluster.place) == (2, "executor")


@pytest.mark.parametrize("given", [{}, CLUSTER, {"spark.master": Given("local[*]", "conf:1")}])
def test_a_limit_needs_slots(given: dict[str, Given]) -> None:
    with pytest.raises(RefusedError, match=r"leaves it to the machine") as caught:
        budget(make_config(), given, limit=4 * GIB)
    assert "--slots" in str(caught.value.hint)


def test_less_that_is_told_elsewhere_stays() -> None:
    given = {"spark.driver.memory": Given("300m", "conf:1"), "spark.master": Given("local[2]", "conf:2")}
    assert budget(make_config(), given, limit=4 * GIB, slots=4).spark == {"spark.master": "local[4]"}


def test_a_heap_that_runs_already_is_measured() -> None:
    plan = derive(4 * GIB, 4, make_config())
    require_heap(plan, plan.heap)
    with pytest.raises(RefusedError, match="with a heap of up to 3072MiB") as caught:
        require_heap(plan, 3 * GIB)
    assert f"--driver-memory {plan.heap // MIB}m" in str(caught.value.hint)
