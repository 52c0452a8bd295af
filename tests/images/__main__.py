"""`python -m tests.images`: build what the docker command's engine does not have, and say what it is."""

import sys

from tests.images.go_programs import compose_plugin
from tests.images.stand_ins import Docker, provide

for image in provide(Docker()):
    sys.stdout.write(f"{image} is a STAND-IN, built here and not the public image\n")
sys.stdout.write(f"compose plugin: {compose_plugin()}\n")
