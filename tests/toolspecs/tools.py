"""A tool against which nothing is found, and how to take one thing away from it."""

from __future__ import annotations

import copy

GOOD = {
    "name": "list_invoices",
    "description": (
        "List the invoices of one customer, newest first. Use this when the customer is known; "
        "to look for a customer use find_customer instead. Returns at most 50 invoices, "
        "the limit of a page, for example `INV-7`; customer_id is found by find_customer."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {
            "customer_id": {
                "type": "string",
                "description": "The customer's id, as find_customer returned it",
                "examples": ["C-12"],
            },
            "paid": {"type": "boolean", "description": "Keep those that were paid alone"},
            "limit": {"type": "integer", "description": "How many invoices to give at most"},
        },
        "required": ["customer_id"],
        "additionalProperties": False,
    },
    "outputSchema": {"type": "object", "properties": {"invoices": {"type": "array"}}},
    "annotations": {"readOnlyHint": True},
}


def good(**changes):
    """The good tool with values replaced; None takes a key away."""
    tool = copy.deepcopy(GOOD)
    for key, value in changes.items():
        if value is None:
            del tool[key]
        else:
            tool[key] = value
    return tool


def with_argument(name, schema, *, required=False):
    """The good tool with one argument more."""
    tool = copy.deepcopy(GOOD)
    tool["inputSchema"]["properties"][name] = schema
    if required:
        tool["inputSchema"]["required"].append(name)
    return tool
