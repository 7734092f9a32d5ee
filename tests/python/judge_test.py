"""Tests of codec/judge: what it refuses, what its parts compute, and whole judgements of models with random weights.

Run: python3 -m unittest -v tests/python/judge_test.py
CommandLineTest needs nothing but Python. The others need the packages of codec/capture/requirements.txt, and JudgementTest
build/bin/sluice-codec (or SLUICE_BIN). What is skipped says why.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
JUDGE = ROOT / "codec" / "judge" / "judge.py"
PROGRAM = Path(os.environ.get("SLUICE_BIN", ROOT / "build" / "bin")) / "sluice-codec"
MISSING = [name for name in ("torch", "transformers", "gguf", "accelerate", "numpy") if importlib.util.find_spec(name) is None]
TINY = {"vocab_size": 52, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
for folder in ("judge", "capture"):
    sys.path.insert(0, str(ROOT / "codec" / folder))


def setUpModule() -> None:
    if MISSING:
        print(f"SKIP: every run of a model: no {', '.join(MISSING)}; pip install -r codec/capture/requirements.txt", file=sys.stderr)
    elif not PROGRAM.is_file():
        print(f"SKIP: every judgement: no {PROGRAM}; build it, or set SLUICE_BIN", file=sys.stderr)


def words(begin: int, count: int) -> str:
    return " ".join(f"w{(begin + 7 * i + i * i // 3) % 50}" for i in range(count))


class CommandLineTest(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        (self.folder / "tiny.gguf").write_bytes(b"GGUF")
        (self.folder / "program").write_bytes(b"")
        (self.folder / "text.txt").write_text("one two three", encoding="utf-8")

    def error_of(self, *options: str) -> str:
        """In a Python that sees its standard library alone, so the outcome is the same on every machine."""
        base = {"--model": self.folder / "tiny.gguf", "--documents": self.folder / "text.txt", "--codec": "raw@exact",
                "--work": self.folder / "work", "--out": self.folder / "out.json", "--program": self.folder / "program"}
        base |= dict(zip(options[::2], options[1::2], strict=True))
        line = [str(word) for pair in base.items() for word in pair]
        run = subprocess.run([sys.executable, "-I", "-S", JUDGE, *line], capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual(run.stdout, "")
        self.assertRegex(run.stderr, r"\Aerror: [^\n]+: [^\n]+; [^\n]+\n\Z")
        self.assertFalse((self.folder / "out.json").exists(), "nothing half-written")
        return run.stderr

    def test_mistakes_are_one_line_before_any_slow_import(self) -> None:
        for options, message in (
            ((), "pip install -r codec/capture/requirements.txt"),
            (("--model", str(self.folder / "none.gguf")), "none.gguf: no such model file"),
            (("--program", str(self.folder / "none")), "there is no such program"),
            (("--codec", "int8"), "`int8` names no level"),
            (("--tokens", "300"), "256 of 300 tokens of context"),
            (("--out", str(self.folder / "no" / "out.json")), "there is no folder"),
            (("--threads", "0"), "--threads"),
        ):
            with self.subTest(message):
                self.assertIn(message, self.error_of(*options))

    def test_help_needs_no_packages_and_its_example_can_be_parsed(self) -> None:
        run = subprocess.run([sys.executable, "-I", "-S", JUDGE, "--help"], capture_output=True, text=True, timeout=60, check=True)
        self.assertIn("./sluice codec judge --model", run.stdout)
        self.assertIn("--ignore-queries", run.stdout)


@unittest.skipIf(MISSING, f"needs {', '.join(MISSING)}: pip install -r codec/capture/requirements.txt")
class DocumentsTest(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def test_lines_of_jsonl_and_places_in_a_text_are_chosen(self) -> None:
        import documents

        lines = self.folder / "p.jsonl"
        lines.write_text("".join(json.dumps({"prompt": f"prompt {i}"}) + "\n" for i in range(5)), encoding="utf-8")
        self.assertEqual([name for name, _, _ in documents.read_pieces(f"{lines}#0,3-4")], ["p.jsonl#0", "p.jsonl#3", "p.jsonl#4"])
        text = self.folder / "t.txt"
        text.write_text("aaaa\nbbbb\ncccc\ndddd\n", encoding="utf-8")
        self.assertEqual([piece for _, piece, _ in documents.read_pieces(f"{text}#0%,40%")], ["aaaa\nbbbb\ncccc\ndddd\n", "cccc\ndddd\n"])
        for spec, message in ((f"{lines}#5", "lines 0 to 4"), (f"{lines}#a", "chooses `a`"), (f"{text}#x%", "chooses `x%`")):
            with self.assertRaisesRegex(documents.CaptureError, message):
                documents.read_pieces(spec)

    def test_a_text_that_the_profile_was_calibrated_on_is_refused(self) -> None:
        import documents

        piece = documents.Document("novel", [1, 2], "a" * 64, "b" * 64)
        documents.refuse_calibration_texts([piece], {"texts": json.dumps([{"sha256": "c" * 64}])}, "profile")
        for digest in ("a" * 64, "b" * 64):
            with self.assertRaisesRegex(documents.CaptureError, "novel is of a text that profile was calibrated on"):
                documents.refuse_calibration_texts([piece], {"texts": json.dumps([{"sha256": digest}])}, "profile")

    def test_the_repeat_is_of_the_context_and_the_unrelated_text_of_another_document(self) -> None:
        import documents

        class Tokenizer:
            def __call__(self, text: str, **_: Any) -> Any:
                return type("Coded", (), {"input_ids": [7, 8]})

        pieces = [documents.Document(str(i), list(range(100 * i, 100 * i + 41)), str(i), str(i)) for i in range(4)]
        task = documents.make_tasks(pieces, 32, 8, Tokenizer())[1]
        self.assertEqual(task.context, list(range(100, 132)))
        self.assertEqual(task.continuations["same-document"], list(range(132, 141)))
        self.assertEqual(task.continuations["unrelated-question"], [7, 8, *range(332, 339)])
        self.assertEqual(task.continuations["repeat"], list(range(106, 115)))  # 300 of 1536 is 6 of 32


@unittest.skipIf(MISSING, f"needs {', '.join(MISSING)}: pip install -r codec/capture/requirements.txt")
class ScoresTest(unittest.TestCase):
    def test_divergence_loss_and_agreement_are_those_of_the_formulas(self) -> None:
        import scores
        import torch

        p = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]])
        q = torch.tensor([[0.25, 0.5, 0.25], [0.1, 0.8, 0.1]])
        found = scores.score_continuation(p.log(), q.log(), [0, 1])
        self.assertAlmostEqual(found["kl"][0], 0.5 * math.log(2) + 0.25 * math.log(0.5), places=6)
        self.assertAlmostEqual(found["kl"][1], 0, places=6)
        self.assertEqual(found["top1"], 0.5)
        self.assertAlmostEqual(found["loss"], -(math.log(0.25) + math.log(0.8)) / 2, places=6)
        self.assertAlmostEqual(found["loss_undamaged"], -(math.log(0.5) + math.log(0.8)) / 2, places=6)

    def test_the_match_ends_at_the_first_difference(self) -> None:
        import scores
        import torch

        self.assertEqual(scores.match_length(torch.tensor([1, 2, 3, 4]), torch.tensor([1, 2, 9, 4])), 2)
        self.assertEqual(scores.match_length(torch.tensor([1, 2]), torch.tensor([1, 2])), 2)

    def test_intervals_hold_the_mean_and_are_the_same_each_time(self) -> None:
        import scores

        facts = scores.with_interval("top1", [0.8, 0.9, 1.0])
        self.assertAlmostEqual(facts["top1"], 0.9)
        self.assertTrue(0.8 <= facts["top1_low"] < 0.9 < facts["top1_high"] <= 1.0)
        self.assertEqual(facts, scores.with_interval("top1", [0.8, 0.9, 1.0]))


class TinyModels(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        import transformers

        transformers.logging.disable_progress_bar()
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)

    @classmethod
    def make_model(cls, name: str, config: Any) -> Path:
        """Saves a model of this config and a tokenizer that knows the words w0 to w49."""
        import torch
        from tokenizers import Tokenizer, models, pre_tokenizers
        from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

        folder = cls.folder / name
        torch.manual_seed(1)
        config.initializer_range = 0.3  # attention that depends on what it sees
        AutoModelForCausalLM.from_config(config).save_pretrained(folder)
        tokenizer = Tokenizer(models.WordLevel({f"w{i}": i for i in range(50)} | {"<unk>": 50}, unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>").save_pretrained(folder)
        return folder


@unittest.skipIf(MISSING, f"needs {', '.join(MISSING)}: pip install -r codec/capture/requirements.txt")
class InjectionTest(TinyModels):
    def configs(self) -> dict[str, Any]:
        from transformers import Gemma2Config, Gemma3TextConfig, LlamaConfig

        kinds = ["sliding_attention", "full_attention"]
        return {
            "llama": LlamaConfig(**TINY),
            "gemma3, a window of 16": Gemma3TextConfig(**TINY, sliding_window=16, layer_types=kinds),
            "gemma2, soft caps": Gemma2Config(**TINY, sliding_window=16, layer_types=kinds, attn_implementation="eager"),
        }

    def load(self, config: Any) -> Any:
        import torch
        from injection import InjectedModel
        from transformers import AutoModelForCausalLM

        torch.manual_seed(1)
        config.initializer_range = 0.3
        return InjectedModel(AutoModelForCausalLM.from_config(config).eval(), "tiny")

    def context_of(self, injected: Any, ids: list[int]) -> Any:
        import torch
        from injection import LayerContext

        with torch.inference_mode():
            output = injected.model(input_ids=torch.tensor([ids]), use_cache=True)
        cache = getattr(output, "cache", None) or output.past_key_values
        return {i: LayerContext(layer.keys, layer.values, torch.arange(len(ids) - layer.keys.shape[2], len(ids))) for i, layer in enumerate(cache.layers)}

    def test_a_model_that_continues_its_own_cache_says_what_it_says_of_the_whole_text(self) -> None:
        import torch
        from injection import branching, continuing

        ids = [(7 * i + i * i // 3) % 50 for i in range(60)]
        for name, config in self.configs().items():
            with self.subTest(name):
                injected = self.load(config)
                context = self.context_of(injected, ids[:40])
                branch = [3, 1, 4]
                with torch.inference_mode():
                    whole = injected.model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, 40:]
                    branched = injected.model(input_ids=torch.tensor([ids[:45] + branch]), use_cache=False).logits[0, 45:]
                alone, tree = injected.run([continuing(ids[40:], context, 40), branching(ids[40:], 5, branch, context, 40)])
                torch.testing.assert_close(alone, whole, rtol=1e-4, atol=1e-4)
                torch.testing.assert_close(tree[:20], whole, rtol=1e-4, atol=1e-4)
                torch.testing.assert_close(tree[20:], branched, rtol=1e-4, atol=1e-4)

    def test_tokens_kept_one_by_one_join_the_context(self) -> None:
        import torch
        from injection import continuing

        injected = self.load(self.configs()["gemma3, a window of 16"])
        ids = [(7 * i + i * i // 3) % 50 for i in range(60)]
        context = self.context_of(injected, ids[:40])
        [whole] = injected.run([continuing(ids[40:], context, 40)])
        own, steps = dict(context), []
        for i in range(40, 60):
            steps += injected.run([continuing(ids[i : i + 1], own, i, is_kept=True)])
        torch.testing.assert_close(torch.cat(steps), whole, rtol=1e-4, atol=1e-4)
        self.assertEqual(context[1].keys.shape[2], 40, "the given context is as it was")

    def test_a_dropped_token_is_as_if_its_attention_were_masked(self) -> None:
        import torch
        from injection import LayerContext, continuing

        injected = self.load(self.configs()["llama"])
        ids = [(7 * i + i * i // 3) % 50 for i in range(60)]
        context = self.context_of(injected, ids[:40])
        kept = torch.tensor([i for i in range(40) if i not in (3, 17, 18)])
        shorter = {i: LayerContext(layer.keys[:, :, kept], layer.values[:, :, kept], kept) for i, layer in context.items()}
        far = {i: LayerContext(layer.keys.clone(), layer.values, layer.positions) for i, layer in context.items()}
        [dropped] = injected.run([continuing(ids[40:], shorter, 40)])
        [whole] = injected.run([continuing(ids[40:], context, 40)])
        self.assertGreater(float((dropped - whole).abs().max()), 1e-3)
        masked = continuing(ids[40:], far, 40)
        mask = masked.mask(far[0], None, 2)
        mask[..., [3, 17, 18]] = torch.finfo(torch.float32).min
        [as_masked] = injected.run([masked])
        torch.testing.assert_close(dropped, as_masked, rtol=1e-4, atol=1e-4)


@unittest.skipIf(MISSING, f"needs {', '.join(MISSING)}: pip install -r codec/capture/requirements.txt")
@unittest.skipUnless(PROGRAM.is_file(), f"needs {PROGRAM}: build it, or set SLUICE_BIN")
class JudgementTest(TinyModels):
    """Whole judgements: 4 documents, 96 tokens of context and 24 of each continuation."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        prompts = cls.folder / "prompts.jsonl"
        prompts.write_text("".join(json.dumps({"prompt": words(11 * i, 140)}) + "\n" for i in range(4)), encoding="utf-8")
        cls.prompts = prompts

    def judge(self, model: Path, work: str, *options: str, threads: int = 2) -> dict[str, Any]:
        out = self.folder / "profile.json"
        out.unlink(missing_ok=True)
        line = ["--model", model, "--documents", self.prompts, "--tokens", "96", "--continuation", "24", "--geometry", "tiny", "--model-profile", "none",
                "--work", self.folder / work, "--out", out, "--program", PROGRAM, "--threads", threads, *options]
        environment = {"SLUICE_HOME": str(ROOT)} | dict(os.environ)
        run = subprocess.run([sys.executable, JUDGE, *map(str, line)], capture_output=True, text=True, env=environment, timeout=600, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.talk = run.stderr
        return json.loads(out.read_text(encoding="utf-8"))

    def test_judging_twice_gives_identical_numbers_and_exact_codecs_do_no_damage(self) -> None:
        from transformers import LlamaConfig

        model = self.make_model("llama", LlamaConfig(**TINY))
        codecs = ("--codec", "int4@group-64", "raw@exact", "int8@token")
        first = self.judge(model, "first", *codecs)
        again = self.judge(model, "second", *codecs, threads=1)
        self.assertEqual(first["levels"], again["levels"])
        self.assertEqual([level["codec"] for level in first["levels"]], ["raw", "int8", "int4"], "least damage first")
        for judged in first["levels"][0]["judged"].values():
            self.assertEqual((judged["kl_max"], judged["top1"], judged["greedy_match"], judged["attention_error"]), (0, 1, 64, 0))
            self.assertEqual((judged["documents"], judged["delta_ppl_percent"]), (4, 0))
        self.assertGreater(first["levels"][2]["damage"], 10 * first["levels"][1]["damage"])
        self.assertEqual(first["levels"][2]["damage"], first["levels"][2]["judged"]["same-document"]["kl_mean"])
        ladder = subprocess.run([PROGRAM, "ladder", "--profile", self.folder / "profile.json"], capture_output=True, text=True,
                                env={"SLUICE_HOME": str(ROOT)} | dict(os.environ), timeout=60, check=False)
        self.assertEqual(ladder.returncode, 0, ladder.stderr)
        shutil.rmtree(self.folder / "second")

    def test_a_second_run_does_only_what_is_new(self) -> None:
        from transformers import LlamaConfig

        model = self.make_model("resumed", LlamaConfig(**TINY))
        self.judge(model, "kept", "--codec", "int8@token")
        self.judge(model, "kept", "--codec", "int8@token", "int4@token")
        self.assertNotIn("int8@token", self.talk)
        self.assertEqual(self.talk.count("int4@token"), 4)

    def test_a_prefix_of_a_layered_stream_is_a_level_that_refines_a_shorter_one(self) -> None:
        from transformers import LlamaConfig

        model = self.make_model("layered", LlamaConfig(**TINY))
        levels = self.judge(model, "layered-work", "--codec", "sluice@rung-7", "sluice@rung-4", "sluice@embedded-1", "sluice@embedded-2")["levels"]
        by_name = {level["level"]: level for level in levels}
        self.assertEqual(by_name["embedded-2"]["refines"], "embedded-1")
        self.assertNotIn("refines", by_name["embedded-1"])
        for prefix, rung in (("embedded-1", "rung-4"), ("embedded-2", "rung-7")):
            self.assertEqual(by_name[prefix]["judged"], by_name[rung]["judged"], "it decodes to the same bits")
        self.assertEqual(self.talk.count("embedded"), 0, "and so is not judged again")
        self.assertLess(by_name["embedded-1"]["bits_per_element"], by_name["embedded-2"]["bits_per_element"])

    def test_windows_and_dropped_tokens_are_judged_too(self) -> None:
        from transformers import Gemma3TextConfig

        config = Gemma3TextConfig(**TINY, sliding_window=48, layer_types=["sliding_attention", "full_attention"])
        levels = self.judge(self.make_model("gemma", config), "gemma-work", "--codec", "int8@token", "raw+window@exact+50")["levels"]
        self.assertEqual([level["codec"] for level in levels], ["int8", "raw+window"])
        # 47 tokens of one layer and 96 of the other are held; half of the elements stay, at 16 bit.
        self.assertLess(levels[1]["bits_per_element"], 10)
        self.assertGreater(levels[1]["damage"], 0)


if __name__ == "__main__":
    unittest.main()
