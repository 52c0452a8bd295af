"""What `spark-submit` is given: it takes a file, and the job is a package."""

from pipeline.__main__ import main

main()
