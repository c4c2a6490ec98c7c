"""The exporter's own log."""

import json
import logging
import subprocess
import sys

from vllmwatch.exporter.logs import JsonFormatter


def test_a_json_line_is_one_object_with_its_traceback() -> None:
    fault = ValueError("line one\nline two")
    record = logging.LogRecord("a.b", logging.WARNING, "f", 1, "said %s", ("é\n",), (ValueError, fault, None))
    line = JsonFormatter().format(record)
    assert "\n" not in line
    entry = json.loads(line)
    assert (entry["level"], entry["logger"], entry["message"]) == ("warning", "a.b", "said é\n")
    assert entry["time"].endswith("+00:00")
    assert "line two" in entry["traceback"]


def test_the_log_goes_to_standard_error_at_its_level() -> None:
    code = (
        "from vllmwatch.exporter import logs; import logging; logs.configure('warning', 'json');"
        "logging.getLogger('x').info('quiet'); logging.getLogger('x').error('loud')"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout == ""
    assert [json.loads(line)["message"] for line in result.stderr.splitlines()] == ["loud"]
