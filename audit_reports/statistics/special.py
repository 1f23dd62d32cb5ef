"""The few special functions that the tests of counts need, in double precision.

Tails of the gamma and beta distributions by power series and continued fractions (NIST Digital
Library of Mathematical Functions, 8.7.1, 8.9.2 and 8.17.22). What stands before them is taken by
Stirling's series and the deviance, which lose no digits to large arguments (C. Loader, "Fast and
Accurate Computation of Binomial Probabilities", 2000).
"""

from collections.abc import Iterator
from itertools import count
from math import exp, lgamma, log, log1p, pi, sqrt

import numpy as np
import numpy.typing as npt

_SMALLEST = 1e-300
"""In place of a zero that a continued fraction would divide by."""

_PRECISION = 1e-16


def gamma_tails(shape: float, at: float) -> tuple[float, float]:
    """Return P and Q, the regularised incomplete gamma functions, for a `shape` above 0."""
    if at <= 0:
        return 0.0, 1.0
    density = exp(-_stirling(shape) - _deviance(shape, at)) / sqrt(2 * pi * shape)
    if at < shape + 1:
        term = total = 1.0
        for number in count(1):
            term *= at / (shape + number)
            total += term
            if term < total * _PRECISION:
                break
        return density * total, 1 - density * total
    terms = ((number * (shape - number), at - shape + 2 * number + 1) for number in count(1))
    upper = density * shape / _continued(at - shape + 1, terms)
    return 1 - upper, upper


def beta_tail(a: float, b: float, at: float) -> float:
    """Return I, the regularised incomplete beta function; `a` or `b` may be 0, the other not."""
    if at <= 0 or b == 0:
        return 0.0 if b else float(at >= 1)
    if at >= 1 or a == 0:
        return 1.0
    if at > (a + 1) / (a + b + 2):
        return 1 - beta_tail(b, a, 1 - at)
    whole = a + b
    density = exp(
        _stirling(whole)
        - _stirling(a)
        - _stirling(b)
        - _deviance(a, whole * at)
        - _deviance(b, whole * (1 - at))
    ) * sqrt(a * b / (2 * pi * whole))
    return density / (a * _continued(1.0, _beta_terms(a, b, at)))


def log_sum_exp(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the logarithm of the sum of exponentials along the last axis."""
    largest = values.max(axis=-1, keepdims=True)
    sums = np.exp(values - largest).sum(axis=-1)
    return np.asarray(np.log(sums) + largest[..., 0])


def _beta_terms(a: float, b: float, at: float) -> Iterator[tuple[float, float]]:
    for m in count():
        yield -(a + m) * (a + b + m) * at / ((a + 2 * m) * (a + 2 * m + 1)), 1.0
        n = m + 1
        yield n * (b - n) * at / ((a + 2 * n - 1) * (a + 2 * n)), 1.0


def _continued(first: float, terms: Iterator[tuple[float, float]]) -> float:
    """Return first + a₁/(b₁ + a₂/(b₂ + …)) by Lentz's method, until it changes no more."""
    value = c = first or _SMALLEST
    d = 0.0
    for numerator, denominator in terms:
        d = 1 / (denominator + numerator * d or _SMALLEST)
        c = denominator + numerator / c or _SMALLEST
        value *= c * d
        if abs(c * d - 1) < 4 * _PRECISION:
            break
    return value


def _stirling(n: float) -> float:
    """Return what Stirling's formula for log n! leaves out, log n! − log(√(2πn)·(n/e)ⁿ)."""
    if n < 16:
        return lgamma(n + 1) - (n + 0.5) * log(n) + n - log(2 * pi) / 2
    square = n * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / n


def _deviance(expected: float, at: float) -> float:
    """Return e·log(e/x) + x − e, where both are large and close, too."""
    excess = (at - expected) / expected
    return expected * (excess - log1p(excess))
