"""Differences that are meant, each with its reason. Everything else fails the test."""

import json


def _steps(case):
    return case.get("item", {}).get("steps", []) if isinstance(case, dict) else []


def _has(case, kind):
    return any(step["type"] == kind for step in _steps(case))


def _params(case):
    return _steps(case)[0]["params"] if _steps(case) else ""


def _rows(answer):
    """Documents in results as sorted rows."""
    def walk(value):
        if isinstance(value, dict):
            # An error quotes the value that it is about.
            return {k: k == "error" and isinstance(v, str) or walk(v) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v) for v in value]
        if isinstance(value, str) and value.startswith("["):
            try:
                return sorted(json.dumps(row, sort_keys=True) for row in json.loads(value))
            except ValueError:
                return value
        return value
    return walk(answer)


def _text(case):
    return case if isinstance(case, str) else ""


def _result(answer):
    """The result of a fetched item, or its error with `!` before."""
    data = (answer or {}).get("data") or {}
    item = data[0] if isinstance(data, list) else data.get("item", data)
    error = item.get("error")
    return "!" + str(error) if error is not None else item.get("result")


def _far(answer):
    try:
        return abs(float(_result(answer))) > 1e15
    except (TypeError, ValueError):
        return False


#: (name, reason, whether it explains a case with these two answers)
EXPLAINED = [
    ("rows of SNMP walks", "The reference gives them in the order of its hash table, here they come in the "
     "order of the walk.",
     lambda case, one, other: _has(case, 29) and _rows(one) == _rows(other)),
    ("order of names", "JSONPath: where a path finds several members of an object, or elements by a list, the "
     "reference gives them in the order of its hash table, here in that of the document.",
     lambda case, one, other: _has(case, 12) and (_rows(one) == _rows(other) or "$.*~.first()" in str(case))),
    ("cut characters", "The reference trims bytes, so that it cuts characters of several bytes in two.",
     lambda case, one, other: "\ufffd" in str(one) and any(_has(case, kind) for kind in (2, 3, 4))),
    ("the largest whole number", "A change per second of 2^64-1 overflows to 0 in the reference.",
     lambda case, one, other: _has(case, 10) and case["item"]["value_type"] == 3
     and '"result": "18446744073709551615"' in json.dumps(other)),
    ("a wrong pattern for errors", "Check for not supported with a pattern that is none: the reference puts its own "
     "message in place of the handler's text.",
     lambda case, one, other: any(step["type"] == 26 and step["params"] == "0\n[" and step["error_handler"] > 1
                                  for step in _steps(case))),
    ("text before elements", "XML to JSON: where an element begins with text and has elements behind it, the "
     "reference takes it apart: what is in it becomes members of what is around it.",
     lambda case, one, other: _has(case, 27) and "<a>x<b>y</b>z</a>" in str(case)),
    ("all below and a function", "JSONPath: the reference counts, and takes the first, of each element for itself "
     "where a function follows two dots; and gives nothing for the name of the root.",
     lambda case, one, other: _has(case, 12) and _params(case) in ("$..first()", "$..length()", "$~")),
    ("younger ECMAScript", "Scripts: the language here has more than that of the reference, and prints functions as "
     "they are written.",
     lambda case, one, other: _has(case, 21) and any(word in str(one) for word in (
         "SyntaxError", "TypeError", "ReferenceError", "undefined", "[native code]", "[ecmascript code]"))),
    ("no proxies in scripts", "Scripts: Proxy is removed here, since handlers of a proxy run where the time limit does not "
     "interrupt.",
     lambda case, one, other: _has(case, 21) and "Proxy" in _params(case) and '"undefined"' in json.dumps(other)),
    ("unseen ends of scripts", "Scripts: the reference ends texts at a zero, takes a brace too many, has TextEncoder "
     "and writes U+2028 escaped.",
     lambda case, one, other: _has(case, 21) and any(word in _params(case) for word in (
         "\\x00", "\\0b", "value;}", "TextEncoder", "u2028"))),
    ("elements of XPath that are none here", "namespace-uri, id, lang and processing-instruction are refused here.",
     lambda case, one, other: _has(case, 11) and any(word in _params(case) for word in (
         "namespace-uri(", "id(", "lang(", "processing-instruction("))),
    ("digits and letters as a value", "Prometheus: where the pattern has a value, the reference reads 0x10 as another "
     "one; without, and here, it is refused.",
     lambda case, one, other: (_has(case, 22) or _has(case, 23)) and _params(case).startswith("n ==")),
    ("sums beyond all numbers", "The reference stores inf in text items.",
     lambda case, one, other: _text(case) in ("avg(1e308,1e308)", "sum(1e308,1e308)")),
    ("lists in parentheses", "The reference takes parentheses around arguments away.",
     lambda case, one, other: _text(case) == "max((1,2))"),
    ("functions of later versions", "lastclock is known here.",
     lambda case, one, other: _text(case).startswith("lastclock(")),
    ("words without spaces", "The reference wants a space or parenthesis on both sides of and, or, not; here "
     "they are words wherever they stand alone.",
     lambda case, one, other: any('token starting with "' + word in str(_result(one))
                                  for word in ("not", "and", "or"))),
    ("numbers that are none", "The reference reads 1e400 as infinity, and 1.2.3 as 1.2 where it stands alone; "
     "here both are refused.",
     lambda case, one, other: _text(case) in ("1e400", "1.2.3")),
    ("what never comes", "timeleft over values that do not move, or move evenly: the reference's least squares "
     "leave noise in coefficients that are 0, so that it says some day or some aeon instead of never, or never "
     "of what is there.",
     lambda case, one, other: "timeleft" in _text(case) and (_far(one) and _far(other) or "/flat," in _text(case)
                                                             and (_far(other) or _result(other) == "0.000000"))),
    ("texts as numbers", "Means and sums of text items in a list: the reference takes the address of the text for "
     "a number, next to 0 but not 0, and fails over how such numbers vary. Here they are 0.",
     lambda case, one, other: "cannot calculate" in str(_result(one)) and "/name" in _text(case)
     and any(word + "_foreach(" in _text(case) for word in ("avg", "max", "min", "sum"))),
    ("source of an earlier line", "logsource with #2 and more: the reference takes the pattern for a wrong one.",
     lambda case, one, other: "logsource" in _text(case) and "invalid regular expression" in str(_result(one))),
    ("less than an hour of trends", "trendcount says 0 for such a period in the reference, where all others "
     "refuse it.",
     lambda case, one, other: _text(case).startswith("trendcount(") and ",30m" in _text(case)),
]


def explain(case, one, other):
    """The name of the reason, or `None`."""
    for name, _, matches in EXPLAINED:
        if matches(case, one, other):
            return name
    return None
