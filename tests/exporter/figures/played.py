"""Plays a story of the recordings to the exporter's own reckoning: series become pages, looks at NVML and joins."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from vllmwatch.catalog import vllm
from vllmwatch.catalog.cards import Card
from vllmwatch.catalog.objectives import objectives
from vllmwatch.catalog.thresholds import DEFAULTS
from vllmwatch.exporter.collector import Collection, naming_of
from vllmwatch.exporter.figures.reckoner import FleetFigures, Reckoner
from vllmwatch.exporter.figures.server import Prices
from vllmwatch.exporter.join.links import Device, Joined, Link
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.vllm.series import Identity
from vllmwatch.exporter.vllm.translator import TranslatedPage, Translator
from vllmwatch.exporter.watch import Facts, TargetSample
from vllmwatch.sources.nvml.snapshot import GpuIdentity, GpuReadings, GpuSnapshot, NvmlSnapshot
from vllmwatch.sources.target import Origin, Target
from vllmwatch.sources.vllm.fetch import Fetched
from vllmwatch.sources.vllm.text import read_sample
from vllmwatch.sources.xid import NO_XIDS
from vllmwatch.spec.reason import Reason
from vllmwatch.spec.story import Story
from vllmwatch.spec.threshold import Thresholds
from vllmwatch.spec.upstream import PARTS

_STEP = re.compile(r"(?P<first>_|-?[\d.e]+?)(?P<slope>[+-][\d.e]+)?(?:x(?P<count>\d+))?")
_DURATION = re.compile(r"(\d+)([hms])")
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_SCRAPE_LABELS = frozenset({"job", "instance", "node", "server"})
_KINDS = {f"{metric.name}{part}": metric.kind for metric in vllm.METRICS for part in ("", *PARTS.get(metric.kind, ()))}
# The time of a story's first sample; any will do.
BEGIN = 1_800_000_000.0
_READINGS = {
    "vllmwatch_gpu_power_watts": "power_watts",
    "vllmwatch_gpu_energy_joules_total": "energy_joules",
    "vllmwatch_gpu_temperature_celsius": "temperature_celsius",
    "vllmwatch_gpu_pcie_link_width": "pcie_link_width",
}


def seconds_of(text: str) -> int:
    """Return the seconds of a duration such as 1h10m."""
    return sum(int(number) * _SECONDS[unit] for number, unit in _DURATION.findall(text))


def values_of(text: str) -> list[float | None]:
    """Return the samples of promtool's notation: `1+2x3` is 1 3 5 7, `_x2` is two times nothing."""
    found: list[float | None] = []
    for word in text.split():
        if word == "stale":
            found.append(None)
            continue
        step = _STEP.fullmatch(word)
        assert step is not None, word
        count = int(step["count"] or 0)
        if step["first"] == "_":
            found += [None] * max(count, 1)
        else:
            found += [float(step["first"]) + float(step["slope"] or 0) * number for number in range(count + 1)]
    return found


@dataclass(frozen=True)
class Told:
    """One series of a story."""

    name: str
    labels: Mapping[str, str]
    values: list[float | None]

    def at(self, step: int) -> float | None:
        return self.values[step] if step < len(self.values) else None


