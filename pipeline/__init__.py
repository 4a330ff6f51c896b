"""Twinspect's retrieval pipeline: folder -> document -> chunk -> vector -> candidate -> evidence. No Qt."""

__version__ = "0.1.0"
