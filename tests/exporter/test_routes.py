"""The exporter's routes, with real targets behind them."""

import asyncio
import gzip
import html
import re
import socket
import time
from collections.abc import Coroutine

import pytest

from tests.exporter.services import configured, exporter, target
from tests.exporter.vllm.pages import RECORDED, samples_of
from tests.servers import Handler, answering, closing_after, response, serving, vllm
from vllmwatch.catalog.alert_names import ALERT_FILES
from vllmwatch.errors import ConfigError
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.routes import accepts_gzip
from vllmwatch.exporter.service import Configured, Service
from vllmwatch.sources.discovery import StaticTargets
from vllmwatch.sources.target import Origin, Target

PAGE = (RECORDED / "vllm_0.32.0_data_parallel_2.prom").read_bytes()


def run(test: Coroutine[object, object, None]) -> None:
    asyncio.run(test)


def value(text: str, name: str, **labels: str) -> float | None:
    found = [
        number
        for (sample, pairs), number in samples_of(text).items()
        if sample == name and labels.items() <= dict(pairs).items()
    ]
    assert len(found) <= 1, found
    return found[0] if found else None


def test_the_page_has_targets_exporter_and_vllm() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as server:
            async with exporter(lambda: configured([target(server.url())])) as (client, service):
                await client.get("/metrics")
                # The version is asked for beside the scrape, and known at the next.
                for _ in range(500):
                    if (await service.sample(5)).collection.targets[0].facts.version:
                        break
                    await asyncio.sleep(0.01)
                answer = await client.get("/metrics")
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert value(answer.text, "vllmwatch_target_up", server="box:8000", node="box") == 1
        assert value(answer.text, "vllmwatch_target_error") is None
        assert value(answer.text, "vllmwatch_target_info", version="0.32.0", model_name="org/tiny", role="server") == 1
        samples = samples_of(answer.text)
        engines = {dict(labels)["engine"] for name, labels in samples if name == "vllm:num_requests_running"}
        assert engines == {"0", "1"}
        of_target = [name for name, labels in samples if ("server", "box:8000") in labels]
        ours = [name for name in of_target if name.startswith("vllmwatch_")]
        assert value(answer.text, "vllmwatch_target_samples") == len(of_target) - len(ours)

    run(test())


def test_one_dead_target_costs_itself_alone() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as server, serving(closing_after(b"")) as dead:
            targets = [target(server.url(), "good:1"), target(dead.url(), "dead:1")]
            async with exporter(lambda: configured(targets)) as (client, _):
                text = (await client.get("/metrics")).text
        assert value(text, "vllmwatch_target_up", server="good:1") == 1
        assert value(text, "vllmwatch_target_up", server="dead:1") == 0
        assert value(text, "vllmwatch_target_error", server="dead:1", reason="closed") == 1
        assert any(("server", "good:1") in labels for name, labels in samples_of(text) if name.startswith("vllm:"))

    run(test())


def test_a_slow_target_is_given_up_before_the_scraper_gives_up() -> None:
    def hang(_connection: socket.socket, _request: bytes) -> None:
        time.sleep(3)

    async def test() -> None:
        with serving(vllm(PAGE)) as server, serving(hang) as slow:
            targets = [target(server.url(), "good:1"), target(slow.url(), "slow:1")]
            async with exporter(lambda: configured(targets)) as (client, _):
                started = time.monotonic()
                answer = await client.get("/metrics", headers={"X-Prometheus-Scrape-Timeout-Seconds": "1.2"})
                assert 0.6 < time.monotonic() - started < 2
        assert value(answer.text, "vllmwatch_target_error", server="slow:1", reason="timeout") == 1
        assert value(answer.text, "vllmwatch_target_up", server="good:1") == 1

    run(test())


def test_scrapes_at_once_share_one_collection() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as server:
            async with exporter(lambda: configured([target(server.url())])) as (client, _):
                pages = await asyncio.gather(*(client.get("/metrics") for _ in range(10)))
                fetched = sum(request.startswith(b"GET /metrics") for request in server.requests)
        assert fetched == 1
        assert len({page.text for page in pages}) == 1

    run(test())


