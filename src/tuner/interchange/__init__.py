"""Records as files: our own JSON Lines, and what other tuners write."""
