"""Differences that are meant, each with its reason. Everything else fails the test."""

import json


def _steps(case):
    return case.get("item", {}).get("steps", []) if isinstance(case, dict) else []


def _has(case, kind):
    return any(step["type"] == kind for step in _steps(case))


def _rows(answer):
    """Documents in results as sorted rows."""
    def walk(value):
        if isinstance(value, dict):
            return {k: walk(v) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v) for v in value]
        if isinstance(value, str) and value.startswith("["):
            try:
                return sorted(json.dumps(row, sort_keys=True) for row in json.loads(value))
            except ValueError:
                return value
        return value
    return walk(answer)


#: (name, reason, whether it explains a case with these two answers)
EXPLAINED = [
    ("rows of SNMP walks", "The reference gives them in the order of its hash table, here they come in the "
     "order of the walk.",
     lambda case, one, other: _has(case, 29) and _rows(one) == _rows(other)),
]


def explain(case, one, other):
    """The name of the reason, or `None`."""
    for name, _, matches in EXPLAINED:
        if matches(case, one, other):
            return name
    return None
