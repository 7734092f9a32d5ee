#include "emu/protocol/record_seal.h"

#include <openssl/evp.h>

#include <array>
#include <cstring>

#include "base/assert.h"

namespace sluice {
namespace {

constexpr std::size_t kNonceBytes = 12;

unsigned char* raw(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

void check(int done) {
  SLUICE_ASSERT(done == 1, "OpenSSL failed in AES-256-GCM");
}

}  // namespace

class RecordCipher {
 public:
  RecordCipher(bool encrypts, const Bytes32& key) {
    check(EVP_CipherInit_ex(context_.get(), EVP_aes_256_gcm(), nullptr,
                            reinterpret_cast<const unsigned char*>(key.data()), nullptr,
                            encrypts ? 1 : 0));
  }
  // Of the next record: length and tag in place, the frame transformed. When it decrypts, false
  // says that the tag does not fit.
  bool run(std::span<std::byte> record, bool encrypts) {
    std::array<unsigned char, kNonceBytes> nonce{};
    std::memcpy(nonce.data() + kNonceBytes - sizeof count_, &count_, sizeof count_);
    ++count_;
    check(EVP_CipherInit_ex(context_.get(), nullptr, nullptr, nullptr, nonce.data(), -1));
    const auto frame =
        record.subspan(kRecordLengthBytes, record.size() - kRecordLengthBytes - kRecordTagBytes);
    unsigned char* const tag = raw(record.last(kRecordTagBytes).data());
    int size = 0;
    check(EVP_CipherUpdate(context_.get(), nullptr, &size, raw(record.data()),
                           static_cast<int>(kRecordLengthBytes)));
    check(EVP_CipherUpdate(context_.get(), raw(frame.data()), &size, raw(frame.data()),
                           static_cast<int>(frame.size())));
    if (!encrypts)
      check(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_SET_TAG, kRecordTagBytes, tag));
    std::array<unsigned char, kRecordTagBytes> rest{};
    const bool fits = EVP_CipherFinal_ex(context_.get(), rest.data(), &size) == 1;
    if (!encrypts) return fits;
    check(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_GET_TAG, kRecordTagBytes, tag));
    return true;
  }

 private:
  std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context_{EVP_CIPHER_CTX_new(),
                                                                           &EVP_CIPHER_CTX_free};
  std::uint64_t count_ = 0;
};

RecordSealer::RecordSealer(const Bytes32& key)
    : cipher_(std::make_unique<RecordCipher>(true, key)) {}
RecordSealer::RecordSealer(RecordSealer&&) noexcept = default;
RecordSealer& RecordSealer::operator=(RecordSealer&&) noexcept = default;
RecordSealer::~RecordSealer() = default;

void RecordSealer::seal(std::span<std::byte> record) {
  SLUICE_ASSERT(record.size() >= kRecordLengthBytes + kRecordTagBytes, "no room for a record");
  const auto length =
      static_cast<std::uint32_t>(record.size() - kRecordLengthBytes - kRecordTagBytes);
  std::memcpy(record.data(), &length, sizeof length);
  static_cast<void>(cipher_->run(record, true));
}

RecordOpener::RecordOpener(const Bytes32& key)
    : cipher_(std::make_unique<RecordCipher>(false, key)) {}
RecordOpener::RecordOpener(RecordOpener&&) noexcept = default;
RecordOpener& RecordOpener::operator=(RecordOpener&&) noexcept = default;
RecordOpener::~RecordOpener() = default;

bool RecordOpener::open(std::span<std::byte> record) {
  if (record.size() < kRecordLengthBytes + kRecordTagBytes) return false;
  return cipher_->run(record, false);
}

}  // namespace sluice
