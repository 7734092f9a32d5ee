"""What a calibration measures of each layer: means and covariances of its keys and values, and what errors in them cost.

The cost is the second moment of the gradient of the log-likelihood, with next tokens drawn from the model itself.
Keys are taken before RoPE, as codecs code them. What surprises: keys and values are seen where every model passes them to its
attention function, so nothing here knows a model's code; sums run on, no cache is kept.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import Any

import capture
import torch
from capture import CaptureError

SKIPPED_TOKENS = 1  # of each document, for means and covariances: the first is stored raw
SKIPPED_GRADIENTS = 4  # of each document: the first tokens' are a thousand times the others'
SAMPLED_TOKENS = 2048  # kept of all documents, at most, to estimate entropies


@dataclass
class Layer:
    """Sums in float64 over tokens. Channels: keys [head, dim], then values [head, dim]."""

    number: int
    shape: tuple[int, int, int, int]  # key heads, key dim, value heads, value dim
    rope: dict[str, Any] | None
    spans: list[slice]  # the channels of each block whose second moments are kept
    offset: torch.Tensor  # [channel], near the mean: subtracted before squaring
    sums: torch.Tensor  # [channel], of what is left
    squares: list[torch.Tensor]  # by span, [channel, channel]
    gradients: list[torch.Tensor]  # by span, [channel, channel]
    sample: list[torch.Tensor]  # [token, channel] each, float32
    num_tokens: int = 0
    num_gradients: int = 0

    def means(self) -> torch.Tensor:
        return self.offset + self.sums / self.num_tokens

    def covariance(self, span: int) -> torch.Tensor:
        left = self.sums[self.spans[span]] / self.num_tokens
        return self.squares[span] / self.num_tokens - torch.outer(left, left)

    def sensitivity(self, span: int) -> torch.Tensor:
        return self.gradients[span] / self.num_gradients


class Watcher:
    """Stands in front of the attention function and keeps each layer's keys and values, [head, token, dim], of the last run."""

    def __init__(self, implementation: str) -> None:
        self.keys: dict[int, torch.Tensor] = {}
        self.values: dict[int, torch.Tensor] = {}
        self.wants_gradients = False
        self.implementation = implementation
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

        ALL_ATTENTION_FUNCTIONS.register(implementation, self.attend)

    def attend(self, module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *rest: Any, **options: Any) -> Any:
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        if self.wants_gradients and not key.requires_grad:  # the first layer: weights are frozen
            key, value = key.detach().requires_grad_(), value.detach().requires_grad_()
        places = {seen.data_ptr() for seen in self.keys.values()}
        if module.layer_idx not in self.keys and key.data_ptr() not in places:  # layers may share a cache
            self.keys[module.layer_idx], self.values[module.layer_idx] = key, value
        forward = sdpa_attention_forward
        if self.implementation == "eager":  # each model file has its own
            forward = sys.modules[type(module).__module__].eager_attention_forward
        return forward(module, query, key, value, *rest, **options)

    def start(self, wants_gradients: bool) -> None:
        self.keys.clear()
        self.values.clear()
        self.wants_gradients = wants_gradients


def rotation(rope: dict[str, Any] | None, num_tokens: int) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Cosines and sines [token, pair] of a layer's RoPE (the facts that captures store), times its factor; None: keys stay as they are."""
    if rope is None or rope["rotated_dims"] == 0 or "pairing" not in rope:
        return None
    dims = rope["rotated_dims"]
    inv_freq = torch.tensor(rope["inv_freq"]) if "inv_freq" in rope else rope["theta"] ** (-torch.arange(0, dims, 2).double() / dims)
    angle = torch.outer(torch.arange(num_tokens).double(), inv_freq.double())
    factor = rope.get("attention_factor", 1.0)
    return (angle.cos() * factor).float(), (angle.sin() * factor).float()


