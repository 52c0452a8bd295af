from pathlib import Path

import pytest

from devkit.errors import UsageError
from devkit.scenario.configure import NOWHERE, configuration
from devkit.scenario.model import Scenario
from devkit.scenario.own_pipeline import OwnPipeline, own_environment


class TestCommand:
    def test_it_is_taken_apart_as_in_a_shell_and_runs_in_the_users_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        own = OwnPipeline.parse("sh -c 'echo a b'")
        assert own.argv == ("sh", "-c", "echo a b")
        assert own.command[:2] == ("sh", "-c")
        assert own.command[3:] == (str(tmp_path), *own.argv)

    def test_a_program_in_the_users_directory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "mine").write_text("#!/bin/sh\n")
        (tmp_path / "mine").chmod(0o755)
        assert OwnPipeline.parse("./mine").argv == ("./mine",)

    @pytest.mark.parametrize(
        ("command", "said"),
        [
            ("", "is empty"),
            ("  ", "is empty"),
            ("echo 'x", "No closing quotation"),
            ("no-such-program-at-all x", "'no-such-program-at-all' is no program"),
        ],
    )
    def test_what_cannot_be_run(self, command: str, said: str) -> None:
        with pytest.raises(UsageError, match=said) as refused:
            OwnPipeline.parse(command)
        assert refused.value.hint is not None


class TestEnvironment:
    def environment(self, scenario: Scenario, **of_user: str) -> dict[str, str]:
        config = configuration(scenario, "fixed", NOWHERE)
        return own_environment(config, Path("pipeline.yaml"), "fixed", {"AWS_REGION": "here"}, of_user)

    def test_addresses_topics_and_arm(self, scenario: Scenario) -> None:
        told = self.environment(scenario)
        assert told["DEVKIT_KAFKA_BOOTSTRAP"] == "127.0.0.1:1"
        assert told["DEVKIT_MOCK_ENDPOINT"] == told["DEVKIT_S3_ENDPOINT"] == "http://127.0.0.1:1"
        assert told["DEVKIT_SOURCE_TOPIC"] == "mediawiki.page_change.v1"
        assert told["DEVKIT_CHECKPOINT"] == "s3a://nowhere/here"
        assert (told["DEVKIT_ARM"], told["AWS_REGION"]) == ("fixed", "here")
        assert Path(told["DEVKIT_PIPELINE_CONFIG"]).is_absolute()

    def test_every_variable_is_documented(self, scenario: Scenario) -> None:
        text = (Path(__file__).parents[4] / "docs" / "own-pipeline.md").read_text()
        ours = {name for name in self.environment(scenario) if name.startswith("DEVKIT_")} | {"DEVKIT_START"}
        assert {name for name in ours if f"`{name}`" not in text} == set()

    def test_the_users_settings_reach_it_but_for_proxies_and_other_stores(self, scenario: Scenario) -> None:
        told = self.environment(
            scenario, JAVA_HOME="/java", https_proxy="http://x", AWS_PROFILE="work", DEVKIT_ARM="theirs", A="b"
        )
        assert (told["JAVA_HOME"], told["A"], told["DEVKIT_ARM"]) == ("/java", "b", "fixed")
        assert told.keys().isdisjoint({"https_proxy", "AWS_PROFILE"})
        # The run's processes have it set; a pipeline of modules beside each other needs it off.
        assert told["PYTHONSAFEPATH"] == ""
