"""`sluice emu serve`: says where it listens, ends cleanly on a signal, and refuses what it must in one line."""

import os
import pathlib
import signal
import stat
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["SLUICE_BIN"]) / "sluice-emu"
SMALL = ["--make", "smollm2-135m", "--tokens", "24", "--chunk-tokens", "16", "--level", "int8@token"]


def fault_of(*arguments):
    done = subprocess.run([PROGRAM, "serve", *arguments], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr.strip()


class Serve(unittest.TestCase):
    def serve_until(self, number, *arguments):
        with subprocess.Popen([PROGRAM, "serve", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            try:
                line = server.stdout.readline()
                server.send_signal(number)
                rest, words = server.communicate(timeout=30)
            except BaseException:
                server.kill()
                raise
        self.assertEqual(rest, "")
        return line, server.returncode, words

    def test_it_says_where_it_listens_and_ends_cleanly_on_sigint_and_sigterm(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            line, code, words = self.serve_until(number, *SMALL)
            self.assertRegex(line, r"^listening on 127\.0\.0\.1:[1-9][0-9]*\n$")
            self.assertEqual(code, 0)
            self.assertIn("smollm2-135m of 24 tokens in 2 chunks; made values (smooth and noise, seed 1), not a real cache", words)

    def test_it_makes_what_a_scenario_sends(self):
        # cachegen-replica: Mistral-7B in chunks of 1500 tokens at int8@token and three levels of cachegen-released.
        line, code, words = self.serve_until(signal.SIGTERM, "--make", "cachegen-replica", "--tokens", "8")
        self.assertEqual(code, 0, words)
        self.assertIn("mistral-7b of 8 tokens in 1 chunks", words)
        self.assertEqual([text.split(":")[0].strip() for text in words.splitlines() if "@" in text],
                         ["int8@token", "cachegen-released@3", "cachegen-released@2", "cachegen-released@1"])
        self.assertTrue(line)

    def test_what_it_keeps_it_serves_again(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder) / "context"
            self.serve_until(signal.SIGTERM, *SMALL, "--keep", kept)
            self.assertEqual({path.name for path in kept.iterdir()},
                             {"catalogue.json", "chunk-0.level-0.kvb", "chunk-1.level-0.kvb", "chunk-0.text", "chunk-1.text"})
            _, code, words = self.serve_until(signal.SIGTERM, "--contents", kept)
            self.assertEqual(code, 0)
            self.assertIn("24 tokens in 2 chunks", words)
            self.assertEqual(fault_of("--contents", kept, "--contents", kept),
                             (1, f"error: {kept}: context 0000000000000000 is there twice; make it with another number"))
            (kept / "chunk-1.text").write_text("other words")
            code, words = fault_of("--contents", kept)
            self.assertEqual(code, 1)
            self.assertRegex(words, r"^error: .*chunk-1\.text: holds 11 bytes and should hold 32; make the contents again$")

    def test_addresses_that_others_reach_need_a_key_that_only_we_can_read(self):
        code, words = fault_of(*SMALL, "--listen", "0.0.0.0:0")
        self.assertEqual(code, 1)
        self.assertRegex(words, r"^error: 0\.0\.0\.0:\d+: others may reach this address, .*; listen on 127\.0\.0\.1, or give both sides a key")
        with tempfile.TemporaryDirectory() as folder:
            key = pathlib.Path(folder) / "key"
            key.write_bytes(bytes(range(32)))
            key.chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IROTH)
            code, words = fault_of(*SMALL, "--key", key)
            self.assertEqual(code, 1)
            self.assertIn("the key is open to others (mode 0604); run `chmod 600` on it", words)

    def test_bad_options_are_one_line(self):
        for arguments, expected in (
            ([], "error: nothing to serve; name --contents FOLDER or --make MODEL"),
            (["--make", "mistral-7"], "error: --make: `mistral-7` is no model and no scenario; did you mean `mistral-7b`? Scenarios: `ls scenarios`"),
            ([*SMALL, "--listen", "7070"], "error: --listen: `7070` is no ADDRESS:PORT; write it as 127.0.0.1:0; port 0 is any free one"),
            ([*SMALL, "--fault", "stahl"], "error: --fault: there is no fault `stahl`; did you mean `stall`?"),
            ([*SMALL, "--unsent-limit", "0B"], "error: --unsent-limit: is outside 1 B to 1 GiB; give 256KiB, say"),
        ):
            self.assertEqual(fault_of(*arguments), (1, expected))


if __name__ == "__main__":
    unittest.main()
