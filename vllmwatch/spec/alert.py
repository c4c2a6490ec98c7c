"""An alert: when somebody is to be told, of what, and with which words; refused when it is nonsense."""

import re
from dataclasses import dataclass
from enum import StrEnum

from vllmwatch.spec.case import Case, Kind

_NAME = re.compile(r"([A-Z][a-z0-9]*)+")
_DURATION = re.compile(r"0s|([1-9][0-9]*[hms])+")
_THRESHOLD = "<threshold>"
_MODELS = "<models>"
_LONGEST_SUMMARY = 120
EVENT_WINDOW = "10m"
"""An alert of a log looks so far back, in Prometheus and in Loki alike."""


class Severity(StrEnum):
    """Who is told: a person is woken, a person reads it in working hours, or nobody but a machine."""

    PAGE = "page"
    TICKET = "ticket"
    NONE = "none"


class Board(StrEnum):
    """The uid of the Grafana board that an alert links to."""

    FLEET = "vllmwatch-fleet"
    SERVER = "vllmwatch-server"
    GPU = "vllmwatch-gpu"
    COST = "vllmwatch-cost"
    LOGS = "vllmwatch-logs"
    WATCHERS = "vllmwatch-watchers"


class Subject(StrEnum):
    """What an alert is about, which decides the labels that its pages are grouped by and what it mutes."""

    ENGINE = "engine"
    SERVER = "server"
    MODEL = "model"
    GPU = "gpu"
    ENGINE_GPU = "engine_gpu"
    NODE = "node"
    LOG = "log"
    STACK = "stack"


SUBJECT_LABELS: dict[Subject, tuple[str, ...]] = {
    Subject.ENGINE: ("node", "server", "engine", "model_name"),
    Subject.SERVER: ("node", "server", "model_name"),
    Subject.MODEL: ("model_name",),
    Subject.GPU: ("node", "uuid"),
    Subject.ENGINE_GPU: ("node", "server", "engine", "uuid"),
    Subject.NODE: ("node",),
    Subject.LOG: ("node", "server", "event"),
    Subject.STACK: (),
}
"""The labels that an alert about each subject has at least."""


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert; the docstring of its module is its runbook.

    `expression` leans on recordings and on series of ours alone. In it `<threshold>` stands for the value of the
    setting `threshold`; where that may differ from model to model, `<models>` stands within the braces of a selector
    for the matcher of the models that the value is for. `own_labels` come after those of the subject. `hold` is how
    long the expression must hold, `keep_firing` how long the alert stays after it. `summary` (one line, names the
    model, the server or the GPU) and `description` (what is measured, its value) are templates of Prometheus.
    `causes` are alerts that mute this one while they fire about the same thing. `own_severity` holds for models that
    have a threshold of their own, since that tells more than one for all; `counted_at` names the setting that the
    recordings beneath count at, which is such a threshold too. `events` are those of a log that it is about, by which
    Loki can raise it too.
    """

    name: str
    theme: str
    subject: Subject
    severity: Severity
    expression: str
    hold: str
    summary: str
    description: str
    board: Board
    cases: tuple[Case, ...]
    threshold: str = ""
    own_labels: tuple[str, ...] = ()
    keep_firing: str = "0s"
    causes: tuple[str, ...] = ()
    own_severity: Severity | None = None
    counted_at: str = ""
    events: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"alert {self.name!r}: words with capitals are asked for")
        for duration in (self.hold, self.keep_firing):
            if not _DURATION.fullmatch(duration):
                raise ValueError(f"alert {self.name}: {duration!r} is no duration such as 5m")
        if (_THRESHOLD in self.expression) != bool(self.threshold):
            raise ValueError(f"alert {self.name}: {_THRESHOLD} stands in the expression where a threshold is named")
        if self.own_severity and not (self.per_model and (self.threshold or self.counted_at)):
            raise ValueError(f"alert {self.name}: no model has a threshold of its own, so none has a severity for it")
        if (self.subject is Subject.LOG) != bool(self.events) or any(e not in self.expression for e in self.events):
            raise ValueError(f"alert {self.name}: one of a log names its events, in its expression too")
        if self.name in self.causes:
            raise ValueError(f"alert {self.name}: it cannot mute itself")
        self._require_words()
        self._require_cases()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that its series have."""
        return (*SUBJECT_LABELS[self.subject], *self.own_labels)

    @property
    def slug(self) -> str:
        """The name of its module and of its page: lower-case words joined by underscores."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.name).lower()

    @property
    def per_model(self) -> bool:
        """Whether its threshold may differ from model to model."""
        return _MODELS in self.expression

    def expression_for(self, threshold: str = "", models: str = "") -> str:
        """Return the expression with its threshold, for the models that the matcher `models` names."""
        text = self.expression.replace(_THRESHOLD, threshold)
        # Without a matcher the comma beside it, or the braces around it, would be left over.
        if not models:
            text = text.replace(f"{{{_MODELS}}}", "").replace(f", {_MODELS}", "").replace(f"{_MODELS}, ", "")
        return text.replace(_MODELS, models)

    def _require_words(self) -> None:
        if "\n" in self.summary or not self.summary or self.summary.endswith("."):
            raise ValueError(f"alert {self.name}: the summary is one line without a full stop")
        if len(self.summary) > _LONGEST_SUMMARY:
            raise ValueError(f"alert {self.name}: the summary is longer than {_LONGEST_SUMMARY} characters")
        if not self.description.endswith("."):
            raise ValueError(f"alert {self.name}: the description ends with a full stop")
        for label in re.findall(r"\$labels\.(\w+)", self.summary + self.description):
            if label not in self.labels:
                raise ValueError(f"alert {self.name}: its words name the label {label!r}, which it has not")
        if "$value" not in self.description and self.severity is not Severity.NONE:
            raise ValueError(f"alert {self.name}: the description tells the value")

    def _require_cases(self) -> None:
        kinds = {case.kind for case in self.cases}
        if kinds != set(Kind) and self.severity is not Severity.NONE:
            raise ValueError(f"alert {self.name}: it ships with cases that fire, stay quiet, and are messy")
        for case in self.cases:
            for check in case.checks:
                for firing in check.firing:
                    if set(firing) != set(self.labels):
                        raise ValueError(f"alert {self.name}: case {case.title!r} expects other labels than it has")