def slow(seconds: float) -> Handler:
    """Return a server whose page takes its time."""

    def handle(connection: socket.socket, request: bytes) -> None:
        if b"/metrics" in request:
            time.sleep(seconds)
        connection.sendall(response(PAGE))

    return handle


def timeout(seconds: float) -> dict[str, str]:
    return {"X-Prometheus-Scrape-Timeout-Seconds": str(seconds)}


def test_one_in_a_hurry_does_not_wait_for_one_who_is_not() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as good, serving(slow(3)) as hung:
            targets = [target(good.url(), "good:1"), target(hung.url(), "hung:1")]
            async with exporter(lambda: configured(targets)) as (client, _):
                patient = asyncio.create_task(client.get("/metrics", headers=timeout(20)))
                await asyncio.sleep(0.2)
                started = time.monotonic()
                hurried = (await client.get("/metrics", headers=timeout(1.2))).text
                assert time.monotonic() - started < 2
                assert value(hurried, "vllmwatch_target_up", server="good:1") == 1
                assert value(hurried, "vllmwatch_target_error", server="hung:1", reason="timeout") == 1
                assert value((await patient).text, "vllmwatch_target_up", server="hung:1") == 1
                assert sum(b"GET /metrics" in request for request in hung.requests) == 1

    run(test())


def test_one_with_time_is_not_told_what_one_in_a_hurry_missed() -> None:
    async def test() -> None:
        with serving(slow(1)) as server:
            async with exporter(lambda: configured([target(server.url())])) as (client, service):
                hurried = asyncio.create_task(client.get("/metrics", headers=timeout(0.7)))
                await asyncio.sleep(0.05)
                patient = (await client.get("/metrics", headers=timeout(20))).text
                assert value((await hurried).text, "vllmwatch_target_up") == 0
                assert value(patient, "vllmwatch_target_up") == 1
                assert service.last is not None
                assert service.last.collection.targets[0].up
                assert sum(b"GET /metrics" in request for request in server.requests) == 1

    run(test())


def test_many_that_hang_do_not_hold_up_those_that_answer() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as good, serving(slow(20)) as hung:
            targets = [target(hung.url(f"/{number}/metrics"), f"hung-{number}:1") for number in range(300)]
            targets += [target(good.url(f"/{number}/metrics"), f"good-{number}:1") for number in range(20)]
            async with exporter(lambda: configured(targets)) as (client, _):
                text = (await client.get("/metrics", headers=timeout(6))).text
        up = [name for name, _ in samples_of(text) if name == "vllmwatch_target_up"]
        assert len(up) == 320
        assert text.count("\nvllmwatch_target_error{") == 300
        assert all(value(text, "vllmwatch_target_up", server=f"good-{number}:1") == 1 for number in range(20))

    run(test())


def test_a_server_that_is_gone_stays_so_when_the_configuration_is_read_anew() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as server:
            found = Target(server.url(), "box:8000", "box", Origin.PROCESS)
            answers = [Configured(ExporterOptions(node="box"), StaticTargets([found]))]
            load = lambda: answers[-1]  # noqa: E731
            async with exporter(load) as (client, service):
                await client.get("/metrics")
                answers.append(Configured(ExporterOptions(node="box"), StaticTargets([])))
                for _ in range(2):
                    assert service.reload() is None
                    text = (await client.get("/metrics")).text
                    assert value(text, "vllmwatch_target_error", server="box:8000", reason="gone") == 1
                    assert value(text, "vllmwatch_target_info", server="box:8000", model_name="org/tiny") == 1

    run(test())


def test_it_goes_on_sampling_when_the_clock_is_set_back() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as server:
            now = [2_000_000_000.0]
            load = lambda: configured([target(server.url())], sample_interval_seconds=0.2)  # noqa: E731
            service = Service(load, None, wall_clock=lambda: now[0])
            sampling = asyncio.create_task(service.keep_sampling())
            await asyncio.sleep(0.5)
            now[0] -= 3600
            before = len(server.requests)
            for _ in range(100):
                await asyncio.sleep(0.1)
                if len(server.requests) > before + 3:
                    break
            assert len(server.requests) > before + 3
            sampling.cancel()
            service.close()

    run(test())


