"""What rules call things, as people read it."""


def bet_words(bet: str) -> str:
    """Return a bet's name in words."""
    return {"twenty_one_plus_three": "21+3"}.get(bet, bet.replace("_", " "))
