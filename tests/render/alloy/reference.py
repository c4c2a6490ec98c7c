"""What Alloy's reference names: of each block that we write, its page, its arguments and the blocks within it.

Pages are those below docs/sources/reference in the repository grafana/alloy, read at v1.20; only what we could ever use
is here. `required` are the arguments without which Alloy refuses the block.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    page: str
    arguments: frozenset[str]
    required: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()


def _known(page: str, arguments: str, required: str = "", blocks: str = "") -> Known:
    return Known(
        page, frozenset((arguments + " " + required).split()), frozenset(required.split()), frozenset(blocks.split())
    )


_PROCESS = "components/loki/loki.process.md"
_STAGES = (
    "stage.decolorize stage.drop stage.json stage.label_drop stage.labels stage.match stage.metrics stage.multiline "
    "stage.output stage.regex stage.replace stage.static_labels stage.structured_metadata stage.template "
    "stage.timestamp stage.truncate"
)

TOP: frozenset[str] = frozenset(
    {
        "logging",
        "discovery.docker",
        "discovery.relabel",
        "loki.relabel",
        "loki.source.docker",
        "loki.source.journal",
        "local.file_match",
        "loki.source.file",
        "loki.process",
        "loki.write",
    }
)
REFERENCE: dict[str, Known] = {
    "logging": _known("config-blocks/logging.md", "format level write_to"),
    "discovery.docker": _known(
        "components/discovery/discovery.docker.md",
        "host_networking_host match_first_network port refresh_interval",
        "host",
        "filter",
    ),
    "filter": _known("components/discovery/discovery.docker.md", "", "name values"),
    "discovery.relabel": _known("components/discovery/discovery.relabel.md", "", "targets", "rule"),
    "rule": _known(
        "shared: reference/components/rule-block.md",
        "action modulus regex replacement separator source_labels target_label",
    ),
    "loki.relabel": _known("components/loki/loki.relabel.md", "max_cache_size", "forward_to", "rule"),
    "loki.source.docker": _known(
        "components/loki/loki.source.docker.md",
        "refresh_interval relabel_rules",
        "forward_to host labels targets",
        "client",
    ),
    "loki.source.journal": _known(
        "components/loki/loki.source.journal.md",
        "format_as_json labels matches max_age path relabel_rules",
        "forward_to",
    ),
    "local.file_match": _known("components/local/local.file_match.md", "ignore_older_than sync_period", "path_targets"),
    "loki.source.file": _known(
        "components/loki/loki.source.file.md",
        "encoding tail_from_end",
        "forward_to targets",
        "decompression file_watch",
    ),
    "loki.process": _known(_PROCESS, "", "forward_to", _STAGES),
    "stage.drop": _known(_PROCESS, "drop_counter_reason expression longer_than older_than separator source value"),
    "stage.json": _known(_PROCESS, "drop_malformed source", "expressions"),
    "stage.label_drop": _known(_PROCESS, "", "values"),
    "stage.labels": _known(_PROCESS, "", "values"),
    "stage.match": _known(_PROCESS, "action drop_counter_reason pipeline_name", "selector", _STAGES),
    "stage.metrics": _known(_PROCESS, "", blocks="metric.counter metric.gauge metric.histogram"),
    "metric.counter": _known(
        _PROCESS, "count_entry_bytes description match_all max_idle_duration prefix source value", "action name"
    ),
    "stage.multiline": _known(_PROCESS, "max_lines max_wait_time", "firstline"),
    "stage.output": _known(_PROCESS, "", "source"),
    "stage.regex": _known(_PROCESS, "source", "expression"),
    "stage.replace": _known(_PROCESS, "replace source", "expression"),
    "stage.static_labels": _known(_PROCESS, "", "values"),
    "stage.structured_metadata": _known(_PROCESS, "", "values"),
    "stage.template": _known(_PROCESS, "", "source template"),
    "stage.timestamp": _known(_PROCESS, "action_on_failure fallback_formats location", "format source"),
    "loki.write": _known("components/loki/loki.write.md", "external_labels max_streams", blocks="endpoint wal"),
    "endpoint": _known(
        "components/loki/loki.write.md",
        "batch_size batch_wait bearer_token_file max_backoff_period max_backoff_retries remote_timeout tenant_id",
        "url",
    ),
}
EXPORTS: dict[str, frozenset[str]] = {
    "discovery.docker": frozenset({"targets"}),
    "discovery.relabel": frozenset({"output", "rules"}),
    "loki.relabel": frozenset({"receiver", "rules"}),
    "local.file_match": frozenset({"targets"}),
    "loki.process": frozenset({"receiver"}),
    "loki.write": frozenset({"receiver"}),
}
"""What other components may refer to."""
FUNCTIONS: frozenset[str] = frozenset({"coalesce", "sys.env"})
"""Functions of the standard library (reference/stdlib)."""
CONSTANTS: frozenset[str] = frozenset({"constants.hostname"})
