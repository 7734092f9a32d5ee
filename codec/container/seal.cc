#include "codec/container/seal.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/assert.h"

namespace sluice {
namespace {

constexpr std::size_t kNonceBytes = 12;
using Nonce = std::array<std::byte, kNonceBytes>;
constexpr std::int64_t kSealedBytesMax = (std::int64_t{1} << 36) - 32;
constexpr std::size_t kStepBytes = std::size_t{1} << 30;  // EVP counts in int
constexpr std::string_view kPurpose = "sluice kvb 1";

const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}
unsigned char* raw(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

Nonce nonce_of(const SectionEntry& section) {
  Nonce nonce{};  // sections of a sealed file hold a tag, so no two have one offset
  std::memcpy(nonce.data(), &section.offset, sizeof section.offset);
  return nonce;
}

Nonce header_nonce() {
  Nonce nonce;
  nonce.fill(std::byte{0xFF});
  return nonce;
}

// HKDF-SHA256.
Bytes32 derived_key(const Bytes32& key, const Bytes32& salt) {
  const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context(
      EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr), &EVP_PKEY_CTX_free);
  Bytes32 derived{};
  std::size_t size = derived.size();
  const bool done =
      context != nullptr && EVP_PKEY_derive_init(context.get()) == 1 &&
      EVP_PKEY_CTX_set_hkdf_md(context.get(), EVP_sha256()) == 1 &&
      EVP_PKEY_CTX_set1_hkdf_salt(context.get(), raw(salt.data()), salt.size()) == 1 &&
      EVP_PKEY_CTX_set1_hkdf_key(context.get(), raw(key.data()), key.size()) == 1 &&
      EVP_PKEY_CTX_add1_hkdf_info(context.get(),
                                  reinterpret_cast<const unsigned char*>(kPurpose.data()),
                                  static_cast<int>(kPurpose.size())) == 1 &&
      EVP_PKEY_derive(context.get(), raw(derived.data()), &size) == 1 && size == derived.size();
  SLUICE_ASSERT(done, "OpenSSL has no HKDF-SHA256");
  return derived;
}

// One AES-256-GCM call over one message. Encrypting and decrypting run the same steps, in place.
class Gcm {
 public:
  Gcm(bool encrypts, const Bytes32& key, const Nonce& nonce) {
    check(EVP_CipherInit_ex(context_.get(), EVP_aes_256_gcm(), nullptr, raw(key.data()),
                            raw(nonce.data()), encrypts ? 1 : 0));
  }
  void authenticate(std::span<const std::byte> data) { update(nullptr, data); }
  void transform(std::span<std::byte> data) { update(data.data(), data); }
  SealTag finish() {
    SealTag tag{};
    int size = 0;
    check(EVP_CipherFinal_ex(context_.get(), raw(tag.data()), &size));
    check(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_GET_TAG, kSealTagBytes, tag.data()));
    return tag;
  }
  // Whether the decrypted message is that of `tag`.
  [[nodiscard]] bool fits(std::span<const std::byte> tag) {
    SealTag copy{};
    std::copy(tag.begin(), tag.end(), copy.begin());
    check(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_SET_TAG, kSealTagBytes, copy.data()));
    int size = 0;
    return EVP_CipherFinal_ex(context_.get(), raw(copy.data()), &size) == 1;
  }

 private:
  static void check(int done) { SLUICE_ASSERT(done == 1, "OpenSSL failed in AES-256-GCM"); }
  void update(std::byte* out, std::span<const std::byte> in) {
    while (!in.empty()) {
      const auto step = in.first(std::min(in.size(), kStepBytes));
      int size = 0;
      check(EVP_CipherUpdate(context_.get(), out == nullptr ? nullptr : raw(out), &size,
                             raw(step.data()), static_cast<int>(step.size())));
      if (out != nullptr) out += step.size();
      in = in.subspan(step.size());
    }
  }

  std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context_{EVP_CIPHER_CTX_new(),
                                                                           &EVP_CIPHER_CTX_free};
};

}  // namespace

SealKey::~SealKey() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

FileSeal::FileSeal(const SealKey& key, const Bytes32& salt, std::span<const std::byte> header_front)
    : key_(derived_key(key.bytes(), salt)) {
  unsigned int size = 0;
  const int done = EVP_Digest(header_front.data(), header_front.size(), raw(front_digest_.data()),
                              &size, EVP_sha256(), nullptr);
  SLUICE_ASSERT(done == 1 && size == front_digest_.size(), "OpenSSL has no SHA-256");
}

FileSeal::~FileSeal() {
  OPENSSL_cleanse(key_.data(), key_.size());
}

std::vector<std::byte> FileSeal::additional_data(const SectionEntry& section) const {
  std::vector<std::byte> data(front_digest_.begin(), front_digest_.end());
  const auto entry = entry_bytes(section, 0);
  data.insert(data.end(), entry.begin(), entry.end());
  return data;
}

Status FileSeal::seal_section(const SectionEntry& section, std::vector<std::byte>& payload) const {
  if (static_cast<std::int64_t>(payload.size()) > kSealedBytesMax) {
    return error_in("",
                    fmt::format("a section of {} bytes is too long to be sealed", payload.size()),
                    "use fewer layers per section");
  }
  Gcm gcm(true, key_, nonce_of(section));
  gcm.authenticate(additional_data(section));
  gcm.transform(payload);
  const SealTag tag = gcm.finish();
  payload.insert(payload.end(), tag.begin(), tag.end());
  return {};
}

std::optional<std::vector<std::byte>> FileSeal::open_section(
    const SectionEntry& section, std::span<const std::byte> stored) const {
  const auto size = static_cast<std::int64_t>(stored.size());
  if (size < kSealTagBytes || size - kSealTagBytes > kSealedBytesMax) return std::nullopt;
  const auto tag = stored.last(kSealTagBytes);
  std::vector<std::byte> payload(stored.begin(), stored.end() - kSealTagBytes);
  Gcm gcm(false, key_, nonce_of(section));
  gcm.authenticate(additional_data(section));
  gcm.transform(payload);
  if (!gcm.fits(tag)) return std::nullopt;
  return payload;
}

SealTag FileSeal::header_tag(std::span<const std::byte> header) const {
  Gcm gcm(true, key_, header_nonce());
  gcm.authenticate(header);
  return gcm.finish();
}

bool FileSeal::fits_header(std::span<const std::byte> header,
                           std::span<const std::byte> tag) const {
  const SealTag expected = header_tag(header);
  return tag.size() == expected.size() &&
         CRYPTO_memcmp(tag.data(), expected.data(), expected.size()) == 0;
}

}  // namespace sluice
