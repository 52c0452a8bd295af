import pytest

from devkit.guardian.environment import run_environment


@pytest.mark.parametrize(
    "name",
    [
        *("HTTP_PROXY", "https_proxy", "JAVA_HOME", "JAVA_TOOL_OPTIONS", "SPARK_HOME", "SPARK_CONF_DIR"),
        *("PYSPARK_PYTHON", "HADOOP_CONF_DIR", "KAFKA_OPTS", "AWS_PROFILE", "AWS_ENDPOINT_URL", "CLASSPATH"),
        *(
            "KAFKA_HEAP_OPTS",
            "KAFKA_JVM_PERFORMANCE_OPTS",
            "_JAVA_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "all_proxy",
            "http_proxy",
        ),
        "PYTHONWARNINGS",
    ],
)
def test_what_would_lead_a_process_away_from_its_run_is_left_out(name: str) -> None:
    of_user = {name: "x", "PATH": "/bin"}
    made = run_environment(of_user)
    assert name not in made
    assert made["PYTHONSAFEPATH"] == "1", "a folder of the working directory is no module"
    assert of_user == {name: "x", "PATH": "/bin"}, "the user's own is not changed"


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "TMPDIR", "DEVKIT_CACHE", "LANG", "MY_SPARK_HOME", "PYTHONPATH", "SSL_CERT_FILE"]
)
def test_the_rest_is_the_users(name: str) -> None:
    assert run_environment({name: "x"})[name] == "x"
