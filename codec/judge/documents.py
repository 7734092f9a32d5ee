"""The texts that a judgement stands on: a context and what follows it, by hash apart from the texts of the calibration.

The first step of the judge. What surprises: a piece ends with its last token, so that its hash is that of the text really used.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capture import CaptureError, begin_tokens, read_text, sha256_of

# What a reader asks who turns from the context to something else; unrelated text follows it.
QUESTION = "\n\nLeave that aside. Here is another text that has nothing to do with it. Can you tell me what it is about?\n\n"
REPEAT_BEGINS_AT = 300  # context token where the repeated passage begins, at 1536 tokens and in proportion
CHARACTERS_PER_TOKEN = 16  # at most so many are looked at; ordinary text has 3 to 5
CONTINUATIONS = ("same-document", "unrelated-question", "repeat")


@dataclass(frozen=True)
class Document:
    """One more token than context and continuation, since the last position predicts it."""

    name: str  # "topics.jsonl#3"
    ids: list[int]
    sha256: str  # of the text that these tokens are
    file_sha256: str  # of the file that it is from


@dataclass(frozen=True)
class Task:
    """A context and its three continuations, by name; each holds one token more than is fed."""

    document: Document
    context: list[int]
    continuations: dict[str, list[int]]


def parse_choice(choice: str, name: str) -> list[int]:
    """ "0,3-5" -> 0, 3, 4, 5."""
    numbers: list[int] = []
    for part in choice.split(","):
        found = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?%?", part)
        if not found:
            raise CaptureError(f"--documents: `{name}` chooses `{part}`; write FILE#0,3-5 for lines, or FILE#60%,80% for parts of a text")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first:
            raise CaptureError(f"--documents: `{name}` chooses `{part}`, whose end is before its beginning; write the smaller number first")
        numbers += range(first, last + 1)
    return numbers


def prompts_of(path: Path, choice: str | None) -> list[tuple[str, str]]:
    """Names and texts of the chosen lines of a JSONL file, counted from 0."""
    lines = read_text(path).removesuffix("\n").split("\n")  # not splitlines(): strings of JSON may hold other breaks
    texts = []
    for number in parse_choice(choice, str(path)) if choice else range(len(lines)):
        if number >= len(lines):
            raise CaptureError(f"{path}: has lines 0 to {len(lines) - 1}, not {number}; choose others")
        try:
            texts.append((f"{path.name}#{number}", str(json.loads(lines[number])["prompt"])))
        except (ValueError, KeyError, TypeError) as error:
            raise CaptureError(f"{path}:{number + 1}: is no JSON object with a `prompt`; give a file of such lines") from error
    return texts


def parts_of(path: Path, choice: str | None) -> list[tuple[str, str]]:
    """Names and texts from the chosen places on, each from the beginning of a line."""
    text = read_text(path)
    if choice is None:
        return [(path.name, text)]
    texts = []
    for percent in parse_choice(choice, str(path)):
        if percent > 99:
            raise CaptureError(f"--documents: `{path}#{percent}%` begins behind the text; choose 0 to 99")
        place = len(text) * percent // 100
        line_end = text.find("\n", place) if percent else -1
        begin = line_end + 1 if line_end >= 0 or not percent else place  # a text in one line is cut where it is
        texts.append((f"{path.name}#{percent}%", text[begin:]))
    return texts


def read_pieces(spec: str) -> list[tuple[str, str, str]]:
    """Name, text and the file's hash of each."""
    name, _, choice = spec.partition("#")
    path = Path(name)
    pieces = (prompts_of if path.suffix == ".jsonl" else parts_of)(path, choice or None)
    digest = sha256_of([path])
    return [(*piece, digest) for piece in pieces]


def cut(name: str, text: str, file_sha256: str, num_tokens: int, tokenizer: Any) -> Document:
    text = text[: num_tokens * CHARACTERS_PER_TOKEN]
    begin = begin_tokens(tokenizer)
    coded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    wanted = num_tokens - len(begin)
    if len(coded.input_ids) < wanted:
        raise CaptureError(f"{name}: gives {len(coded.input_ids) + len(begin)} tokens, {num_tokens} are needed; leave it out or use fewer --tokens")
    used = text[: coded.offset_mapping[wanted - 1][1]]
    return Document(name, begin + coded.input_ids[:wanted], hashlib.sha256(used.encode()).hexdigest(), file_sha256)


def read_documents(specs: list[str], num_tokens: int, tokenizer: Any) -> list[Document]:
    documents = [cut(*piece, num_tokens, tokenizer) for spec in specs for piece in read_pieces(spec)]
    if len(documents) < 2:
        raise CaptureError("--documents: one document is too few, the unrelated text comes from another; give at least two")
    by_hash: dict[str, str] = {}
    for document in documents:
        if document.sha256 in by_hash:
            raise CaptureError(f"--documents: {document.name} and {by_hash[document.sha256]} are the same text; leave one out")
        by_hash[document.sha256] = document.name
    return documents


def make_tasks(documents: list[Document], tokens: int, continuation: int, tokenizer: Any) -> list[Task]:
    """The unrelated text is the one half the list away: of another domain when the list goes domain by domain."""
    question = tokenizer(QUESTION, add_special_tokens=False).input_ids
    length = continuation + 1
    tasks = []
    for i, document in enumerate(documents):
        other = documents[(i + len(documents) // 2) % len(documents)]
        begin = min(tokens * REPEAT_BEGINS_AT // 1536, max(tokens - length, 0))
        repeat = document.ids[begin : min(begin + length, tokens)]
        continuations = (document.ids[tokens:], (question + other.ids[tokens:])[:length], repeat)
        tasks.append(Task(document, document.ids[:tokens], dict(zip(CONTINUATIONS, continuations, strict=True))))
    return tasks


def refuse_calibration_texts(documents: list[Document], metadata: dict[str, str], profile: str) -> None:
    """A model profile holds the hashes of the files that it was made from; judging on the same texts would flatter it."""
    known = set(re.findall(r"\b[0-9a-f]{64}\b", " ".join(metadata.values())))
    for document in documents:
        if known & {document.sha256, document.file_sha256}:
            raise CaptureError(f"--documents: {document.name} is of a text that {profile} was calibrated on; judge it on other texts")
