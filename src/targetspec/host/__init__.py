"""Host detection: readers of captured text, apart from the thin code that gets it."""
