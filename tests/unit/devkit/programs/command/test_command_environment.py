"""What a command is told."""

from pathlib import Path

from devkit.programs.command.command_environment import START, command_environment
from devkit.programs.places import NOWHERE
from devkit.programs.spark.configuration import configuration


def environment(**of_user: str) -> dict[str, str]:
    config = configuration(NOWHERE, {})
    return command_environment(config, Path("pipeline.yaml"), "fixed", {"AWS_REGION": "here"}, of_user)


def test_addresses_topics_and_arm() -> None:
    variables = environment()
    assert variables["DEVKIT_KAFKA_BOOTSTRAP"] == "127.0.0.1:1"
    assert variables["DEVKIT_MOCK_ENDPOINT"] == variables["DEVKIT_S3_ENDPOINT"] == "http://127.0.0.1:1"
    assert variables["DEVKIT_SOURCE_TOPIC"] == variables["DEVKIT_SOURCE_TOPICS"] == "mediawiki.page_change.v1"
    assert variables["DEVKIT_CHECKPOINT"] == "s3a://nowhere/here"
    assert (variables["DEVKIT_ARM"], variables["AWS_REGION"]) == ("fixed", "here")
    assert Path(variables["DEVKIT_PIPELINE_CONFIG"]).is_absolute()


def test_every_variable_is_documented() -> None:
    text = (Path(__file__).parents[5] / "docs" / "own-pipeline.md").read_text()
    ours = {name for name in environment() if name.startswith("DEVKIT_")} | {START}
    assert {name for name in ours if f"`{name}`" not in text} == set()


def test_the_users_settings_reach_it_but_for_proxies_and_other_stores() -> None:
    variables = environment(JAVA_HOME="/java", https_proxy="http://x", AWS_PROFILE="work", DEVKIT_ARM="theirs", A="b")
    assert (variables["JAVA_HOME"], variables["A"], variables["DEVKIT_ARM"]) == ("/java", "b", "fixed")
    assert variables.keys().isdisjoint({"https_proxy", "AWS_PROFILE"})
    # The run's processes have it set; a pipeline of modules beside each other needs it off.
    assert variables["PYTHONSAFEPATH"] == ""
