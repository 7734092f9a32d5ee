#include "emu/protocol/session_keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>

#include <memory>
#include <string>

#include "base/assert.h"
#include "codec/bytes.h"

namespace sluice {
namespace {

constexpr std::string_view kProofPurpose = "sluice emu 1 proof";
constexpr std::string_view kToServerPurpose = "sluice emu 1 client to server";
constexpr std::string_view kToClientPurpose = "sluice emu 1 server to client";

const unsigned char* raw(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// HKDF-SHA256 (RFC 5869).
Bytes32 derived(const SealKey& key, std::span<const std::byte> salt,
                std::span<const std::byte> info) {
  const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context(
      EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr), &EVP_PKEY_CTX_free);
  Bytes32 out{};
  std::size_t size = out.size();
  bool done = context != nullptr && EVP_PKEY_derive_init(context.get()) == 1 &&
              EVP_PKEY_CTX_set_hkdf_md(context.get(), EVP_sha256()) == 1;
  if (!salt.empty()) {
    done = done && EVP_PKEY_CTX_set1_hkdf_salt(context.get(), raw(salt),
                                               static_cast<int>(salt.size())) == 1;
  }
  done =
      done &&
      EVP_PKEY_CTX_set1_hkdf_key(context.get(), raw(key.bytes()),
                                 static_cast<int>(key.bytes().size())) == 1 &&
      EVP_PKEY_CTX_add1_hkdf_info(context.get(), raw(info), static_cast<int>(info.size())) == 1 &&
      EVP_PKEY_derive(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size) == 1 &&
      size == out.size();
  SLUICE_ASSERT(done, "OpenSSL has no HKDF-SHA256");
  return out;
}

std::vector<std::byte> joined(std::string_view text, std::span<const std::byte> bytes) {
  ByteWriter out;
  out.put_text(text);
  out.put_bytes(bytes);
  return std::move(out).take();
}

}  // namespace

Bytes32 proof_of(const SealKey& key, std::string_view role, std::span<const std::byte> transcript) {
  Bytes32 proof_key = derived(key, {}, joined(kProofPurpose, {}));
  const auto message = joined(role, transcript);
  Bytes32 proof{};
  unsigned int size = 0;
  const auto* done =
      HMAC(EVP_sha256(), proof_key.data(), static_cast<int>(proof_key.size()), raw(message),
           message.size(), reinterpret_cast<unsigned char*>(proof.data()), &size);
  SLUICE_ASSERT(done != nullptr && size == proof.size(), "OpenSSL has no HMAC-SHA256");
  OPENSSL_cleanse(proof_key.data(), proof_key.size());
  return proof;
}

bool same_proof(const Bytes32& a, std::span<const std::byte> b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

SessionKeys session_keys(const SealKey& key, const Bytes32& client_nonce,
                         const Bytes32& server_nonce, std::span<const std::byte> transcript) {
  ByteWriter salt;
  salt.put_bytes(client_nonce);
  salt.put_bytes(server_nonce);
  return {.to_server = derived(key, salt.bytes(), joined(kToServerPurpose, transcript)),
          .to_client = derived(key, salt.bytes(), joined(kToClientPurpose, transcript))};
}

}  // namespace sluice
