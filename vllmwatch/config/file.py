"""Reads vllmwatch.yml: its settings, and the line of each."""

from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

import yaml

from vllmwatch.config.given import Given
from vllmwatch.errors import ConfigError
from vllmwatch.sources.address import mask_secrets
from vllmwatch.sources.unicode_text import writable

SIZE_LIMIT_BYTES = 4 * 1024 * 1024
_MERGE_TAG = "tag:yaml.org,2002:merge"
_HINT = "See docs/reference/settings.md for every setting, or write a fresh file with `vllmwatch init`"

# What a value becomes in YAML by its first character, in the words of PyYAML's messages.
_SIGNS = {"*": "an alias", "&": "an anchor", "!": "a tag"}

Path_ = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a configuration file says: raw values by key, in the order of the file, and the line of every part."""

    path: str
    values: dict[str, object] = field(default_factory=dict)
    lines: dict[Path_, int] = field(default_factory=dict)

    def given(self, key: str) -> Given:
        """Return the value of a key with its place."""
        below = {path[1:]: line for path, line in self.lines.items() if path[0] == key}
        return Given(self.values[key], f"{self.path}:{self.lines[key,]}", textual=False, file=self.path, lines=below)


def read_config_file(path: Path) -> ConfigFile:
    """Read a file; raises ConfigError when it cannot be read, is not YAML, or names a key twice."""
    name = writable(str(path))
    return parse_config(_decode(_read_bytes(path, name), name), name)


def _read_bytes(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(SIZE_LIMIT_BYTES + 1)
    except FileNotFoundError:
        hint = f"Write one with `vllmwatch init {quote(name)}`."
        raise ConfigError(f"{name}: there is no such file", hint=hint) from None
    except IsADirectoryError:
        raise ConfigError(f"{name}: this is a directory, a file is asked for", hint=_HINT) from None
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror}", hint="Check its owner and its mode.") from None
    if len(content) > SIZE_LIMIT_BYTES:
        raise ConfigError(f"{name}: larger than {SIZE_LIMIT_BYTES} bytes: this is no configuration", hint=_HINT)
    return content


def _decode(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}:{line}: byte 0x{content[error.start]:02x} is not UTF-8", hint="Save the file as UTF-8."
        ) from None


def parse_config(text: str, path: str) -> ConfigFile:
    """Read the text of a configuration file; `path` is the name that messages give it."""
    loader = yaml.SafeLoader("")
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        return _from_root(loader, root, path)
    except yaml.reader.ReaderError as error:
        raise ConfigError(f"{path}: a character that YAML does not allow: {_code(error)}", hint=_HINT) from None
    except yaml.MarkedYAMLError as error:
        raise ConfigError(_explain(error, path), hint=_HINT) from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deep", hint=_HINT) from None
    except (ValueError, AttributeError, KeyError, TypeError):
        # PyYAML's constructors raise these for a value that does not fit its tag, written or guessed (2026-99-99).
        raise ConfigError(f"{path}: a value that is not what its form or its tag says", hint=_HINT) from None
    finally:
        loader.dispose()


def _from_root(loader: yaml.SafeLoader, root: yaml.Node | None, path: str) -> ConfigFile:
    if root is None or (isinstance(root, yaml.ScalarNode) and root.tag.endswith(":null")):
        return ConfigFile(path)
    if not isinstance(root, yaml.MappingNode):
        line = root.start_mark.line + 1
        raise ConfigError(f"{path}:{line}: settings are asked for, each on a line as 'key: value'", hint=_HINT)
    lines: dict[Path_, int] = {}
    faults: list[str] = []
    _walk(root, (), lines, faults, set())
    if faults:
        raise ConfigError("\n".join(f"{path}:{fault}" for fault in faults), hint=_HINT)
    loader.flatten_mapping(root)
    values = {str(key.value): loader.construct_object(value, deep=True) for key, value in root.value}
    for key, _ in root.value:
        lines.setdefault((str(key.value),), key.start_mark.line + 1)
    return ConfigFile(path, values, lines)


def _walk(node: yaml.Node, path: Path_, lines: dict[Path_, int], faults: list[str], seen: set[int]) -> None:
    """Note the line of every part; a key that stands twice is a fault, since YAML's loader would keep the last."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            lines[(*path, index)] = item.start_mark.line + 1
            _walk(item, (*path, index), lines, faults, seen)
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.tag == _MERGE_TAG:
            continue
        if not isinstance(key, yaml.ScalarNode):
            faults.append(f"{line}: a key must be a text")
            continue
        place = (*path, str(key.value))
        if place in lines:
            faults.append(f"{line}: key {mask_secrets(key.value)!r} stands twice (first on line {lines[place]})")
        lines[place] = line
        _walk(value, place, lines, faults, seen)


def _code(error: yaml.reader.ReaderError) -> str:
    character: int | str = error.character
    return f"U+{character if isinstance(character, int) else ord(character):04X}"


def _explain(error: yaml.MarkedYAMLError, path: str) -> str:
    mark = error.problem_mark or error.context_mark
    place = path if mark is None else f"{path}:{mark.line + 1}"
    problem = error.problem or "it cannot be read"
    if "'\\t'" in problem:
        return f"{place}: a tab stands where YAML asks for spaces"
    if "expected a single document" in (error.context or ""):
        return f"{place}: a second document begins; one is asked for"
    if "mapping values are not allowed" in problem:
        return f"{place}: not valid YAML: a second ': ' on the line, or wrong indentation; put the value in quotes"
    for sign, word in _SIGNS.items():
        if word.split()[1] in problem:  # it names what follows the sign, and that may be a secret
            return f"{place}: not valid YAML: a value begins with {sign}, which makes it {word}; put it in quotes"
    return f"{place}: not valid YAML: {problem}"
