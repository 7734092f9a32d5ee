// Damage of a decoded cache: how much the attention outputs change, under the queries that the
// model really asked.
// Where in the flow: `codec profile` measures every codec and level with it.
// Surprise: it is one step of one layer; errors that build up over layers and tokens do not show.
#pragma once

#include <vector>

#include "base/result.h"
#include "codec/capture_format.h"

namespace sluice {

// Attention outputs of the undamaged cache, kept for comparison with any number of damaged ones.
class AttentionReference {
 public:
  // Why a capture cannot be measured: no queries, keys not as attended (pre-RoPE), or no layer with
  // both.
  [[nodiscard]] static Result<AttentionReference> make(const Capture& capture);

  // Mean over layers, heads and queries of |o' - o| / |o|, where o = softmax(q K / sqrt(dim)) V
  // over the tokens that the query may see (positions up to its own) and o' is the same over
  // `damaged`, a cache of the same layers; tokens that it dropped are absent. Query head h attends
  // to KV head h * kv_heads / heads (grouped-query attention). Outputs of length 0 are left out.
  [[nodiscard]] double error_of(const KvView& damaged) const;

 private:
  struct LayerOutputs {
    std::size_t layer_index;  // in the cache's list of layers
    TensorView queries;
    std::vector<float> values;  // [head, query, dim of values]
  };
  explicit AttentionReference(std::int64_t first_query) : first_query_(first_query) {}

  std::int64_t first_query_;  // context position
  std::shared_ptr<const KvCache> cache_;
  std::vector<LayerOutputs> layers_;
};

// Mean over all tensors that are not all zero of |x' - x| / |x|, dropped tokens counted as zeros:
// what is left when there are no queries.
[[nodiscard]] double value_error(const KvView& original, const KvView& damaged);

}  // namespace sluice
