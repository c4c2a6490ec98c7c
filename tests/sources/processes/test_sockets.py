"""What the kernel writes in /proc about sockets and addresses, read right."""

from vllmwatch.sources.processes.sockets import Listener, parse_listeners, parse_local_addresses

TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1FA4 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 22872 1 0
   1: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1660 1 0
   2: 0100007F:1FA4 0100007F:CAD2 01 00000000:00000000 00:00000000 00000000     0        0 30001 1 0
   3: 050012AC:1F40 00000000:0000 0A
"""

REMOTE = f"{'0' * 32}:0000 0A 00000000:00000000 00:00000000 00000000     0        0"
TCP6 = f"""\
  sl  local_address remote_address st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode
   0: 00000000000000000000000000000000:1F40 {REMOTE} 501 1 0 100
   1: 00000000000000000000000001000000:1F41 {REMOTE} 502 1 0 100
   2: 0000000000000000FFFF00000100007F:1F42 {REMOTE} 503 1 0 100
   3: B80D0120000000000000000001000000:1F43 {REMOTE} 504 1 0 100
"""

FIB_TRIE = """\
Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 127.0.0.0/8 2 0 2
        +-- 127.0.0.0/31 1 0 0
           |-- 127.0.0.0
              /8 host LOCAL
           |-- 127.0.0.1
              /32 host LOCAL
        |-- 127.255.255.255
           /32 link BROADCAST
     +-- 172.18.0.0/16 2 0 2
        |-- 172.18.0.0
           /16 link UNICAST
        |-- 172.18.0.5
           /32 host LOCAL
        |-- 172.18.255.255
           /32 link BROADCAST
     |-- 10.0.0.5
        /32 host LOCAL
Local:
     |-- 172.18.0.5
        /32 host LOCAL
"""


def test_listening_sockets_are_read_and_others_are_not() -> None:
    assert list(parse_listeners(TCP)) == [Listener("127.0.0.1", 8100, 22872), Listener("0.0.0.0", 2024, 1660)]


def test_addresses_of_ipv6_are_read_and_mapped_ones_are_ipv4() -> None:
    assert list(parse_listeners(TCP6)) == [
        Listener("::", 8000, 501),
        Listener("::1", 8001, 502),
        Listener("127.0.0.1", 8002, 503),
        Listener("2001:db8::1", 8003, 504),
    ]


def test_the_addresses_of_a_namespace_are_its_local_ones_without_loopback() -> None:
    assert parse_local_addresses(FIB_TRIE) == ("10.0.0.5", "172.18.0.5")
    assert parse_local_addresses("") == ()
