// raw as a codec: the elements as they are, the anchor that every other codec is compared with.
#pragma once

#include "codec/codec.h"

namespace sluice {

[[nodiscard]] Codec raw_codec();

}  // namespace sluice
