// A build without the CUDA Toolkit answers as clearly as one without a GPU.
#include <gtest/gtest.h>

#include "codec/device/gpu.h"
#include "codec/device/registry.h"

namespace sluice {
namespace {

TEST(WithoutCuda, EveryQuestionHasOneAnswer) {
  const std::string answer =
      "error: no GPU here: this build has no CUDA backend; install the CUDA Toolkit and configure "
      "with "
      "-DSLUICE_CUDA=ON, or use the CPU's backends";
  ASSERT_FALSE(find_gpu());
  EXPECT_EQ(find_gpu().error().to_line(), answer);
  EXPECT_EQ(find_device_codec("raw").error().to_line(), answer);
  EXPECT_TRUE(all_device_codecs().empty());
}

}  // namespace
}  // namespace sluice
