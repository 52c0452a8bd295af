"""The names of the parts that every stack has."""


def part_names(brokers: int = 1) -> tuple[str, ...]:
    """One broker is `kafka`; of several each is a part."""
    of_kafka = ("kafka",) if brokers == 1 else tuple(f"kafka-{number}" for number in range(1, brokers + 1))
    return (*of_kafka, "object-store", "mock-api")
