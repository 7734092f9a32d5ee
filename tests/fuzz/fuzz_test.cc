// Every fuzz target on its committed corpus, its sound inputs, and a bounded number of seeded
// mutations of both: what libFuzzer (run.sh) runs for hours runs here in seconds, with any
// compiler. SLUICE_WRITE_CORPUS=1 writes the sound inputs into corpus/; SLUICE_FUZZ_MUTATIONS=N
// runs N per target.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "base/random.h"
#include "base/sha256.h"
#include "tests/fuzz/target.h"

namespace sluice::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMutationsDefault = 1000;  // per target
constexpr std::size_t kBytesMax = 1 << 14;

fs::path corpus_of(const Target& target) {
  return fs::path(SLUICE_SOURCE_DIR) / "tests/fuzz/corpus" / target.name;
}

std::string_view text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<Bytes> read_corpus(const Target& target) {
  std::vector<fs::path> paths;
  if (fs::is_directory(corpus_of(target))) {
    for (const auto& entry : fs::directory_iterator(corpus_of(target)))
      paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> inputs;
  for (const fs::path& path : paths) {
    const auto text = read_file(path);
    EXPECT_TRUE(text.ok()) << path;
    if (!text) continue;
    const auto bytes = std::as_bytes(std::span(*text));
    inputs.emplace_back(bytes.begin(), bytes.end());
  }
  return inputs;
}

// A few flips, new values, copies, cuts and insertions.
void change_bytes(Bytes& bytes, std::size_t bytes_max, RandomStream& random) {
  for (std::uint64_t left = 1 + random.below(4); left > 0; --left) {
    const std::size_t at = random.below(bytes.size() + 1);
    const auto here = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto span =
        static_cast<std::ptrdiff_t>(std::min<std::size_t>(bytes.size() - at, 1 + random.below(16)));
    constexpr std::uint8_t kExtremes[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
    switch (random.below(5)) {
      case 0:
        if (at < bytes.size()) *here ^= static_cast<std::byte>(1U << random.below(8));
        break;
      case 1:
        std::fill(here, here + span, static_cast<std::byte>(kExtremes[random.below(5)]));
        break;
      case 2:
        for (auto b = here; b != here + span; ++b) *b = static_cast<std::byte>(random.below(256));
        break;
      case 3:
        bytes.erase(here, here + span);
        break;
      default: {
        const Bytes copy(here, here + span);
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(random.below(bytes.size() + 1)),
                     copy.begin(), copy.end());
      }
    }
  }
  bytes.resize(std::min(bytes.size(), bytes_max));
}

// Runs one input; a finding names the file that it was written to, for run.sh or a debugger.
void expect_no_finding(const Target& target, const Bytes& input) {
  const Finding finding = target.run(input);
  if (!finding) return;
  const fs::path file = fs::path(testing::TempDir()) /
                        ("finding-" + target.name + "-" + sha256_hex(input).substr(0, 12));
  std::ofstream(file, std::ios::binary) << text_of(input);
  FAIL() << target.name << ": " << *finding << "; the input is in " << file;
}

std::uint64_t num_mutations() {
  const char* const wanted = std::getenv("SLUICE_FUZZ_MUTATIONS");
  return wanted == nullptr ? kMutationsDefault : std::strtoull(wanted, nullptr, 10);
}

class EveryTarget : public testing::TestWithParam<std::size_t> {
 protected:
  const Target& target_ = all_targets()[GetParam()];
};

TEST_P(EveryTarget, HasACommittedCorpusWithoutAFinding) {
  if (std::getenv("SLUICE_WRITE_CORPUS") != nullptr) {
    fs::create_directories(corpus_of(target_));
    for (const Bytes& seed : target_.seeds()) {
      const fs::path file = corpus_of(target_) / sha256_hex(seed).substr(0, 16);
      ASSERT_TRUE(write_file_atomically(file, text_of(seed)).ok());
    }
    FAIL() << "the corpus was written: look at `git status`, and run again without the variable";
  }
  const auto corpus = read_corpus(target_);
  ASSERT_FALSE(corpus.empty()) << "SLUICE_WRITE_CORPUS=1 build/bin/fuzz_test writes one";
  for (const Bytes& input : corpus) expect_no_finding(target_, input);
}

TEST_P(EveryTarget, HasNoFindingInItsSoundInputsNorInAnyPrefixOfTheFirst) {
  const auto seeds = target_.seeds();
  for (const Bytes& input : seeds) expect_no_finding(target_, input);
  for (std::size_t size = 0; size < std::min<std::size_t>(seeds[0].size(), 400); ++size)
    expect_no_finding(
        target_, Bytes(seeds[0].begin(), seeds[0].begin() + static_cast<std::ptrdiff_t>(size)));
}

TEST_P(EveryTarget, HasNoFindingInSeededMutations) {
  std::vector<Bytes> inputs = target_.seeds();
  for (Bytes& input : read_corpus(target_)) inputs.push_back(std::move(input));
  for (std::uint64_t number = 0; number < num_mutations(); ++number) {
    RandomStream random(number, target_.name, 0);
    Bytes input = inputs[random.below(inputs.size())];
    const std::uint64_t rounds = 1 + random.below(4);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      target_.mutate(input, kBytesMax, random.next_u64(), [&](Bytes& bytes, std::size_t bytes_max) {
        change_bytes(bytes, bytes_max, random);
      });
    }
    expect_no_finding(target_, input);
    if (HasFatalFailure()) return;
  }
}

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
  std::string name = all_targets()[info.param].name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Fuzz, EveryTarget, testing::Range(std::size_t{0}, all_targets().size()),
                         name_of);

}  // namespace
}  // namespace sluice::fuzz
