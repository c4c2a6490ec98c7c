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


def test_aborted_stream_ends_before_its_tokens(vllm_server: VllmServer) -> None:
    tokens = f'vllm:generation_tokens_total{{engine="0",model_name="{MODEL_NAME}"}}'
    running = f'vllm:num_requests_running{{engine="0",model_name="{MODEL_NAME}"}}'
    made = []
    # On a busy machine the server may be through with the tokens before it hears that the client is gone.
    for _ in range(5):
        before = sample(vllm_server.page(), tokens)
        Load(vllm_server.url).abort(max_tokens=1500)
        deadline = time.monotonic() + 30
        while sample(vllm_server.page(), running) > 0:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        made.append(sample(vllm_server.page(), tokens) - before)
        if made[-1] < 1500:
            break
    assert 3 <= made[-1] < 1500, made


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
