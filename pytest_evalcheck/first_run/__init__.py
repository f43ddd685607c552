"""The first minute: a suite written for what lies in a folder, a metric added to one.

No command ever grants a gate: whatever is written here is `gate: "off"` until a person
edits it.
"""

from __future__ import annotations

from pytest_evalcheck.first_run.append import append_metric
from pytest_evalcheck.first_run.scaffold import write_suite

__all__ = ["append_metric", "write_suite"]
