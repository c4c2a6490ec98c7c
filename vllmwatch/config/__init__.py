"""Settings, options, environment and file become one frozen Config; whatever is wrong is said all at once."""

from vllmwatch.config.load import find_file, load_config
from vllmwatch.config.model import Config

__all__ = ["Config", "find_file", "load_config"]
