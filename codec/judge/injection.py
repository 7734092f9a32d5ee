"""A model that continues a given KV cache: whatever a codec made of it, layers of unlike lengths included.

Second step of the judge. The model runs without a cache of its own; its attention function is replaced by one that puts the
given keys and values in front of the new ones. What surprises: several sequences continue their caches in one pass, and a
sequence may branch: tokens after the branch see its first tokens only.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from capture import CaptureError, first_line

Attention = Callable[..., tuple[torch.Tensor, Any]]


@dataclass
class LayerContext:
    """What one layer holds of the context."""

    keys: torch.Tensor  # [1, kv_head, token, dim], fp32, post-RoPE
    values: torch.Tensor  # the same shape but for dim
    positions: torch.Tensor  # [token], int64: where in the context


Context = dict[int, LayerContext]  # by layer number


@dataclass
class Probe:
    """Queries of some tokens, recorded while the model runs, and how the layer attends."""

    queries: torch.Tensor  # [1, head, token, dim]
    positions: torch.Tensor  # [token]
    scaling: float
    window: int | None


@dataclass
class Segment:
    """Tokens that continue a context."""

    ids: list[int]
    context: Context
    positions: torch.Tensor  # [token] int64
    sees: torch.Tensor  # [token, token] bool: which of the new tokens each one sees, before any window
    is_kept: bool = False  # append keys and values to the context
    probed: list[int] = field(default_factory=list)  # tokens whose queries are recorded
    probes: dict[int, Probe] = field(default_factory=dict)
    masks: dict[Any, torch.Tensor] = field(default_factory=dict)

    def mask(self, layer: LayerContext, window: int | None, groups: int) -> torch.Tensor:
        """What is added to scores, [1, 1, groups * token, context + token]. Layers that hold the same tokens share it."""
        key = (window, groups, tuple(layer.positions.tolist()) if window is not None else layer.positions.numel())
        if self.is_kept or key not in self.masks:
            all_positions = torch.cat([layer.positions, self.positions])
            seen = torch.cat([torch.ones(len(self.ids), layer.positions.numel(), dtype=torch.bool), self.sees], dim=1)
            if window is not None:
                seen &= self.positions[:, None] - all_positions[None, :] < window
            added = torch.zeros(seen.shape).masked_fill_(~seen, torch.finfo(torch.float32).min)
            self.masks[key] = added.repeat(groups, 1)[None, None]
        return self.masks[key]


def causal(num_tokens: int) -> torch.Tensor:
    return torch.ones(num_tokens, num_tokens, dtype=torch.bool).tril()


def continuing(ids: list[int], context: Context, begin: int, **options: Any) -> Segment:
    return Segment(ids, context, torch.arange(begin, begin + len(ids)), causal(len(ids)), **options)


def branching(ids: list[int], branch_at: int, branch: list[int], context: Context, begin: int, **options: Any) -> Segment:
    """`ids`, then `branch`, which follows the first `branch_at` of them."""
    sees = causal(len(ids) + len(branch))
    sees[len(ids) :, branch_at : len(ids)] = False
    positions = torch.cat([torch.arange(len(ids)), branch_at + torch.arange(len(branch))]) + begin
    return Segment(ids + branch, context, positions, sees, **options)


class InjectedModel:
    def __init__(self, model: Any, name: str) -> None:
        self.model, self.name = model, name
        self.implementation = model.config.get_text_config(decoder=True)._attn_implementation

    def run(self, segments: list[Segment]) -> list[torch.Tensor]:
        """Logits [token, vocabulary] of each segment."""
        ids = torch.tensor([[token for segment in segments for token in segment.ids]])
        positions = torch.cat([segment.positions for segment in segments])[None]
        # A mask of four axes is handed through to the attention function, which makes its own.
        unused_mask = torch.zeros(1, 1, 1, 1)
        try:
            with torch.inference_mode(), self.replaced(segments):
                logits = self.model(input_ids=ids, position_ids=positions, attention_mask=unused_mask, use_cache=False).logits[0]
        except CaptureError:
            raise
        except Exception as error:  # whatever a model's own code raises
            raise CaptureError(f"{self.name}: cannot continue a given cache ({first_line(error)}); use a model with plain attention layers") from error
        return list(logits.split([len(segment.ids) for segment in segments]))

    @contextlib.contextmanager
    def replaced(self, segments: list[Segment]) -> Iterator[None]:
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

        def attend(module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, _mask: Any, **options: Any) -> tuple[torch.Tensor, None]:
            outputs, begin = [], 0
            for segment in segments:
                part = slice(begin, begin + len(segment.ids))
                begin = part.stop
                outputs.append(self.attend_segment(segment, module, query[:, :, part], key[:, :, part], value[:, :, part], options))
            return torch.cat(outputs, dim=1), None

        before = ALL_ATTENTION_FUNCTIONS._global_mapping.get(self.implementation)
        ALL_ATTENTION_FUNCTIONS.register(self.implementation, attend)
        try:
            yield
        finally:
            if before is None:
                del ALL_ATTENTION_FUNCTIONS._global_mapping[self.implementation]
            else:
                ALL_ATTENTION_FUNCTIONS.register(self.implementation, before)

    def attend_segment(
        self, segment: Segment, module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, options: dict[str, Any]
    ) -> torch.Tensor:
        """[1, token, head, dim of values]."""
        layer = segment.context.get(module.layer_idx)
        if layer is None or layer.keys.shape[1::2] != key.shape[1::2]:
            raise CaptureError(f"{self.name}: layer {module.layer_idx} does not attend to a cache of its own; use a model with plain attention layers")
        window = options.get("sliding_window")
        keys, values = torch.cat([layer.keys, key], dim=2), torch.cat([layer.values, value], dim=2)
        if segment.probed:
            scaling = options.get("scaling") or query.shape[-1] ** -0.5
            segment.probes[module.layer_idx] = Probe(query[:, :, segment.probed].clone(), segment.positions[segment.probed], scaling, window)
        groups = query.shape[1] // keys.shape[1]
        if self.implementation == "sdpa" and options.get("position_bias") is None:
            output = grouped_attention(query, keys, values, segment.mask(layer, window, groups), options.get("scaling"))
        else:  # soft caps, sinks and the like are the model file's own
            own = sys.modules[type(module).__module__].eager_attention_forward
            output = own(module, query, keys, values, segment.mask(layer, window, 1), **options)[0]
        if segment.is_kept:
            segment.context[module.layer_idx] = LayerContext(keys, values, torch.cat([layer.positions, segment.positions]))
        return output


def grouped_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor, scaling: float | None) -> torch.Tensor:
    """Query heads that share a KV head attend as one longer head, so that keys are not copied. [1, token, head, dim of values]."""
    _, heads, tokens, dim = query.shape
    grouped = query.reshape(1, keys.shape[1], heads // keys.shape[1] * tokens, dim)
    output = torch.nn.functional.scaled_dot_product_attention(grouped, keys, values, attn_mask=mask, scale=scaling)
    return output.reshape(1, heads, tokens, -1).transpose(1, 2)


def attention_outputs(context: Context, probes: dict[int, list[Probe]]) -> dict[int, list[torch.Tensor]]:
    """What recorded queries get from the context alone, by layer and probe: [1, token, head, dim of values]."""
    outputs: dict[int, list[torch.Tensor]] = {}
    for number, of_layer in probes.items():
        layer, results = context[number], []
        for probe in of_layer:
            groups = probe.queries.shape[1] // layer.keys.shape[1]
            seen = torch.ones(probe.positions.numel(), layer.positions.numel(), dtype=torch.bool)
            if probe.window is not None:
                seen &= probe.positions[:, None] - layer.positions[None, :] < probe.window
            mask = torch.zeros(seen.shape).masked_fill_(~seen, torch.finfo(torch.float32).min).repeat(groups, 1)[None, None]
            results.append(grouped_attention(probe.queries, layer.keys, layer.values, mask, probe.scaling))
        outputs[number] = results
    return outputs
