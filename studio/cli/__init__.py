"""One file per command; every command runs its jobs in its own process and has `--json`."""
