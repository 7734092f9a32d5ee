#include "sim/scenario/yaml_document.h"

#include <yaml-cpp/eventhandler.h>

#include <sstream>

namespace sluice {
namespace {

// Looks at what the parser finds and keeps nothing.
class Onlooker final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// 0, 1, or 2 for more. Not YAML::LoadAll: on a document that begins with a comma yaml-cpp 0.7 finds
// empty documents for ever.
int count_documents(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  Onlooker onlooker;
  int count = 0;
  while (count < 2 && parser.HandleNextDocument(onlooker)) ++count;
  return count;
}

}  // namespace

Result<YAML::Node> parse_document(const std::string& text, const std::string& file) {
  try {
    const int count = count_documents(text);
    if (count != 1) {
      return error_in(file,
                      count == 0 ? "holds no YAML document" : "holds more than one YAML document",
                      "write exactly one");
    }
    return YAML::Load(text);
  } catch (const YAML::Exception& e) {
    return error_at(file, e.mark.line + 1, "is not valid YAML: " + e.msg,
                    "check indentation, colons and quotes");
  }
}

}  // namespace sluice
