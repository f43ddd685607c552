"""The deterministic metrics: every check by name, one module per family."""

from __future__ import annotations

from pytest_evalcheck.checks.registry import (
    CHECKS,
    COMMON_OPTIONS,
    CheckSpec,
    CompiledCheck,
    Option,
    add_check,
    compile_check,
)

__all__ = [
    "CHECKS",
    "COMMON_OPTIONS",
    "CheckSpec",
    "CompiledCheck",
    "Option",
    "add_check",
    "compile_check",
]
