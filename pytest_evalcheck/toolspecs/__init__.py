"""How well MCP tools are described: the score of each tool and of the whole server.

The rules are those of the public scorer forecall, version 2; the word lists are our own.
"""

from __future__ import annotations

from pytest_evalcheck.toolspecs.catalog import (
    CatalogScore,
    ToolScore,
    score_catalog,
    score_tool,
)
from pytest_evalcheck.toolspecs.scoring import RULES_VERSION

__all__ = ["RULES_VERSION", "CatalogScore", "ToolScore", "score_catalog", "score_tool"]
