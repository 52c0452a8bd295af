"""The proxy's process, driven over its control interface."""

from collections.abc import Iterator

import pytest

from devkit.guardian import Guardian
from devkit.proxy.client import ProxyControl
from devkit.stack.front import Front
from devkit.stack.parts.kafka import KafkaBroker
from devkit.stack.parts.local_kafka import start_kafka


@pytest.fixture(scope="package")
def guardian() -> Iterator[Guardian]:
    with Guardian() as guardian:
        yield guardian


@pytest.fixture(scope="package")
def front(guardian: Guardian, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    """As a stack has it, before whatever part a test starts."""
    started = Front(guardian, tmp_path_factory.mktemp("proxy"), {"kafka", "object-store", "mock-api"})
    yield started
    started.control.disconnect()


@pytest.fixture(scope="package")
def control(front: Front) -> ProxyControl:
    return front.control


@pytest.fixture(scope="package")
def broker(guardian: Guardian, front: Front, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    """Its advertised address leads through both listeners of the proxy."""
    broker, [part] = start_kafka(guardian, tmp_path_factory.mktemp("kafka"), lead=front.lead)
    part.await_ready()
    yield broker
    for listener in ("kafka", "kafka.protocol"):
        front.control.close(listener)


@pytest.fixture(autouse=True)
def without_toxics(control: ProxyControl) -> Iterator[None]:
    """No toxic of a test acts in the next."""
    yield
    for listener in control.listeners():
        for toxic in control.toxics(listener.name):
            control.remove(listener.name, toxic.name)
