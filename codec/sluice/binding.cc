#include "codec/sluice/binding.h"

#include "codec/entropy/binding.h"
#include "codec/sluice/payload.h"
#include "codec/sluice/rungs.h"

namespace sluice {

Codec sluice_codec() {
  return {.info = {.id = "sluice",
                   .summary = "ours: keys unrotated, a basis from the model profile, steps by "
                              "attention, rungs a third of a digit apart",
                   .needs_positions = true,
                   .max_elements_per_byte = entropy::kMaxElementsPerByte,
                   .joins_keys_and_values = true,
                   .uses_model_profile = true,
                   .uses_importance = true,
                   .levels = ladder::levels(),
                   .default_level = ladder::default_level()},
          .encode_section = ladder::encode_section,
          .decode_section = ladder::decode_section};
}

}  // namespace sluice
