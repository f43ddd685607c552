"""A host evaluator: a plain function of the row and the parameters of its entry."""


def polite(row, params):
    """Return the share of two polite phrases found in the answer, at most 1."""
    if row.output is None:
        return {"status": "non_evaluable", "code": "missing_output", "reason": "no answer recorded"}
    text = str(row.output).casefold()
    found = [phrase for phrase in params["phrases"] if phrase in text]
    return {"score": min(len(found) / 2, 1.0), "reason": f"found {', '.join(found) or 'none'}"}
