#include <cstdio>

#include "codec/cli/commands.h"

namespace sluice::cli {

Result<CodecLevel> choose_level(const std::string& codec, const std::string& level) {
  if (level.empty()) return find_codec_level(codec);
  if (codec.find('@') != std::string::npos) {
    return error_in("--codec", "`" + codec + "` names a level, and so does --level",
                    "name it once");
  }
  return find_codec_level(codec, level);
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "%s\n", note.c_str());
}

}  // namespace sluice::cli
