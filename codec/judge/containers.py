"""Through a real container and back: the codec's own program encodes and decodes, and the file's bytes are what it costs.

Third step of the judge. What surprises: the outcome is kept by the hashes of all that went in, the program's included.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from capture import CaptureError, sha256_of
from injection import Context, LayerContext

ROOT = Path(__file__).resolve().parents[2]
SHIPPED_PROFILES = ROOT / "codec" / "model_profiles"


@dataclass(frozen=True)
class Coding:
    """How caches are coded, but for the codec."""

    program: Path
    model_profile: str  # name, file, "auto" or "none", as `codec encode` takes it
    ignores_queries: bool

    def key(self) -> str:
        profiles = sha256_of(profile_files(self.model_profile))
        return f"{sha256_of([self.program])} {self.model_profile} {profiles} {self.ignores_queries}"


def profile_files(choice: str) -> list[Path]:
    """The files that a choice of model profile may mean."""
    if choice == "none":
        return []
    if choice == "auto":
        return sorted(SHIPPED_PROFILES.glob("*.safetensors"))
    shipped = SHIPPED_PROFILES / f"{choice}.safetensors"
    found = Path(choice) if Path(choice).is_file() else shipped
    if not found.is_file():
        raise CaptureError(f"--model-profile: there is no file and no shipped profile `{choice}`; `./sluice codec calibrate` makes one")
    return [found]


def metadata_of_file(path: Path) -> dict[str, str]:
    from safetensors import safe_open

    try:
        with safe_open(path, framework="pt") as file:
            return dict(file.metadata() or {})
    except Exception as error:  # the library raises its own kind
        raise CaptureError(f"{path}: is no safetensors file; give one that `./sluice codec` wrote") from error


def key_of(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def write_whole(path: Path, content: str) -> None:
    """All or nothing, so that a cut run leaves no half row."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(content)
    umask = os.umask(0)
    os.umask(umask)
    os.chmod(temporary, 0o666 & ~umask)  # mkstemp's files are private
    os.replace(temporary, path)


def call(program: Path, *words: str | Path) -> str:
    environment = {"SLUICE_HOME": str(ROOT)} | dict(os.environ)
    done = subprocess.run([program, *words], capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")] or done.stderr.splitlines() or ["it failed"]
        raise CaptureError(lines[-1].removeprefix("error: "))
    return done.stdout


def levels_of(program: Path) -> set[str]:
    """All that can be named as CODEC@LEVEL, but for prefixes and reducers."""
    listed = json.loads(call(program, "list", "--format", "json"))
    return {f"{codec['codec']}@{level['level']}" for codec in listed["codecs"] for level in codec["levels"]}


def round_trip(coding: Coding, codec_level: str, capture: Path, folder: Path) -> tuple[int, Path]:
    """Bytes of the container, and the decoded capture's file in `folder`."""
    container, decoded = folder / "container.kvb", folder / "decoded.safetensors"
    options = ["--model-profile", coding.model_profile, *(["--ignore-queries"] if coding.ignores_queries else [])]
    threads = ["--threads", "1"]
    call(coding.program, "encode", "--codec", codec_level, *options, *threads, capture, container)
    given = ["--model-profile", coding.model_profile] if coding.model_profile not in ("auto", "none") else []
    call(coding.program, "decode", *given, *threads, container, decoded)
    return container.stat().st_size, decoded


def sha256_of_tensors(path: Path) -> str:
    """Of names, shapes and numbers, not of the metadata: what was decoded, however it came about."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header.pop("__metadata__", None)
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode() + content[end:]).hexdigest()


def context_of(path: Path) -> Context:
    """A capture as layers' contexts; `layer.{i}.positions` says where the tokens of a shortened layer belong."""
    from safetensors.torch import load_file

    metadata, tensors = metadata_of_file(path), load_file(path)
    first_token = json.loads(metadata["first_token"])
    context: Context = {}
    for number, first in enumerate(first_token):
        if f"layer.{number}.latent" in tensors:
            raise CaptureError(f"{path}: layer {number} holds a latent cache, which cannot be injected; judge a model with keys and values")
        if first is None or f"layer.{number}.key" not in tensors:
            continue
        keys, values = (tensors[f"layer.{number}.{part}"].float()[None] for part in ("key", "value"))
        positions = tensors.get(f"layer.{number}.positions")
        held = torch.arange(first, first + keys.shape[2]) if positions is None else positions.long()
        context[number] = LayerContext(keys, values, held)
    return context


Shapes = list[tuple[int, int]]  # KV heads and head dim by layer


def shapes_of(context: Context) -> Shapes:
    return [(layer.keys.shape[1], layer.keys.shape[3]) for layer in context.values()]


def num_elements(context: Context) -> int:
    return sum(layer.keys.numel() + layer.values.numel() for layer in context.values())
