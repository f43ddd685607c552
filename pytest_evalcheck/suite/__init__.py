"""Suites: `evalcheck.yaml` and `*.eval.yaml` read, checked and compiled.

Importing this package costs nothing but the names below; what reads, compiles
or describes a suite is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_evalcheck.suite.discovery import (
    SELF_CONTAINED,
    SUITE_FILE,
    find_suite,
    is_self_contained,
    is_suite_file,
)

if TYPE_CHECKING:
    from pytest_evalcheck.suite.loader import load_suite as load_suite
    from pytest_evalcheck.suite.metrics import compile_metric as compile_metric
    from pytest_evalcheck.suite.plan import DatasetRef as DatasetRef
    from pytest_evalcheck.suite.plan import Suite as Suite
    from pytest_evalcheck.suite.schema import json_schema as json_schema

__all__ = [
    "SELF_CONTAINED",
    "SUITE_FILE",
    "DatasetRef",
    "Suite",
    "compile_metric",
    "find_suite",
    "is_self_contained",
    "is_suite_file",
    "json_schema",
    "load_suite",
]

_HOMES = {
    "DatasetRef": "plan",
    "Suite": "plan",
    "compile_metric": "metrics",
    "json_schema": "schema",
    "load_suite": "loader",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
