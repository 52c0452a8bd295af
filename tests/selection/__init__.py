"""Which unit tests a change affects, by what each test file was recorded to run and to read."""
