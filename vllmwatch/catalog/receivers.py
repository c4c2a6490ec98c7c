"""Every kind of receiver that pages and tickets can go to, with its keys.

Names and fields are those of Alertmanager 0.28: https://prometheus.io/docs/alerting/0.28/configuration/
"""

from vllmwatch.spec.receiver import ReceiverKey, ReceiverKind, Value

OLDEST_ALERTMANAGER = (0, 28)


def _text(key: str, help_text: str, *, required: bool = True) -> ReceiverKey:
    return ReceiverKey(key, Value.TEXT, help_text, required)


def _secret(key: str, help_text: str, *, required: bool = True) -> ReceiverKey:
    return ReceiverKey(key, Value.SECRET_FILE, help_text, required)


RECEIVER_KINDS: tuple[ReceiverKind, ...] = (
    ReceiverKind(
        "slack",
        "slack_configs",
        "A channel of Slack.",
        (
            _secret("api_url_file", "The address of an incoming webhook."),
            _text("channel", "The channel, where the webhook allows another than its own.", required=False),
        ),
    ),
    ReceiverKind(
        "pagerduty",
        "pagerduty_configs",
        "A service of PagerDuty.",
        (_secret("routing_key_file", "The integration key (Events API v2)."),),
    ),
    ReceiverKind(
        "email",
        "email_configs",
        "A mailbox.",
        (
            _text("to", "The address of the mailbox; several stand between commas."),
            _text("from", "The address of the sender."),
            ReceiverKey("smarthost", Value.HOST_AND_PORT, "Host and port of the mail server."),
            _text("auth_username", "The user at the mail server.", required=False),
            _secret("auth_password_file", "The password at the mail server.", required=False),
        ),
    ),
    ReceiverKind(
        "msteams",
        "msteamsv2_configs",
        "A channel of Microsoft Teams.",
        (_secret("webhook_url_file", "The address of a workflow that posts to the channel."),),
    ),
    ReceiverKind(
        "discord",
        "discord_configs",
        "A channel of Discord.",
        (_secret("webhook_url_file", "The address of a webhook of the channel."),),
    ),
    ReceiverKind(
        "telegram",
        "telegram_configs",
        "A chat of Telegram.",
        (
            _secret("bot_token_file", "The token of the bot."),
            ReceiverKey("chat_id", Value.NUMBER, "The number of the chat."),
        ),
    ),
    ReceiverKind(
        "pushover",
        "pushover_configs",
        "A phone, through Pushover.",
        (
            _secret("user_key_file", "The key of the user."),
            _secret("token_file", "The token of the application."),
        ),
    ),
    ReceiverKind(
        "ntfy",
        "webhook_configs",
        "A topic of ntfy, on a server that takes templates (2.10 and later).",
        (
            ReceiverKey("url", Value.URL, "The address of the topic, such as https://ntfy.sh/our-gpus."),
            _secret("token_file", "The access token, where the topic asks for one.", required=False),
        ),
    ),
    ReceiverKind(
        "webhook",
        "webhook_configs",
        "Any program that takes Alertmanager's JSON by POST.",
        (
            ReceiverKey("url", Value.URL, "The address, where it holds no secret.", required=False),
            _secret("url_file", "The address, where it does.", required=False),
        ),
        one_of=("url", "url_file"),
    ),
)
