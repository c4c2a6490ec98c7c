"""What the value of a setting that is a list or a mapping looks like, as the lines below its key."""

from collections.abc import Mapping

from vllmwatch.spec.setting import Form

EXAMPLES: Mapping[Form, tuple[str, ...]] = {
    Form.TARGETS: (
        '  - "gpu1:8000"',
        '  - {url: "https://gpu2", server: chat, bearer_token_file: /run/secrets/vllm}',
    ),
    Form.SERVERS: ('  - {url: "http://head:8000", gpus: [0, "GPU-8932f937", "0000:3b:00.0"]}',),
    Form.MODELS: ("  org/model: {request_latency_p99_seconds: 10, kv_cache_usage_ratio: 0.95}",),
    Form.SEVERITIES: ("  KvCacheUsageHigh: page",),
    Form.RECEIVERS: (
        "  - {name: chat, kind: slack, api_url_file: /run/secrets/slack}",
        "  - {name: phone, kind: pushover, user_key_file: /run/secrets/user, token_file: /run/secrets/token}",
    ),
    Form.TEAMS: ("  chat: {page_to: [phone], ticket_to: [chat]}",),
}
