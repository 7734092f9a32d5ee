#include "base/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/assert.h"

namespace sluice {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  const int done = EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
  SLUICE_ASSERT(done == 1, "OpenSSL has no SHA-256");
}

Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  const int done = EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
  SLUICE_ASSERT(done == 1, "SHA-256 update failed");
}

void Sha256::update(std::string_view text) {
  update(std::as_bytes(std::span(text)));
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int done = EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  SLUICE_ASSERT(done == 1, "SHA-256 final failed");
  std::string out;
  for (unsigned int i = 0; i < size; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

std::string sha256_hex(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

}  // namespace sluice
