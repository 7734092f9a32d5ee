"""Texts of a calibration, and the documents (token sequences of one length) cut from them.

A text is a file, or one field of a file of JSON lines. Documents lie evenly spread over their text and do not overlap.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import capture
from capture import CaptureError


@dataclass
class Text:
    path: Path
    content: str
    sha256: str  # of the file's bytes
    num_used: int = 0  # tokens in the chosen documents


def field_of_lines(path: Path, content: str, field: str) -> str:
    """The field's strings, an empty line between two."""
    strings = []
    for number, line in enumerate(content.removesuffix("\n").split("\n"), start=1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise CaptureError(f"{path}:{number}: is not JSON ({error}); give JSON lines, or leave out :{field}") from error
        string = record.get(field) if isinstance(record, dict) else None
        if not isinstance(string, str):
            raise CaptureError(f"{path}:{number}: has no string `{field}`; name a field that every line has")
        strings.append(string)
    return "\n\n".join(strings)


def read_texts(names: list[str]) -> list[Text]:
    texts = []
    for name in names:
        file, _, field = name.partition(":")
        path = Path(file)
        content = capture.read_text(path)
        if field:
            content = field_of_lines(path, content, field)
        texts.append(Text(path, content, capture.sha256_of([path])))
    return texts


def choose_documents(texts: list[Text], tokenizer: Any, num_documents: int, num_tokens: int) -> list[list[int]]:
    """By turns from the texts: document i is of text i mod their number."""
    begin = capture.begin_tokens(tokenizer)
    length = num_tokens - len(begin)
    documents: list[list[int]] = [[] for _ in range(num_documents)]
    for turn, text in enumerate(texts):
        wanted = range(turn, num_documents, len(texts))
        token_ids = tokenizer(text.content, add_special_tokens=False).input_ids
        if len(token_ids) < length * len(wanted):
            raise CaptureError(
                f"{text.path}: gives {len(token_ids)} tokens, {length * len(wanted)} are needed; give a longer text or smaller --tokens"
            )
        step = (len(token_ids) - length) // max(len(wanted) - 1, 1)
        for place, document in enumerate(wanted):
            documents[document] = begin + token_ids[place * step : place * step + length]
        text.num_used = num_tokens * len(wanted)
    return documents