def test_one_who_leaves_does_not_end_the_collection_of_others() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as server:
            async with exporter(lambda: configured([target(server.url())])) as (client, service):
                leaving = asyncio.create_task(service.sample(5))
                staying = asyncio.create_task(client.get("/metrics"))
                await asyncio.sleep(0)
                leaving.cancel()
                assert (await staying).status_code == 200

    run(test())


def test_gzip_comes_when_asked() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as server:
            async with exporter(lambda: configured([target(server.url())])) as (client, _):
                zipped = await client.get("/metrics", headers={"Accept-Encoding": "gzip"})
                plain = await client.get("/metrics", headers={"Accept-Encoding": "identity"})
                raw = b"".join([part async for part in zipped.aiter_raw()]) if not zipped.is_closed else b""
        assert zipped.headers["content-encoding"] == "gzip"
        assert "content-encoding" not in plain.headers
        assert int(zipped.headers["content-length"]) < len(plain.content) / 4
        assert raw == b"" or gzip.decompress(raw)
        assert "vllm:num_requests_running{" in zipped.text

    run(test())


@pytest.mark.parametrize(
    ("header", "accepted"),
    [("gzip", True), ("deflate, gzip;q=0.5", True), ("GZIP", True), ("gzip;q=0", False), ("", False), ("br", False)],
)
def test_accept_encoding_is_read_as_the_standard_says(header: str, accepted: bool) -> None:
    assert accepts_gzip(header) is accepted


def test_ready_and_views_wait_for_the_first_sample() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as server:
            async with exporter(lambda: configured([target(server.url())])) as (client, _):
                assert (await client.get("/healthz")).status_code == 200
                for path in ("/-/ready", "/api/v1/fleet", "/sd", "/debug/last"):
                    assert (await client.get(path)).status_code == 503
                await client.get("/metrics")
                for path in ("/-/ready", "/api/v1/fleet", "/sd", "/debug/last", "/"):
                    assert (await client.get(path)).status_code == 200

    run(test())


def test_it_samples_by_itself() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as server:
            load = lambda: configured([target(server.url())], sample_interval_seconds=0.2)  # noqa: E731
            async with exporter(load, sampling=True) as (client, service):
                deadline = time.monotonic() + 10
                while service.last is None or not service.last.collection.targets[0].facts.version:
                    assert time.monotonic() < deadline
                    await asyncio.sleep(0.05)
                fleet = (await client.get("/api/v1/fleet")).json()
        assert service.last is not None
        (seen,) = fleet["servers"]
        assert (seen["server"], seen["up"], seen["version"], seen["model_name"]) == (
            "box:8000",
            True,
            "0.32.0",
            "org/tiny",
        )
        assert [engine["engine"] for engine in seen["engines"]] == ["0", "1"]
        assert fleet["nvml"] == {"up": False, "reason": "disabled", "driver_version": None}

    run(test())


def test_debug_says_why() -> None:
    async def test() -> None:
        with serving(answering(b"HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n")) as server:
            async with exporter(lambda: configured([target(server.url("/metrics?token=secret"))])) as (client, _):
                await client.get("/metrics")
                answer = await client.get("/debug/last")
        (seen,) = answer.json()["targets"]
        assert seen["reason"] == "unauthorized"
        assert "401" in seen["detail"]
        assert "secret" not in answer.text

    run(test())


def test_service_discovery_has_the_form_of_prometheus() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as server:
            async with exporter(lambda: configured([target(server.url("/vllm/metrics"))])) as (client, _):
                await client.get("/metrics")
                groups = (await client.get("/sd", headers={"Host": "gpu1.lan:9836"})).json()
        labels = {"__scheme__": "http", "__metrics_path__": "/vllm/metrics", "server": "box:8000", "node": "box"}
        assert groups == [{"targets": [f"gpu1.lan:{server.port}"], "labels": labels}]

    run(test())


