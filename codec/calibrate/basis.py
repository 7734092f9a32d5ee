"""From a layer's moments to its basis: x[c] = means[c] + scales[c] * sum over j of y[j] basis[j, c].

With S the symmetric root of the weighted sensitivity F and C the covariance, U the eigenvectors of S C S: basis U' S^-1, so that equal
errors in every y do about equal damage and the y are uncorrelated. What surprises: the weight takes F to a power below 1, because
second-order costs are far too low for coarse steps (codec/calibrate/README.md has the measurement).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from moments import Layer

# How much of the differences between blocks, and of those inside one, the sensitivities decide: F^BETA, and F + EPSILON mean(F).
BETA = {"diag": 0.6, "head": 0.75, "layerkv": 0.75}
EPSILON = {"diag": 0.1, "head": 0.2, "layerkv": 0.2}
LARGEST = 127  # of the basis's whole numbers


@dataclass
class LayerBasis:
    number: int
    shape: torch.Tensor  # I32[4]
    means: torch.Tensor  # F32[channel]
    scales: torch.Tensor  # F32[channel]
    basis: torch.Tensor | None  # I8, blocks one after another; None: diagonal


def head_spans(layer: Layer) -> list[slice]:
    key_heads, key_dim, value_heads, value_dim = layer.shape
    keys = [slice(head * key_dim, (head + 1) * key_dim) for head in range(key_heads)]
    begin = key_heads * key_dim
    return keys + [slice(begin + head * value_dim, begin + (head + 1) * value_dim) for head in range(value_heads)]


def part_of(layer: Layer, matrices: list[torch.Tensor], wanted: slice) -> torch.Tensor:
    """The wanted channels' square out of that of the span that holds them."""
    for span, matrix in zip(layer.spans, matrices, strict=True):
        if span.start <= wanted.start and wanted.stop <= span.stop:
            inner = slice(wanted.start - span.start, wanted.stop - span.start)
            return matrix[inner, inner]
    raise AssertionError("the channels of a block were not measured together")


def spreads(layer: Layer) -> torch.Tensor:
    """[channel]: the standard deviation over all keys of the layer, or over all its values. The units in which damage is compared."""
    covariances = [layer.covariance(span) for span in range(len(layer.spans))]
    variances = torch.cat([part_of(layer, covariances, span).diagonal() for span in head_spans(layer)])
    border = layer.shape[0] * layer.shape[1]
    keys, values = variances[:border], variances[border:]
    parts = [torch.full_like(part, part.mean().clamp(min=1e-12).sqrt().item()) for part in (keys, values)]
    return torch.cat(parts)


def sensitivities(layer: Layer, spans: list[slice]) -> list[torch.Tensor]:
    """By span, F in units of the spreads."""
    measured = [layer.sensitivity(span) for span in range(len(layer.spans))]
    spread = spreads(layer)
    return [part_of(layer, measured, span) * torch.outer(spread[span], spread[span]) for span in spans]


def weighted(sensitivity: torch.Tensor, beta: float, epsilon: float, floor: float) -> torch.Tensor:
    """S squared. A block whose errors cost nothing is treated as costing `floor`."""
    mean = sensitivity.diagonal().mean().clamp(min=floor)
    identity = torch.eye(len(sensitivity), dtype=torch.float64)
    return mean**beta * (sensitivity / mean + epsilon * identity) / (1 + epsilon)


def transform(square: torch.Tensor, covariance: torch.Tensor) -> torch.Tensor:
    """U' S^-1 [coefficient, channel], coefficients by falling variance."""
    values, vectors = torch.linalg.eigh(square)
    root = values.clamp(min=values[-1] * 1e-12).sqrt()
    inverse = (vectors / root) @ vectors.T
    symmetric = (vectors * root) @ vectors.T
    _, directions = torch.linalg.eigh(symmetric @ covariance @ symmetric)
    return directions.flip(1).T @ inverse


def layer_basis(layer: Layer, block: str, floor: float) -> LayerBasis:
    """With a step that is still to be chosen."""
    spread = spreads(layer)
    spans = [slice(0, len(spread))] if block == "layerkv" else head_spans(layer)
    covariances = [layer.covariance(span) for span in range(len(layer.spans))]
    scales, numbers = [], []
    for span, sensitivity in zip(spans, sensitivities(layer, spans), strict=True):
        square = weighted(sensitivity, BETA[block], EPSILON[block], floor)
        if block == "diag":
            scales.append(spread[span] / square.diagonal().sqrt())
            continue
        covariance = part_of(layer, covariances, span) / torch.outer(spread[span], spread[span])
        matrix = transform(square, covariance) * spread[span]
        scale = matrix.abs().amax(0) / LARGEST
        scales.append(scale)
        numbers.append((matrix / scale).round().to(torch.int8).reshape(-1))
    shape = torch.tensor(layer.shape, dtype=torch.int32)
    whole = torch.cat(numbers) if numbers else None
    return LayerBasis(layer.number, shape, layer.means().float(), torch.cat(scales).float(), whole)


def coefficients(layer: Layer, made: LayerBasis, block: str) -> torch.Tensor:
    """The sample's y [token, coefficient], through the inverse of the rounded basis as encoders compute it."""
    left = (torch.cat(layer.sample) - made.means) / made.scales
    if made.basis is None:
        return left
    spans = [slice(0, len(made.means))] if block == "layerkv" else head_spans(layer)
    parts, begin = [], 0
    for span in spans:
        width = span.stop - span.start
        matrix = made.basis[begin : begin + width * width].reshape(width, width).double()
        parts.append(left[:, span] @ torch.linalg.inv(matrix).float())
        begin += width * width
    return torch.cat(parts, dim=1)


def entropy(columns: torch.Tensor) -> float:
    """Bits per element of whole numbers [token, column], every column its own distribution."""
    symbols = columns.long()
    low = symbols.min()
    width = int(symbols.max() - low) + 1
    places = symbols - low + torch.arange(symbols.shape[1]) * width
    counts = torch.bincount(places.reshape(-1), minlength=width * symbols.shape[1]).double()
    share = counts[counts > 0] / len(symbols)
    return float(-(share * share.log2()).sum() / symbols.shape[1])


def step_for(samples: list[torch.Tensor], bits_per_element: float) -> float:
    """The quantiser step, of one value for the whole model, at which the samples cost that much: bisection on its logarithm."""
    channels = sum(sample.shape[1] for sample in samples)
    spread = torch.tensor([float(sample.double().pow(2).mean()) for sample in samples]).mean().sqrt()
    low, high = (spread / 1024).log2().item(), (spread * 64).log2().item()
    for _ in range(20):
        middle = (low + high) / 2
        bits = sum(entropy((sample / 2**middle).round().clamp(-1024, 1024)) * sample.shape[1] for sample in samples) / channels
        low, high = (middle, high) if bits > bits_per_element else (low, middle)
    return 2 ** ((low + high) / 2)


def bases_of(layers: list[Layer], block: str, bits_per_element: float) -> tuple[list[LayerBasis], dict[str, Any]]:
    """And the constants that shaped them."""
    means = [float(part.diagonal().mean()) for layer in layers for part in sensitivities(layer, head_spans(layer))]
    floor = max(sum(means) / len(means) * 1e-8, 1e-30)
    made = [layer_basis(layer, block, floor) for layer in layers]
    step = step_for([coefficients(layer, basis, block) for layer, basis in zip(layers, made, strict=True)], bits_per_element)
    for basis in made:
        basis.scales *= step
    return made, {"beta": BETA[block], "epsilon": EPSILON[block], "bits_per_element": bits_per_element}
