"""How each file of real inputs is judged, row by row: the tests and the report of `make corpora` both ask here."""
