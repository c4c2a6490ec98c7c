"""Logs as a source: lines read, joined to records, and followed as they are written."""
