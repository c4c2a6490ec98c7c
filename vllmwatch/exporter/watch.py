"""One target over time: its page scrape by scrape, and what stays known of it while it is down."""

import contextlib
import json
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace

from vllmwatch.exporter.threads import DaemonPool
from vllmwatch.exporter.vllm.translator import TranslatedPage, Translator
from vllmwatch.sources.target import Target
from vllmwatch.sources.vllm.fetch import Failure, Fetched, Fetcher
from vllmwatch.spec.reason import Reason

_log = logging.getLogger(__name__)
_VERSION_TIMEOUT_SECONDS = 5.0
_VERSION_EVERY_SECONDS = 300.0
_METRICS_PATH = "/metrics"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a target beyond the present scrape; empty text is not known."""

    role: str = ""
    version: str = ""
    model_name: str = ""
    engines: tuple[str, ...] = ()
    last_success_seconds: float | None = None
    """Unix time."""


@dataclass(frozen=True, slots=True)
class TargetSample:
    """One target in one scrape. `page` is there wherever anything was read; `reason` is None when it is up."""

    target: Target
    facts: Facts
    page: TranslatedPage | None
    reason: Reason | None
    detail: str
    duration_seconds: float | None

    @property
    def up(self) -> bool:
        """Whether a page with vLLM families was read."""
        return self.reason is None


class Watch:
    """Fetches and translates one target's pages, one at a time.

    `make_fetcher` gives connections to the target: one for its pages, one for its version, so that a server that is
    slow to say its version loses no page by it.
    """

    def __init__(
        self,
        target: Target,
        make_fetcher: Callable[[], Fetcher],
        translator: Translator,
        pool: DaemonPool,
        *,
        facts: Facts | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.target = target
        self.facts = facts or Facts()
        self._fetcher = make_fetcher()
        self._version_fetcher = make_fetcher()
        self._translator = translator
        self._pool = pool
        self._clock = clock
        self._wall_clock = wall_clock
        self._lock = threading.Lock()
        self._under_way: Future[TargetSample] | None = None
        self._deadline = 0.0
        self._version_due = 0.0
        self._version_deadline: float | None = None
        self.was_up = False

    def begin(self, deadline: float) -> Future[TargetSample]:
        """Begin to fetch and translate the page before the deadline (monotonic), or join the fetch under way.

        The result is a sample whatever happens.
        """
        self._give_up_late_version()
        with self._lock:
            if self._under_way is None:
                self._deadline = deadline
                self._under_way = self._pool.submit(self._sample)
            return self._under_way

    def overdue(self) -> tuple[TargetSample, bool]:
        """Return the sample that stands for a fetch that is not done, and whether it was given up.

        It is given up when its own deadline has passed; before that it goes on for those who wait longer.
        """
        given_up = self._clock() >= self._deadline
        if given_up:
            self._fetcher.abort()
        return self._without_page(Reason.TIMEOUT, "no whole answer came before the deadline"), given_up

    def close(self) -> None:
        """End what is under way and close the connections to the target."""
        self._fetcher.end()
        self._version_fetcher.end()

    def _without_page(self, reason: Reason, detail: str, duration_seconds: float | None = None) -> TargetSample:
        return TargetSample(self.target, self.facts, None, reason, detail, duration_seconds)

    def _sample(self) -> TargetSample:
        try:
            sample = self._fetch_and_translate(self._deadline)
        except Exception as error:  # noqa: BLE001  one target's trouble must not become the page's
            _log.exception("the page of %s could not be dealt with", self.target.server)
            sample = self._without_page(Reason.INTERNAL, type(error).__name__)
        with self._lock:
            self._under_way = None
        self.was_up = sample.up
        return sample

    def _fetch_and_translate(self, deadline: float) -> TargetSample:
        fetched = self._fetcher.fetch(deadline)
        if isinstance(fetched, Failure):
            loading = self.target.loading and fetched.reason is Reason.REFUSED
            reason = Reason.LOADING if loading else fetched.reason
            return self._without_page(reason, fetched.detail, fetched.duration_seconds)
        page = self._translator.translate(fetched)
        begins = self._fetcher.without_secrets(_first_line(fetched.body))
        if isinstance(page, Reason):
            return self._without_page(page, begins, fetched.duration_seconds)
        if page.reason is None:
            self._learn(page)
        detail = "" if page.reason is None else begins
        return TargetSample(self.target, self.facts, page, page.reason, detail, fetched.duration_seconds)

    def _learn(self, page: TranslatedPage) -> None:
        known = page.plan.facts
        with self._lock:
            self.facts = replace(
                self.facts,
                role="router" if known.is_router else "server",
                model_name=known.model_names[0] if known.model_names else self.facts.model_name,
                engines=known.engines or self.facts.engines,
                last_success_seconds=self._wall_clock(),
            )
        if self._version_deadline is None and (not self.was_up or self._clock() >= self._version_due):
            self._version_due = self._clock() + _VERSION_EVERY_SECONDS
            self._version_deadline = self._clock() + _VERSION_TIMEOUT_SECONDS
            # A pool that is closed meanwhile belongs to an exporter that ends, which needs no version.
            with contextlib.suppress(RuntimeError):
                self._pool.submit(self._ask_version)

    def _ask_version(self) -> None:
        """Ask the server for its version; what it does not say leaves the known one."""
        path = _beside_metrics(self.target.url, "version")
        answer = self._version_fetcher.fetch(self._clock() + _VERSION_TIMEOUT_SECONDS, path)
        version = _version_in(answer.body) if isinstance(answer, Fetched) else ""
        with self._lock:
            self._version_deadline = None
            if version:
                self.facts = replace(self.facts, version=version)

    def _give_up_late_version(self) -> None:
        """End a question for the version that a server answers byte by byte, past all time-outs of single reads."""
        deadline = self._version_deadline
        if deadline is not None and self._clock() >= deadline:
            self._version_fetcher.abort()


def _version_in(body: bytes) -> str:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    version = said.get("version") if isinstance(said, dict) else None
    return version[:100].encode("utf-8", "replace").decode() if isinstance(version, str) else ""


def _beside_metrics(url: str, name: str) -> str:
    base = url.partition("?")[0].rstrip("/")
    return base.removesuffix(_METRICS_PATH) + "/" + name


def _first_line(body: bytes) -> str:
    """Return the beginning of what came, for people who look into why it could not be used."""
    return body[:200].decode("utf-8", "replace").strip().partition("\n")[0]
