"""From a server and what it listens on to the addresses of its pages."""

import pytest

from tests.sources.processes.tables import DATA_PARALLEL, SUPERVISED, tree_of, trees
from vllmwatch.sources.processes.flags import read_flags
from vllmwatch.sources.processes.locate import Sight, Unreachable, locate
from vllmwatch.sources.processes.servers import PublishedPort, ServerTree
from vllmwatch.sources.processes.sockets import Listener, Namespace
from vllmwatch.sources.target import Origin, Target


def here(*listeners: Listener, inodes: frozenset[int] | None = None, ours: bool = True) -> Sight:
    owned = frozenset(entry.inode for entry in listeners) if inodes is None else inodes
    addresses = ("10.0.0.5", "172.17.0.1") if ours else ("172.18.0.5",)
    return Sight(Namespace(listeners, addresses, ours=ours, of_host=ours), owned)


def found(tree: ServerTree, sight: Sight, *published: PublishedPort) -> list[tuple[str, str, bool]]:
    flags = None if tree.arguments is None else read_flags(tree.arguments)
    return [(target.url, target.server, target.loading) for target in locate(tree, flags, sight, published, "node1")]


def test_the_port_of_the_command_line_wins_over_all_that_listens() -> None:
    others = (Listener("0.0.0.0", 29500, 2), Listener("127.0.0.1", 41001, 3))
    sight = here(Listener("0.0.0.0", 8120, 1), *others)
    (tree,) = trees(*DATA_PARALLEL)
    (target,) = locate(tree, read_flags(tree.arguments or ()), sight, (), "node1")
    assert target == Target("http://127.0.0.1:8120/metrics", "node1:8120", "node1", Origin.PROCESS, pid=8146)


def test_a_server_that_does_not_listen_yet_is_loading_under_its_port() -> None:
    assert found(tree_of("--port", "8100"), here()) == [("http://127.0.0.1:8100/metrics", "node1:8100", True)]
    assert found(tree_of(), here(Listener("127.0.0.1", 29500, 1))) == [
        ("http://127.0.0.1:8000/metrics", "node1:8000", True)
    ]


def test_a_port_that_another_process_listens_on_is_not_ours() -> None:
    sight = here(Listener("0.0.0.0", 8000, 7), inodes=frozenset({1, 2}))
    assert found(tree_of(), sight) == [("http://127.0.0.1:8000/metrics", "node1:8000", True)]


def test_where_sockets_cannot_be_told_apart_the_port_alone_decides() -> None:
    sight = Sight(here(Listener("0.0.0.0", 8000, 7)).namespace, None)
    assert found(tree_of(), sight) == [("http://127.0.0.1:8000/metrics", "node1:8000", False)]


@pytest.mark.parametrize(
    ("bound", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:8000/metrics"),
        ("127.0.0.1", "http://127.0.0.1:8000/metrics"),
        ("127.0.0.9", "http://127.0.0.9:8000/metrics"),
        ("10.0.0.5", "http://10.0.0.5:8000/metrics"),
        ("::", "http://[::1]:8000/metrics"),
        ("::1", "http://[::1]:8000/metrics"),
    ],
)
def test_the_address_that_is_listened_on_is_the_one_scraped(bound: str, url: str) -> None:
    assert found(tree_of(), here(Listener(bound, 8000, 1))) == [(url, "node1:8000", False)]


def test_each_rank_with_a_port_of_its_own_is_a_target() -> None:
    (tree,) = trees(*SUPERVISED)
    sight = here(Listener("0.0.0.0", 8130, 1), Listener("0.0.0.0", 9256, 2))
    assert found(tree, sight) == [
        ("http://127.0.0.1:8130/metrics", "node1:8130", False),
        ("http://127.0.0.1:8131/metrics", "node1:8131", True),
    ]


def test_tls_makes_https_whose_certificate_cannot_name_the_loopback_address() -> None:
    tree = tree_of("--ssl-keyfile", "k", "--ssl-certfile", "c")
    (target,) = locate(tree, read_flags(tree.arguments or ()), here(Listener("0.0.0.0", 8000, 1)), (), "n")
    assert target.url == "https://127.0.0.1:8000/metrics"
    assert target.access.insecure_skip_verify is True


