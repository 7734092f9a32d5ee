#include "codec/backend.h"

#if SLUICE_AVX2
#include <cpuid.h>
#endif
#include <fmt/format.h>

namespace sluice {
namespace {

bool has_avx2() {
#if SLUICE_AVX2
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;  // clang 14 does not know "f16c" by name
  const bool has_f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
  return has_f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

constexpr Backend kAll[] = {Backend::kScalar, Backend::kAvx2};

}  // namespace

std::string_view to_text(Backend backend) {
  return backend == Backend::kAvx2 ? "avx2" : "scalar";
}

bool is_available(Backend backend) {
  static const bool avx2 = has_avx2();
  return backend == Backend::kScalar || avx2;
}

std::vector<Backend> available_backends() {
  std::vector<Backend> backends;
  for (const Backend backend : kAll) {
    if (is_available(backend)) backends.push_back(backend);
  }
  return backends;
}

Backend best_backend() {
  return is_available(Backend::kAvx2) ? Backend::kAvx2 : Backend::kScalar;
}

Result<Backend> backend_from_text(std::string_view name) {
  for (const Backend backend : kAll) {
    if (name != to_text(backend)) continue;
    if (is_available(backend)) return backend;
    return error_in("", fmt::format("backend `{}` does not run on this CPU", name),
                    "use `scalar`, or leave the choice out");
  }
  return error_in("", fmt::format("no backend `{}`", name), "use `scalar` or `avx2`");
}

}  // namespace sluice
