"""Texts -> normalised vectors."""