def test_a_headless_part_has_no_page_and_is_no_problem() -> None:
    assert found(tree_of("--headless"), here()) == []


@pytest.mark.parametrize(
    ("flags", "why"),
    [(("--uds", "/run/v.sock"), r"Unix socket /run/v\.sock"), (("--grpc",), "gRPC alone")],
)
def test_a_server_without_http_says_why(flags: tuple[str, ...], why: str) -> None:
    with pytest.raises(Unreachable, match=rf"process 500: .*{why}"):
        found(tree_of(*flags), here())


def test_a_network_that_cannot_be_seen_says_so() -> None:
    with pytest.raises(Unreachable, match="cannot be looked at"):
        found(tree_of(), Sight(None, None))


TITLED = (10, 1, ("VLLM::APIServer",))


def test_a_title_leaves_the_sockets_to_say_the_port() -> None:
    (tree,) = trees(TITLED)
    assert found(tree, here(Listener("0.0.0.0", 9123, 1)))[0][0] == "http://127.0.0.1:9123/metrics"
    several = (Listener("0.0.0.0", 8000, 1), Listener("127.0.0.1", 41001, 2))
    assert found(tree, here(*several))[0][0] == "http://127.0.0.1:8000/metrics"


def test_a_title_with_several_ports_is_not_guessed_at() -> None:
    (tree,) = trees(TITLED)
    with pytest.raises(Unreachable, match="listens on 9000, 9001; name the target"):
        found(tree, here(Listener("0.0.0.0", 9001, 1), Listener("0.0.0.0", 9000, 2)))
    with pytest.raises(Unreachable, match="listens on none yet"):
        found(tree, here())
    with pytest.raises(Unreachable, match="listens on none yet"):
        found(tree, Sight(here(Listener("0.0.0.0", 22, 1)).namespace, None))


def test_port_zero_is_found_by_its_socket() -> None:
    assert found(tree_of("--port", "0"), here(Listener("0.0.0.0", 38123, 1))) == [
        ("http://127.0.0.1:38123/metrics", "node1:38123", False)
    ]


def test_a_container_is_reached_by_its_address_and_named_by_node_and_address() -> None:
    assert found(tree_of(), here(Listener("0.0.0.0", 8000, 1), ours=False)) == [
        ("http://172.18.0.5:8000/metrics", "node1/172.18.0.5:8000", False)
    ]


def test_a_published_port_names_the_server_of_a_container() -> None:
    door = PublishedPort("0.0.0.0", 8080, "172.18.0.5", 8000)
    others = (PublishedPort("0.0.0.0", 8081, "172.18.0.6", 8000), PublishedPort("0.0.0.0", 8082, "172.18.0.5", 8001))
    sight = here(Listener("0.0.0.0", 8000, 1), ours=False)
    assert found(tree_of(), sight, *others, door) == [("http://127.0.0.1:8080/metrics", "node1:8080", False)]
    bound = PublishedPort("10.0.0.5", 8080, "172.18.0.5", 8000)
    assert found(tree_of(), sight, bound) == [("http://10.0.0.5:8080/metrics", "node1:8080", False)]


def test_seen_from_a_container_a_server_of_the_host_keeps_the_name_that_the_host_gives_it() -> None:
    namespace = Namespace((Listener("0.0.0.0", 8000, 1),), ("10.0.0.5", "172.17.0.1"), ours=False, of_host=True)
    assert found(tree_of(), Sight(namespace, frozenset({1}))) == [("http://10.0.0.5:8000/metrics", "node1:8000", False)]


def test_a_container_that_listens_to_itself_alone_says_what_to_do() -> None:
    with pytest.raises(Unreachable, match=r"--host 0\.0\.0\.0"):
        found(tree_of(), here(Listener("127.0.0.1", 8000, 1), ours=False))
    with pytest.raises(Unreachable, match=r"--host 0\.0\.0\.0"):
        found(tree_of("--host", "localhost"), here(ours=False))
