#!/usr/bin/env python3
"""Writes digit_tables.inc: the frequencies of the ternary digits that refine known symbols.

    python3 codec/entropy/generate_digit_tables.py > codec/entropy/digit_tables.inc

The committed file is the norm (spec.md, section 9); this program says where its numbers come from.
It computes in Decimal and in integers only, so that every host writes the same bytes; a test
compares them.
"""
from decimal import Decimal, getcontext

getcontext().prec = 60
SLOTS = 2048                   # frequencies of a table sum to this
NUM_SCALES = 32                # sigma = 0.03 * 2^(i/4): 0.03 to 6.5 steps of the coarse symbol
EXPONENTS = [Decimal(e) for e in ("2", "1.3", "1", "0.7")]
NUM_CONTEXTS = 4               # min(|coarse symbol|, 3)
LEAST = [1, 16, 16, 16]        # slots of a digit: columns have outliers that no shape knows
RARE = Decimal("1e-40")        # a context with less mass is of outliers alone


def lower_gamma(s, x):
    """The lower incomplete gamma function: x^s e^-x sum of x^n / (s (s + 1) ... (s + n))."""
    if x == 0:
        return Decimal(0)
    term = total = 1 / s
    n = 0
    while term > total * Decimal("1e-58"):
        n += 1
        term *= x / (s + n)
        total += term
    return total * (s * x.ln() - x).exp()


class Shape:
    """exp(-(|x| / a)^exponent) with variance 1."""

    def __init__(self, exponent):
        self.exponent = exponent
        self.whole = lower_gamma(1 / exponent, Decimal(400))
        self.a = (self.whole / lower_gamma(3 / exponent, Decimal(400))).sqrt()

    def within(self, x):
        """The mass between 0 and x >= 0, of 1/2."""
        power = (self.exponent * (x / self.a).ln()).exp() if x > 0 else Decimal(0)
        return lower_gamma(1 / self.exponent, min(power, Decimal(400))) / self.whole / 2


def third_masses(shape, sigma):
    """[context][digit + 1]: the mass of each third of the coarse bins of a context, x >= 0."""
    masses = [[Decimal(0)] * 3 for _ in range(NUM_CONTEXTS)]
    below = shape.within(1 / (6 * sigma))
    masses[0][1] = 2 * below
    third = 1  # the next one reaches from (third - 1/2) / 3 to (third + 1/2) / 3
    while third < 3 * NUM_CONTEXTS or Decimal("0.5") - below > Decimal("1e-12"):
        upto = shape.within((2 * third + 1) / (6 * sigma))
        coarse = (third + 1) // 3
        masses[min(coarse, NUM_CONTEXTS - 1)][third - 3 * coarse + 1] += upto - below
        below = upto
        third += 1
    masses[0][0] = masses[0][2]  # of the coarse symbol 0 both signs are alike
    return masses


def to_slots(masses, least):
    """Frequencies that sum to SLOTS, the first and the last of equal masses alike."""
    total = sum(masses)
    if total < RARE:
        masses, total = [Decimal(1), Decimal(0), Decimal(0)], Decimal(1)
    slots = [max(least, int(m * SLOTS / total + Decimal("0.5"))) for m in masses]
    largest = 1 if masses[0] == masses[2] else max(range(3), key=lambda i: masses[i])
    slots[largest] += SLOTS - sum(slots)
    return slots


def main():
    print("// Written by generate_digit_tables.py; the norm for encoders and decoders (spec.md).")
    print("// [shape][scale][context][digit + 1]; a line is a scale.")
    print("constexpr std::uint16_t kDigitFrequencies"
          f"[{len(EXPONENTS)}][{NUM_SCALES}][{NUM_CONTEXTS}][3] = {{")
    for exponent in EXPONENTS:
        shape = Shape(exponent)
        print("    {")
        for i in range(NUM_SCALES):
            sigma = Decimal("0.03") * (Decimal(2) ** (Decimal(i) / 4))
            tables = [to_slots(m, least) for m, least in zip(third_masses(shape, sigma), LEAST)]
            print("        {" + ", ".join("{%d, %d, %d}" % tuple(t) for t in tables) + "},")
        print("    },")
    print("};")


if __name__ == "__main__":
    main()
