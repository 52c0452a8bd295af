from pipeline.config.effective import effective_spark


def test_settings_are_told_in_order_and_without_secrets() -> None:
    told = effective_spark(
        [
            ("spark.master", "local[2]"),
            ("spark.hadoop.fs.s3a.secret.key", "hush"),
            ("spark.hadoop.fs.s3a.access.key", "hush"),
            ("spark.authenticate.secret", "hush"),
            ("spark.hadoop.fs.s3a.aws.credentials.provider", "a.Provider"),
            ("spark.driver.extraClassPath", "x" * 1000),
        ]
    )
    assert "hush" not in str(told)
    assert list(told) == sorted(told)
    assert told["spark.master"] == "local[2]"
    assert told["spark.hadoop.fs.s3a.aws.credentials.provider"] == "a.Provider"
    assert len(str(told["spark.driver.extraClassPath"])) < 300
