// The codec `sluice` for the registry.
#pragma once

#include "codec/codec.h"

namespace sluice {

[[nodiscard]] Codec sluice_codec();

}  // namespace sluice
