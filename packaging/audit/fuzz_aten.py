"""Writes many small programs over aten operators with odd attributes: for partitioners and serializers.

Usage: fuzz_aten.py OUT SEED COUNT [PER]. Writes COUNT `.pt2` programs of PER operators each (default 4) to
OUT/programs, and COUNT / 2 traced single operators as `.pt` to OUT/traces, each with its `.pt2` beside it,
which tells the input shapes. The same seed writes the same.
"""

from __future__ import annotations

import random
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from aten_operators import FAMILIES
from fuzz_torch import Draw, Wrapped

warnings.filterwarnings("ignore")


def draw(rng: random.Random, number: int) -> list[Draw]:
    """Operators that run as they were drawn."""
    families = sorted(FAMILIES, key=lambda f: (f.__module__, f.__name__))
    draws: list[Draw] = []
    while len(draws) < number:
        way, inputs = rng.choice(families)(rng)
        try:
            with torch.no_grad():
                way(*(t.clone() for t in inputs))
        except Exception:  # a shape or dtype that the operator does not take
            continue
        draws.append((way, inputs))
    return draws


def export(draws: list[Draw]) -> Any:
    """The exported program of the operators side by side."""
    everything = tuple(t for _, inputs in draws for t in inputs)
    return torch.export.export(Wrapped(draws).eval(), everything)


def write_programs(out: Path, seed: int, count: int, per: int) -> None:
    """COUNT programs of PER operators each, as .pt2."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    made = 0
    while made < count:
        try:
            torch.export.save(export(draw(rng, per)), str(out / f"a{seed}_{made:03d}.pt2"))
        except Exception:  # an operator that torch.export does not trace
            continue
        made += 1


def write_traces(out: Path, seed: int, count: int) -> None:
    """COUNT single operators, traced and frozen as .pt, with the .pt2 that tells their input shapes."""
    rng = random.Random(seed + 1)
    torch.manual_seed(seed + 1)
    made = 0
    while made < count:
        draws = draw(rng, 1)
        inputs = draws[0][1]
        if any(t.dtype is not torch.float32 for t in inputs):
            continue
        path = out / f"n{seed}_{made:03d}.pt"
        try:
            traced = torch.jit.freeze(torch.jit.trace(Wrapped(draws).eval(), inputs))
            program = export(draws)
            torch.jit.save(traced, str(path))
            torch.export.save(program, str(path.with_suffix(".pt2")))
        except Exception:
            path.unlink(missing_ok=True)
            continue
        made += 1


def main() -> None:
    out, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    programs, traces = out / "programs", out / "traces"
    for folder in (programs, traces):
        folder.mkdir(exist_ok=True)
    write_programs(programs, seed, count, int(sys.argv[4]) if len(sys.argv) > 4 else 4)
    write_traces(traces, seed, count // 2)


if __name__ == "__main__":
    main()
