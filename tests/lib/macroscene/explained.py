"""What differs and may: a reason for each."""

#: Text, place (None = all), reason.
EXPLAINED = [
    ("{?{TRIGGER.VALUE}}", None, "the reference shows the macro's own name; it has no value in an "
                                 "expression macro, so that Vedette shows *UNKNOWN*"),
]


def explain(text, place):
    """The reason, or None."""
    for known, where, reason in EXPLAINED:
        if text == known and where in (None, place):
            return reason
    return None