def turned_back(keys: torch.Tensor, rope: dict[str, Any] | None, is_gradient: bool) -> torch.Tensor:
    """Keys [head, token, dim] before RoPE; or the gradient to those, of the gradient to keys after RoPE."""
    table = rotation(rope, keys.shape[1])
    if table is None or rope is None:
        return keys
    cosine, sine = table
    if not is_gradient:  # the inverse of a rotation times a factor; its transpose needs no division
        square = rope.get("attention_factor", 1.0) ** 2
        cosine, sine = cosine / square, sine / square
    dims = rope["rotated_dims"]
    low, high = (slice(0, dims // 2), slice(dims // 2, dims)) if rope["pairing"] == "half" else (slice(0, dims, 2), slice(1, dims, 2))
    result = keys.clone()
    result[..., low] = keys[..., low] * cosine + keys[..., high] * sine
    result[..., high] = keys[..., high] * cosine - keys[..., low] * sine
    return result


def rows_of(key: torch.Tensor, value: torch.Tensor, rope: dict[str, Any] | None, is_gradient: bool) -> torch.Tensor:
    """[token, channel]"""
    parts = (turned_back(key[0].detach(), rope, is_gradient), value[0].detach())
    return torch.cat([part.transpose(0, 1).reshape(part.shape[1], -1) for part in parts], dim=1)


def make_layers(model: Any, config: Any, watcher: Watcher, is_joint: bool) -> list[Layer]:
    """Empty sums for the layers that the watcher has seen."""
    numbers = sorted(watcher.keys)
    if not numbers:
        raise CaptureError("calibrate: the model shows no keys and values to its attention function; use a model with attention layers")
    first_token: list[int | None] = [0 if number in watcher.keys else None for number in range(numbers[-1] + 1)]
    facts = capture.rope_facts(config, model, first_token)
    layers = []
    for number in numbers:
        rope = None if facts is None else facts.get("layers", {}).get(str(number), facts)
        key, value = watcher.keys[number], watcher.values[number]
        shape = (key.shape[1], key.shape[3], value.shape[1], value.shape[3])
        widths = [shape[1]] * shape[0] + [shape[3]] * shape[2]
        if is_joint:
            widths = [sum(widths)]
        ends = torch.tensor(widths).cumsum(0).tolist()
        spans = [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]
        squares, gradients = ([torch.zeros(width, width, dtype=torch.float64) for width in widths] for _ in range(2))
        offset = rows_of(key, value, rope, False)[SKIPPED_TOKENS:].double().mean(0)
        layers.append(Layer(number, shape, rope, spans, offset, torch.zeros_like(offset), squares, gradients, []))
    return layers


def add_values(layer: Layer, rows: torch.Tensor, stride: int) -> None:
    """`rows` [token, channel] without the tokens that are left out."""
    layer.sample.append(rows[::stride].clone())
    left = rows.double() - layer.offset
    layer.sums += left.sum(0)
    for span, square in zip(layer.spans, layer.squares, strict=True):
        square += left[:, span].T @ left[:, span]
    layer.num_tokens += rows.shape[0]


def add_gradients(layer: Layer, rows: torch.Tensor) -> None:
    wide = rows.double()
    for span, gradient in zip(layer.spans, layer.gradients, strict=True):
        gradient += wide[:, span].T @ wide[:, span]
    layer.num_gradients += rows.shape[0]


def differentiate(model: Any, watcher: Watcher, layers: list[Layer], token_ids: list[int], num_labels: int, draws: torch.Generator) -> None:
    watcher.start(wants_gradients=True)
    logits = model(input_ids=torch.tensor([token_ids]), use_cache=False).logits[0]
    with torch.no_grad():
        chances = logits.softmax(-1)
    inputs = [part for layer in layers for part in (watcher.keys[layer.number], watcher.values[layer.number])]
    for label in range(num_labels):
        drawn = torch.multinomial(chances, 1, generator=draws)[:, 0]
        loss = torch.nn.functional.cross_entropy(logits, drawn, reduction="sum")
        gradients = torch.autograd.grad(loss, inputs, retain_graph=label + 1 < num_labels)
        for place, layer in enumerate(layers):
            rows = rows_of(gradients[2 * place], gradients[2 * place + 1], layer.rope, True)
            add_gradients(layer, rows[SKIPPED_GRADIENTS:])


def check_length(args: argparse.Namespace, config: Any) -> None:
    longest = getattr(config, "max_position_embeddings", None)
    if longest is not None and args.tokens > longest:
        raise CaptureError(f"{args.model}: takes at most {longest} tokens, not {args.tokens}; use --tokens {longest}")
    if getattr(config, "kv_lora_rank", None):
        raise CaptureError(f"{args.model}: caches latents, and a profile's blocks are of keys and values; use a codec without a profile")


def measure(args: argparse.Namespace, model: Any, config: Any, documents: list[list[int]], is_joint: bool) -> list[Layer]:
    """With `is_joint` second moments of all channels of a layer together, otherwise of each head's."""
    check_length(args, config)
    model.requires_grad_(False)
    watcher = Watcher(model.config._attn_implementation)
    layers: list[Layer] = []
    stride = -(-len(documents) * args.tokens // SAMPLED_TOKENS)
    draws = torch.Generator().manual_seed(args.seed)
    try:
        for number, token_ids in enumerate(documents):
            with torch.no_grad():
                watcher.start(wants_gradients=False)
                model.base_model(input_ids=torch.tensor([token_ids]), use_cache=False)
                layers = layers or make_layers(model, config, watcher, is_joint)
                for layer in layers:
                    rows = rows_of(watcher.keys[layer.number], watcher.values[layer.number], layer.rope, False)
                    add_values(layer, rows[SKIPPED_TOKENS:], stride)
            if number < args.gradient_documents:
                differentiate(model, watcher, layers, token_ids[: args.gradient_tokens], args.labels, draws)
            print(f"document {number + 1} of {len(documents)} is measured", file=sys.stderr)
    except RuntimeError as error:  # whatever a model's own code raises, memory included
        reason = capture.first_line(error)
        raise CaptureError(f"{args.model}: fails to run ({reason}); try it in transformers alone, or fewer --tokens") from error
    return layers
