"""Where a JVM takes a job's calls: a process that has such a JVM, and how a job connects to it.

python -m tests.integration.crash.gateway      starts the JVM, prints the gateway, and keeps it until it ends itself
"""

import os
import signal
from typing import Any

from pydantic import BaseModel

from pipeline.driver import session

GATEWAY_VARIABLE = "WARM_JVM"


class Gateway(BaseModel):
    """The port on loopback, and what a client has to know."""

    port: int
    secret: str


def use_lent_jvm() -> None:
    """The job in this process connects to the JVM that the environment names, if it names one."""
    text = os.environ.pop(GATEWAY_VARIABLE, None)
    if text is None:
        return
    gateway = Gateway.model_validate_json(text)
    original = session.start_session

    def start_session(*args: Any, **kwargs: Any) -> Any:
        # Only meanwhile: who asks before or after would take it for a start by spark-submit.
        os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"] = str(gateway.port), gateway.secret
        try:
            return original(*args, **kwargs)
        finally:
            del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]

    session.start_session = start_session


def main() -> None:
    from pyspark.java_gateway import launch_gateway

    launched: Any = launch_gateway()  # type: ignore[no-untyped-call]
    parameters = launched.java_parameters
    print(Gateway(port=parameters.port, secret=parameters.auth_token).model_dump_json(), flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
