"""The page that `./sluice report` writes, as a browser and a reader meet it."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

BIN = pathlib.Path(os.environ["SLUICE_BIN"])
FOLDER = tempfile.TemporaryDirectory()
STORES = pathlib.Path(FOLDER.name)


def example_store(policies, replicates=20, loads=10, names="plain"):
    """A store of invented runs, made once per shape."""
    store = STORES / f"{policies}-{replicates}-{loads}-{names}.db"
    if not store.exists():
        subprocess.run([BIN / "report_example_store", store, str(policies), str(replicates), str(loads), names], check=True)
    return store


def report(store, *options):
    out = STORES / "page.html"
    out.unlink(missing_ok=True)
    done = subprocess.run(
        [BIN / "sluice-report", "--store", store, "--out", out, *map(str, options)], capture_output=True, text=True, check=False
    )
    return done, out


def page_of(store, *options):
    done, out = report(store, *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{out}\n"
    return out.read_text(encoding="utf-8")


def parse(page):
    """The page is XML but for its document type and the one void element with a value-less form, which it does not use."""
    doctype, _, rest = page.partition("\n")
    assert doctype == "<!DOCTYPE html>"
    return ElementTree.fromstring(rest)


def words(element):
    return " ".join("".join(element.itertext()).split()).replace("\u00a0", " ")


def table(root, name):
    """Rows of the first table of that class, as lists of texts."""
    found = next(t for t in root.iter("table") if t.get("class") == name)
    return [[words(cell) for cell in row] for row in found.iter("tr")]


def charts(root, layout):
    return [svg for svg in root.iter("svg") if svg.get("class") == f"chart {layout}"]


class WholePage(unittest.TestCase):
    def test_it_is_well_formed_and_has_every_chart_wide_and_narrow(self):
        root = parse(page_of(example_store(4)))
        for layout in ("wide", "narrow"):
            self.assertEqual(len(charts(root, layout)), 4, "violations, times, one load, differences")
        for svg in charts(root, "wide"):
            self.assertTrue(svg.get("aria-label"))

    def test_it_loads_nothing_and_runs_nothing(self):
        page = page_of(example_store(4))
        self.assertNotRegex(page, r"https?:|//[a-z]|url\(|@import|<script|<link|<img|<iframe|\son[a-z]+=")
        self.assertIn("default-src 'none'", page.replace("&#39;", "'"))

    def test_the_same_store_gives_the_same_bytes(self):
        self.assertEqual(page_of(example_store(4)), page_of(example_store(4)))

    def test_ten_thousand_loads_under_ten_policies_stay_below_two_megabytes(self):
        page = page_of(example_store(10, 20, 50))
        self.assertLess(len(page.encode()), 2_000_000)
        self.assertEqual(len(table(parse(page), "policies")), 1 + 10)

    def test_one_policy_has_a_page_without_differences(self):
        root = parse(page_of(example_store(1)))
        self.assertEqual(len(charts(root, "wide")), 3)
        self.assertIn("It is the only policy here.", words(root))

    def test_nothing_is_drawn_outside_the_picture(self):
        root = parse(page_of(example_store(10)))
        for svg in charts(root, "wide") + charts(root, "narrow"):
            _, _, width, height = map(float, svg.get("viewBox").split())
            for element in svg.iter():
                for name, limit in (("x", width), ("x1", width), ("x2", width), ("cx", width), ("y", height), ("y2", height)):
                    if element.get(name) is not None:
                        self.assertGreaterEqual(float(element.get(name)), 0, ElementTree.tostring(element))
                        self.assertLessEqual(float(element.get(name)), limit, ElementTree.tostring(element))


class Numbers(unittest.TestCase):
    def setUp(self):
        self.store = example_store(4)
        compare = subprocess.run([BIN / "sluice-compare", "--store", self.store, "--format", "json"], capture_output=True, check=True)
        self.score = json.loads(compare.stdout)

    def test_every_number_of_the_table_is_the_scores(self):
        rows = table(parse(page_of(self.store)), "policies")[1:]
        shown = {row[0]: row for row in rows}
        self.assertEqual(set(shown), {policy["policy"] for policy in self.score["policies"]})

        def seconds(value):
            return "—" if value is None else f"{value:.3f}"

        for p in self.score["policies"]:
            rate, low, high = (100 * p[key] for key in ("violation_rate", "violation_rate_low", "violation_rate_high"))
            mix = sorted(f"{level} {100 * share:.0f} %" for level, share in p["levels"].items() if share >= 0.005)
            row = shown[p["policy"]]
            self.assertEqual(
                row[1:10],
                [
                    f"{rate:.1f} % [{low:.1f}, {high:.1f}]",
                    seconds(p["ttft_s_p50"]),
                    seconds(p["ttft_s_p95"]),
                    f"{p['quality_mean']:.4f}",
                    f"{p['bytes_per_load_mean'] / 1e6:.1f}",
                    f"{100 * p['recomputed_fraction']:.1f} %",
                    f"{100 * p['gpu_busy_fraction']:.1f} %",
                    f"{100 * p['link_utilisation']:.1f} %",
                    f"{p['stored_per_context_bytes'] / 1e9:.4g} GB",
                ],
            )
            self.assertEqual(row[10], f"{p['peak_memory_bytes'] / 1e6:.4g} MB")
            for level in mix:
                self.assertIn(level, row[11])

    def test_rows_and_charts_stand_in_the_order_of_violation_rates(self):
        root = parse(page_of(self.store))
        rates = [float(row[1].split(" ")[0]) for row in table(root, "policies")[1:]]
        self.assertEqual(rates, sorted(rates))
        names = [row[0] for row in table(root, "policies")[1:]]
        drawn = [words(text) for text in charts(root, "wide")[0].iter("text") if text.get("class") == "label"]
        self.assertEqual(drawn, names)

    def test_dots_and_whiskers_stand_at_their_values_on_the_axis(self):
        root = parse(page_of(self.store))
        by_name = {policy["policy"]: policy for policy in self.score["policies"]}
        for chart in (charts(root, "wide")[0], charts(root, "narrow")[0]):
            ticks = [(float(words(t)), float(t.get("x"))) for t in chart.iter("text") if t.get("class") == "tick"]
            (low, left), (high, right) = ticks[0], ticks[-1]

            def position(rate):
                return left + (100 * rate - low) / (high - low) * (right - left)

            names = [words(t) for t in chart.iter("text") if t.get("class") == "label"]
            dots = list(chart.iter("circle"))
            whiskers = [line for line in chart.iter("line") if "whisker" in line.get("class")][::3]  # then its two caps
            self.assertEqual(len(names), 4)
            for name, dot, whisker in zip(names, dots, whiskers, strict=True):
                policy = by_name[name]
                self.assertAlmostEqual(float(dot.get("cx")), position(policy["violation_rate"]), delta=0.11)
                self.assertAlmostEqual(float(whisker.get("x1")), position(policy["violation_rate_low"]), delta=0.11)
                self.assertAlmostEqual(float(whisker.get("x2")), position(policy["violation_rate_high"]), delta=0.11)

    def test_differences_are_the_scores_turned_against_the_baseline(self):
        root = parse(page_of(self.store, "--baseline", "policy-1"))
        values = [words(text) for text in charts(root, "wide")[3].iter("text") if text.get("class") == "value"]
        pair = next(p for p in self.score["pairs"] if {p["a"], p["b"]} == {"policy-0", "policy-1"})
        points = 100 * pair["difference"] * (1 if pair["b"] == "policy-1" else -1)
        self.assertLess(points, 0, "policy-0 is always in time")
        self.assertEqual(len(values), 3)
        self.assertTrue(values[0].startswith(f"−{-points:.1f} ["), values[0])
        self.assertTrue(values[0].endswith("] better"), values[0])
        self.assertIn("baseline", words(next(t for t in root.iter("table"))))

    def test_a_curve_reaches_100_percent_only_where_every_load_had_a_first_token(self):
        # The last policy leaves 1 of 10 loads unfinished: its curve ends at 90 %, on a plot 320 high that begins at 36.
        root = parse(page_of(self.store))
        curves = {p.find("title").text: p.get("d") for p in charts(root, "wide")[1].iter("path")}
        lowest_y = {name: min(float(y) for y in re.findall(r"V([0-9.]+)", d)) for name, d in curves.items()}
        self.assertEqual(lowest_y["policy-0"], 36)
        self.assertEqual(lowest_y["policy-3"], 36 + 32)


class OneLoad(unittest.TestCase):
    def test_the_load_asked_for_is_shown_under_every_policy(self):
        # Run 1 is policy-0 in replicate 0.
        root = parse(page_of(example_store(4), "--load", "1/3"))
        self.assertIn("Load 3 of replicate 0: a context of 4500 tokens in 3 chunks, arrived 3.000 s into the run", words(root))
        self.assertIn("Chosen by --load.", words(root))
        titles = [words(t) for t in charts(root, "wide")[2].iter("text") if t.get("class") == "panel-title"]
        self.assertEqual(sorted(titles), ["policy-0", "policy-1", "policy-2", "policy-3"])

    def test_each_choice_is_listed_with_its_times_and_reason(self):
        rows = table(parse(page_of(example_store(1, 1, 1))), "decisions")
        self.assertEqual([row[-5] for row in rows[1:]], ["int8@token", "recompute", "cachegen-released@2"])
        self.assertEqual({row[-1] for row in rows[1:]}, {"fits the budget"})
        self.assertEqual(rows[1][-4:-2], ["98.0", "0.000"])

    def test_a_load_that_never_finished_is_drawn_to_where_it_got(self):
        # Load 0 of the last policy.
        root = parse(page_of(example_store(4), "--load", "4/0"))
        chart = charts(root, "wide")[2]
        self.assertIn("no first token", [words(t) for t in chart.iter("text")])
        self.assertEqual(len([p for p in chart.iter("path") if p.get("class") == "token"]), 3, "three of four have one")
        last_row = table(root, "decisions")[-1]
        self.assertEqual(last_row[-5:], ["none", "28.0", last_row[-3], "—", "fits the budget"])

    def test_a_bar_tells_its_times_and_the_policys_reason(self):
        root = parse(page_of(example_store(1, 1, 1)))
        titles = [t.text for t in charts(root, "wide")[2].iter("title")]
        self.assertTrue(any(re.fullmatch(r"chunk 0, 1500 tokens: int8@token, 98 MB; asked for at 0\.000 s; first byte at .* s; "
                                         r"last byte at .* s; decode at .* s; resident at .* s\. fits the budget", t) for t in titles), titles)


class Strangers(unittest.TestCase):
    def test_hostile_names_stay_text(self):
        page = page_of(example_store(3, 3, 3, "hostile"), "--title", "</title><script>")
        self.assertNotIn("<script", page)
        root = parse(page)
        self.assertEqual(root.find("head/title").text, "</title><script>")
        self.assertIn("<script>alert('x')</script> & \"quoted\" \ufffdexample", words(root.find("body")))

    def test_the_commands_name_the_store_and_quote_what_a_shell_would_split(self):
        text = words(parse(page_of(example_store(4))))
        self.assertIn("./sluice sim example --store 'a b.db'", text)
        self.assertRegex(text, r"\./sluice explain --store \S+ load:\d+/\d+")
        self.assertIn("0" * 63 + "1", text)


class Errors(unittest.TestCase):
    def assert_refused(self, result, *parts):
        done, out = result
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Aerror: [^\n]+; [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, done.stderr)
        self.assertFalse(out.exists(), "no page")
        self.assertEqual([f for f in STORES.iterdir() if ".tmp" in f.name], [], "nothing half-written")

    def test_an_empty_store_and_a_filter_that_lets_nothing_through(self):
        self.assert_refused(report(example_store(0, 0, 0)), "holds no finished run")
        self.assert_refused(report(example_store(1), "--scenario", "other"), "no finished run of scenario `other`")
        self.assert_refused(report(example_store(1), "--tier", "packet"), "no finished run on tier `packet`")

    def test_a_file_that_is_no_store(self):
        self.assert_refused(report(STORES / "absent.db"), "absent.db", "no such file")
        (STORES / "text.db").write_text("not a store", encoding="utf-8")
        self.assert_refused(report(STORES / "text.db"), "text.db")

    def test_an_unknown_baseline_or_load_is_named(self):
        self.assert_refused(report(example_store(4), "--baseline", "policy-9"), "--baseline", "policy-9")
        self.assert_refused(report(example_store(4), "--load", "1/999"), "no run 1 with a load 999")
        self.assert_refused(report(example_store(4), "--load", "x"), "`x` is not RUN/INDEX")

    def test_a_page_that_cannot_be_written(self):
        done = subprocess.run([BIN / "sluice-report", "--store", example_store(1), "--out", STORES / "no" / "page.html"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Aerror: [^\n]*page\.html: cannot be written; [^\n]+\n\Z")

    def test_a_wrong_option_is_one_line(self):
        self.assert_refused(report(example_store(1), "--colour", "red"), "sluice report --help")
        self.assert_refused(report(example_store(1), "--delta", "2"), "--delta")


if __name__ == "__main__":
    unittest.main()
