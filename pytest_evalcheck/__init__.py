"""Truthful LLM evaluations inside pytest: the library API.

Importing this package imports neither pytest nor any reader or check: each
public name is loaded when it is first used, so that a test run without
evaluations pays nothing.

PYTEST_DONT_REWRITE: every run imports this, and there is no assert to rewrite.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_evalcheck.api import evaluate as evaluate
    from pytest_evalcheck.api import score as score
    from pytest_evalcheck.errors import ConfigError as ConfigError
    from pytest_evalcheck.errors import DatasetError as DatasetError
    from pytest_evalcheck.errors import EvalcheckError as EvalcheckError
    from pytest_evalcheck.judges.reply import parse_judge_reply as parse_judge_reply
    from pytest_evalcheck.model import Row as Row
    from pytest_evalcheck.model import Score as Score
    from pytest_evalcheck.results import Results as Results

__version__ = "0.1.0"

_HOMES = {
    "ConfigError": "errors",
    "DatasetError": "errors",
    "EvalcheckError": "errors",
    "Results": "results",
    "Row": "model",
    "Score": "model",
    "evaluate": "api",
    "parse_judge_reply": "judges.reply",
    "score": "api",
}

__all__ = [
    "ConfigError",
    "DatasetError",
    "EvalcheckError",
    "Results",
    "Row",
    "Score",
    "__version__",
    "evaluate",
    "parse_judge_reply",
    "score",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
