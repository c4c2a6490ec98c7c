"""The stack without containers: exporter and Prometheus as children of one command."""
