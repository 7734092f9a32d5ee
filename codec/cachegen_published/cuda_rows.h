// What the rows of cachegen-published's planes are worth, and which tokens they are.
// Where in the flow: cuda.cu decodes with them, cuda_quantise.h numbers its rows as they do.
#pragma once

#include "codec/cachegen_published/binding.h"
#include "codec/cachegen_released/kernel.h"
#include "codec/entropy/cuda_decode.h"

namespace sluice::cachegen_published {

// Row g is token 10 g.
struct AnchorRows {
  static __device__ entropy::RowFacts facts(const entropy::PlaneJob& plane,
                                            const std::byte* payload, unsigned row) {
    const std::uint16_t scale =
        load_u16(payload + plane.scales_at + 2 * static_cast<std::int64_t>(row));
    return {cachegen_released::step_of(scale, plane.max_symbol),
            plane.tensor.token_offset(row * kGroupTokens)};
  }
  static __device__ void put(const entropy::PlaneJob& plane, const entropy::RowFacts& facts,
                             unsigned row, const entropy::LaneColumn& column, std::int16_t symbol) {
    const float value = static_cast<float>(symbol) * facts.step;
    plane.anchors_dev[static_cast<std::size_t>(row) * plane.channels + column.channel] = value;
    store_element(plane.tensor, facts.elements + column.elements, value);
  }
};

// Nine rows per group: the tokens behind the anchor.
struct DifferenceRows {
  static constexpr unsigned kPerGroup = static_cast<unsigned>(kGroupTokens) - 1;
  static __device__ entropy::RowFacts facts(const entropy::PlaneJob& plane, const std::byte*,
                                            unsigned row) {
    const unsigned token = row / kPerGroup * (kPerGroup + 1) + row % kPerGroup + 1;
    return {plane.step, plane.tensor.token_offset(token)};
  }
  static __device__ void put(const entropy::PlaneJob& plane, const entropy::RowFacts& facts,
                             unsigned row, const entropy::LaneColumn& column, std::int16_t symbol) {
    const float anchor =
        plane.anchors_dev[static_cast<std::size_t>(row / kPerGroup) * plane.channels +
                          column.channel];
    store_element(plane.tensor, facts.elements + column.elements,
                  codable(anchor + static_cast<float>(symbol) * facts.step));
  }
};

}  // namespace sluice::cachegen_published
