"""Is a Python package here, and which version: looked up without importing it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from studio.backends.backend import Availability
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


def availability_of(
    backend_id: str, title: str, module: str, *distributions: str, install: str, targets: tuple[str, ...]
) -> Availability:
    """Whether a backend's package is here. `distributions` may bring it; `install` is for pip."""
    found = has_module(module)
    return Availability(
        backend_id=backend_id,
        title=title,
        is_available=found,
        version=package_version(*(distributions or (module,))) if found else "",
        reason="" if found else f"The package {module} is not installed.",
        fix="" if found else f"pip install {install}",
        targets=targets,
    )


def require(module: str, what: str, extra: str) -> None:
    """Raises UnsupportedError naming the extra when a module is not installed."""
    if not has_module(module):
        raise UnsupportedError(
            f"{what} needs the package “{module}”, which is not installed.",
            hint=f"Install it with: pip install 'deployment-studio[{extra}]'.",
        )
