"""`dns_error: {part: mock-api}`: programs do not find the address of a part by its name."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from devkit.errors import StackError
from devkit.faults.claims import part_claims
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.faults.network.file_reads import FileReads
from devkit.programs.hosts_file import hide_name, host_name, show_name
from located_config.count import times


class DnsError(Fault):
    """A look-up fails at once with "name or service not known"; connections that are open stay open."""

    name: ClassVar[str] = "dns_error"
    summary: ClassVar[str] = "the name of a part does not resolve for programs; Linux only"
    example: ClassVar[str] = "{part: mock-api}"

    part: Literal["kafka", "object-store", "mock-api", "triple-store"] = Field(
        description="Part whose name is meant. In a scenario with this fault programs find it by a name, "
        "`mock-api.devkit.test`, in both arms. Of kafka it is the bootstrap address alone."
    )

    @override
    def needs(self) -> tuple[Need, ...]:
        return (Need(self.part, named=True),)

    @override
    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:
        return part_claims(host_name(self.part))

    @override
    def begin(self, context: Context) -> Acting:
        if context.hosts is None or self.part not in context.hosts.parts:
            raise StackError(
                f"programs find {self.part} by its address, not by a name", hint="write it into a `timeline`"
            )
        path, name = context.hosts.path, host_name(self.part)
        context.plan(Undo(data={"hosts": str(path), "name": name}))
        hide_name(path, name)
        try:
            return _Hidden(path, name, FileReads(path))
        except StackError:
            show_name(path, name)
            raise

    @classmethod
    @override
    def undo(cls, undo: Undo) -> None:
        with contextlib.suppress(FileNotFoundError):  # it ended with the run
            show_name(Path(undo.data["hosts"]), undo.data["name"])


@dataclass(frozen=True)
class _Hidden:
    path: Path
    name: str
    reads: FileReads

    def end(self) -> Proof:
        """The resolver opens the file for a look-up of any name, so of several names it is not known which it was."""
        count = self.reads.count()
        show_name(self.path, self.name)
        look_ups = f"programs looked up names {times(count)} meanwhile" if count else "no program looked up a name"
        return Proof(acted=count > 0, did=f"{self.name} did not resolve, and {look_ups}")
