"""Einsum equations of two operands that are a matrix product."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """The letters of an equation by what happens to them."""

    left: str
    right: str
    result: str
    batch: tuple[str, ...]  # in both operands and the result
    rows: tuple[str, ...]  # in the left one and the result
    columns: tuple[str, ...]  # in the right one and the result
    summed: tuple[str, ...]  # in both operands only

    @property
    def is_plain(self) -> bool:
        """Whether it needs no reshaping: one letter of each kind."""
        return len(self.rows) == len(self.columns) == len(self.summed) == 1


def matrix_product(equation: str) -> MatrixProduct | None:
    """The equation as a product of two matrices, None when it is something else."""
    equation = equation.replace(" ", "")
    if "." in equation or equation.count("->") != 1:
        return None
    operands, result = equation.split("->")
    terms = operands.split(",")
    if len(terms) != 2 or any(len(set(term)) != len(term) for term in (*terms, result)):
        return None  # a repeated letter is a diagonal
    left, right = terms
    batch = tuple(c for c in left if c in right and c in result)
    summed = tuple(c for c in left if c in right and c not in result)
    rows = tuple(c for c in left if c not in right)
    columns = tuple(c for c in right if c not in left)
    if not summed or set(result) != {*batch, *rows, *columns}:
        return None
    return MatrixProduct(left, right, result, batch, rows, columns, summed)
