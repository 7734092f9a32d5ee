#include "codec/damage.h"

#include <fmt/format.h>

namespace sluice {

Error damaged(const std::string& what) {
  return error_in("", what, "the file is damaged: encode it again");
}

Status check_payload_size(std::int64_t bytes, std::int64_t expected) {
  if (bytes == expected) return {};
  return damaged(fmt::format("{} bytes of payload where its shape needs {}", bytes, expected));
}

}  // namespace sluice
