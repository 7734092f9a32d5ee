// The style sheet of the page: two themes, a narrow and a wide layout, paper.
#pragma once

#include <string>

namespace sluice {

[[nodiscard]] std::string style_sheet();

}  // namespace sluice
