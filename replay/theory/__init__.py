"""Exact theory: what the rules of a game say about its returns, computed from them alone.

`theory` gives everything at once, `strategy` the chart, `basic_act` and `optimal_act` play,
`decision_values` prices a decision in a live round, `readings` tries the open clauses otherwise.
Neither legality nor settlement is written down here: both come from the engine.
"""

from shoeproof.needs import need

need("theory", "numpy")

from replay.theory.cache import theory
from replay.theory.chart import ChartRow
from replay.theory.live import decision_values, hand_value
from replay.theory.readings import ReadingRow, readings
from replay.theory.results import Bet, Outcomes, StartClass, Theory
from replay.theory.strategies import basic_act, optimal_act, strategy

__all__ = [
    "Bet",
    "ChartRow",
    "Outcomes",
    "ReadingRow",
    "StartClass",
    "Theory",
    "basic_act",
    "decision_values",
    "hand_value",
    "optimal_act",
    "readings",
    "strategy",
    "theory",
]
