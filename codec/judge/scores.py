"""How far a damaged cache leads the model astray: per document and continuation, and over documents with intervals.

Last step of the judge but for the file. What surprises: divergences are pooled over all positions of all documents for p99 and maximum,
but means and intervals are over documents, since positions of one text are not independent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from documents import CONTINUATIONS, Task
from injection import Context, InjectedModel, attention_outputs
from reference import Reference, branch_place, greedy_of, segments_of

SEED = 7
RESAMPLES = 2000
LEVEL = 0.95
POSITIONS_AT_ONCE = 64  # so that a slice of the vocabulary's probabilities stays in a cache


def divergences(reference: torch.Tensor, damaged: torch.Tensor) -> list[float]:
    """KL(undamaged || damaged) in nats per position, from log-probabilities [token, vocabulary]; rounding below zero is zero."""
    results: list[float] = []
    for begin in range(0, reference.shape[0], POSITIONS_AT_ONCE):
        part = slice(begin, begin + POSITIONS_AT_ONCE)
        terms = torch.nn.functional.kl_div(damaged[part], reference[part], reduction="none", log_target=True)
        results += terms.sum(-1).clamp(min=0).tolist()
    return results


def score_continuation(reference: torch.Tensor, damaged: torch.Tensor, targets: list[int]) -> dict[str, Any]:
    """Log-probabilities [token, vocabulary] of both, and the tokens that follow in truth."""
    index = torch.tensor(targets)[:, None]
    loss = [float(-of.gather(1, index).double().mean()) for of in (reference, damaged)]
    agree = (reference.argmax(-1) == damaged.argmax(-1)).float().mean()
    return {"loss": loss[1], "loss_undamaged": loss[0], "top1": float(agree), "kl": divergences(reference, damaged)}


def match_length(reference: torch.Tensor, damaged: torch.Tensor) -> int:
    """How many tokens agree before the first that does not."""
    return int((reference == damaged).int().cumprod(0).sum())


def attention_errors(undamaged: Context, damaged: Context, reference: Reference) -> list[float]:
    """By continuation: mean over layers, heads and queries of |o' - o| / |o| where o is what a query gets from the context."""
    before, after = (attention_outputs(context, reference.probes) for context in (undamaged, damaged))
    errors = []
    for i in range(len(CONTINUATIONS)):
        ratios = [((b[i] - a[i]).norm(dim=-1) / a[i].norm(dim=-1)).flatten() for a, b in zip(before.values(), after.values(), strict=True)]
        together = torch.cat(ratios)
        errors.append(float(together[together.isfinite()].double().mean()))
    return errors


def score_document(injected: InjectedModel, task: Task, reference: Reference, undamaged: Context, damaged: Context) -> dict[str, Any]:
    """By continuation; what is kept in the work folder."""
    errors = attention_errors(undamaged, damaged, reference)
    logits = injected.run(segments_of(task, reference.branches, damaged))
    scores = {}
    for i, name in enumerate(CONTINUATIONS):
        targets = task.continuations[name][1:]
        own = logits[i][: len(targets)].log_softmax(-1)
        scores[name] = score_continuation(reference.log_probabilities[name], own, targets)
        scores[name]["greedy_match"] = match_length(reference.greedy[i], greedy_of(logits[i], len(targets), branch_place(task)))
        scores[name]["attention_error"] = errors[i]
    return scores


def interval(of_documents: np.ndarray) -> tuple[float, float]:
    """Percentile bootstrap of the mean over documents."""
    draws = np.random.default_rng(SEED).integers(len(of_documents), size=(RESAMPLES, len(of_documents)))
    low, high = np.quantile(of_documents[draws].mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def with_interval(name: str, of_documents: list[float]) -> dict[str, float]:
    values = np.array(of_documents)
    low, high = interval(values)
    return {name: float(values.mean()), f"{name}_low": low, f"{name}_high": high}


def judge_continuation(scores: list[dict[str, Any]]) -> dict[str, Any]:
    """Over documents, as a codec profile holds it."""
    pooled = np.concatenate([score["kl"] for score in scores])
    return {
        "documents": len(scores),
        **with_interval("delta_ppl_percent", [100 * float(np.expm1(score["loss"] - score["loss_undamaged"])) for score in scores]),
        **with_interval("kl_mean", [float(np.mean(score["kl"])) for score in scores]),
        "kl_p99": float(np.quantile(pooled, 0.99)),
        "kl_max": float(pooled.max()),
        **with_interval("top1", [score["top1"] for score in scores]),
        "greedy_match": float(np.mean([score["greedy_match"] for score in scores])),
        "attention_error": float(np.mean([score["attention_error"] for score in scores])),
    }
