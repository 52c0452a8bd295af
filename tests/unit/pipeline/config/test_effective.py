from pipeline.driver.spark_conf import effective_spark


def test_settings_are_told_in_order_and_without_secrets() -> None:
    settings = effective_spark(
        [
            ("spark.master", "local[2]"),
            ("spark.hadoop.fs.s3a.secret.key", "hush"),
            ("spark.hadoop.fs.s3a.access.key", "hush"),
            ("spark.authenticate.secret", "hush"),
            ("spark.hadoop.fs.s3a.aws.credentials.provider", "a.Provider"),
            ("spark.driver.extraClassPath", "x" * 1000),
        ]
    )
    assert "hush" not in str(settings)
    assert list(settings) == sorted(settings)
    assert settings["spark.master"] == "local[2]"
    assert settings["spark.hadoop.fs.s3a.aws.credentials.provider"] == "a.Provider"
    assert len(str(settings["spark.driver.extraClassPath"])) < 300
