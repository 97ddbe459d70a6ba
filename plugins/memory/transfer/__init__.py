"""Memories as files: the export, the import, and what other programs leave (docs/export-import.md)."""
