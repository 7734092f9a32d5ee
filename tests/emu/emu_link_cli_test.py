"""`sluice emu link`: commands inside an emulated link, their exit codes, and nothing left behind."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = str(pathlib.Path(os.environ["SLUICE_BIN"]) / "sluice-emu")
HAS_NAMESPACES = subprocess.run([PROGRAM, "link", "--rate", "10Mbit/s", "--", "true"], capture_output=True, check=False).returncode == 0
WITHOUT = "no namespaces here: " + subprocess.run([PROGRAM, "link", "--rate", "10Mbit/s", "--", "true"], capture_output=True, text=True,
                                                  check=False).stderr.strip()

SERVE = "import socket; s = socket.create_server(('{address}', {port})); c = s.accept()[0]; c.sendall(bytes({size})); c.close()"
FETCH = """
import socket, sys, time
began = time.monotonic()
connection = socket.create_connection((sys.argv[1], {port}))
received = 0
while block := connection.recv(1 << 16):
    received += len(block)
print(received, time.monotonic() - began)
"""


def link(*words, **options):
    return subprocess.run([PROGRAM, "link", *words], capture_output=True, text=True, timeout=60, check=False, **options)


def serve(size, address="0.0.0.0", port=8000):
    return f'exec {sys.executable} -c "{SERVE.format(address=address, port=port, size=size)}"'


def processes_with(marker):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and marker.encode() in (entry / "environ").read_bytes():
                found.append(entry.name)
        except OSError:
            pass  # it has ended
    return found


def namespaces():
    seen = set()
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                seen.add(os.readlink(entry / "ns" / "net"))
        except OSError:
            pass
    return seen


def becomes_true(condition):
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False


class WhatIsAskedFor(unittest.TestCase):
    def assert_one_error(self, result, *parts):
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("error: "), result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_the_emulators_are_listed(self):
        result = link("--list", "--format", "csv")
        self.assertEqual(result.returncode, 0)
        self.assertEqual([line.split(",")[0] for line in result.stdout.splitlines()], ["id", "tun", "kernel", "process"])

    def test_a_link_without_a_command_or_a_rate_is_an_error(self):
        self.assert_one_error(link("--rate", "1Mbit/s"), "no command")
        self.assert_one_error(link("--", "true"), "--rate")
        self.assert_one_error(link("--up", "1Mbit/s", "--", "true"), "--down")
        self.assert_one_error(link("--rate", "1Mbit/s", "--up", "1Mbit/s", "--down", "1Mbit/s", "--", "true"), "once")

    def test_values_without_units_and_unknown_names_are_errors(self):
        self.assert_one_error(link("--rate", "100", "--", "true"), "--rate")
        self.assert_one_error(link("--rate", "1Mbit/s", "--delay", "20", "--", "true"), "--delay")
        self.assert_one_error(link("--rate", "1Mbit/s", "--loss", "0.1", "--", "true"), "--loss")
        self.assert_one_error(link("--rate", "1Mbit/s", "--loss", "101%", "--", "true"), "--loss")
        self.assert_one_error(link("--rate", "1Mbit/s", "--queue-law", "fifo", "--", "true"), "--queue-law", "droptail")
        self.assert_one_error(link("--rate", "1Mbit/s", "--emulator", "tunn", "--", "true"), "tunn", "tun")

    def test_a_bad_trace_is_an_error_with_file_and_line_and_runs_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder, "bad.up")
            trace.write_text("0\n5\nthree\n")
            ran = pathlib.Path(folder, "ran")
            self.assert_one_error(link("--reader", "mahimahi", "--trace", str(trace), str(trace), "--", "touch", str(ran)), "bad.up:3")
            self.assertFalse(ran.exists())
            self.assert_one_error(link("--trace", "missing.up", "missing.down", "--", "true"), "missing.up")


@unittest.skipUnless(HAS_NAMESPACES, WITHOUT)
class Commands(unittest.TestCase):
    def test_their_exit_code_comes_back(self):
        for script, code in (("exit 0", 0), ("exit 42", 42), ("kill -KILL $$", 128 + 9), ("kill -TERM $$", 128 + 15)):
            self.assertEqual(link("--rate", "10Mbit/s", "--", "sh", "-c", script).returncode, code, script)

    def test_one_that_does_not_exist_is_an_error(self):
        result = link("--rate", "10Mbit/s", "--", "no-such-program")
        self.assertEqual(result.returncode, 1)
        self.assertIn("error: no-such-program: cannot be started", result.stderr)

    def test_they_learn_both_addresses(self):
        result = link("--rate", "10Mbit/s", "--", "sh", "-c", "echo $SLUICE_PEER $SLUICE_LOCAL {peer} http://{peer}:80/{peer}")
        peer, local, *replaced = result.stdout.split()
        self.assertNotEqual(peer, local)
        self.assertEqual(replaced, [peer, f"http://{peer}:80/{peer}"])

    def test_words_that_look_like_options_stay_theirs(self):
        result = link("--rate", "10Mbit/s", "--", "printf", "%s ", "--rate", "-x", "--", "--delay")
        self.assertEqual(result.stdout, "--rate -x -- --delay ")

    def test_a_peer_that_fails_is_an_error(self):
        result = link("--rate", "10Mbit/s", "--peer", "exit 3", "--", "true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("error: --peer: `exit 3` ended with 3", result.stderr)

    def fetch(self, *options, size=500_000):
        result = link(*options, "--peer", serve(size), "--", sys.executable, "-c", FETCH.format(port=8000), "{peer}")
        self.assertEqual(result.returncode, 0, result.stderr)
        received, seconds = result.stdout.split()
        self.assertEqual(int(received), size)
        self.assertIn("link down: ", result.stderr)
        return float(seconds)

    def test_a_download_takes_what_the_rate_allows(self):
        # 500 kB at 10 Mbit/s take 0.4 s, with headers 0.42 s.
        for emulator in ("tun", "kernel"):
            seconds = self.fetch("--emulator", emulator, "--rate", "10Mbit/s")
            self.assertGreater(seconds, 0.38, emulator)
            self.assertLess(seconds, 4, emulator)

    def test_up_and_down_differ(self):
        self.assertGreater(self.fetch("--up", "100Mbit/s", "--down", "10Mbit/s"), 0.38)
        self.assertLess(self.fetch("--up", "10Mbit/s", "--down", "1Gbit/s"), 0.38)

    def test_mahimahi_traces_are_looped(self):
        # One packet of 1500 B each millisecond is 12 Mbit/s; the trace lasts 10 ms.
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder, "twelve.up")
            trace.write_text("".join(f"{ms}\n" for ms in range(1, 11)))
            seconds = self.fetch("--reader", "mahimahi", "--trace", str(trace), str(trace))
        self.assertGreater(seconds, 0.31)  # 500 kB at 12 Mbit/s take 0.333 s
        self.assertLess(seconds, 4)


class WithoutNamespaces(unittest.TestCase):
    def test_a_relay_inside_the_process_does(self):
        result = link("--emulator", "process", "--rate", "10Mbit/s", "--port", "18473", "--peer", serve(500_000, "127.0.0.1", 18473), "--",
                      sys.executable, "-c", FETCH.format(port=18473), "{peer}")
        self.assertEqual(result.returncode, 0, result.stderr)
        received, seconds = result.stdout.split()
        self.assertEqual(int(received), 500_000)
        self.assertGreater(float(seconds), 0.38)
        self.assertIn("emulator process", result.stderr)

    def test_the_relay_asks_for_the_port(self):
        result = link("--emulator", "process", "--rate", "10Mbit/s", "--", "true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--port", result.stderr)


@unittest.skipUnless(HAS_NAMESPACES, WITHOUT)
class NothingIsLeft(unittest.TestCase):
    def start(self, marker, emulator):
        before = namespaces()
        # Both commands leave a child behind that would outlive them.
        script = "setsid sleep 60 & sleep 60"
        running = subprocess.Popen([PROGRAM, "link", "--emulator", emulator, "--rate", "10Mbit/s", "--peer", script, "--", "sh", "-c", script],
                                   env=dict(os.environ, SLUICE_TEST_MARKER=marker), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # The program, two supervisors, two shells, four sleeps.
        self.assertTrue(becomes_true(lambda: len(processes_with(marker)) >= 9))
        return running, namespaces() - before

    def check(self, sent, emulator):
        marker = f"link-{os.getpid()}-{sent}-{emulator}"
        running, made = self.start(marker, emulator)
        self.assertGreaterEqual(len(made), 2)
        running.send_signal(sent)
        code = running.wait(timeout=20)
        self.assertTrue(becomes_true(lambda: not processes_with(marker)), processes_with(marker))
        self.assertEqual(made & namespaces(), set())
        return code

    def test_after_sigint(self):
        for emulator in ("tun", "kernel"):
            self.assertEqual(self.check(signal.SIGINT, emulator), 128 + signal.SIGINT)

    def test_after_sigterm(self):
        self.assertEqual(self.check(signal.SIGTERM, "tun"), 128 + signal.SIGTERM)

    def test_after_sigkill(self):
        for emulator in ("tun", "kernel"):
            self.assertEqual(self.check(signal.SIGKILL, emulator), -signal.SIGKILL)

    def test_in_the_lists_of_names(self):
        named = pathlib.Path("/run/netns")
        before = (set(named.iterdir()) if named.exists() else set(), set(os.listdir("/sys/class/net")))
        link("--rate", "10Mbit/s", "--", "true")
        self.assertEqual((set(named.iterdir()) if named.exists() else set(), set(os.listdir("/sys/class/net"))), before)


if __name__ == "__main__":
    unittest.main()
