#include "codec/strict_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace sluice {
namespace {

using nlohmann::json;

constexpr std::size_t kDepthMax = 16;

// First pass: only looks, keeps nothing but the keys of the open objects.
class Inspector : public nlohmann::json_sax<json> {
 public:
  std::string wrong;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    wrong = fmt::format("the key `{}` stands twice in one object", name);
    return false;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    wrong = fmt::format("is not JSON at byte {}", position);
    return false;
  }

 private:
  bool open() {
    if (keys_.size() == kDepthMax) {
      wrong = fmt::format("is nested deeper than {} levels", kDepthMax);
      return false;
    }
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys_;
};

}  // namespace

Result<json> parse_strict_json(std::string_view text) {
  Inspector inspector;
  if (!json::sax_parse(text, &inspector)) return error_in("", inspector.wrong, "write it again");
  return json::parse(text);
}

}  // namespace sluice
