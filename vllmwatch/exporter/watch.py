"""One target over time: its page scrape by scrape, and what stays known of it while it is down."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from vllmwatch.exporter.vllm.translator import TranslatedPage, Translator
from vllmwatch.sources.target import Target
from vllmwatch.sources.vllm.fetch import Failure, Fetched, Fetcher
from vllmwatch.spec.reason import Reason

_VERSION_TIMEOUT_SECONDS = 1.0
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
    """Fetches and translates one target's pages, one at a time."""

    def __init__(
        self,
        target: Target,
        fetcher: Fetcher,
        translator: Translator,
        *,
        facts: Facts | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.target = target
        self.facts = facts or Facts()
        self._fetcher = fetcher
        self._translator = translator
        self._clock = clock
        self._wall_clock = wall_clock
        self._busy = threading.Lock()
        self._version_due = 0.0
        self._was_up = False

    def sample(self, deadline: float) -> TargetSample:
        """Fetch and translate the page before the deadline (monotonic); a fault of any kind is a sample too."""
        if not self._busy.acquire(blocking=False):
            return self.without_page(Reason.TIMEOUT, "the fetch of the scrape before is still under way")
        try:
            return self._sample(deadline)
        except Exception as error:  # noqa: BLE001  one target's trouble must not become the page's
            return self.without_page(Reason.INTERNAL, f"{type(error).__name__}: {error}")
        finally:
            self._busy.release()

    def abort(self) -> TargetSample:
        """End the fetch under way from another thread, and return the sample that stands for it."""
        self._fetcher.abort()
        return self.without_page(Reason.TIMEOUT, "no whole answer came before the deadline")

    def close(self) -> None:
        """Close the connection to the target."""
        self._fetcher.close()

    def without_page(self, reason: Reason, detail: str, duration_seconds: float | None = None) -> TargetSample:
        """Return the sample of a scrape that read nothing."""
        self._was_up = False
        return TargetSample(self.target, self.facts, None, reason, detail, duration_seconds)

    def _sample(self, deadline: float) -> TargetSample:
        fetched = self._fetcher.fetch(deadline)
        if isinstance(fetched, Failure):
            loading = self.target.loading and fetched.reason is Reason.REFUSED
            reason = Reason.LOADING if loading else fetched.reason
            return self.without_page(reason, fetched.detail, fetched.duration_seconds)
        page = self._translator.translate(fetched)
        if isinstance(page, Reason):
            return self.without_page(page, _first_line(fetched.body), fetched.duration_seconds)
        if page.reason is None:
            self._learn(page, deadline)
        self._was_up = page.reason is None
        detail = "" if page.reason is None else _first_line(fetched.body)
        return TargetSample(self.target, self.facts, page, page.reason, detail, fetched.duration_seconds)

    def _learn(self, page: TranslatedPage, deadline: float) -> None:
        known = page.plan.facts
        self.facts = replace(
            self.facts,
            role="router" if known.is_router else "server",
            model_name=known.model_names[0] if known.model_names else self.facts.model_name,
            engines=known.engines or self.facts.engines,
            last_success_seconds=self._wall_clock(),
        )
        if not self._was_up or self._clock() >= self._version_due:
            self._version_due = self._clock() + _VERSION_EVERY_SECONDS
            self.facts = replace(self.facts, version=self._version(deadline))

    def _version(self, deadline: float) -> str:
        """Ask the server for its version; empty where it does not say one."""
        path = _beside_metrics(self.target.url, "version")
        answer = self._fetcher.fetch(min(deadline, self._clock() + _VERSION_TIMEOUT_SECONDS), path)
        if not isinstance(answer, Fetched):
            return ""
        try:
            said = json.loads(answer.body)
        except ValueError:
            return ""
        version = said.get("version") if isinstance(said, dict) else None
        return version[:100] if isinstance(version, str) else ""


def _beside_metrics(url: str, name: str) -> str:
    base = url.partition("?")[0].rstrip("/")
    return base.removesuffix(_METRICS_PATH) + "/" + name


def _first_line(body: bytes) -> str:
    """Return the beginning of what came, for people who look into why it could not be used."""
    return body[:200].decode("utf-8", "replace").strip().partition("\n")[0]
