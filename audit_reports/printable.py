"""Text from a ledger or a file, made so that no screen or page obeys it.

Names are whatever a player chose: control characters and marks that turn the writing direction
could make a screen say what the ledger does not.
"""


def printable(text: str, spared: str = "") -> str:
    """Return text with each character that does not print written out, but for those spared."""
    return "".join(
        each if each.isprintable() or each in spared else each.encode("unicode_escape").decode()
        for each in text
    )
