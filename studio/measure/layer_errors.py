"""LayerErrors: how far each layer of one file is from the same layer of another, on the same inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.measure.error import decibel
from studio.records import Record

LAYERS = "layers"
"""The kind of its fact file (`fact_file`)."""

FLOOR_DB, CEILING_DB = 0.0, 60.0
"""The ends of the scale that error is drawn on: noise as strong as the signal, and a thousandth of it."""


@dataclass(slots=True)
class LayerSums:
    """What one layer adds up to over the samples; arrays are not kept."""

    signal: float = 0.0
    noise: float = 0.0
    product: float = 0.0
    power_b: float = 0.0
    absolute: float = 0.0
    largest: float = 0.0
    count: int = 0
    nonfinite: int = 0

    def add(self, a: npt.NDArray[np.generic], b: npt.NDArray[np.generic]) -> None:
        """Takes one sample's values, of equal size. Values of a that are not finite are left out."""
        wanted = a.reshape(-1).astype(np.float64)
        got = b.reshape(-1).astype(np.float64)
        known = np.isfinite(wanted)
        bad = known & ~np.isfinite(got)
        self.nonfinite += int(bad.sum())
        wanted, got = np.where(known, wanted, 0.0), np.where(known & ~bad, got, 0.0)
        difference = wanted - got
        self.signal += float(wanted @ wanted)
        self.noise += float(difference @ difference)
        self.product += float(wanted @ got)
        self.power_b += float(got @ got)
        self.absolute += float(np.abs(difference).sum())
        self.largest = max(self.largest, float(np.abs(difference).max(initial=0.0)))
        self.count += int(known.sum())

    @property
    def sqnr_db(self) -> float | None:
        """None when equal."""
        is_equal = self.noise == 0.0 and self.nonfinite == 0
        return None if is_equal else decibel(self.signal, self.noise)

    @property
    def mean_abs(self) -> float:
        """The mean of |a − b|."""
        return self.absolute / self.count if self.count else 0.0

    @property
    def cosine(self) -> float:
        """Over all samples at once; two zero vectors are alike, one zero vector is like nothing."""
        norms = float(np.sqrt(self.signal) * np.sqrt(self.power_b))
        if norms == 0.0:
            return 1.0 if self.signal == self.power_b else 0.0
        return float(np.clip(self.product / norms, -1.0, 1.0))


class ComparedFile(Record):
    """One side: name, format and hash of a file, and what it ran on."""

    file: str
    format: str
    sha256: str
    target_ran: str


class LayerError(Record):
    """One tensor of both files, dequantised, over all samples.

    sqnr_db = 10·log10(Σ a² / Σ (a − b)²), None when equal. `node_a`, `node_b`: indices of the nodes that
    make it. `nonfinite` counts values that are NaN or infinite in b and not in a.
    """

    node_a: int
    node_b: int
    name_a: str
    name_b: str
    op: str
    tensor_a: str
    tensor_b: str
    shape: tuple[int, ...]
    sqnr_db: float | None
    max_abs: float
    mean_abs: float
    cosine: float
    nonfinite: int = 0


class LayerErrors(Record):
    """The comparison of file b with file a (the float original), layer by layer in the order of a.

    `unmatched`: layers of a without a counterpart; `incomparable`: matched, but of different sizes, or
    integers whose scale is not known.
    """

    a: ComparedFile
    b: ComparedFile
    wall_time: str
    inputs: str
    is_real: bool
    samples: int
    layers: tuple[LayerError, ...]
    unmatched: int = 0
    incomparable: int = 0
    notes: tuple[str, ...] = ()

    def is_about(self, sha256: str, node_count: int) -> bool:
        """Whether one side is the file with that hash, and every node named of it is there."""
        if not sha256 or sha256 not in (self.a.sha256, self.b.sha256):
            return False
        is_first = self.a.sha256 == sha256
        named = (layer.node_a if is_first else layer.node_b for layer in self.layers)
        return all(0 <= node < node_count for node in named)


def worst_first(layers: tuple[LayerError, ...]) -> list[LayerError]:
    """The layers by falling error: broken values first, then by SQNR; equal layers last."""
    return sorted(layers, key=lambda e: (-e.nonfinite, e.sqnr_db if e.sqnr_db is not None else float("inf")))


def node_sqnr(errors: LayerErrors, sha256: str, node_count: int) -> npt.NDArray[np.float64]:
    """[nodes] the SQNR in dB of each node of the file with that hash; NaN = not compared, +inf = equal.

    A node with several outputs has its worst; a layer with broken values has −inf.
    """
    found = np.full(node_count, np.nan)
    is_first = errors.a.sha256 == sha256
    for layer in errors.layers:
        node = layer.node_a if is_first else layer.node_b
        if not 0 <= node < node_count:
            continue
        value = float("inf") if layer.sqnr_db is None else layer.sqnr_db
        value = -float("inf") if layer.nonfinite else value
        found[node] = value if np.isnan(found[node]) else min(found[node], value)
    return found


def relative_error(layer: LayerError) -> float:
    """Root of noise over signal, in percent: 0 = equal, 100 = as much noise as signal (1 % = 40 dB)."""
    if layer.nonfinite:
        return float("inf")
    return 0.0 if layer.sqnr_db is None else 100.0 * float(10.0 ** (-layer.sqnr_db / 20.0))


def node_relative_error(errors: LayerErrors, sha256: str, node_count: int) -> npt.NDArray[np.float64]:
    """[nodes] the worst `relative_error` of each node in percent, at most 100, where the scale ends;
    NaN = not compared."""
    sqnr = node_sqnr(errors, sha256, node_count)
    return np.minimum(100.0 * np.power(10.0, -sqnr / 20.0), 100.0)
