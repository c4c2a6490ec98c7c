"""What was found is told in a few plain lines; nothing found says what to do."""

from typing import Any

import pytest

from vllmwatch.stack.summary import NO_ANSWER, NOTHING_FOUND, summary

FLEET: dict[str, Any] = {
    "version": 1,
    "node": "box",
    "nvml": {"up": True, "reason": None},
    "gpus": [
        {"uuid": "GPU-a", "index": 0, "name": "NVIDIA H100", "up": True},
        {"uuid": "GPU-b", "index": 1, "name": "NVIDIA H100", "up": False},
    ],
    "servers": [
        {"server": "box:8000", "up": True, "reason": None, "version": "0.32.0", "model_name": "org/tiny"},
        {"server": "box:8001", "up": False, "reason": "refused", "version": None, "model_name": None},
    ],
}


def test_gpus_and_servers_are_listed_with_their_state() -> None:
    assert summary(FLEET) == [
        "GPUs: 2",
        "  0  NVIDIA H100  GPU-a",
        "  1  NVIDIA H100  GPU-b, LOST",
        "vLLM servers: 2 (1 up)",
        "  box:8000  up  org/tiny, vLLM 0.32.0",
        "  box:8001  not up: refused",
    ]


def test_nothing_found_says_so_and_what_to_do() -> None:
    lines = summary({"nvml": {"up": False, "reason": "no_driver"}, "gpus": [], "servers": []})
    assert lines == ["GPUs: none (no_driver)", "vLLM servers: none", *NOTHING_FOUND]


def test_a_server_without_a_gpu_is_not_called_nothing() -> None:
    lines = summary({**FLEET, "gpus": []})
    assert lines[0] == "GPUs: none"
    assert NOTHING_FOUND[0] not in lines


def test_a_long_list_is_cut_and_counted() -> None:
    gpus = [{"uuid": f"GPU-{number}", "index": number, "name": "card", "up": True} for number in range(20)]
    lines = summary({**FLEET, "gpus": gpus})
    assert lines[16] == "  15  card  GPU-15"
    assert lines[17] == "  and 4 more"


@pytest.mark.parametrize("answer", [None, [], "text", 3])
def test_no_answer_points_to_the_log(answer: object) -> None:
    assert summary(answer) == [NO_ANSWER]
