"""Why a target's page could not be had, or not wholly: the fixed list of reasons."""

from enum import StrEnum


class Reason(StrEnum):
    """The reason that `vllmwatch_target_error` names and `/debug/last` explains."""

    LOADING = "loading"
    GONE = "gone"
    REFUSED = "refused"
    UNRESOLVED = "unresolved"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    TLS = "tls"
    CLOSED = "closed"
    UNAUTHORIZED = "unauthorized"
    HTTP_STATUS = "http_status"
    REDIRECT = "redirect"
    ENCODING = "encoding"
    TOO_LARGE = "too_large"
    TOO_MANY_SERIES = "too_many_series"
    EMPTY = "empty"
    HTML = "html"
    NOT_METRICS = "not_metrics"
    NO_VLLM_FAMILIES = "no_vllm_families"
    TRUNCATED = "truncated"
    CREDENTIALS = "credentials"
    INTERNAL = "internal"


REASON_MEANINGS: dict[str, str] = {
    Reason.LOADING: "the server's process is there and does not listen yet",
    Reason.GONE: "the server was up, and discovery no longer finds it",
    Reason.REFUSED: "nothing listens on the port",
    Reason.UNRESOLVED: "the host name has no address",
    Reason.UNREACHABLE: "the network offers no way to the host",
    Reason.TIMEOUT: "no whole answer came before the deadline",
    Reason.TLS: "the certificate or the TLS handshake was refused",
    Reason.CLOSED: "the connection closed before an answer came",
    Reason.UNAUTHORIZED: "the server answered 401 or 403",
    Reason.HTTP_STATUS: "the server answered with another status than 200",
    Reason.REDIRECT: "a redirect to another host, in a loop, or too many in a row",
    Reason.ENCODING: "the body's compression is broken or of an unknown kind",
    Reason.TOO_LARGE: "the body is larger than the limit",
    Reason.TOO_MANY_SERIES: "the page has more series than the limit",
    Reason.EMPTY: "the page is empty (a lost PROMETHEUS_MULTIPROC_DIR does this)",
    Reason.HTML: "the page is HTML: a proxy or a login page answered",
    Reason.NOT_METRICS: "the page is not in a format of Prometheus",
    Reason.NO_VLLM_FAMILIES: "the page has no vLLM families (wrong port, or --disable-log-stats)",
    Reason.TRUNCATED: "the page ended early; its whole families were kept",
    Reason.CREDENTIALS: "a token, password or certificate file cannot be read",
    Reason.INTERNAL: "a fault of vllmwatch itself; /debug/last has the text",
}


class DropReason(StrEnum):
    """The reason that samples of a page that was read did not reach ours."""

    INVALID_LINE = "invalid_line"
    DUPLICATE_SERIES = "duplicate_series"
    TYPE_CONFLICT = "type_conflict"
    RESERVED_NAME = "reserved_name"


DROP_MEANINGS: dict[str, str] = {
    DropReason.INVALID_LINE: "the line is not in the format, or its value is not a number",
    DropReason.DUPLICATE_SERIES: "the page has the series twice; the first was taken",
    DropReason.TYPE_CONFLICT: "the family has another type here than elsewhere",
    DropReason.RESERVED_NAME: "the name begins with vllmwatch_, which is ours",
}
