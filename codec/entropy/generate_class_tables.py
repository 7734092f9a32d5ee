#!/usr/bin/env python3
"""Writes class_tables.inc: the fixed family of frequency tables of the entropy coder.

    python3 codec/entropy/generate_class_tables.py > codec/entropy/class_tables.inc

The committed file is the norm (spec.md); this program says where its numbers come from. It computes
in Decimal and in integers only, so that every host writes the same bytes; a test compares them.
"""
from decimal import Decimal, getcontext

getcontext().prec = 34
SLOTS = 2048                 # frequencies of a table sum to this
KEEP = Decimal("0.35")       # an outcome with less than this many slots is left to the exceptions
NUM_SCALES = 38              # sigma = 0.12 * 2^(i/4): 0.12 to 73.1 quantiser steps
GRID = 64                    # points of the unit distribution per sigma
REACH = 14                   # and how many sigmas it covers
ONE = 1 << 60                # probability 1 in integers
PHASES = [Decimal(p) for p in ("0", "0.25", "0.5", "-0.25")]  # of the mean, in steps


def scale(i):
    return Decimal("0.12") * (Decimal(2) ** (Decimal(i) / 4))


def cosine(x):
    term, total, n = Decimal(1), Decimal(1), 0
    while abs(term) > Decimal("1e-30"):
        n += 2
        term *= -x * x / (n * (n - 1))
        total += term
    return total


def unit_cdf(beta, a):
    """Distribution function of exp(-(|x|/a)^beta), every 1/GRID from -REACH to REACH, in ONE."""
    def density(i):
        x = abs(Decimal(i)) / (2 * GRID)
        return Decimal(1) if x == 0 else (-((beta * (x / a).ln()).exp())).exp()
    points = [density(i) for i in range(-2 * GRID * REACH, 2 * GRID * REACH + 1)]
    sums = [Decimal(0)]
    for i in range(0, len(points) - 2, 2):  # Simpson's rule on half steps
        sums.append(sums[-1] + points[i] + 4 * points[i + 1] + points[i + 2])
    return [int(s / sums[-1] * ONE) for s in sums]


def at(cdf, z_fixed):
    """The distribution function at z = z_fixed / 2^32 sigmas, linear between grid points."""
    position = z_fixed * GRID + (REACH * GRID << 32)
    if position <= 0:
        return 0
    index, rest = position >> 32, position & 0xFFFFFFFF
    if index >= len(cdf) - 1:
        return ONE
    return cdf[index] + ((cdf[index + 1] - cdf[index]) * rest >> 32)


def to_slots(probabilities):
    """{symbol: probability in ONE} -> {symbol: frequency}, summing to SLOTS."""
    total_all = sum(probabilities.values())
    kept = {k: p for k, p in probabilities.items() if Decimal(p) * SLOTS >= KEEP * total_all}
    total = sum(kept.values())
    slots = {k: max(1, p * SLOTS // total) for k, p in kept.items()}

    def missing(k):  # times total
        return kept[k] * SLOTS - slots[k] * total
    inner_first = sorted(kept, key=lambda k: (abs(k), k))
    while sum(slots.values()) < SLOTS:
        slots[max(inner_first, key=missing)] += 1
    while sum(slots.values()) > SLOTS:
        slots[min((k for k in inner_first if slots[k] > 1), key=missing)] -= 1
    return slots


def spread(cdf, sigma, means):
    """Mass per integer of the unit distribution widened to sigma, averaged over `means`."""
    reach = int(5 * sigma + max(abs(m) for m in means)) + 2
    half = Decimal("0.5")
    edges = {}
    for k in range(-reach, reach + 2):
        edges[k] = sum(at(cdf, int((k - half - m) / sigma * (1 << 32))) for m in means)
    return {k: edges[k + 1] - edges[k] for k in range(-reach, reach + 1)}


def oscillating(cdf, sigma, ratio, phase):
    """A sine of amplitude ratio * noise at a random phase, plus normal noise; sigma of the sum."""
    noise = sigma / (1 + ratio * ratio / 2).sqrt()
    pi = Decimal("3.14159265358979323846264338327950288")
    return spread(cdf, noise, [phase + ratio * noise * cosine(pi * (2 * j + 1) / 128)
                               for j in range(64)])


def one_sided(sigma):
    """Geometric with standard deviation sigma: (1 - t) t^k, sqrt(t) / (1 - t) = sigma."""
    root = ((1 + 4 * sigma * sigma).sqrt() - 1) / (2 * sigma)
    t = root * root
    return {k: int((1 - t) * t ** k * ONE) for k in range(0, 64)}


def family():
    """{(scale index, kind): table}. Kinds 0-15 are 4 * shape + phase, 16 and 17 one-sided."""
    # a makes the variance 1: sqrt(gamma(1/beta) / gamma(3/beta)).
    normal = unit_cdf(Decimal(2), Decimal(2).sqrt())
    peaked = unit_cdf(Decimal("1.3"), Decimal("1.0120933820280538"))
    tables = {}
    for i in range(NUM_SCALES):
        sigma = scale(i)
        fine = PHASES if i < 14 else PHASES[0::2] if i < 18 else PHASES[:1]
        for shape, cdf in enumerate((normal, peaked)):
            for phase in fine:
                tables[i, 4 * shape + PHASES.index(phase)] = to_slots(spread(cdf, sigma, [phase]))
        if i >= 7:
            for shape, ratio in ((2, Decimal("1.5")), (3, Decimal(4))):
                for phase in PHASES if i < 14 else PHASES[:1]:
                    tables[i, 4 * shape + PHASES.index(phase)] = to_slots(
                        oscillating(normal, sigma, ratio, phase))
        if i < 18:
            right = to_slots(one_sided(sigma))
            tables[i, 16], tables[i, 17] = right, {-k: f for k, f in right.items()}
    return tables


def print_numbers(numbers):
    line = "   "
    for n in numbers:
        if len(line) + len(str(n)) > 97:
            print(line)
            line = "   "
        line += f" {n},"
    print(line)


def main():
    print("// Written by generate_class_tables.py; the norm for encoders and decoders (spec.md).")
    print("// Scales in 1/65536 step, then per table: scale index, kind, first symbol, number of")
    print("// symbols, their frequencies.")
    print("constexpr std::int32_t kScales[] = {")
    print_numbers([int(scale(i) * 65536 + Decimal("0.5")) for i in range(NUM_SCALES)])
    print("};\nconstexpr std::int16_t kTables[] = {")
    for (i, kind), slots in sorted(family().items()):
        first, last = min(slots), max(slots)
        print_numbers([i, kind, first, last - first + 1] +
                      [slots.get(k, 0) for k in range(first, last + 1)])
    print("};")


if __name__ == "__main__":
    main()
