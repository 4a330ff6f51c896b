"""A trace carried away: files that stand for themselves."""
