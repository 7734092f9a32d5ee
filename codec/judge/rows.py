"""Judgements as rows of a codec profile, the file that sessions and `codec ladder` read.

What surprises: `damage` is the mean KL of the same document's continuation; times are not measured here but taken from a measured profile.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np
from capture import CaptureError, model_name
from containers import ROOT, Shapes, levels_of, write_whole
from documents import CONTINUATIONS, Document
from scores import judge_continuation

FORMAT = "sluice-codec-profile-1"
GEOMETRIES = ROOT / "codec" / "geometry" / "models"


def shapes_of_runs(runs: list[dict[str, Any]]) -> Shapes:
    """Of a geometry file's runs."""
    shapes: Shapes = []
    for run in runs:
        own = shapes_of_runs(run["pattern"]) if "pattern" in run else [(run["kv_heads"], run["head_dim"])]
        shapes += own * run.get("repeat", 1)
    return shapes


def geometry_of(args: argparse.Namespace, shapes: Shapes) -> str:
    if args.geometry:
        return args.geometry
    found = [path.stem for path in sorted(GEOMETRIES.glob("*.json")) if shapes_of_runs(json.loads(path.read_text())["layers"]) == shapes]
    if len(found) != 1:
        raise CaptureError(f"--geometry: {'several' if found else 'no'} shipped geometries have the shape of {args.model}; name the model: --geometry ID")
    return found[0]


def commit() -> str:
    """The checked-out commit, with "-dirty" when files differ; empty without git."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def read_times(path: Path | None) -> tuple[str, dict[tuple[str, str], dict[str, Any]]]:
    """The device, and encode and decode times by (codec, level)."""
    if path is None:
        return "", {}
    try:
        profile = json.loads(path.read_text(encoding="utf-8"))
        times = {(level["codec"], level["level"]): {key: level[key] for key in ("encode", "decode") if key in level} for level in profile["levels"]}
        return profile["device"], times
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CaptureError(f"{path}: is no codec profile; give one that `./sluice codec profile` wrote") from error


def refined_by(codec_level: str, judged: Container[str], known: set[str]) -> str | None:
    """The level whose bytes this one begins with, if it was judged too: "embedded-2" goes on from "embedded-1", as "embedded" is a level."""
    layered, _, number = codec_level.rpartition("-")
    if layered not in known or not number.isdecimal() or f"{layered}-{int(number) - 1}" not in judged:
        return None
    return f"{layered}-{int(number) - 1}".partition("@")[2]


def row_of(codec_level: str, of_documents: list[dict[str, Any]], times: dict[tuple[str, str], dict[str, Any]], refines: str | None) -> dict[str, Any]:
    codec, level = codec_level.split("@")
    bits = np.array([document["bits_per_element"] for document in of_documents])
    judged = {name: judge_continuation([document["scores"][name] for document in of_documents]) for name in CONTINUATIONS}
    return {
        "codec": codec,
        "level": level,
        "bits_per_element": float(bits.mean()),
        "bits_per_element_sd": float(bits.std(ddof=1)),
        "size_source": "measured",
        **times.get((codec, level), {}),
        "damage": judged["same-document"]["kl_mean"],
        "damage_source": "measured",
        **({"refines": refines} if refines else {}),
        "judged": judged,
    }


def write_profile(args: argparse.Namespace, documents: list[Document], shapes: Shapes, found: dict[str, list[dict[str, Any]]]) -> None:
    device, times = read_times(args.times)
    known = levels_of(args.program)
    levels = [row_of(codec_level, rows, times, refined_by(codec_level, found, known)) for codec_level, rows in found.items()]
    levels.sort(key=lambda row: row["damage"])
    has_times = any("encode" in row or "decode" in row for row in levels)
    queries = "without the queries" if args.ignore_queries else "with the last 64 tokens' queries"
    profile = {
        "format": FORMAT,
        "model": geometry_of(args, shapes),
        "device": device if has_times else "",
        "chunk_tokens": args.tokens,
        "damage_measure": "kl-mean",
        "command": args.command_line,
        "commit": commit(),
        "data_sha256": hashlib.sha256(" ".join(document.sha256 for document in documents).encode()).hexdigest(),
        "note": f"{len(documents)} documents ({', '.join(document.name for document in documents)}), {args.tokens} tokens each as one chunk, through "
        f"{model_name(args)}; model profile {Path(args.model_profile).name}, {queries}; intervals are 95 % over documents",
        "levels": levels,
    }
    write_whole(args.out, json.dumps(profile, indent=2, ensure_ascii=False) + "\n")
