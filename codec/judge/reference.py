"""What the undamaged cache says: the captured context, and for each continuation the probabilities, greedy tokens and queries.

Made once per document and kept in the work folder. What surprises: undamaged means the capture, bf16, and not the prefill in fp32;
and the greedy tokens branch off a continuation, so that one pass compares them all.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from capture import CaptureError, collect, metadata_of, run_model, write_safetensors
from containers import context_of, key_of, metadata_of_file
from documents import CONTINUATIONS, Task
from injection import Context, InjectedModel, LayerContext, Probe, Segment, branching, continuing

VERSION = 1  # of what is kept; a new number makes the old unknown
GREEDY_TOKENS = 64
GREEDY_BRANCHES_AT = 32  # tokens of a continuation that are given before the model goes on by itself
PROBED_TOKENS = 8  # queries per continuation that attention-output error is measured with
QUERY_TOKENS = 64  # of the context, for the encoder
WORST_KL_OF_CHECK = 0.01  # bf16 against fp32 is 0.00001 in a model that is understood


@dataclass
class Reference:
    key: str
    capture: Path
    log_probabilities: dict[str, torch.Tensor]  # by continuation, [token, vocabulary]
    greedy: torch.Tensor  # [continuation, GREEDY_TOKENS]: what the model says along the branch
    branches: torch.Tensor  # [continuation, GREEDY_TOKENS - 1]: what it was given there
    probes: dict[int, list[Probe]]  # by layer


def branch_place(task: Task) -> int:
    return min(GREEDY_BRANCHES_AT, (len(task.continuations["repeat"]) - 1) // 2)


def segments_of(task: Task, branches: torch.Tensor, context: Context, with_probes: bool = False) -> list[Segment]:
    """One per continuation: its tokens but the last, and the greedy branch."""
    segments = []
    for name, branch in zip(CONTINUATIONS, branches.tolist(), strict=True):
        fed = task.continuations[name][:-1]
        probed = [len(fed) * (2 * i + 1) // (2 * PROBED_TOKENS) for i in range(PROBED_TOKENS)] if with_probes else []
        segments.append(branching(fed, branch_place(task), branch, context, len(task.context), probed=probed))
    return segments


def greedy_of(logits: torch.Tensor, num_fed: int, branch_at: int) -> torch.Tensor:
    """The model's choices along the branch, [GREEDY_TOKENS], from the logits of a whole segment."""
    return torch.cat([logits[branch_at - 1 : branch_at], logits[num_fed:]]).argmax(-1)


def greedy_branches(model: InjectedModel, task: Task, context: Context) -> torch.Tensor:
    """Token by token, the three continuations side by side."""
    begins = [task.continuations[name][: branch_place(task)] for name in CONTINUATIONS]
    contexts = [dict(context) for _ in begins]
    position = len(task.context)
    step, branches = begins, []
    for _ in range(GREEDY_TOKENS - 1):
        logits = model.run([continuing(ids, own, position, is_kept=True) for ids, own in zip(step, contexts, strict=True)])
        position += len(step[0])
        step = [[int(of_segment[-1].argmax())] for of_segment in logits]
        branches.append([ids[0] for ids in step])
    return torch.tensor(branches).T.contiguous()


def capture_context(args: argparse.Namespace, model: Any, task: Task, folder: Path) -> tuple[Path, Context]:
    """Writes the capture; also returns the context in fp32, as the model made it."""
    text = folder / "context.txt"
    text.write_text(task.document.sha256, encoding="utf-8")  # a capture names the hash of a text file; this one stands for the document
    options = {"queries": QUERY_TOKENS, "dtype": "bf16", "text": text, "out": folder / "context.safetensors", "tokens": len(task.context)}
    run = argparse.Namespace(**(vars(args) | options | {"skip_tokens": 0}))
    config = model.config.get_text_config(decoder=True)
    layers, queries = run_model(run, model, task.context)
    capture = collect(run, task.context, layers, queries, config)
    metadata = metadata_of(run, capture, config, model, len(task.context))
    del metadata["command"]  # the judge's own is in the profile
    metadata["text_sha256"] = task.document.sha256
    write_safetensors(run.out, capture.tensors, metadata)
    text.unlink()
    context = {
        i: LayerContext(layers[i].keys, layers[i].values, torch.arange(first, len(task.context)))
        for i, first in enumerate(capture.first_token)
        if first is not None
    }
    return run.out, context


