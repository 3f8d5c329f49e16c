"""Job: compares two files of one model layer by layer on the same inputs, and keeps the comparison.

Memory is bounded: per sample the layers are read in groups of at most `_GROUP_BYTES` a side, and only
sums are kept of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from studio import paths
from studio.backends.backend import Array
from studio.backends.quiet import quiet
from studio.backends.taps import Taps, open_taps
from studio.errors import InputError, StudioError, UnsupportedError
from studio.graph import Graph, open_graph
from studio.graph.layer_pairs import LayerPair, layer_pairs
from studio.jobs.job import Report
from studio.jobs.model_inputs import InputData, assumed_sizes, made_up_refused, samples_for
from studio.measure.fact_file import save_fact
from studio.measure.layer_errors import LAYERS, ComparedFile, LayerError, LayerErrors, LayerSums
from studio.recipes.data import Samples
from studio.recipes.steps.verify import fit_layout, pair_inputs
from studio.records import Record

SAMPLES = 8
_GROUP_BYTES = 256 << 20
_FIRST_GROUP = 4  # layers that are read at once while no size is known


class CompareLayers(Record):
    """The float original and the file made from it; `runs_dir` "" = the studio's own folder."""

    a: str
    b: str
    inputs: InputData = InputData()
    samples: int = SAMPLES
    threads: int = 1
    runs_dir: str = ""


class LayersCompared(Record):
    """Where the comparison is (`measure.layer_errors.LayerErrors`)."""

    fact_path: str
    sha256_a: str
    sha256_b: str


def run(spec: CompareLayers, report: Report) -> LayersCompared:
    """The comparison's file. A job that fails or is stopped leaves none.

    Raises UnsupportedError for a format that cannot show its inner results, InputError when the files
    have no layer in common or the inputs do not fit, ToolError when a file does not run.
    """
    report.progress("Reading the graphs", 0)
    graphs = [open_graph(Path(path).absolute()) for path in (spec.a, spec.b)]
    report.progress("Matching the layers", 0)
    pairs, unmatched = layer_pairs(*graphs)
    if not pairs:
        raise InputError(
            "The two files have no layer in common.",
            hint="Compare a model with a file that was made from it.",
        )
    report.progress("Loading both files", 0)
    with quiet():
        first = open_taps(Path(spec.a), graphs[0], spec.threads, [p.tensor_a for p in pairs])
        second = open_taps(Path(spec.b), graphs[1], spec.threads, [p.tensor_b for p in pairs])
    samples = samples_for(first.inputs, spec.inputs, spec.samples)
    comparison = _Comparison(pairs, graphs[0], report)
    try:
        count = comparison.run(first, second, samples)
    except UnsupportedError:
        raise
    except StudioError as error:
        raise made_up_refused(samples, error) from None
    if report.should_stop():
        raise InputError("The comparison was stopped; nothing was kept.", hint="Start it again.")
    wall_time = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    found = LayerErrors(
        a=_file(graphs[0], first),
        b=_file(graphs[1], second),
        wall_time=wall_time,
        inputs=samples.origin,
        is_real=samples.is_real,
        samples=count,
        layers=tuple(comparison.layers(*graphs)),
        unmatched=unmatched,
        incomparable=len(comparison.incomparable),
        notes=assumed_sizes(first.inputs, spec.inputs),
    )
    hashes = (found.a.sha256, found.b.sha256)
    folder = Path(spec.runs_dir) if spec.runs_dir else paths.data_dir() / "runs"
    fact = save_fact(folder, LAYERS, found, wall_time=wall_time, hashes=hashes)
    return LayersCompared(fact_path=str(fact), sha256_a=hashes[0], sha256_b=hashes[1])


def _file(graph: Graph, taps: Taps) -> ComparedFile:
    return ComparedFile(
        file=Path(graph.file_path).name,
        format=graph.format,
        sha256=graph.file_sha256,
        target_ran=taps.target_ran,
    )


