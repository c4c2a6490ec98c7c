"""Lets `python -m vllmwatch` do what the `vllmwatch` command does."""

from vllmwatch.cli.main import main

if __name__ == "__main__":
    main()