def check_injection(args: argparse.Namespace, injected: InjectedModel, task: Task, exact: Context) -> None:
    """The model continues its own cache as if it had read everything at once; otherwise its attention is of a kind not known here."""
    fed = task.continuations["same-document"][:-1]
    [with_cache] = injected.run([continuing(fed, exact, len(task.context))])
    with torch.inference_mode():
        whole = injected.model(input_ids=torch.tensor([task.context + fed]), use_cache=False, logits_to_keep=len(fed)).logits[0]
    divergence = torch.nn.functional.kl_div(with_cache.log_softmax(-1), whole.log_softmax(-1), reduction="batchmean", log_target=True)
    if not divergence < WORST_KL_OF_CHECK:
        raise CaptureError(f"{args.model}: does not continue its own cache when it is injected (KL {divergence:.3g}); use a model with plain attention layers")


def make_reference(args: argparse.Namespace, injected: InjectedModel, task: Task, folder: Path) -> None:
    capture, exact = capture_context(args, injected.model, task, folder)
    check_injection(args, injected, task, exact)
    context = context_of(capture)
    branches = greedy_branches(injected, task, context)
    segments = segments_of(task, branches, context, with_probes=True)
    logits = injected.run(segments)
    tensors = {"branches": branches.int(), "greedy": torch.empty(0)}
    greedy = []
    for name, of_segment in zip(CONTINUATIONS, logits, strict=True):
        num_fed = len(task.continuations[name]) - 1
        tensors[f"log_probabilities.{name}"] = of_segment[:num_fed].log_softmax(-1)
        greedy.append(greedy_of(of_segment, num_fed, branch_place(task)))
    tensors["greedy"] = torch.stack(greedy).int()
    ways = {}
    for number in context:
        probes = [segment.probes[number] for segment in segments]
        ways[str(number)] = [probes[0].scaling, probes[0].window]
        for i, probe in enumerate(probes):
            tensors[f"probe.{number}.{i}.queries"], tensors[f"probe.{number}.{i}.positions"] = probe.queries, probe.positions.int()
    write_safetensors(folder / "reference.safetensors", tensors, {"attention": json.dumps(ways)})


def reference_key(revision: str, task: Task) -> str:
    return key_of(VERSION, revision, task.context, task.continuations, torch.__version__)


def load_reference(key: str, folder: Path) -> Reference:
    from safetensors.torch import load_file

    path = folder / "reference.safetensors"
    tensors = load_file(path)
    probes: dict[int, list[Probe]] = {}
    for number, (scaling, window) in json.loads(metadata_of_file(path)["attention"]).items():
        parts = [(tensors[f"probe.{number}.{i}.queries"], tensors[f"probe.{number}.{i}.positions"].long()) for i in range(len(CONTINUATIONS))]
        probes[int(number)] = [Probe(queries, positions, scaling, window) for queries, positions in parts]
    log_probabilities = {name: tensors[f"log_probabilities.{name}"] for name in CONTINUATIONS}
    return Reference(key, folder / "context.safetensors", log_probabilities, tensors["greedy"].long(), tensors["branches"].long(), probes)


def reference_folder(args: argparse.Namespace, key: str) -> Path:
    folder = args.work / "references" / key
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def is_made(folder: Path) -> bool:
    return os.access(folder / "reference.safetensors", os.R_OK)  # written last
