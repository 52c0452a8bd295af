"""What a person is told of a heap dump that a program has written."""

from pipeline.events import HeapDumped


def dump_text(dump: HeapDumped) -> str:
    """The file, and what takes most of the heap where the program has read that."""
    most = ", ".join(f"{name} {size / (1 << 20):.0f}MiB" for name, size in dump.classes.items())
    return f"the driver's JVM ran out of memory: {dump.file} holds {most or 'its heap'}"
