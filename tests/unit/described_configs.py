"""What `KafkaAdminClient.describe_configs` makes of a broker's answer: the client's own code filters it."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from kafka import KafkaAdminClient
from kafka.admin import ConfigFilterType, ConfigResource, ConfigSourceType

Settings = Mapping[str, tuple[str, str]]
"""By key, a value and the name of its source."""


def described_configs(
    settings: Mapping[str, Settings], resources: Sequence[ConfigResource], config_filter: ConfigFilterType | str
) -> dict[str, Any]:
    """`settings` are by resource; a resource without any is one that the broker does not describe."""
    results = [
        SimpleNamespace(
            resource_type=resource.resource_type.value,
            resource_name=resource.name,
            configs=[
                SimpleNamespace(to_dict={"name": key, "value": value, "read_only": False, "config_source": number}.copy)
                for key, (value, source) in settings.get(resource.name, {}).items()
                if resource.configs is None or key in resource.configs
                for number in [ConfigSourceType[source].value]
            ],
        )
        for resource in resources
    ]
    responses = [SimpleNamespace(results=results)]
    return KafkaAdminClient._describe_configs_process_responses(responses, config_filter)
