"""The figures of the recordings, computed by the exporter from its own samples, for those without a Prometheus."""
