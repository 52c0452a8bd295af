import json

from devkit.debug.debugger import Debugger
from devkit.programs.launch import Launch

PIPELINE = ("/python", "-m", "pipeline", "run", "html-enrichment", "--config", "c.yaml")
LAUNCH = Launch(PIPELINE, {"AWS_REGION": "here"})


def test_the_driver_is_started_under_the_debugger_and_waits() -> None:
    debugger = Debugger("driver", 5678)
    launch = debugger.around(LAUNCH)
    command = launch.argv
    assert command[0] == "/python"
    assert command[-6:] == PIPELINE[1:]
    debugpy = command[command.index("debugpy") - 1 : -6]
    assert debugpy == ("-m", "debugpy", "--listen", "127.0.0.1:5678", "--wait-for-client")
    assert debugger.spark_settings() == {}
    assert "DEVKIT_DEBUG_PORT" not in launch.environment


def test_the_worker_listens_by_sparks_own_settings() -> None:
    debugger = Debugger("worker", 5678)
    launch = debugger.around(LAUNCH)
    assert launch.argv == PIPELINE
    assert (launch.environment["DEVKIT_DEBUG_PORT"], launch.environment["AWS_REGION"]) == ("5678", "here")
    # One slot, so one worker: with two, one would run past everybody.
    assert debugger.spark_settings() == {
        "spark.master": "local[1]",
        "spark.python.daemon.module": "devkit.debug.spark_daemon",
    }


def test_the_invitation_can_be_pasted() -> None:
    invitation = Debugger("driver", 5678).invitation()
    assert "127.0.0.1:5678" in invitation
    assert json.loads(invitation[invitation.index("{") :])["connect"] == {"host": "127.0.0.1", "port": 5678}
