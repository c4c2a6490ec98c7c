"""The settings in force: one frozen record for everybody, and the model that pydantic-settings fills."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, create_model
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from vllmwatch.config.file import ConfigFile
from vllmwatch.config.given import Given, Held
from vllmwatch.sources.logs.origin import LogOrigin
from vllmwatch.sources.target import ServerGpus, Target
from vllmwatch.spec.alert import Severity
from vllmwatch.spec.receiver import QuietHours, Receiver, Team
from vllmwatch.spec.setting import ENVIRONMENT_PREFIX, Setting


@dataclass(frozen=True, slots=True)
class Config:
    """All settings in force, in base units; the fields are the keys of catalog/settings.py.

    `origins` says for each key where its value came from ("default", `FILE:LINE`, a variable or an option);
    `file` is the configuration file that was read, if there was one.
    """

    listen: str
    targets: tuple[Target, ...]
    target_files: tuple[str, ...]
    servers: tuple[ServerGpus, ...]
    discover: bool
    discover_interval_seconds: float
    node: str
    scrape_timeout_seconds: float
    scrape_timeout_offset_seconds: float
    body_limit_bytes: int
    series_limit: int
    redirect_limit: int
    keep_created: bool
    metric_prefixes: tuple[str, ...]
    drop_labels: tuple[str, ...]
    target_gone_seconds: float
    sample_interval_seconds: float
    nvml: bool
    kernel_log: str
    log_files: tuple[LogOrigin, ...]
    log_units: tuple[LogOrigin, ...]
    log_state_file: str | None
    price_per_gpu_hour: float | None
    price_per_kilowatt_hour: float | None
    reload_over_http: bool
    gpu_temperature_celsius: float
    kv_cache_usage_ratio: float
    request_latency_p99_seconds: float
    time_to_first_token_p99_seconds: float
    inter_token_latency_p99_seconds: float
    queue_time_p90_seconds: float
    request_latency_objective_ratio: float
    time_to_first_token_objective_ratio: float
    availability_objective_ratio: float
    request_latency_edges: tuple[float, ...]
    time_to_first_token_edges: tuple[float, ...]
    inter_token_latency_edges: tuple[float, ...]
    models: Mapping[str, Mapping[str, float]]
    severities: Mapping[str, Severity]
    direct_jobs: str
    gpu_metrics: str
    prometheus_url: str
    alertmanager_url: str
    team: str
    external_labels: tuple[str, ...]
    grafana_url: str
    grafana_metrics_source: str
    grafana_logs_source: str
    runbook_base_url: str
    receivers: tuple[Receiver, ...]
    page_to: tuple[str, ...]
    ticket_to: tuple[str, ...]
    teams: tuple[Team, ...]
    heartbeat_to: str
    quiet_hours: QuietHours | None
    loki_url: str
    log_containers: bool
    log_time_zone: str
    log_payloads: bool
    log_retention_seconds: float
    log_payload_retention_seconds: float
    log_level: str
    log_format: str
    listen_host: str
    listen_port: int
    origins: Mapping[str, str] = field(default_factory=dict, hash=False)
    file: Path | None = None


class _EnvironmentSource(EnvSettingsSource):
    """The variables of one given environment."""

    def __init__(
        self, model: type[BaseSettings], settings: tuple[Setting, ...], environment: Mapping[str, str]
    ) -> None:
        self._settings = {setting.key: setting for setting in settings}
        self._environment = environment
        super().__init__(model)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): text for name, text in self._environment.items() if name.startswith(ENVIRONMENT_PREFIX)}

    def prepare_field_value(self, field_name: str, field: FieldInfo, value: Any, value_is_complex: bool) -> Any:  # noqa: ARG002, FBT001
        return given_by_environment(self._settings[field_name], value)


class _FileSource(PydanticBaseSettingsSource):
    """The values of a configuration file, each with its line."""

    def __init__(self, model: type[BaseSettings], file: ConfigFile) -> None:
        super().__init__(model)
        self._file = file

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002
        return self._file.given(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return {key: self._file.given(key) for key in self._file.values}


def given_by_environment(setting: Setting, text: str | None) -> Given | None:
    """Return what a variable gives; an empty one counts as not set, unless the text may be empty."""
    if text is None or (text == "" and not setting.may_be_empty):
        return None
    return Given(text, setting.environment, textual=True)


def build_model(
    settings: tuple[Setting, ...],
    readers: Mapping[str, Callable[[Given], object]],
    environment: Mapping[str, str],
    file: ConfigFile,
) -> type[BaseSettings]:
    """Return the pydantic model of the settings: options win over environment, that over file, that over default.

    `readers` turn what was given into a value, by key. Each field of an instance is a Held.
    """

    class Base(BaseSettings):
        model_config = SettingsConfigDict(
            env_prefix=ENVIRONMENT_PREFIX, extra="ignore", frozen=True, validate_default=False
        )

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            *_args: Any,
            **_others: Any,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return (
                init_settings,
                _EnvironmentSource(settings_cls, settings, environment),
                _FileSource(settings_cls, file),
            )

    shape: dict[str, Any] = {
        setting.key: (
            Annotated[Any, BeforeValidator(_holding(readers[setting.key]))],
            Held(setting.default, "default"),
        )
        for setting in settings
    }
    model: type[BaseSettings] = create_model("Settings", __base__=Base, **shape)
    return model


def _holding(read: Callable[[Given], object]) -> Callable[[Given], Held]:
    return lambda given: Held(read(given), given.place(), given)
