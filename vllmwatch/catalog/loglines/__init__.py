"""Every line of a log that means something: how it begins, what it tells, and what in it nobody may keep."""

from vllmwatch.catalog.loglines.events import KERNEL_EVENTS, VLLM_EVENTS
from vllmwatch.catalog.loglines.milestones import ACCESS, MILESTONES, PROBE, REQUEST_ID
from vllmwatch.catalog.loglines.prefixes import CLEANINGS, JSON_KEYS, LEVELS, PREFIXES
from vllmwatch.catalog.loglines.redactions import REDACTIONS
from vllmwatch.spec.logline import LogCatalog

LOG_CATALOG = LogCatalog(
    cleanings=CLEANINGS,
    prefixes=PREFIXES,
    json_keys=JSON_KEYS,
    levels=LEVELS,
    milestones=MILESTONES,
    events=(*VLLM_EVENTS, *KERNEL_EVENTS),
    redactions=REDACTIONS,
    request_id=REQUEST_ID,
    probe=PROBE,
    access=ACCESS,
)
