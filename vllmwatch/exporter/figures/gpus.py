"""The figures of GPUs and of servers' shares in them; pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from vllmwatch.exporter.figures.history import SM_CLOCK, GpuKey, Moments
from vllmwatch.exporter.join.links import Link

_POWER_SECONDS = 60.0
_AVERAGE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Shares:
    """How GPUs are shared: for each server its share in each GPU by UUID, a MIG instance counting as its GPU."""

    by_server: Mapping[str, Mapping[str, float]]
    servers_of_gpu: Mapping[str, int]


def shares_of(links: Iterable[Link]) -> Shares:
    """Return each server's share: 1 divided by the servers that the GPU carries."""
    carried: dict[str, set[str]] = {}
    for link in links:
        carried.setdefault(link.device.gpu_uuid, set()).add(link.server)
    by_server: dict[str, dict[str, float]] = {}
    for uuid, servers in carried.items():
        for server in servers:
            by_server.setdefault(server, {})[uuid] = 1 / len(servers)
    return Shares(by_server, {uuid: len(servers) for uuid, servers in carried.items()})


class GpuView:
    """The GPUs' history up to `end` (Unix time in seconds)."""

    def __init__(self, moments: Moments[GpuKey], end: float) -> None:
        self._moments = moments
        self._end = end
        self._power: dict[str, float | None] = {}

    def power_watts(self, uuid: str) -> float | None:
        """Return a GPU's power over a minute: by its counter of energy, or by its reading of power."""
        if uuid not in self._power:
            rate = self._moments.window(("energy_joules", uuid), _POWER_SECONDS, self._end).rate()
            if rate is None:
                rate = self._moments.window(("power_watts", uuid), _POWER_SECONDS, self._end).average()
            self._power[uuid] = rate
        return self._power[uuid]

    def average(self, reading: str, uuid: str) -> float | None:
        """Return the mean of a reading over five minutes."""
        return self._moments.window((reading, uuid), _AVERAGE_SECONDS, self._end).average()

    def now(self, reading: str, uuid: str) -> float | None:
        """Return a reading as it is now."""
        moment = self._moments.at(self._end)
        return None if moment is None else moment.value((reading, uuid))

    def power_of(self, shares: Mapping[str, float]) -> float | None:
        """Return the power of all of a server's shares; None unless each of its GPUs has a reading."""
        powers = [(part, self.power_watts(uuid)) for uuid, part in shares.items()]
        if not powers or any(watts is None for _, watts in powers):
            return None
        return sum(part * (watts or 0.0) for part, watts in powers)


def stragglers(view: GpuView, uuids: Sequence[str], *, runs: bool) -> dict[str, dict[str, float]]:
    """Return the figures of each GPU of an engine by UUID, and where the engine runs those against its median."""
    readings: dict[str, dict[str, float | None]] = {
        "sm_clock_hertz:avg5m": {uuid: view.average(SM_CLOCK, uuid) for uuid in uuids},
        "power_watts:avg5m": {uuid: view.average("power_watts", uuid) for uuid in uuids},
        "temperature_celsius:avg5m": {uuid: view.average("temperature_celsius", uuid) for uuid in uuids},
        "pcie_width:now": {uuid: view.now("pcie_link_width", uuid) for uuid in uuids},
    }
    found: dict[str, dict[str, float]] = {uuid: {} for uuid in uuids}
    for name, by_gpu in readings.items():
        known = {uuid: value for uuid, value in by_gpu.items() if value is not None}
        for uuid, value in known.items():
            found[uuid][name] = value
        if runs and len(known) > 1:
            for uuid, value in _against_median(name, known).items():
                found[uuid][_RELATIVE[name]] = value
    return found


_RELATIVE = {
    "sm_clock_hertz:avg5m": "sm_clock:ratio_avg5m",
    "power_watts:avg5m": "power:ratio_avg5m",
    "temperature_celsius:avg5m": "temperature_difference_celsius:avg5m",
    "pcie_width:now": "pcie_width:ratio",
}


def _against_median(name: str, by_gpu: Mapping[str, float]) -> dict[str, float]:
    middle = median(by_gpu.values())
    if _RELATIVE[name] == "temperature_difference_celsius:avg5m":
        return {uuid: value - middle for uuid, value in by_gpu.items()}
    return {uuid: value / middle for uuid, value in by_gpu.items()} if middle > 0 else {}
