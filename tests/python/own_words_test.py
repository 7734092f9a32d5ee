"""Tests of codec/calibrate/own_words.py.

Run: python3 -m unittest -v tests/python/own_words_test.py
ConversationTest needs nothing but Python. TinyModelTest needs the packages of codec/capture/requirements.txt; it makes its own models with
random weights.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OWN_WORDS = ROOT / "codec" / "calibrate" / "own_words.py"
MISSING = [name for name in ("torch", "transformers", "gguf", "accelerate", "numpy") if importlib.util.find_spec(name) is None]
TEMPLATE = "{% for m in messages %}<s> {{ m['role'] }} {{ m['content'] }} </s> {% endfor %}"

sys.path.insert(0, str(OWN_WORDS.parent))
import own_words  # noqa: E402


def setUpModule() -> None:
    if MISSING:
        print(f"SKIP: every run of a model: no {', '.join(MISSING)}; pip install -r codec/capture/requirements.txt", file=sys.stderr)


class ConversationTest(unittest.TestCase):
    MARKS = own_words.Marks(opening=[1, 2], hand_over=([0, 3], [0, 4]), end=0)

    def said(self, drawn: list[int]) -> list[int]:
        talk = own_words.Conversation(list(self.MARKS.opening))
        for token in drawn:
            talk.go_on(token, self.MARKS)
        return talk.token_ids

    def test_a_turn_ends_where_the_model_ends_it_and_the_marks_stand_whatever_it_would_say(self) -> None:
        # 7 8 end: the assistant's mark is 0 3, so the 9 drawn in the place of 3 is not said. Then 5 end: 0 4.
        self.assertEqual(self.said([7, 8, 0, 9, 5, 0, 9, 6]), [1, 2, 7, 8, 0, 3, 5, 0, 4, 6])

    def test_a_user_who_does_not_end_is_cut_off_after_80_tokens_and_an_assistant_after_300(self) -> None:
        self.assertEqual(own_words.LONGEST_TURN, (80, 300))
        token_ids = self.said([7] * 400)
        self.assertEqual(token_ids[2:85], [7] * 80 + [0, 3] + [7])
        self.assertEqual(token_ids[84:387], [7] * 300 + [0, 4] + [7])

    def test_the_examples_options_exist(self) -> None:
        run = subprocess.run([sys.executable, "-I", "-S", OWN_WORDS, "--help"], capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        example = run.stdout[run.stdout.index("  python3 codec/calibrate/own_words.py") :].replace("\\\n", " ")
        args = own_words.parse_arguments(shlex.split(example)[2:])
        self.assertEqual((args.documents, args.tokens, args.seed, args.threads), (2, 200, 1, 1))

    def test_a_missing_model_is_one_line(self) -> None:
        words = [sys.executable, "-I", "-S", OWN_WORDS, "--model", "no/such.gguf", "--out", "x.txt"]
        run = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"\Aerror: no/such\.gguf: [^\n]+; [^\n]+\n\Z")


@unittest.skipIf(MISSING, f"needs {', '.join(MISSING)}: pip install -r codec/capture/requirements.txt")
class TinyModelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        import transformers

        transformers.logging.disable_progress_bar()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def make_model(self, name: str, chat_template: str | None) -> Path:
        """Two layers that know the words w0 to w45, the marks of TEMPLATE and the two roles."""
        import torch
        from tokenizers import Tokenizer, models, pre_tokenizers
        from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedTokenizerFast

        folder = self.folder / name
        torch.manual_seed(1)
        sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
        config = LlamaConfig(vocab_size=51, bos_token_id=47, eos_token_id=48, initializer_range=0.2, **sizes)
        AutoModelForCausalLM.from_config(config).save_pretrained(folder)
        words = {f"w{i}": i for i in range(46)} | {"<unk>": 46, "<s>": 47, "</s>": 48, "user": 49, "assistant": 50}
        tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
        fast.chat_template = chat_template
        fast.save_pretrained(folder)
        return folder

    def write(self, model: Path, *options: str) -> str:
        out = model / "own.txt"
        talk = io.StringIO()
        with contextlib.redirect_stderr(talk):
            code = own_words.main(["--model", str(model), "--out", str(out), "--documents", "3", "--tokens", "120", *options])
        self.assertEqual(code, 0, talk.getvalue())
        self.assertEqual([path.name for path in model.glob("own.txt*")], ["own.txt"])
        return out.read_text(encoding="utf-8")

    def test_a_chat_model_takes_both_parts_between_its_own_marks(self) -> None:
        conversations = self.write(self.make_model("chat", TEMPLATE)).strip().split("\n\n")
        self.assertEqual(len(conversations), 3)
        for conversation in conversations:
            words = conversation.split()
            self.assertEqual(len(words), 120)
            self.assertEqual(words[:2], ["<s>", "user"])
            roles = [word for word in words if word in ("user", "assistant") and words[words.index(word) - 1] == "<s>"]
            self.assertGreater(len(roles), 1, "120 tokens are more than a user may say")

    def test_a_model_without_a_template_just_goes_on(self) -> None:
        for conversation in self.write(self.make_model("plain", None)).strip().split("\n\n"):
            self.assertEqual(len(conversation.split()), 120)

    def test_the_same_command_writes_the_same_words_and_another_seed_others(self) -> None:
        model = self.make_model("twice", TEMPLATE)
        first, again, other = self.write(model), self.write(model), self.write(model, "--seed", "2")
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_what_is_said_is_what_the_model_says_with_a_cache_of_its_own(self) -> None:
        # The roomy cache changes no logit: greedy continuation of the same text, with and without it.
        import torch
        from transformers import AutoModelForCausalLM

        model = AutoModelForCausalLM.from_pretrained(self.make_model("cache", None)).eval()
        token_ids = torch.tensor([[1, 5, 9, 2], [7, 7, 3, 1]])
        with torch.inference_mode():
            cache: Any = own_words.roomy_cache(10)
            steps = [model(input_ids=part, past_key_values=cache, use_cache=True).logits for part in (token_ids[:, :3], token_ids[:, 3:])]
            whole = model(input_ids=token_ids).logits
        torch.testing.assert_close(torch.cat(steps, dim=1), whole, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
