"""Is a Python package here, and which version: looked up without importing it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from studio.errors import UnsupportedError


def package_version(*distributions: str) -> str:
    """Version of the first distribution that is installed, empty when none is."""
    for name in distributions:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return ""


def has_module(name: str) -> bool:
    """Whether a top-level module can be imported."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def require(module: str, what: str, extra: str) -> None:
    """Raises UnsupportedError naming the extra when a module is not installed."""
    if not has_module(module):
        raise UnsupportedError(
            f"{what} needs the package “{module}”, which is not installed.",
            hint=f"Install it with: pip install 'deployment-studio[{extra}]'.",
        )
