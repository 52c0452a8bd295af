"""A file a part: how it starts, and how one knows that it is ready."""
