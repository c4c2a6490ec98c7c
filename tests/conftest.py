"""Fixtures that several folders of tests share live in plugins, each beside what it serves."""

pytest_plugins = ["tests.certificates", "tests.fake_nvml.plugin", "tests.real.fixtures", "tests.required_peers"]
