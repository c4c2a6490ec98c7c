"""The exporter's own log, on standard error: text for people, or one JSON object a line."""

import json
import logging
import sys
from datetime import UTC, datetime

_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class JsonFormatter(logging.Formatter):
    """Writes a record as one JSON object: time (UTC), level, logger, message, and the traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


def configure(level: str, form: str) -> None:
    """Send the log of this process to standard error; `level` as logging names it, `form` "text" or "json"."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else logging.Formatter(_TEXT))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # uvicorn tells of its start and end at this level, which our own lines do better.
    logging.getLogger("uvicorn").setLevel(max(logging.WARNING, logging.getLogger().level))
