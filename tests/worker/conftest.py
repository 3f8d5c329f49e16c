"""Fixtures for every file of this folder."""

from tests.worker.phones import kit_cache, phone, server

__all__ = ["kit_cache", "phone", "server"]
