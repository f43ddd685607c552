"""Where the shared vectors and real files lie when a checkout has them beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared(*parts: str) -> Path:
    """Return a path below the shared folder, or skip the test (or module) without it."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(('shared', *parts))} is not here", allow_module_level=True)
    return path
