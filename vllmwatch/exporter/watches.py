"""All targets over time: who is watched, and who was up once and is gone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from vllmwatch.exporter.watch import Facts, TargetSample, Watch
from vllmwatch.sources.target import Origin, Target
from vllmwatch.spec.reason import Reason

MakeWatch = Callable[[Target, Facts | None], Watch]


@dataclass(frozen=True, slots=True)
class Gone:
    """A target that was up, and since when it is not found."""

    target: Target
    facts: Facts
    since: float


class Watches:
    """The watched targets, in the order of discovery.

    A target that was up and is no longer discovered stays as gone for `gone_seconds`, or until one of its name or its
    address is discovered. Times are monotonic seconds.
    """

    def __init__(self, make: MakeWatch, gone_seconds: float, handed_on: Mapping[str, Gone] | None = None) -> None:
        self._make = make
        self._gone_seconds = gone_seconds
        self._watches: dict[str, Watch] = {}
        self._gone = dict(handed_on or {})

    def update(self, targets: Sequence[Target], now: float) -> list[Watch]:
        """Take over what discovery found, and return what to scrape."""
        before = self._watches
        # Of two targets of one name the first is taken: their series could not be told apart.
        named = {target.server: target for target in reversed(targets)}
        self._watches = {target.server: self._watch_for(target, before) for target in reversed(named.values())}
        for server, watch in before.items():
            if self._watches.get(server) is not watch:
                watch.close()
            if server not in self._watches and watch.facts.last_success_seconds is not None:
                self._gone[server] = Gone(watch.target, watch.facts, now)
        urls = {target.url for target in named.values()}
        self._gone = {
            server: gone
            for server, gone in self._gone.items()
            if server not in self._watches
            # The same address under another name is the same server.
            and gone.target.url not in urls
            and now - gone.since < self._gone_seconds
            # One that the configuration or a file of targets named and names no more was taken out on purpose, as pods
            # are that a deploy replaces. It is not missed; a process alone goes without a word.
            and gone.target.origin is Origin.PROCESS
        }
        return list(self._watches.values())

    def gone_samples(self) -> list[TargetSample]:
        """Return a sample for each target that is gone."""
        return [
            TargetSample(gone.target, gone.facts, None, Reason.GONE, "discovery no longer finds it", None)
            for gone in self._gone.values()
        ]

    def close(self) -> None:
        """Close every connection."""
        for watch in self._watches.values():
            watch.close()

    def handed_on(self, now: float) -> dict[str, Gone]:
        """Return what those that take this one's place need to know, when the configuration is read anew.

        There every target that was ever up counts as gone until it is found again.
        """
        watched = {
            server: Gone(watch.target, watch.facts, now)
            for server, watch in self._watches.items()
            if watch.facts.last_success_seconds is not None
        }
        return self._gone | watched

    def _watch_for(self, target: Target, before: dict[str, Watch]) -> Watch:
        watch = before.get(target.server)
        if watch is not None and watch.target == target:
            return watch
        gone = self._gone.get(target.server)
        facts = watch.facts if watch is not None else gone.facts if gone is not None else None
        return self._make(target, facts)
