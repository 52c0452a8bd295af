"""Local stand-ins for what a machine without an image registry cannot pull: images, and the Compose plugin.

Nothing here belongs to the product. The images carry the names, tags, entry points and files of the public ones, so
`docker-compose.yml` runs unchanged; each has the label `enrichment-devkit.stand-in`, and a summary names them.
"""
