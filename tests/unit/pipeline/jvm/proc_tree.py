"""A directory that looks like `/proc`."""

from pathlib import Path

DRIVER = ("java", "-Xmx1g", "org.apache.spark.deploy.SparkSubmit", "pyspark-shell")
EXECUTOR = ("java", "org.apache.spark.executor.CoarseGrainedExecutorBackend", "--cores", "2")


def process(proc: Path, pid: int, command: tuple[str, ...], parent: int = 1, *, jvm: bool = True) -> Path:
    place = proc / str(pid)
    (place / "root" / "tmp").mkdir(parents=True)
    (place / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in command))
    (place / "stat").write_text(f"{pid} (a (b) c) S {parent} 1 1")
    (place / "status").write_text(f"Name:\tjava\nNSpid:\t{pid}\t7\n")
    (place / "maps").write_text("7f00-7f01 r-xp 0 08:01 1 /opt/java/lib/server/libjvm.so\n" if jvm else "")
    return place
