"""One module a dialect, each with `parse` and `format`."""
