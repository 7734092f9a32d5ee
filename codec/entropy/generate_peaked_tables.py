#!/usr/bin/env python3
"""Writes peaked_tables.inc: the fixed family of frequency tables with escapes (plane model 4).

    python3 codec/entropy/generate_peaked_tables.py > codec/entropy/peaked_tables.inc

The committed file is the norm (spec.md, section 10); this program says where its numbers come from.
It computes in Decimal and in integers only, so that every host writes the same bytes; a test
compares them.
"""
from decimal import Decimal

from generate_class_tables import print_numbers
from generate_digit_tables import EXPONENTS, SLOTS, Shape

KEEP = Decimal("0.35")       # an outcome with less than this many slots is left to the escapes
NUM_SCALES = 46              # sigma = 0.03 * 2^(i/4): 0.03 to 73 quantiser steps
PHASES = [Decimal(p) for p in ("0", "0.25", "0.5", "-0.25")]  # of the mean, in steps


def phases_of(i):
    """A fractional mean makes no difference to a wide table."""
    return PHASES if i < 22 else PHASES[0::2] if i < 26 else PHASES[:1]


def table(shape, sigma, phase):
    """(first symbol, frequencies): an escape, the symbols that are worth a slot, an escape."""
    def below(edge):
        z = (edge - phase) / sigma
        return Decimal("0.5") + (shape.within(z) if z > 0 else -shape.within(-z))

    half = Decimal("0.5")
    masses = {0: below(half) - below(-half)}
    least = KEEP / SLOTS
    last = first = 0
    upper, lower = below(half), below(-half)
    while (mass := below(last + 1 + half) - upper) >= least:
        last += 1
        masses[last], upper = mass, upper + mass
    while (mass := lower - below(first - 1 - half)) >= least:
        first -= 1
        masses[first], lower = mass, lower - mass
    masses[last + 1], masses[first - 1] = 1 - upper, lower
    assert first - 1 > -512 and last + 1 < 511
    slots = {k: max(1, int(m * SLOTS)) for k, m in masses.items()}
    inner_first = sorted(masses, key=lambda k: (abs(k), k))
    while sum(slots.values()) < SLOTS:
        slots[max(inner_first, key=lambda k: masses[k] * SLOTS - slots[k])] += 1
    while sum(slots.values()) > SLOTS:
        slots[min((k for k in inner_first if slots[k] > 1),
                  key=lambda k: masses[k] * SLOTS - slots[k])] -= 1
    return first - 1, [slots[k] for k in range(first - 1, last + 2)]


def main():
    print("// Written by generate_peaked_tables.py; the norm for encoders and decoders (spec.md).")
    print("// Per table: scale index, kind (4 * shape + phase), first symbol, number of symbols,")
    print("// their frequencies. The first and the last symbol are escapes.")
    print("constexpr std::int16_t kTables[] = {")
    for number, exponent in enumerate(EXPONENTS):
        shape = Shape(exponent)
        for i in range(1, NUM_SCALES):
            sigma = Decimal("0.03") * (Decimal(2) ** (Decimal(i) / 4))
            for phase in phases_of(i):
                first, slots = table(shape, sigma, phase)
                print_numbers([i, 4 * number + PHASES.index(phase), first, len(slots)] + slots)
    print("};")


if __name__ == "__main__":
    main()
