// Link-trace files: a target per registered reader, whose structure the mutator knows.
#include <unistd.h>

#include "tests/fuzz/target.h"
#include "tests/traces/reader_inputs.h"

namespace sluice::fuzz {
namespace {

// Readers take paths; one file at a time, gone when the program ends.
class ScratchFolder {
 public:
  ScratchFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("sluice-fuzz-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Under each name that the reader's files have: for Puffer the name says which of a pair it is.
Finding run_reader(const std::string& reader, std::span<const std::byte> bytes) {
  static const ScratchFolder folder;
  const std::string text(text_of(bytes));
  std::string last_name;
  for (const testing::ReaderInput& input : testing::reader_inputs(reader)) {
    if (input.name == last_name) continue;
    last_name = input.name;
    const std::string found =
        testing::complaint(testing::read_mutant(input, text, folder.path(), true));
    if (!found.empty()) return found;
  }
  return std::nullopt;
}

std::vector<Bytes> seeds_of(const std::string& reader) {
  std::vector<Bytes> seeds;
  for (const testing::ReaderInput& input : testing::reader_inputs(reader)) {
    const auto bytes = std::as_bytes(std::span(input.text));
    seeds.emplace_back(bytes.begin(), bytes.end());
  }
  return seeds;
}

void mutate(Bytes& input, std::size_t bytes_max, std::uint64_t seed, const MutateBytes& change) {
  RandomStream random(seed);
  if (random.bernoulli(0.5)) {
    change(input, bytes_max);
    return;
  }
  const std::string text = testing::mutate_trace(std::string(text_of(input)), random);
  const auto bytes = std::as_bytes(std::span(text)).first(std::min(text.size(), bytes_max));
  input.assign(bytes.begin(), bytes.end());
}

}  // namespace

std::vector<Target> trace_targets() {
  std::vector<Target> targets;
  for (const ReaderSummary& reader : list_readers()) {
    const std::string id = reader.id;
    targets.push_back(
        {.name = "trace-" + id,
         .run = [id](std::span<const std::byte> input) { return run_reader(id, input); },
         .seeds = [id] { return seeds_of(id); },
         .mutate = mutate});
  }
  return targets;
}

}  // namespace sluice::fuzz
