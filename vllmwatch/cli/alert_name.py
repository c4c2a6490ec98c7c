"""The names of alerts as people type them."""

import difflib

from vllmwatch.catalog.alert_names import ALERT_NAMES


def known_alert(name: str) -> str | None:
    """Return the alert of a name in any case, or of the name of its page as links have it (gpu_lost); None for none."""
    return {each.lower(): each for each in ALERT_NAMES}.get(name.replace("_", "").lower())


def near_alert(name: str) -> str | None:
    """Return the alert that was meant by a name, or by one that is mistyped; None where none is near."""
    near = difflib.get_close_matches(name, ALERT_NAMES, n=1)
    return known_alert(name) or (near[0] if near else None)
