"""The class cache: whether Spark's JVM starts as fast as it can here."""

from devkit.doctor.finding import MachineFinding

NAME = "class cache"
TRAIN = "devkit doctor --train"


def check_class_cache() -> MachineFinding:
    """Hashes it. None is no fault: Spark starts slower then."""
    # Its name needs Spark's version, and Spark is slow to import.
    from devkit.programs.spark.place import class_cache

    cache = class_cache()
    if cache.exists:
        return MachineFinding(NAME, "ok", "Spark's JVM starts with it")
    if (failure := cache.failure) is not None:
        first, *_ = failure.splitlines()
        return MachineFinding(
            NAME,
            "warn",
            f"there is none, as its training failed: {first}",
            f"Spark starts slower, and no run tries again; `{TRAIN}` does, its logs are in {cache.logs}",
        )
    return MachineFinding(NAME, "ok", f"there is none yet; the next run makes it after its verdict, `{TRAIN}` at once")