class _Comparison:
    """Sums per pair of layers, and the sizes seen, by which layers are read in groups."""

    def __init__(self, pairs: list[LayerPair], a: Graph, report: Report) -> None:
        self._pairs, self._report = pairs, report
        self._sums: dict[int, LayerSums] = {}
        self._shapes: dict[int, tuple[int, ...]] = {}
        self._bytes = {
            k: int(a.tensor_bytes[p.tensor_a]) for k, p in enumerate(pairs) if a.tensor_bytes[p.tensor_a] >= 0
        }
        self.incomparable: set[int] = set()

    def run(self, first: Taps, second: Taps, samples: Samples) -> int:
        """Adds up all samples; returns how many calls were compared."""
        done = 0
        for index in range(0, samples.count, samples.batch_size):
            feeds = samples.feeds(index)
            paired = pair_inputs(second.inputs, feeds)
            first.feed(feeds)
            second.feed({info.name: fit_layout(paired[info.name], info) for info in second.inputs})
            for group in self._groups():
                self._report.progress("Comparing the layers", index, samples.count, "samples")
                if self._report.should_stop():
                    return done
                ours = first.read([self._pairs[k].tensor_a for k in group])
                theirs = second.read([self._pairs[k].tensor_b for k in group])
                for k in group:
                    self._add(k, ours.get(self._pairs[k].tensor_a), theirs.get(self._pairs[k].tensor_b))
            done += min(samples.batch_size, samples.count - index)
        return done

    def _groups(self) -> Iterator[list[int]]:
        group: list[int] = []
        room = _GROUP_BYTES
        for k in range(len(self._pairs)):
            size = self._bytes.get(k, _GROUP_BYTES // _FIRST_GROUP)
            if group and size > room:
                yield group
                group, room = [], _GROUP_BYTES
            group.append(k)
            room -= self._bytes.get(k, size)
        if group:
            yield group

    def _add(self, k: int, a: Array | None, b: Array | None) -> None:
        if a is None or b is None or not _is_comparable(a, b):
            self.incomparable.add(k)
            return
        self._bytes[k] = a.nbytes
        self._shapes[k] = a.shape
        ways = alike(a, b)
        if not ways:
            self.incomparable.add(k)
            return
        best = min(ways, key=lambda way: _noise(a, way)) if len(ways) > 1 else ways[0]
        self._sums.setdefault(k, LayerSums()).add(a, best)

    def layers(self, a: Graph, b: Graph) -> Iterator[LayerError]:
        """The figures of every pair that could be compared, in the order of a."""
        for k, pair in enumerate(self._pairs):
            sums = self._sums.get(k)
            if sums is None or k in self.incomparable:
                continue
            yield LayerError(
                node_a=pair.node_a,
                node_b=pair.node_b,
                name_a=a.label(pair.node_a),
                name_b=b.label(pair.node_b),
                op=a.node_op[pair.node_a],
                tensor_a=a.tensor_name[pair.tensor_a],
                tensor_b=b.tensor_name[pair.tensor_b],
                shape=self._shapes[k],
                sqnr_db=sums.sqnr_db,
                max_abs=sums.largest,
                mean_abs=sums.mean_abs,
                cosine=sums.cosine,
                nonfinite=sums.nonfinite,
            )


def _is_comparable(a: Array, b: Array) -> bool:
    """Numbers of one kind: integers whose scale is not known are no real numbers."""
    kinds = {np.issubdtype(x.dtype, np.floating) for x in (a, b)}
    return len(kinds) == 1 and np.issubdtype(a.dtype, np.number) and a.size > 0


def alike(a: Array, b: Array) -> list[Array]:
    """The ways in which b has the shape of a: as it is, or turned from channels last; none when it has not.

    Axes of size 1 do not count. Both ways fit where height, width and channels are equal.
    """
    ways = []
    squeezed = _squeezed(a.shape)
    if _squeezed(b.shape) == squeezed:
        ways.append(b.reshape(a.shape))
    if b.ndim in (3, 4):
        turned = np.moveaxis(b, -1, b.ndim - 3)
        if _squeezed(turned.shape) == squeezed and turned.shape != b.shape:
            ways.append(turned.reshape(a.shape))
        elif turned.shape == b.shape and math.prod(b.shape[-3:]) > 1 and turned.shape == a.shape:
            ways.append(turned)
    return ways


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dim for dim in shape if dim != 1)


def _noise(a: Array, b: Array) -> float:
    difference = np.nan_to_num(a.astype(np.float64) - b.astype(np.float64))
    return float(np.sum(difference * difference))
