"""The programs that stand behind the exporter, read and never written to."""
