"""What Prometheus is started with: its configuration file and its options; pure."""

import json
from pathlib import Path

from vllmwatch.stack.address import Address
from vllmwatch.stack.prometheus import Prometheus

SCRAPE_INTERVAL_SECONDS = 15
JOB = "vllmwatch"


def prometheus_config(exporter: Address, rules: Path, scrape_interval_seconds: int = SCRAPE_INTERVAL_SECONDS) -> str:
    """Return the configuration file: one job, the exporter, whose own labels are kept; `rules` is a folder."""
    target = json.dumps(str(exporter.reached_at))
    return (
        "# Written by `vllmwatch up` at each start; changes are lost.\n"
        "global:\n"
        f"  scrape_interval: {scrape_interval_seconds}s\n"
        f"rule_files: [{json.dumps(str(rules / '*.yml'))}]\n"
        "scrape_configs:\n"
        f"  - job_name: {JOB}\n"
        "    honor_labels: true\n"
        "    static_configs:\n"
        f"      - targets: [{target}]\n"
    )


def prometheus_command(program: Prometheus, config: Path, data: Path, listen: Address, retention: str) -> list[str]:
    """Return the command line; `retention` is a Prometheus duration ("15d").

    Only Debian's builds know where else their page may be (--web.local-assets), and only they have a folder of it.
    """
    return [
        str(program.path),
        f"--config.file={config}",
        f"--storage.tsdb.path={data}",
        f"--storage.tsdb.retention.time={retention}",
        f"--web.listen-address={listen}",
        *([] if program.web is None else [f"--web.local-assets={program.web}"]),
    ]
