"""Which containers are read, and what their lines are called: the rules of the file, run as Prometheus runs them."""

import re
from collections.abc import Mapping, Sequence

import pytest

from tests.render.alloy.interpreter import World, compiled, value_of
from tests.render.alloy.language import Block
from tests.render.alloy.shipped import EVERYTHING, statements

_META = "__meta_docker_container"
_REFERENCE = re.compile(r"\$\{?([0-9]+)\}?")


def relabeled(name: str, label: str, labels: Mapping[str, str], world: World | None = None) -> dict[str, str] | None:
    """Return what the rules of a component make of labels; None where they drop them."""
    found = dict(labels)
    component = next(
        each for each in statements() if isinstance(each, Block) and (each.name, each.label) == (name, label)
    )
    for rule in component.blocks():
        said = {key: value_of(node, world or World()) for key, node in rule.attributes().items()}
        pattern = compiled(f"^(?s:{said.get('regex', '(.*)')})$")
        action = said.get("action", "replace")
        if action == "labelkeep":
            found = {key: value for key, value in found.items() if pattern.search(key)}
            continue
        text = said.get("separator", ";").join(found.get(key, "") for key in said.get("source_labels", []))
        match = pattern.search(text)
        if action == "keep" and match is None:
            return None
        if action == "replace" and match is not None:
            groups = [match.group(number) or "" for number in range(pattern.groups + 1)]
            value = _replaced(said.get("replacement", "$1"), groups)
            found[said["target_label"]] = value
    return {key: value for key, value in found.items() if value}


def _replaced(replacement: str, groups: Sequence[str]) -> str:
    return _REFERENCE.sub(lambda reference: groups[int(reference[1])], replacement)


def container(name: str, **labels: str) -> dict[str, str] | None:
    """Return the labels of a container by its name, its labels with double underscores for dots, and its port."""
    port = labels.pop("port", "")
    given = {f"{_META}_label_{key}": value for key, value in labels.items()}
    more = {"__meta_docker_port_private": port} if port else {}
    return relabeled(
        "discovery.relabel",
        "containers",
        {f"{_META}_name": f"/{name}", f"{_META}_id": "abc", "__address__": "172.18.0.2:80", **given, **more},
        World({"VLLMWATCH_NODE": "gpu7"}),
    )


@pytest.mark.parametrize(
    ("name", "labels", "is_read"),
    [
        ("vllm", {}, True),
        ("chat-vllm-1", {}, True),
        ("project-chat-1", {"com_docker_compose_service": "vllm-chat"}, True),
        ("project-chat-1", {"com_docker_compose_service": "chat"}, False),
        ("project-chat-1", {"com_docker_compose_service": "chat", "vllmwatch_logs": "true"}, True),
        ("vllm", {"vllmwatch_logs": "false"}, False),
        ("vllmwatch-loki-1", {"com_docker_compose_service": "loki"}, False),
        ("vllmwatch-vllm-1", {"com_docker_compose_service": "vllm"}, True),
    ],
)
def test_containers_of_vllm_are_read_and_no_others(name: str, labels: dict[str, str], is_read: bool) -> None:
    assert (container(name, **labels) is not None) == is_read


@pytest.mark.parametrize(
    ("labels", "server"),
    [
        ({"com_docker_compose_service": "vllm", "port": "8000"}, "vllm:8000"),
        ({"com_docker_compose_service": "vllm", "port": "9000"}, "vllm:9000"),
        ({"com_docker_compose_service": "vllm"}, "vllm:8000"),
        ({}, "x-vllm-1:8000"),
        ({"com_docker_compose_service": "vllm", "port": "9000", "vllmwatch_server": "chat"}, "chat"),
    ],
)
def test_a_container_has_the_name_of_its_server(labels: dict[str, str], server: str) -> None:
    found = container("x-vllm-1", **labels)
    assert found is not None
    assert found["server"] == server
    assert found["service"] == labels.get("com_docker_compose_service", "x-vllm-1")
    assert (found["node"], found["container"]) == ("gpu7", "x-vllm-1")


def test_a_container_is_the_same_while_it_runs_and_when_it_has_ended() -> None:
    # Alloy keeps the place up to which it has read by all labels: one that changes has it read everything again.
    running = container("x-vllm-1", com_docker_compose_service="vllm", port="8000")
    ended = relabeled(
        "discovery.relabel",
        "containers",
        {f"{_META}_name": "/x-vllm-1", f"{_META}_id": "abc", f"{_META}_label_com_docker_compose_service": "vllm"},
        World({"VLLMWATCH_NODE": "gpu7"}),
    )
    assert running == ended
    assert running is not None
    assert set(running) == {f"{_META}_id", "container", "node", "server", "service"}


def test_containers_that_have_ended_are_found_and_soon() -> None:
    found = next(each for each in statements() if isinstance(each, Block) and each.name == "discovery.docker")
    said = {key: value_of(node, World()) for key, node in found.attributes().items()}
    assert said == {"host": "unix:///var/run/docker.sock", "refresh_interval": "5s"}
    proxied = {key: value_of(node, World({"DOCKER_HOST": "tcp://p:2375"})) for key, node in found.attributes().items()}
    assert proxied["host"] == "tcp://p:2375"
    (states,) = [{key: value_of(node, World()) for key, node in each.attributes().items()} for each in found.blocks()]
    assert states["name"] == "status"
    assert {"running", "restarting", "exited", "dead"} <= set(states["values"])


@pytest.mark.parametrize(
    ("priority", "level"),
    [("emerg", "critical"), ("crit", "critical"), ("error", "error"), ("notice", "info"), ("warning", "warning")],
)
def test_the_kernels_levels_are_those_of_servers(priority: str, level: str) -> None:
    found = relabeled("loki.relabel", "kernel", {"__journal_priority_keyword": priority})
    assert found is not None
    assert found["level"] == level


def test_units_and_files_are_named_by_their_servers() -> None:
    world = World(hostname="gpu3")
    journals = {
        each.label: {key: value_of(node, world) for key, node in each.attributes().items()}
        for each in statements()
        if isinstance(each, Block) and each.name == "loki.source.journal"
    }
    assert journals["kernel"]["matches"] == "_TRANSPORT=kernel"
    units = [said for label, said in journals.items() if label != "kernel"]
    assert [(said["matches"], said["labels"]["server"], said["labels"]["service"]) for said in units] == [
        ("_SYSTEMD_UNIT=vllm.service", "gpu1:8002", "vllm.service"),
        ("_SYSTEMD_UNIT=vllm@3.service", "gpu1:8003", "vllm@3.service"),
    ]
    assert {said["labels"]["node"] for said in units} == {"gpu3"}
    (matched,) = [each for each in statements() if isinstance(each, Block) and each.name == "local.file_match"]
    targets = value_of(matched.attributes()["path_targets"], world)
    assert [(each["server"], each["__path__"], each["node"]) for each in targets] == [
        (server, path, "gpu3") for server, path in EVERYTHING.files
    ]


def test_lines_go_where_the_settings_or_the_environment_say() -> None:
    write = next(each for each in statements() if isinstance(each, Block) and each.name == "loki.write")
    (endpoint,) = write.blocks()
    url = endpoint.attributes()["url"]
    assert value_of(url, World()) == "http://localhost:3100/loki/api/v1/push"
    assert value_of(url, World({"VLLMWATCH_LOKI_URL": "http://loki:3100"})) == "http://loki:3100/loki/api/v1/push"
    assert "external_labels" not in write.attributes()
