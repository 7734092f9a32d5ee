// Proofs and keys of one connection, from the key that both sides hold and what they said so far.
// Private to emu/protocol; the formulas: spec.md, "Authentication".
#pragma once

#include <span>
#include <string_view>

#include "codec/container/seal.h"

namespace sluice {

// `role`: "client" or "server".
[[nodiscard]] Bytes32 proof_of(const SealKey& key, std::string_view role,
                               std::span<const std::byte> transcript);
// In constant time.
[[nodiscard]] bool same_proof(const Bytes32& a, std::span<const std::byte> b);

struct SessionKeys {
  Bytes32 to_server{}, to_client{};
};
[[nodiscard]] SessionKeys session_keys(const SealKey& key, const Bytes32& client_nonce,
                                       const Bytes32& server_nonce,
                                       std::span<const std::byte> transcript);

}  // namespace sluice