def test_a_bad_configuration_is_refused_and_the_old_one_stays() -> None:
    async def test() -> None:
        with serving(vllm(PAGE)) as server:
            good = [target(server.url())]
            answers: list[Configured | ConfigError] = [
                configured(good, reload_over_http=True),
                ConfigError("vllmwatch.yml:3: unknown key 'tragets'"),
                configured([target(server.url(), "renamed:1")]),
            ]

            def load() -> Configured:
                answer = answers.pop(0)
                if isinstance(answer, ConfigError):
                    raise answer
                return answer

            async with exporter(load) as (client, _):
                refused = await client.post("/-/reload")
                text = (await client.get("/metrics")).text
                assert refused.status_code == 400
                assert "tragets" in refused.text
                assert value(text, "vllmwatch_config_last_reload_successful") == 0
                assert value(text, "vllmwatch_target_up", server="box:8000") == 1
                assert (await client.post("/-/reload")).status_code == 200
                text = (await client.get("/metrics")).text
                assert value(text, "vllmwatch_config_last_reload_successful") == 1
                assert value(text, "vllmwatch_target_up", server="renamed:1") == 1
                assert value(text, "vllmwatch_target_up", server="box:8000") is None
                assert (await client.post("/-/reload")).status_code == 403

    run(test())


def test_the_page_for_people_escapes_what_servers_say() -> None:
    page = b'# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{model_name="<script>x</script>"} 1\n'

    async def test() -> None:
        with serving(answering(response(page))) as server:
            async with exporter(lambda: configured([target(server.url())])) as (client, _):
                await client.get("/metrics")
                answer = await client.get("/")
        assert "<script>" not in answer.text
        assert "&lt;script&gt;" in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]

    run(test())


def test_only_reading_is_offered_where_nothing_is_changed() -> None:
    async def test() -> None:
        async with exporter(lambda: configured([])) as (client, _):
            assert (await client.post("/metrics")).status_code == 405
            assert (await client.get("/nowhere")).status_code == 404
            assert (await client.head("/metrics")).status_code == 200

    run(test())


def test_the_list_of_runbooks_leads_to_each_with_what_it_is() -> None:
    async def test() -> None:
        async with exporter(lambda: configured([])) as (client, _):
            page = await client.get("/runbooks/")
            assert page.headers["content-type"] == "text/html; charset=utf-8"
            assert "default-src 'none'" in page.headers["content-security-policy"]
            rows = re.findall(r'<tr><td><a href="/runbooks/(\w+)">(\w+)</a><td>(.+)</tr>', page.text)
            assert [slug for slug, _, _ in rows] == list(ALERT_FILES)
            for slug, name, line in rows[::10]:
                runbook = (await client.get(f"/runbooks/{slug}")).text
                assert runbook.startswith(f"# {name}\n\n{html.unescape(line)}\n")
            assert (await client.get("/runbooks")).headers["location"].endswith("/runbooks/")
            assert 'href="/runbooks/"' in (await client.get("/")).text
            assert (await client.get("/runbooks/nothing")).json()["detail"].endswith("/runbooks/ lists them")

    run(test())


def test_each_alert_has_its_runbook_where_its_link_leads() -> None:
    async def test() -> None:
        async with exporter(lambda: configured([])) as (client, _):
            for slug in ALERT_FILES:
                answer = await client.get(f"/runbooks/{slug}")
                assert answer.status_code == 200, slug
                assert answer.headers["content-type"] == "text/plain; charset=utf-8"
                assert "\n## What to do\n" in answer.text
            by_name = await client.get("/runbooks/GpuLost")
            assert by_name.text.startswith("# GpuLost\n\n")
            assert by_name.text == (await client.get("/runbooks/gpu_lost")).text
            for odd in ("nothing", "__init__", "_words", "%00", "%FF", "gpu_lost.py", "x" * 5000):
                assert (await client.get(f"/runbooks/{odd}")).status_code == 404
            assert (await client.get("/runbooks/..%2Fservice")).status_code == 404

    run(test())
