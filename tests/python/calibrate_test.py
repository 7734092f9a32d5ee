"""Tests of codec/calibrate.

Run: python3 -m unittest -v tests/python/calibrate_test.py
CommandLineTest needs nothing but Python. TinyModelTest needs the packages of codec/capture/requirements.txt and makes its own models
with random weights. What is skipped says why.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import json
import shlex
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CALIBRATE = ROOT / "codec" / "calibrate" / "calibrate.py"
MISSING = [name for name in ("torch", "transformers", "gguf", "accelerate", "numpy") if importlib.util.find_spec(name) is None]
# 2 layers, 4 query heads and 2 KV heads of 8, the 52 words of the tokenizer.
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

sys.path.insert(0, str(CALIBRATE.parent))
import calibrate  # noqa: E402


def setUpModule() -> None:
    if MISSING:
        print(f"SKIP: every run of a model: no {', '.join(MISSING)}; pip install -r codec/capture/requirements.txt", file=sys.stderr)


def run_calibrate(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """In a Python that sees its standard library alone (-I -S), so the outcome is the same on every machine."""
    return subprocess.run([sys.executable, "-I", "-S", CALIBRATE, *words], capture_output=True, text=True, timeout=60)


class CommandLineTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.model = self.folder / "tiny.gguf"
        self.model.write_bytes(b"GGUF")
        self.text = self.folder / "text.jsonl"
        self.text.write_text('{"prompt": "one two"}\n{"prompt": 3}\n', encoding="utf-8")

    def assert_one_error_line(self, run: subprocess.CompletedProcess[str], *parts: str) -> None:
        self.assertNotEqual(run.returncode, 0)
        self.assertRegex(run.stderr, r"\Aerror: [^\n]+: [^\n]+; [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, run.stderr)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"tiny.gguf", "text.jsonl"}, "nothing half-written")

    def run_with(self, *options: str | Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
        return run_calibrate("--model", self.model, "--text", text or self.text, "--out", self.folder / "out.safetensors", *options)

    def test_help_needs_no_packages_and_shows_an_example_whose_options_exist(self) -> None:
        run = run_calibrate("--help")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        example = run.stdout[run.stdout.index("  ./sluice codec calibrate --model") :].replace("\\\n", " ")
        args = calibrate.parse_arguments(shlex.split(example)[3:])
        self.assertEqual((args.tokens, args.documents, args.block), (200, 2, "diag"))
        self.assertTrue(all((ROOT / text).is_file() for text in args.text), "the example's texts are in the repository")

    def test_missing_packages_are_one_line_with_the_pip_command(self) -> None:
        self.assert_one_error_line(self.run_with(), "calibrate: Python packages missing", "pip install -r codec/capture/requirements.txt")

    def test_a_line_without_the_named_field_is_named(self) -> None:
        self.assert_one_error_line(self.run_with(text=f"{self.text}:prompt"), "text.jsonl:2: has no string `prompt`")

    def test_a_line_that_is_not_json_is_named(self) -> None:
        self.text.write_text("{\n", encoding="utf-8")
        self.assert_one_error_line(self.run_with(text=f"{self.text}:prompt"), "text.jsonl:1: is not JSON")

    def test_a_missing_text_is_named(self) -> None:
        self.assert_one_error_line(self.run_with(text=str(self.folder / "no.txt")), "no.txt", "No such file")

    def test_a_missing_output_folder_is_named(self) -> None:
        run = self.run_with("--out", self.folder / "no" / "x.safetensors")
        self.assert_one_error_line(run, "there is no folder", "make it first")

    def test_options_that_contradict_each_other_are_one_line(self) -> None:
        self.assert_one_error_line(self.run_with("--documents", "2", "--gradient-documents", "3"), "--gradient-documents 3")
        self.assert_one_error_line(self.run_with("--tokens", "7"), "at least 8")


@unittest.skipIf(MISSING, f"needs {', '.join(MISSING)}: pip install -r codec/capture/requirements.txt")
class TinyModelTest(unittest.TestCase):
    """Whole calibrations of models with random weights, each a folder like one from the hub."""

    @classmethod
    def setUpClass(cls) -> None:
        import transformers

        transformers.logging.disable_progress_bar()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.text = cls.folder / "text.txt"
        words = (f"w{(7 * i + i * i // 5 + i * i * i // 11) % 50}" for i in range(1200))
        cls.text.write_text(" ".join(words), encoding="utf-8")  # a word is a token

    def make_model(self, name: str, config: Any) -> Path:
        """Saves a model of this config and a tokenizer that knows the words w0 to w49."""
        import torch
        from tokenizers import Tokenizer, models, pre_tokenizers
        from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

        folder = self.folder / name
        torch.manual_seed(1)
        AutoModelForCausalLM.from_config(config).save_pretrained(folder)
        tokenizer = Tokenizer(models.WordLevel({f"w{i}": i for i in range(50)} | {"<unk>": 50, "<s>": 51}, unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>").save_pretrained(folder)
        return folder

    def llama(self, name: str, **options: Any) -> Path:
        from transformers import LlamaConfig

        return self.make_model(name, LlamaConfig(**{**TINY, "initializer_range": 0.2, **options}))

    def words(self, model: Path, *options: str) -> list[str]:
        fixed = ["--text", self.text, "--documents", "5", "--tokens", "200", "--gradient-documents", "3", "--gradient-tokens", "100"]
        return [str(word) for word in ("--model", model, *fixed, "--out", model / "p.safetensors", *options)]

    def run_main(self, model: Path, *options: str) -> tuple[int, str]:
        talk = io.StringIO()
        with contextlib.redirect_stderr(talk):
            code = calibrate.main(self.words(model, *options))
        return code, talk.getvalue()

    def measure(self, model: Path, *options: str) -> tuple[list[Any], Any, list[list[int]]]:
        """Moments as the command measures them, the model, and the documents."""
        import capture
        import moments
        from documents import choose_documents, read_texts

        args = calibrate.parse_arguments(self.words(model, *options))
        documents = choose_documents(read_texts(args.text), capture.load(args, "AutoTokenizer"), args.documents, args.tokens)
        loaded = capture.load(args, "AutoModelForCausalLM", dtype="float32").eval()
        with contextlib.redirect_stderr(io.StringIO()):
            layers = moments.measure(args, loaded, loaded.config, documents, is_joint=True)
        return layers, loaded, documents

    def read(self, path: Path) -> tuple[dict[str, str], dict[str, Any]]:
        import torch

        content = path.read_bytes()
        (length,) = struct.unpack_from("<Q", content)
        header = json.loads(content[8 : 8 + length])
        metadata = header.pop("__metadata__")
        tensors = {}
        for name, entry in header.items():
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            dtype = {"I32": torch.int32, "F32": torch.float32, "I8": torch.int8}[entry["dtype"]]
            tensors[name] = torch.frombuffer(bytearray(content[begin:end]), dtype=dtype).reshape(entry["shape"])
        return metadata, tensors

    def test_three_profiles_have_their_shapes_and_say_how_they_were_made(self) -> None:
        folder = self.llama("three")
        code, talk = self.run_main(folder)
        self.assertEqual(code, 0, talk)
        for block, basis in (("diag", None), ("head", 4 * 8 * 8), ("layerkv", 32 * 32)):
            metadata, tensors = self.read(folder / f"p-{block}.safetensors")
            shapes = {"shape": [4], "means": [32], "scales": [32]} | ({"basis": [basis]} if basis else {})
            expected = {f"layer.{layer}.{part}": shape for layer in (0, 1) for part, shape in shapes.items()}
            self.assertEqual({name: list(tensor.shape) for name, tensor in tensors.items()}, expected)
            self.assertEqual(tensors["layer.1.shape"].tolist(), [2, 8, 2, 8])
            self.assertEqual((metadata["format"], metadata["block"], metadata["model"]), ("sluice-model-profile-1", block, "three"))
            hash_of_text = hashlib.sha256(self.text.read_bytes()).hexdigest()
            self.assertEqual(json.loads(metadata["texts"]), [{"name": "text.txt", "sha256": hash_of_text, "tokens": 1000}])
            again = calibrate.parse_arguments(shlex.split(metadata["command"])[3:])
            self.assertEqual((again.documents, again.tokens, again.labels, again.seed), (5, 200, 3, 1))

    def test_the_model_and_its_revision_are_those_of_a_capture(self) -> None:
        import capture

        folder = self.llama("same")
        self.assertEqual(self.run_main(folder, "--block", "diag")[0], 0)
        cache = folder / "cache.safetensors"
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(capture.main(["--model", str(folder), "--text", str(self.text), "--tokens", "20", "--out", str(cache)]), 0)
        profile = self.read(folder / "p.safetensors")[0]
        (length,) = struct.unpack_from("<Q", cache.read_bytes())
        captured = json.loads(cache.read_bytes()[8 : 8 + length])["__metadata__"]
        self.assertEqual((profile["model"], profile["revision"]), (captured["model"], captured["revision"]))

    def test_the_same_command_gives_the_same_bytes_and_another_seed_others(self) -> None:
        folder = self.llama("twice")
        files = [folder / f"p-{block}.safetensors" for block in ("diag", "head", "layerkv")]
        contents = []
        for options in ([], [], ["--seed", "2"]):
            self.assertEqual(self.run_main(folder, *options)[0], 0)
            contents.append([file.read_bytes() for file in files])
        self.assertEqual(contents[0], contents[1])
        self.assertTrue(all(first != other for first, other in zip(contents[0], contents[2], strict=True)))

    def assert_keys_before_rope(self, folder: Path, project: Any) -> None:
        """The first layer's means and covariance are those of the model's own projections, 199 tokens of each document."""
        import torch

        layers, model, documents = self.measure(folder)
        with torch.no_grad():
            rows = torch.cat([project(model.model, torch.tensor(document))[1:] for document in documents]).double()
        self.assertEqual(layers[0].num_tokens, 5 * 199)
        torch.testing.assert_close(layers[0].means(), rows.mean(0), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(layers[0].covariance(0), rows.T.cov(correction=0), rtol=1e-3, atol=1e-4)

    def test_keys_are_those_before_rope_also_when_it_is_scaled(self) -> None:
        import torch

        def project(model: Any, token_ids: Any) -> Any:
            hidden = model.layers[0].input_layernorm(model.embed_tokens(token_ids))
            return torch.cat([model.layers[0].self_attn.k_proj(hidden), model.layers[0].self_attn.v_proj(hidden)], dim=1)

        self.assert_keys_before_rope(self.llama("plain"), project)
        yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "rope_theta": 10000.0}
        self.assert_keys_before_rope(self.llama("yarn", rope_parameters=yarn), project)

    def test_sensitivities_are_gradients_to_the_projections(self) -> None:
        # One document and one draw, compared with the gradient that autograd gives at the projections themselves.
        import torch

        layers, model, documents = self.measure(self.llama("gradient"), "--gradient-documents", "1", "--labels", "1")
        seen: list[Any] = []
        attention = model.model.layers[1].self_attn
        model.model.layers[0].input_layernorm.weight.requires_grad_(True)  # so that a graph is built
        for part in (attention.k_proj, attention.v_proj):
            part.register_forward_hook(lambda module, inputs, output: seen.append(output))
        logits = model(input_ids=torch.tensor([documents[0][:100]]), use_cache=False).logits[0]
        drawn = torch.multinomial(logits.softmax(-1), 1, generator=torch.Generator().manual_seed(1))[:, 0]
        loss = torch.nn.functional.cross_entropy(logits, drawn, reduction="sum")
        rows = torch.cat([gradient[0, 4:] for gradient in torch.autograd.grad(loss, seen)], dim=1).double()
        self.assertEqual(layers[1].num_gradients, 96)
        expected = rows.T @ rows / 96
        torch.testing.assert_close(layers[1].sensitivity(0), expected, rtol=1e-3, atol=1e-5 * float(expected.max()))

    def test_a_basis_turns_equal_errors_into_equal_damage_and_its_coefficients_are_uncorrelated(self) -> None:
        # With y = x S U, errors of covariance I in y are B'B in x, and S B'B S is the unit matrix; U makes y's covariance diagonal.
        import basis
        import torch

        layer = self.measure(self.llama("equal"))[0][0]
        spread = basis.spreads(layer)
        square = basis.weighted(basis.sensitivities(layer, [slice(0, 32)])[0], 0.75, 1.0, 1e-30)
        covariance = layer.covariance(0) / torch.outer(spread, spread)
        matrix = basis.transform(square, covariance)
        damage = matrix @ square @ matrix.T
        torch.testing.assert_close(damage, torch.eye(32, dtype=torch.float64), rtol=1e-8, atol=1e-8)
        inverse = torch.linalg.inv(matrix)
        variances = inverse.T @ covariance @ inverse
        torch.testing.assert_close(variances, torch.diag(variances.diagonal()), rtol=1e-6, atol=1e-8 * float(variances.max()))
        self.assertTrue((variances.diagonal().diff() <= 1e-9).all(), "by falling variance")

    def test_channels_are_reproduced_through_the_rounded_basis_and_a_step_of_1_costs_2_bits(self) -> None:
        import basis
        import torch

        layers = self.measure(self.llama("whole"))[0]
        for block, spans in (("head", [slice(i, i + 8) for i in range(0, 32, 8)]), ("layerkv", [slice(0, 32)])):
            made, _ = basis.bases_of(layers, block, 2.0)
            coefficients = [basis.coefficients(layer, one, block) for layer, one in zip(layers, made, strict=True)]
            bits = sum(basis.entropy(columns.round()) for columns in coefficients) / 2
            self.assertAlmostEqual(bits, 2.0, delta=0.01)
            begin = 0
            for span in spans:
                width = span.stop - span.start
                matrix = made[0].basis[begin : begin + width * width].reshape(width, width).float()
                begin += width * width
                self.assertEqual(matrix.abs().amax(0).tolist(), [127] * width, "every channel uses its whole range")
                back = made[0].means[span] + made[0].scales[span] * (coefficients[0][:, span] @ matrix)
                torch.testing.assert_close(back, torch.cat(layers[0].sample)[:, span], rtol=1e-3, atol=1e-4)

    def test_entropy_is_that_of_each_column(self) -> None:
        # 4 equally frequent values: 2 bits. One value: 0 bits. Their mean: 1.
        import basis
        import torch

        self.assertEqual(basis.entropy(torch.tensor([[0.0, 7.0], [1.0, 7.0], [-2.0, 7.0], [3.0, 7.0]])), 1.0)

    def test_a_sliding_window_and_layers_without_rope_work(self) -> None:
        from transformers import Gemma3TextConfig, SmolLM3Config

        window = Gemma3TextConfig(**TINY, sliding_window=16, layer_types=["sliding_attention", "full_attention"])
        unturned = SmolLM3Config(**TINY, no_rope_layers=[1, 0])
        for name, config in (("window", window), ("unturned", unturned)):
            folder = self.make_model(name, config)
            code, talk = self.run_main(folder, "--block", "head")
            self.assertEqual(code, 0, talk)
            self.assertEqual(self.read(folder / "p.safetensors")[1]["layer.1.basis"].shape, (4 * 64,))

    def test_what_does_not_fit_is_one_error_line_and_no_file(self) -> None:
        from transformers import DeepseekV3Config, MambaConfig

        latent = {"kv_lora_rank": 12, "q_lora_rank": 12, "qk_rope_head_dim": 4, "qk_nope_head_dim": 6, "v_head_dim": 8}
        heads = {"num_key_value_heads": 4, "head_dim": 4, "first_k_dense_replace": 2}
        short = self.llama("short", max_position_embeddings=100)
        for folder, options, message in (
            (self.make_model("latent", DeepseekV3Config(**{**TINY, **latent, **heads})), [], "caches latents"),
            (short, [], "at most 100 tokens"),
            (short, ["--tokens", "241"], "gives 1200 tokens, 1205 are needed"),
            (self.make_model("mamba", MambaConfig(vocab_size=52, hidden_size=16, num_hidden_layers=2, state_size=4)), [], "attention layers"),
        ):
            code, talk = self.run_main(folder, *options)
            self.assertEqual(code, 1, talk)
            self.assertRegex(talk, r"\Aerror: [^\n]+: [^\n]+; [^\n]+\n\Z")
            self.assertIn(message, talk)
            self.assertEqual(list(folder.glob("p*.safetensors")), [])


if __name__ == "__main__":
    unittest.main()
