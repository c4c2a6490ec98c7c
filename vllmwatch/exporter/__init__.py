"""The exporter: snapshots and catalogue in, one page of metrics out."""
