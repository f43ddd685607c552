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

# isort: split
# Importing a family registers its checks; what a check needs beyond the standard library
# is imported when one of its entries is compiled.
from pytest_evalcheck.checks import (
    evidence,
    json_documents,
    lists,
    match,
    measures,
    numbers,
    quotes,
    refusals,
    shape,
    similarity,
    text,
    tool_descriptions,
    tools,
)

__all__ = [
    "CHECKS",
    "COMMON_OPTIONS",
    "CheckSpec",
    "CompiledCheck",
    "Option",
    "add_check",
    "compile_check",
    "evidence",
    "json_documents",
    "lists",
    "match",
    "measures",
    "numbers",
    "quotes",
    "refusals",
    "shape",
    "similarity",
    "text",
    "tool_descriptions",
    "tools",
]
