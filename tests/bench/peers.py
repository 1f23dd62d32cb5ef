"""How fast others play blackjack: `python -m tests.bench.peers`, and rows of the bulk bench.

They are what the extra `bench` installs. Each plays rounds of one seat with acts chosen at random
among the legal ones, in one process, under its own rules; none of them replays or judges a round.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Final

from tests.bench.engine import timed

ROUNDS: Final = 20_000

Play = Callable[[int], None]
"""Plays a number of rounds."""


def _open_spiel() -> Play:
    game, random = import_module("pyspiel").load_game("blackjack"), Random(1)

    def play(rounds: int) -> None:
        for _ in range(rounds):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(random.choice(state.legal_actions()))

    return play


def _blackjack21() -> Play:
    peer, random = import_module("blackjack21"), Random(1)
    deck = peer.Deck(("Hearts", "Diamonds", "Spades", "Clubs"), count=8)
    table = peer.Table([("player", 100)], deck, on_round_reset=peer.table.shoe_reset_hook(deck))
    acts = {"double": table.double_down, **{
        name: getattr(table, name) for name in ("hit", "stand", "split", "surrender")
    }}  # fmt: skip

    def play(rounds: int) -> None:
        for _ in range(rounds):
            table.start_game()
            while legal := table.available_actions():
                acts[random.choice(tuple(legal)).value]()

    return play


def _rlcard() -> Play:
    env, random = import_module("rlcard").make("blackjack"), Random(1)

    def play(rounds: int) -> None:
        for _ in range(rounds):
            state = env.reset()[0]
            while not env.is_over():
                state = env.step(random.choice(list(state["legal_actions"])))[0]

    return play


PEERS: Final[dict[str, tuple[str, Callable[[], Play]]]] = {
    "open_spiel": ("pyspiel", _open_spiel),
    "blackjack21": ("blackjack21", _blackjack21),
    "rlcard": ("rlcard", _rlcard),
}
"""By name, the module each is imported as, and what makes it ready to play."""


def peers() -> dict[str, Play | None]:
    """Return each peer ready to play, None for one that is not installed."""
    return {name: make() if find_spec(module) else None for name, (module, make) in PEERS.items()}


def main() -> None:
    """Print how many rounds each peer plays a second."""
    for name, play in peers().items():
        if play is None:
            print(f"{name:<14} not installed: pip install 'shoeproof[bench]'")
            continue
        wall, _ = timed(partial(play, ROUNDS))
        print(f"{name:<14}{ROUNDS / wall:>10,.0f} rounds/s")


if __name__ == "__main__":
    main()
