// The program that libFuzzer drives: one for all targets. SLUICE_FUZZ_TARGET names one; without it,
// or with an unknown name, the program lists them and ends with 1 (`list`: with 0).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/target.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

namespace {

const sluice::fuzz::Target& chosen_target() {
  static const sluice::fuzz::Target& chosen = []() -> const sluice::fuzz::Target& {
    const char* const name = std::getenv("SLUICE_FUZZ_TARGET");
    for (const auto& target : sluice::fuzz::all_targets()) {
      if (name != nullptr && target.name == name) return target;
    }
    for (const auto& target : sluice::fuzz::all_targets()) std::puts(target.name.c_str());
    std::exit(name != nullptr && std::strcmp(name, "list") == 0 ? 0 : 1);
  }();
  return chosen;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  (void)chosen_target();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto finding = chosen_target().run(std::as_bytes(std::span(data, size)));
  if (!finding) return 0;
  std::fprintf(stderr, "finding: %s: %s\n", chosen_target().name.c_str(), finding->c_str());
  std::abort();
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned int seed) {
  const auto given = std::as_bytes(std::span(data, size));
  sluice::fuzz::Bytes input(given.begin(), given.end());
  chosen_target().mutate(input, size_max, seed, [](sluice::fuzz::Bytes& bytes, std::size_t max) {
    const std::size_t old_size = bytes.size();
    if (max == 0) return;
    bytes.resize(std::max(max, old_size));
    bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()),
                                  std::min(old_size, max), max));
  });
  input.resize(std::min(input.size(), size_max));
  if (!input.empty()) std::memcpy(data, input.data(), input.size());
  return input.size();
}
