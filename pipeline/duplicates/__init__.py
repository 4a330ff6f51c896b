"""Which documents of a library are the same, nearly so, or contained in each other; and what was decided about it."""
