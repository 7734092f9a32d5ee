#include "analysis/report/report.h"

#include <fmt/format.h>

#include <charconv>

#include "analysis/report/page.h"
#include "base/files.h"

namespace sluice {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

Result<LoadName> parse_load_name(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    const auto run = whole_number(std::string_view(text).substr(0, slash));
    const auto index = whole_number(std::string_view(text).substr(slash + 1));
    if (run && index) return LoadName{.run = {*run}, .index = *index};
  }
  return error_in("--load", fmt::format("`{}` is not RUN/INDEX", text),
                  "write it as in `12/0`: run 12, its first load");
}

Status write_report(const std::filesystem::path& store_file, const ReportOptions& options,
                    const std::filesystem::path& out) {
  auto store = Store::open_to_read(store_file);
  if (!store) return store.error();
  const auto blocks = read_blocks(*store, options);
  if (!blocks) return blocks.error();
  return write_file_atomically(out, page(*blocks, options, store_file.string()));
}

}  // namespace sluice
