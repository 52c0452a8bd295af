import json

from devkit.debug.debugger import Debugger

PIPELINE = ["/python", "-m", "pipeline", "run", "html-enrichment", "--config", "c.yaml"]


def test_the_driver_is_started_under_the_debugger_and_waits() -> None:
    debugger = Debugger("driver", 5678)
    command = debugger.command(PIPELINE)
    assert command[0] == "/python"
    assert command[-6:] == PIPELINE[1:]
    debugpy = command[command.index("debugpy") - 1 : -6]
    assert debugpy == ["-m", "debugpy", "--listen", "127.0.0.1:5678", "--wait-for-client"]
    assert debugger.spark_settings() == {}
    assert "DEVKIT_DEBUG_PORT" not in debugger.environment()


def test_the_worker_listens_by_sparks_own_settings() -> None:
    debugger = Debugger("worker", 5678)
    assert debugger.command(PIPELINE) == PIPELINE
    assert debugger.environment()["DEVKIT_DEBUG_PORT"] == "5678"
    # One slot, so one worker: with two, one would run past everybody.
    assert debugger.spark_settings() == {
        "spark.master": "local[1]",
        "spark.python.daemon.module": "devkit.debug.spark_daemon",
    }


def test_the_invitation_can_be_pasted() -> None:
    invitation = Debugger("driver", 5678).invitation()
    assert "127.0.0.1:5678" in invitation
    assert json.loads(invitation[invitation.index("{") :])["connect"] == {"host": "127.0.0.1", "port": 5678}
