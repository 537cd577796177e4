"""The kinds of target, one module a kind."""
