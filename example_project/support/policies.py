"""The policies the assistant answers from."""

POLICIES = {
    "return": "You can return an item within 30 days of delivery for a full refund.",
    "ship": "Standard shipping takes 3 to 5 working days; express takes 1.",
    "warranty": "Every appliance has a warranty of 2 years.",
    "gift": "Gift cards cannot be refunded, but they never expire.",
    "address": "The address can be changed until the parcel leaves our warehouse.",
}

ORDERS = {
    "A-1001": {"status": "delivered", "lines": [("kettle", 1, 39.90), ("filter", 2, 4.55)]},
    "A-1002": {"status": "in transit", "lines": [("toaster", 1, 54.00)]},
}
