// Which tokens of the context a layer holds, in a header: the bytes behind the list of layers.
// Where in the flow: header.cc writes them and header_parse.cc reads them, in files where tokens
// were dropped. The bytes: spec.md, *Kept tokens*.
#pragma once

#include <optional>
#include <string>

#include "codec/bytes.h"
#include "codec/kv_cache.h"

namespace sluice::container {

// One entry per layer. `shape` has passed check_shape().
void put_kept_tokens(ByteWriter& out, const KvShape& shape);

// Fills in the layers' positions; what is wrong, or nothing. `shape` comes without positions and
// has passed check_shape(); afterwards it passes again. Memory: at most 64 times the bytes read.
[[nodiscard]] std::optional<std::string> get_kept_tokens(ByteReader& in, KvShape& shape);

}  // namespace sluice::container
