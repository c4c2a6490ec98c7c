"""Takes mappings and lists apart, from a file as they are and from a variable or an option as JSON."""

import difflib
import json
from collections.abc import Iterable
from typing import Any

from vllmwatch.config.given import FaultsError, Given
from vllmwatch.config.values import describe, split_list
from vllmwatch.spec.setting import Form


def mapping(given: Given, key: str, form: Form) -> dict[str, Any]:
    """Return a mapping whose keys are texts; raises FaultsError for anything else."""
    value = parsed(given, key)
    if not isinstance(value, dict):
        raise FaultsError(f"{given.where}: {key}: {form} is asked for, not {describe(value)}")
    for name in value:
        if not isinstance(name, str):
            raise FaultsError(
                f"{given.place(name)}: {key}: a text is asked for, not {describe(name)}; put it in quotes"
            )
    return value


def parsed(given: Given, key: str) -> object:
    """Return what was given; from a place that holds nothing but text, what that text says in JSON."""
    if not given.textual or not isinstance(given.value, str):
        return given.value
    try:
        return split_list(given.value) if given.value.lstrip().startswith("[") else json.loads(given.value)
    except (ValueError, RecursionError):
        raise FaultsError(f"{given.where}: {key}: JSON is asked for, and this is none") from None


def near(name: str, known: Iterable[str]) -> str:
    """Return the question whether one of the known was meant, where one is near."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {found[0]!r}?" if found else ""
