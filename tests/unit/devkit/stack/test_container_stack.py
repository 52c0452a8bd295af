"""Where the parts of a stack of containers are to be found, before one of them is started."""

from dataclasses import astuple
from typing import cast

from devkit.stack.compose import _variables
from devkit.stack.compose_file import REPOSITORY
from devkit.stack.container_stack import Clients, ContainerPorts
from devkit.stack.front import Front
from devkit.stack.parts.kafka import KafkaBroker
from devkit.stack.stack import Ports

PORTS = ContainerPorts(kafka=1, kit=2, object_store=3, mock_api=4, triple_store=5)


class Leading:
    """A proxy before every part."""

    def lead(self, part: str, address: str) -> str:
        return f"{part}.proxy:1{address.rpartition(':')[2]}"

    lead_requests = lead


def test_ports_that_nobody_chose_are_different() -> None:
    claimed = ContainerPorts.claim(Ports())
    assert len(set(astuple(claimed))) == 5


def test_without_a_proxy_programs_and_the_kit_find_the_same_but_for_the_brokers_listener() -> None:
    clients = Clients.of(PORTS, None)
    assert clients.kafka == KafkaBroker("127.0.0.1:1", "127.0.0.1:2")
    assert clients.object_store.endpoint == clients.object_store.direct == "http://127.0.0.1:3"
    assert clients.mock_api.endpoint == clients.mock_api.direct == "http://127.0.0.1:4"


def test_behind_a_proxy_only_programs_are_told_its_addresses() -> None:
    clients = Clients.of(PORTS, cast(Front, Leading()))
    assert clients.kafka == KafkaBroker("kafka.proxy:11", "127.0.0.1:2")
    store, mock = clients.object_store, clients.mock_api
    assert (store.endpoint, store.direct) == ("http://object-store.proxy:13", "http://127.0.0.1:3")
    assert (mock.endpoint, mock.direct) == ("http://mock-api.proxy:14", "http://127.0.0.1:4")


def test_compose_knows_every_port_and_the_one_that_kafka_advertises() -> None:
    variables = _variables(PORTS, Clients.of(PORTS, cast(Front, Leading())))
    assert variables["KAFKA_ADVERTISED_PORT"] == "11"
    file = (REPOSITORY / "docker-compose.yml").read_text()
    assert [name for name in variables if f"${{{name}:-" not in file] == []


def test_a_triple_store_is_there_only_where_it_is_asked_for() -> None:
    assert Clients.of(PORTS, None).triple_store is None
    store = Clients.of(PORTS, cast(Front, Leading()), triple_store=True).triple_store
    assert store is not None
    assert (store.query, store.update) == ("http://triple-store.proxy:15/query", "http://triple-store.proxy:15/update")
    assert (store.direct_query, store.direct_update) == ("http://127.0.0.1:5/query", "http://127.0.0.1:5/update")
