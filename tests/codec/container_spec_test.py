"""A second reader of .kvb files, written from container/spec.md and the specifications of raw, int8 and int4 alone: it must
find in the golden files the elements that decoded.sha256 names. AES-GCM stands here in full (FIPS 197, NIST SP 800-38D)."""

import hashlib
import hmac
import os
import struct
import unittest
import zlib
from pathlib import Path

GOLDEN = Path(os.environ["SLUICE_HOME"]) / "tests/data/golden"
KEY = bytes(range(32))  # of the sealed golden files
KEYS, VALUES, LATENTS = 0, 1, 2
FP16, BF16, FP32 = 1, 2, 3


class Reader:
    def __init__(self, data, at):
        self.data, self.at = data, at

    def get(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def bytes(self, count):
        self.at += count
        assert self.at <= len(self.data)
        return self.data[self.at - count:self.at]

    def text(self):
        return self.bytes(self.get("I")).decode()


def kept_tokens(reader, header, first_tokens, are_dropped):
    """Fills in the positions of each layer's tokens, and the elements that there were."""
    header["source_elements"] = reader.get("q") if are_dropped else None
    header["positions"] = []
    for (_, tokens, _), first in zip(header["layers"], first_tokens):
        form = reader.get("B") if are_dropped else 0
        positions = list(range(first, first + tokens))
        if form == 1:
            positions = header["positions"][-1]
        elif form == 2:
            bits = int.from_bytes(reader.bytes((reader.get("q") - first) // 8 + 1), "little")
            positions = [first + p for p in range(bits.bit_length()) if bits >> p & 1]
        elif form == 3:
            positions = [reader.get("q") for _ in range(tokens)]
        assert len(positions) == tokens and positions == sorted(set(positions))
        header["positions"].append(positions)


def parse(data):
    """The header as a dict: codec, level, layers [(form, tokens, [(dtype, heads, dim)])], sections."""
    assert data[:8] == b"\x89KVB\r\n\x1a\n"
    version, flags, header_size, file_size = struct.unpack_from("<IIQQ", data, 8)
    assert version == 1 and flags in (0, 1, 4) and file_size == len(data)
    assert struct.unpack_from("<I", data, header_size - 4)[0] == zlib.crc32(data[:header_size - 4])
    reader = Reader(data, 32)
    header = {"codec": reader.text(), "version": reader.get("I"), "level": reader.text()}
    reader.text(), reader.text(), reader.get("I"), reader.get("qq")
    header["salt"] = reader.bytes(32) if flags & 1 else None
    for _ in range(reader.get("I")):
        reader.bytes(reader.get("I"))
    header["layers"], first_tokens = [], []
    for _ in range(reader.get("I")):
        _, first_token, tokens, _, form = reader.get("qqqII")
        first_tokens.append(first_token)
        header["layers"].append((form, tokens, [reader.get("Iqq") for _ in range(1 if form else 2)]))
    kept_tokens(reader, header, first_tokens, flags & 4)
    header["front"] = data[:reader.at]
    header["sections"] = []
    for _ in range(reader.get("I")):
        entry = reader.bytes(40)
        first, count, kind, refinement, zero, crc, offset, size, _ = struct.unpack("<IIBBHIqqq", entry)
        assert zero == 0 and (refinement == 0 or header["codec"] == "sluice")
        stored = data[offset:offset + size]
        assert zlib.crc32(stored) == crc
        header["sections"].append({"layers": range(first, first + count), "kind": kind, "offset": offset, "stored": stored,
                                   "entry": entry[:12] + bytes(4) + entry[16:]})
    if flags & 1:
        header["tagged"], header["tag"] = data[:header_size - 20], reader.bytes(16)
    assert reader.at == header_size - 4
    return header


def dequantised(codec, level, payload, tokens, channels):
    """[token][channel], and what is left of the payload."""
    group = channels if level == "token" else min(64, channels)
    groups = -(-channels // group)
    scales = struct.unpack_from(f"<{tokens * groups}e", payload)
    rest = payload[2 * len(scales):]
    width = channels if codec == "int8" else -(-channels // 2)
    rows = []
    for token in range(tokens):
        row = rest[token * width:(token + 1) * width]
        if codec == "int8":
            codes = [b - 256 if b > 127 else b for b in row]
        else:
            halves = [half for b in row for half in (b & 15, b >> 4)][:channels]
            codes = [h - 16 if h > 7 else h for h in halves]
        rows.append([code * scales[token * groups + channel // group] for channel, code in enumerate(codes)])
    return rows, rest[tokens * width:]


def rounded(value, dtype):
    if dtype == FP16:
        return struct.pack("<e", value)
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if dtype == FP32:
        return struct.pack("<I", bits)
    return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


def elements(header):
    """All tensors' bytes, layer by layer, key before value, [head, token, dim]."""
    tensors = {}
    for section in header["sections"]:
        payload = section["payload"]
        for layer in section["layers"]:
            form, tokens, shapes = header["layers"][layer]
            if (section["kind"] == LATENTS) != (form == 1):
                continue
            dtype, heads, dim = shapes[1 if section["kind"] == VALUES else 0]
            if header["codec"] == "raw":
                size = tokens * heads * dim * (4 if dtype == FP32 else 2)
                tensors[layer, section["kind"]], payload = payload[:size], payload[size:]
                continue
            rows, payload = dequantised(header["codec"], header["level"], payload, tokens, heads * dim)
            tensors[layer, section["kind"]] = b"".join(
                rounded(rows[token][head * dim + d], dtype) for head in range(heads) for token in range(tokens) for d in range(dim))
        assert payload == b""
    return b"".join(tensors[key] for key in sorted(tensors))


def xtime(a):
    return (a << 1 ^ (0x11B if a & 0x80 else 0)) & 0xFF


def times(a, b):
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a, b = xtime(a), b >> 1
    return product


def substitution():
    table = []
    for byte in range(256):
        inverse = next((x for x in range(256) if times(x, byte) == 1), 0)
        rotated = inverse
        for _ in range(4):
            inverse = (inverse << 1 | inverse >> 7) & 0xFF
            rotated ^= inverse
        table.append(rotated ^ 0x63)
    return table


SBOX = substitution()


def round_keys(key):
    words = [list(key[i:i + 4]) for i in range(0, 32, 4)]
    constant = 1
    for i in range(8, 60):
        word = list(words[-1])
        if i % 8 == 0:
            word = [SBOX[b] for b in word[1:] + word[:1]]
            word[0] ^= constant
            constant = xtime(constant)
        elif i % 8 == 4:
            word = [SBOX[b] for b in word]
        words.append([a ^ b for a, b in zip(words[i - 8], word)])
    return [sum(words[i:i + 4], []) for i in range(0, 60, 4)]


def aes(keys, block):
    state = [a ^ b for a, b in zip(block, keys[0])]
    for number, key in enumerate(keys[1:], start=1):
        state = [SBOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if number < 14:
            mixed = []
            for column in (state[i:i + 4] for i in range(0, 16, 4)):
                whole = column[0] ^ column[1] ^ column[2] ^ column[3]
                mixed += [column[i] ^ whole ^ xtime(column[i] ^ column[(i + 1) % 4]) for i in range(4)]
            state = mixed
        state = [a ^ b for a, b in zip(state, key)]
    return bytes(state)


def ghash(h, data):
    y = 0
    for i in range(0, len(data), 16):
        x, v, z = y ^ int.from_bytes(data[i:i + 16], "big"), h, 0
        for bit in range(127, -1, -1):
            z ^= v if x >> bit & 1 else 0
            v = v >> 1 ^ (0xE1 << 120 if v & 1 else 0)
        y = z
    return y


def gcm(key, nonce, text, additional, tag_of):
    """(text xor key stream, tag of `tag_of`, which is the ciphertext)."""
    keys = round_keys(key)
    stream = b"".join(aes(keys, nonce + struct.pack(">I", i + 2)) for i in range(-(-len(text) // 16)))

    def padded(data):
        return data + bytes(-len(data) % 16)

    sizes = struct.pack(">QQ", 8 * len(additional), 8 * len(tag_of))
    digest = ghash(int.from_bytes(aes(keys, bytes(16)), "big"), padded(additional) + padded(tag_of) + sizes)
    tag = digest ^ int.from_bytes(aes(keys, nonce + struct.pack(">I", 1)), "big")
    return bytes(a ^ b for a, b in zip(text, stream)), tag.to_bytes(16, "big")


def hkdf(key, salt, info):
    secret = hmac.new(salt, key, hashlib.sha256).digest()
    return hmac.new(secret, info + b"\x01", hashlib.sha256).digest()


def open_sections(header):
    """Fills in each section's payload; asserts every tag."""
    if header["salt"] is None:
        for section in header["sections"]:
            section["payload"] = section["stored"]
        return
    key = hkdf(KEY, header["salt"], b"sluice kvb 1")
    assert gcm(key, b"\xff" * 12, b"", header["tagged"], b"")[1] == header["tag"]
    front = hashlib.sha256(header["front"]).digest()
    for section in header["sections"]:
        cipher, tag = section["stored"][:-16], section["stored"][-16:]
        nonce = struct.pack("<q", section["offset"]) + bytes(4)
        section["payload"], expected = gcm(key, nonce, cipher, front + section["entry"], cipher)
        assert tag == expected


class SpecificationTest(unittest.TestCase):
    def test_its_parts_are_those_of_the_standards(self):
        # FIPS 197, appendix C.3; NIST's GCM test case 13 (an empty message under a key of zeros).
        block = bytes.fromhex("00112233445566778899aabbccddeeff")
        self.assertEqual(aes(round_keys(KEY), block).hex(), "8ea2b7ca516745bfeafc49904b496089")
        self.assertEqual(gcm(bytes(32), bytes(12), b"", b"", b"")[1].hex(), "530f8afbc74536b9a963b4f1c4cb738b")

    def test_a_reader_by_the_specification_alone_finds_the_same_elements(self):
        read = 0
        for line in (GOLDEN / "decoded.sha256").read_text().splitlines():
            digest, name = line.split()
            header = parse((GOLDEN / f"{name}.kvb").read_bytes())
            if header["codec"] not in ("raw", "int8", "int4"):
                continue
            with self.subTest(name):
                open_sections(header)
                self.assertEqual(hashlib.sha256(elements(header)).hexdigest(), digest)
                read += 1
        self.assertGreaterEqual(read, 7)

    def test_it_finds_the_positions_of_kept_tokens(self):
        header = parse((GOLDEN / "int8-token-reduced.kvb").read_bytes())
        kept = [1, 2, 9, 17, 40]
        self.assertEqual(header["positions"], [kept, kept, [2, 3, 4], [7, 8, 1000, 2000, 9000]])
        held = sum(tokens * heads * dim for _, tokens, shapes in header["layers"] for _, heads, dim in shapes)
        self.assertEqual(header["source_elements"], held)  # its encoder was given kept tokens alone


if __name__ == "__main__":
    unittest.main()
