"""The real server behaves as the tests that lean on it expect, two of them side by side too."""

import time

import pytest

from tests.real.fixtures import StartVllm
from tests.real.load import Load
from tests.real.vllm_server import MODEL_NAME, VllmServer

pytestmark = pytest.mark.real_vllm


def sample(page: str, series: str) -> float:
    """Return the value of one series as it is written on a page."""
    values = [float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(series + " ")]
    assert len(values) == 1, f"{series}: {values}"
    return values[0]


def test_load_is_counted_as_it_was_asked_for(vllm_server: VllmServer) -> None:
    tokens = f'vllm:generation_tokens_total{{engine="0",model_name="{MODEL_NAME}"}}'
    finished = f'vllm:request_success_total{{engine="0",finished_reason="length",model_name="{MODEL_NAME}"}}'
    wrong = 'http_requests_total{handler="/v1/completions",method="POST",status="4xx"}'
    load = Load(vllm_server.url)
    load.wrong_model()
    before = vllm_server.page()
    assert load.many(8, max_tokens=16) == [200] * 8
    assert (load.wrong_model(), load.wrong_max_tokens()) == (404, 400)
    after = vllm_server.page()
    assert sample(after, finished) - sample(before, finished) == 8
    assert sample(after, tokens) - sample(before, tokens) == 8 * 16
    assert sample(after, wrong) - sample(before, wrong) == 2


def test_aborted_streams_end_before_their_tokens(vllm_server: VllmServer) -> None:
    tokens = f'vllm:generation_tokens_total{{engine="0",model_name="{MODEL_NAME}"}}'
    running = f'vllm:num_requests_running{{engine="0",model_name="{MODEL_NAME}"}}'
    before = sample(vllm_server.page(), tokens)
    # One stream may be through before the server hears that its client is gone; many at once take their time.
    Load(vllm_server.url).abort(max_tokens=1500, count=48)
    deadline = time.monotonic() + 60
    while sample(vllm_server.page(), running) > 0:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert 48 * 3 <= sample(vllm_server.page(), tokens) - before < 48 * 1500


def test_killed_server_is_gone_with_its_engine_beside_one_that_lives(
    vllm_server: VllmServer, start_vllm: StartVllm
) -> None:
    second = start_vllm()
    family = second.processes()
    assert len(second.engine_processes()) == 1
    second.kill()
    assert not any(process.is_running() for process in family)
    assert not second.healthy()
    assert vllm_server.healthy()
