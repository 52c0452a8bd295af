"""The type of what Spark calls in a Python worker: `DataFrame.mapInArrow` hands it batches of rows and takes others."""

from collections.abc import Callable, Iterator

import pyarrow as pa

ArrowFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
