"""Cards drawn as inline SVG: legible in black and white, with words for a screen reader."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from shoeproof.audit_reports.pages.render import visible
from shoeproof.replay.engine.cards import FACE_DOWN, SUIT_SYMBOL, VALUE, is_red

WIDTH: Final = 44
HEIGHT: Final = 62
GAP: Final = 6

_RANK_WORDS: Final = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
_SUIT_WORDS: Final = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}


def card_words(card: str) -> str:
    """Return a card in words, `ace of spades`; a text that is not a card as it was recorded."""
    if card == FACE_DOWN:
        return "a card face down"
    if card not in VALUE:
        return f"an unreadable card {card!r}"
    return f"{_RANK_WORDS.get(card[0], card[0])} of {_SUIT_WORDS[card[1]]}"


def cards_svg(cards: Sequence[str], whose: str, *, marked: int | None = None) -> Markup:
    """Return a row of cards; `whose` begins the words read aloud.

    `marked` is the 0-based place of a card to be framed, as the one in dispute.
    """
    told = [
        f"{card_words(card)}{' (in dispute)' if place == marked else ''}"
        for place, card in enumerate(cards)
    ]
    words = f"{whose}: {', '.join(told) or 'no cards'}"
    width = max(1, len(cards)) * (WIDTH + GAP) + 2
    drawn = [
        _card(card, place * (WIDTH + GAP) + 3, framed=place == marked)
        for place, card in enumerate(cards)
    ]
    return Markup(
        '<svg role="img" xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}"'
        ' viewBox="0 0 {w} {h}"><title>{words}</title>{drawn}</svg>'
    ).format(w=width, h=HEIGHT + 6, words=words, drawn=Markup("").join(drawn))


def _card(card: str, left: int, *, framed: bool) -> Markup:
    frame = Markup('<rect x="{}" y="3" width="{}" height="{}" rx="5"{}/>').format(
        left,
        WIDTH,
        HEIGHT,
        Markup(
            ' fill="#fff" stroke="#a3161b" stroke-width="3" stroke-dasharray="6 3"'
            if framed
            else ' fill="#fff" stroke="#333" stroke-width="1.2"'
        ),
    )
    if card == FACE_DOWN:
        return frame + _back(left)
    if card not in VALUE:
        return frame + _text(left, 40, 22, "#1b1b1f", "?")
    ink = "#b3121d" if is_red(card) else "#1b1b1f"
    rank = "10" if card[0] == "T" else card[0]
    return frame + _text(left, 27, 20, ink, rank) + _text(left, 54, 25, ink, SUIT_SYMBOL[card[1]])


def _text(left: int, baseline: int, size: int, ink: str, text: str) -> Markup:
    return Markup(
        '<text x="{}" y="{}" font-size="{}" font-weight="700" text-anchor="middle" fill="{}">'
        "{}</text>"
    ).format(left + WIDTH // 2, baseline, size, ink, visible(text))


def _back(left: int) -> Markup:
    lines = "".join(
        f"M{left + 5} {bottom}L{left + WIDTH - 5} {bottom - 14}" for bottom in range(24, 62, 7)
    )
    return Markup('<path d="{}" stroke="#333" stroke-width="1.4" fill="none"/>').format(lines)
