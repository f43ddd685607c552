"""The assistant itself: a keyword decides the policy, an order number the order."""

import re

from support.policies import ORDERS, POLICIES

UNKNOWN = "I am not sure about that. I will hand you over to a colleague."


def answer(question: str) -> str:
    """Return the answer to a customer's question."""
    lowered = question.lower()
    for keyword, policy in POLICIES.items():
        if keyword in lowered:
            return f"Thank you for asking. {policy} Please let me know if I can help further."
    return UNKNOWN


def describe_order(question: str) -> dict[str, object] | None:
    """Return the order a question names as the JSON the web shop shows, or None."""
    found = re.search(r"A-\d{4}", question)
    order = ORDERS.get(found.group()) if found else None
    if found is None or order is None:
        return None
    lines = [
        {"sku": name, "quantity": quantity, "price": price}
        for name, quantity, price in order["lines"]
    ]
    total = sum(line["quantity"] * line["price"] for line in lines)
    return {
        "id": found.group(),
        "status": order["status"],
        "order": {"lines": lines, "total": total},
    }
