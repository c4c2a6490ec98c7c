"""Who is watched, and who is gone."""

from dataclasses import replace

from tests.exporter.vllm.pages import translator
from vllmwatch.exporter.threads import DaemonPool
from vllmwatch.exporter.watch import Facts, Watch
from vllmwatch.exporter.watches import Gone, Watches
from vllmwatch.sources.target import Origin, Target
from vllmwatch.sources.vllm.fetch import Fetcher, Limits
from vllmwatch.spec.reason import Reason

A = Target("http://127.0.0.1:1/metrics", "a:1", "a", Origin.PROCESS, pid=1)
B = Target("http://127.0.0.1:2/metrics", "b:2", "b", Origin.FILE_SD)


def watches(handed_on: dict[str, Gone] | None = None) -> Watches:
    pool = DaemonPool(1, "test")

    def make(target: Target, facts: Facts | None) -> Watch:
        return Watch(target, lambda: Fetcher(target, Limits()), translator(), pool, facts=facts)

    return Watches(make, 3600, handed_on)


def was_up(watch: Watch) -> None:
    watch.facts = Facts(model_name="org/m", version="0.32.0", last_success_seconds=1000.0)


def test_a_target_keeps_its_watch_while_it_stays_the_same() -> None:
    one = watches()
    (first,) = one.update([A], 0)
    (again, _) = one.update([A, B], 15)
    assert again is first


def test_a_target_that_was_up_stays_as_gone_for_an_hour() -> None:
    one = watches()
    (watch,) = one.update([A], 0)
    was_up(watch)
    one.update([], 100)
    (gone,) = one.gone_samples()
    assert (gone.target, gone.reason, gone.facts.version) == (A, Reason.GONE, "0.32.0")
    one.update([], 3699)
    assert one.gone_samples()
    one.update([], 3700)
    assert one.gone_samples() == []


def test_a_target_that_was_never_up_is_not_missed() -> None:
    one = watches()
    one.update([A], 0)
    one.update([], 1)
    assert one.gone_samples() == []


def test_one_that_a_file_of_targets_names_no_more_was_taken_out_on_purpose() -> None:
    one = watches()
    for watch in one.update([A, B], 0):
        was_up(watch)
    one.update([], 1)
    assert [sample.target for sample in one.gone_samples()] == [A]


def test_one_of_the_same_name_takes_the_place_and_the_facts() -> None:
    one = watches()
    (watch,) = one.update([A], 0)
    was_up(watch)
    one.update([], 1)
    restarted = replace(A, pid=2)
    (watch,) = one.update([restarted], 2)
    assert one.gone_samples() == []
    assert watch.target.pid == 2
    assert watch.facts.model_name == "org/m"


def test_a_changed_target_gets_a_new_watch_with_the_old_facts() -> None:
    one = watches()
    (before,) = one.update([A], 0)
    was_up(before)
    (after,) = one.update([replace(A, pid=9)], 1)
    assert after is not before
    assert after.facts == before.facts


def test_of_two_targets_of_one_name_the_first_is_watched() -> None:
    one = watches()
    (watch,) = one.update([A, replace(B, server="a:1")], 0)
    assert watch.target is A


def test_watches_stand_in_the_order_of_discovery() -> None:
    one = watches()
    assert [watch.target for watch in one.update([B, A], 0)] == [B, A]


def test_what_is_known_is_handed_on_when_the_configuration_is_read_anew() -> None:
    one = watches()
    (found, kept) = one.update([A, B], 0)
    was_up(found)
    was_up(kept)
    one.update([B], 10)
    other = watches(one.handed_on(20))
    (again,) = other.update([B], 20)
    assert again.facts == kept.facts
    assert [sample.target for sample in other.gone_samples()] == [A]
    other.update([B], 3609)
    assert other.gone_samples()
    other.update([B], 3610)
    assert other.gone_samples() == []


def test_a_target_that_the_configuration_names_no_more_is_not_missed() -> None:
    one = watches()
    (watch,) = one.update([replace(A, origin=Origin.STATIC)], 0)
    was_up(watch)
    other = watches(one.handed_on(20))
    other.update([], 20)
    assert other.gone_samples() == []


def test_a_server_under_another_name_takes_its_own_place() -> None:
    one = watches()
    (watch,) = one.update([A], 0)
    was_up(watch)
    one.update([replace(A, server="renamed:1", node="renamed")], 10)
    assert one.gone_samples() == []