class Stage:
    """A story on its way: `until` plays it up to a time and returns the figures there."""

    def __init__(self, story: Story, thresholds: Thresholds = DEFAULTS) -> None:
        self._interval = story.interval_seconds
        self.told = [_told(series.selector, series.values) for series in story.series]
        self._reckoner = Reckoner()
        self.configure(thresholds)
        self._translators: dict[str, Translator] = {}
        self._facts: dict[str, Facts] = {}
        self._step = 0

    def configure(self, thresholds: Thresholds) -> None:
        """Take over other thresholds, as a reload of the configuration does."""
        self._reckoner.configure(self._interval, self._prices(), objectives(thresholds))

    def until(self, seconds: int) -> FleetFigures:
        while self._step * self._interval <= seconds:
            self._reckoner.observe(self._collection(self._step))
            self._step += 1
        return self._reckoner.figures()

    def cards(self) -> dict[str, Card]:
        """Return the cards of the story by UUID, which is their product name here."""
        found: dict[str, Card] = {}
        for uuid in {told.labels["uuid"] for told in self._of("vllmwatch_gpu_peak")}:
            flops = {
                told.labels["data_type"]: told.values[0] or 0.0
                for told in self._of("vllmwatch_gpu_peak_flops")
                if told.labels["uuid"] == uuid
            }
            bandwidth = [
                told.values[0] or 0.0 for told in self._of("vllmwatch_gpu_peak_memory") if told.labels["uuid"] == uuid
            ]
            found[uuid] = Card((uuid,), flops, bandwidth[0] if bandwidth else 1e12, "the story")
        return found

    def _prices(self) -> Prices:
        found = {told.name: told.values[0] for told in self._of("vllmwatch_price_")}
        return Prices(found.get("vllmwatch_price_per_gpu_hour"), found.get("vllmwatch_price_per_kilowatt_hour"))

    def _of(self, prefix: str) -> Iterator[Told]:
        return (told for told in self.told if told.name.startswith(prefix))

    def _collection(self, step: int) -> Collection:
        servers = dict.fromkeys(told.labels["server"] for told in self.told if "server" in told.labels)
        return Collection(
            targets=tuple(self._sample(server, step) for server in servers),
            problems=(),
            gpus=self._gpus(step),
            xids=NO_XIDS,
            duration_seconds=0.1,
            sampled_at_seconds=BEGIN + step * self._interval,
            joined=Joined(tuple(self._links(step))),
        )

    def _sample(self, server: str, step: int) -> TargetSample:
        own = [told for told in self.told if told.labels.get("server") == server and told.at(step) is not None]
        info = [told.labels for told in own if told.name == "vllmwatch_target_info"]
        models = [told.labels["model_name"] for told in own if told.labels.get("model_name")]
        if info or models:
            labels = info[0] if info else {"model_name": models[0]}
            self._facts[server] = Facts(labels.get("role", "server"), labels.get("version", ""), labels["model_name"])
        up = [told.at(step) for told in own if told.name == "vllmwatch_target_up"]
        page = self._page(server, own, step) if up in ([], [1.0]) else None
        target = Target(f"http://{server}/metrics", server, "box", Origin.STATIC)
        reason = None if page is not None else Reason.REFUSED
        return TargetSample(target, self._facts.get(server, Facts()), page, reason, "", 0.1)

    def _page(self, server: str, own: list[Told], step: int) -> TranslatedPage | None:
        lines: dict[str, list[str]] = {}
        for told in own:
            if told.name.startswith("vllmwatch_"):
                continue
            labels = {name: value for name, value in told.labels.items() if name not in _SCRAPE_LABELS}
            pairs = ",".join(f'{name}="{value}"' for name, value in labels.items())
            is_part = _KINDS.get(told.name) == "histogram"
            family = re.sub(r"_(bucket|count|sum)$", "", told.name) if is_part else told.name
            line = f"{told.name}{{{pairs}}} {told.at(step)!r}"
            if line not in lines.setdefault(family, []):
                lines[family].append(line)
        for told in own:
            if told.name == "vllmwatch_engine_kv_cache_size_tokens":
                size = f"{told.at(step):.0f}"
                stated = (
                    f'kv_cache_size_tokens="{size}"'
                    if told.labels["basis"] == "reported"
                    else f'num_gpu_blocks="{size}",block_size="1"'
                )
                lines.setdefault("vllm:cache_config_info", []).append(
                    f'vllm:cache_config_info{{engine="{told.labels["engine"]}",{stated}}} 1'
                )
        if not lines:
            return None
        lines.setdefault("vllm:lora_requests_info", ["vllm:lora_requests_info 0"])
        text = ""
        for family, samples in lines.items():
            kind = _KINDS.get(samples[0].partition("{")[0], "gauge")
            text += f"# TYPE {family} {kind}\n"
            text += "\n".join(samples) + "\n"
        translator = self._translators.setdefault(
            server, Translator(naming_of(ExporterOptions("box")), Identity(server, "box"), frozenset(), 10_000)
        )
        page = translator.translate(Fetched(text.encode(), False, True, 0.1, ""))
        assert isinstance(page, TranslatedPage), (page, text)
        return page

    def _gpus(self, step: int) -> NvmlSnapshot:
        uuids = dict.fromkeys(
            told.labels.get("parent_uuid") or told.labels["uuid"] for told in self.told if "uuid" in told.labels
        )
        gpus = []
        for index, uuid in enumerate(uuids):
            readings = {
                _READINGS[told.name]: told.at(step)
                for told in self.told
                if told.name in _READINGS and told.labels["uuid"] == uuid
            }
            clocks = {
                told.labels["domain"]: told.at(step)
                for told in self._of("vllmwatch_gpu_clock_hertz")
                if told.labels["uuid"] == uuid and told.at(step) is not None
            }
            blank = {field.name: None for field in fields(GpuReadings)}
            gpus.append(
                GpuSnapshot(
                    GpuIdentity(uuid, index, uuid),
                    True,
                    readings=GpuReadings(**{**blank, "clock_hertz": clocks, **readings}),  # type: ignore[arg-type]
                )
            )
        return NvmlSnapshot(True, None, tuple(gpus), 0, "580", "13", 0.1)

    def _links(self, step: int) -> Iterator[Link]:
        for told in self._of("vllmwatch_engine_gpu_info"):
            if told.at(step) is not None:
                labels = told.labels
                device = Device(labels["uuid"], int(labels["gpu"]), labels["parent_uuid"])
                yield Link(labels["server"], labels["engine"], labels["rank"], device)


def _told(selector: str, values: str) -> Told:
    sample = read_sample(f"{selector} 0".encode())
    return Told(sample.name, dict(sample.labels), values_of(values))
