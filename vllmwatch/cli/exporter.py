"""`vllmwatch exporter`: the configuration in, a server of metrics out."""

import logging
import os
from pathlib import Path

from vllmwatch import __version__
from vllmwatch.catalog.settings import SETTINGS
from vllmwatch.cli.options import ConfigLoader, with_settings
from vllmwatch.cli.thresholds import thresholds
from vllmwatch.config import Config
from vllmwatch.config.logs import state_file
from vllmwatch.exporter import logs
from vllmwatch.exporter.discovery import PacedDiscovery
from vllmwatch.exporter.gpu_watch import GpuWatch
from vllmwatch.exporter.log_watch import LogWatch
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.serve import serve
from vllmwatch.exporter.service import Configured
from vllmwatch.sources.discovery import Discovery, KnownProcesses, ProcessTargets, StaticTargets, TargetSource
from vllmwatch.sources.kernel_log import KernelLog
from vllmwatch.sources.nvml.reader import NvmlReader
from vllmwatch.sources.own_host import own_names
from vllmwatch.sources.processes import ServerFinder
from vllmwatch.sources.target_files import FileTargets
from vllmwatch.sources.xid import XidLedger

_log = logging.getLogger("vllmwatch")


@with_settings
def exporter(load: ConfigLoader) -> None:
    """Serve the metrics of GPUs and vLLM servers on one page."""
    config = load()
    logs.configure(config.log_level, config.log_format)
    ledger = XidLedger()
    kernel_log = KernelLog(ledger, path=config.kernel_log) if config.kernel_log else None
    if kernel_log is not None:
        kernel_log.start()
    gpus = GpuWatch(NvmlReader(ledger=ledger), ledger) if config.nvml else None
    try:
        watch = LogWatch(_log_state(config))
        serve(config.listen_host, config.listen_port, lambda: _reload(load, config), gpus, watch, _tell_address)
    finally:
        if kernel_log is not None:
            kernel_log.close()


def _tell_address(address: str) -> None:
    _log.info("vllmwatch %s listens on %s", __version__, address)


def _log_state(config: Config) -> Path | None:
    if config.log_state_file is None:
        return state_file(config.listen_port, os.environ, Path.home(), is_root=os.geteuid() == 0)
    return Path(config.log_state_file) if config.log_state_file else None


def _reload(load: ConfigLoader, at_start: Config) -> Configured:
    """Read the configuration again, and say of what is changed in it without effect."""
    config = load()
    for setting in SETTINGS:
        if setting.read_at_start and getattr(config, setting.key) != getattr(at_start, setting.key):
            _log.warning("%s: %s changed: this needs a restart", config.origins[setting.key], setting.key)
    return _configured(config)


def _configured(config: Config) -> Configured:
    discovery = PacedDiscovery(_discovery(config), config.discover_interval_seconds)
    return Configured(_options(config), discovery, (*config.log_files, *config.log_units))


def _discovery(config: Config) -> Discovery:
    sources: list[TargetSource] = [StaticTargets(config.targets), FileTargets(config.target_files, config.node)]
    finder = ServerFinder(config.node)
    if config.discover:
        sources.append(ProcessTargets(finder))
    elif config.nvml:
        sources.append(KnownProcesses(finder))
    return Discovery(sources, own_names)


def _options(config: Config) -> ExporterOptions:
    return ExporterOptions(
        node=config.node,
        scrape_timeout_seconds=config.scrape_timeout_seconds,
        scrape_timeout_offset_seconds=config.scrape_timeout_offset_seconds,
        body_limit_bytes=config.body_limit_bytes,
        series_limit=config.series_limit,
        redirect_limit=config.redirect_limit,
        keep_created=config.keep_created,
        metric_prefixes=config.metric_prefixes,
        drop_labels=config.drop_labels,
        target_gone_seconds=config.target_gone_seconds,
        sample_interval_seconds=config.sample_interval_seconds,
        reload_over_http=config.reload_over_http,
        servers=config.servers,
        price_per_gpu_hour=config.price_per_gpu_hour,
        price_per_kilowatt_hour=config.price_per_kilowatt_hour,
        thresholds=thresholds(config),
        page_receivers=len({*config.page_to, *(name for team in config.teams for name in team.pages)}),
    )
