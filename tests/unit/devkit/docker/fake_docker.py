"""A `docker` command that answers as the test says, and remembers what it was asked."""

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from devkit.docker.access import DockerAccess

# The answers are tried in order: the first whose words are all among the arguments is given.
_SCRIPT = """\
#!/usr/bin/env python3
import json, os, sys
place = {place!r}
with open(os.path.join(place, "asked.jsonl"), "a") as asked:
    asked.write(json.dumps([os.environ.get("DOCKER_HOST"), *sys.argv[1:]]) + "\\n")
for words, code, out, err in json.load(open(os.path.join(place, "answers.json"))):
    if set(words) <= set(sys.argv[1:]):
        sys.stdout.write(out)
        sys.stderr.write(err)
        sys.exit(code)
"""


@dataclass
class FakeDocker:
    place: Path

    def answer(self, *answers: tuple[str, int, str, str]) -> DockerAccess:
        """Each is: words of the arguments, exit code, standard output, standard error. Anything else: 0, nothing."""
        (self.place / "answers.json").write_text(
            json.dumps([(shlex.split(words), code, out, err) for words, code, out, err in answers])
        )
        program = self.place / "docker"
        program.write_text(_SCRIPT.format(place=str(self.place)))
        program.chmod(0o755)
        return DockerAccess(command=str(program), environment={"DOCKER_HOST": "unix:///fake.sock"})

    def asked(self) -> list[list[str]]:
        path = self.place / "asked.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def path(self) -> str:
        """A PATH on which this is the docker command, and Python can be found."""
        return f"{self.place}{os.pathsep}{os.environ['PATH']}"
