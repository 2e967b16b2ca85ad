"""Are two answers the same? Error texts are each server's own: only that there is one counts."""

import json


def _number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def _document(text):
    if isinstance(text, str) and text[:1] in "[{":
        try:
            return json.loads(text)
        except ValueError:
            pass
    return None


def same_text(one, other, tolerance=0.0):
    """Two values as text: equal as text, as JSON documents, or as numbers.

    Numbers may differ by the last digit that is printed and by `tolerance` (relative)."""
    if one == other:
        return True
    if one is None or other is None:
        return False
    a, b = _document(one), _document(other)
    if a is not None and b is not None:
        return a == b
    a, b = _number(one), _number(other)
    if a is None or b is None:
        return False
    if ("." in one) != ("." in other) and "e" not in (one + other).lower():
        return False
    return abs(a - b) <= max(1.01e-6 * ("." in one and len(one.split(".")[1]) == 6),
                             2e-15 * abs(a), tolerance * abs(a))


def _result(answer):
    """What a fetched item has for a result, as a number."""
    data = (answer or {}).get("data") or {}
    return _number(data["item"].get("result")) if isinstance(data, dict) and "item" in data else None


def between(before, ours, after):
    """Whether our result lies between the two that the reference gave shortly before and after, or
    beside them by a digit that is not printed."""
    low, number, high = _result(before), _result(ours), _result(after)
    if low is None or number is None or high is None:
        return False
    low, high = min(low, high), max(low, high)
    room = max(1.01e-6, 2e-15 * abs(number))
    return low - room <= number <= high + room


def same(one, other, tolerance=0.0, name=""):
    """Two answers of the trapper port."""
    if isinstance(one, dict):
        return isinstance(other, dict) and set(one) == set(other) and all(
            same(one[k], other[k], tolerance, "error" if name == "error" else k) for k in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(
            same(a, b, tolerance, name) for a, b in zip(one, other))
    if isinstance(one, str) and isinstance(other, str):
        # `error` of a step is an object with `value`; what was evaluated has numbers there.
        return name in ("error", "info") or same_text(one, other, tolerance)
    return one == other
