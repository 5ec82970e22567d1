"""Linear programs with few rows, solved exactly.

The primal is: maximise c·x with A·x ≤ b, x ≥ 0 and b ≥ 0. Its dual prices bound every solution, and
whoever holds them can check that bound by multiplication. Fractions throughout: no rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dracfg.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Optimum:
    """`prices` go by the rows: b·prices is the value, and Aᵀ·prices ≥ c with prices ≥ 0."""

    value: Fraction
    prices: tuple[Fraction, ...]


def maximise(
    columns: Sequence[Sequence[int]], gains: Sequence[int], bounds: Sequence[int]
) -> Optimum | None:
    """The optimum, or None where the gain has no bound.

    `columns` are A's, one for each variable. Bland's rule keeps the walk from going in circles.
    """
    rows = len(bounds)
    width = len(columns)
    table = [
        [Fraction(columns[j][i]) for j in range(width)]
        + [Fraction(int(i == k)) for k in range(rows)]
        + [Fraction(bounds[i])]
        for i in range(rows)
    ]
    costs = [Fraction(-gain) for gain in gains] + [Fraction(0)] * (rows + 1)
    basis = [width + i for i in range(rows)]
    while True:
        entering = next((j for j in range(width + rows) if costs[j] < 0), None)
        if entering is None:
            return Optimum(costs[-1], tuple(costs[width : width + rows]))
        leaving = _leaving(table, basis, entering)
        if leaving is None:
            return None
        _pivot(table, costs, leaving, entering)
        basis[leaving] = entering


def _leaving(table: list[list[Fraction]], basis: list[int], entering: int) -> int | None:
    best: tuple[Fraction, int, int] | None = None
    for i, row in enumerate(table):
        if row[entering] > 0:
            candidate = (row[-1] / row[entering], basis[i], i)
            best = candidate if best is None else min(best, candidate)
    return None if best is None else best[2]


def _pivot(table: list[list[Fraction]], costs: list[Fraction], i: int, j: int) -> None:
    pivot = table[i][j]
    table[i] = row = [value / pivot if value else value for value in table[i]]
    filled = [(k, value) for k, value in enumerate(row) if value]
    for other, line in enumerate(table):
        if other != i and line[j]:
            factor = line[j]
            for k, value in filled:
                line[k] -= factor * value
    if costs[j]:
        factor = costs[j]
        for k, value in filled:
            costs[k] -= factor * value
