#include "tests/simt/fiber.h"

#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#else
// Without the sanitizer a switch is nobody's business.
static void __sanitizer_start_switch_fiber(void**, const void*, std::size_t) {}
static void __sanitizer_finish_switch_fiber(void*, const void**, std::size_t*) {}
#endif

namespace sluice::simt {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStackBytes = 256 * 1024;  // frames carry red zones
#else
constexpr std::size_t kStackBytes = 64 * 1024;
#endif

}  // namespace

boost::context::stack_context ThreadFiber::KeptStack::allocate() {
  boost::context::stack_context context;
  context.size = kStackBytes;
  context.sp = owner->stack_.get() + kStackBytes;
  return context;
}

void ThreadFiber::start(const std::function<void()>& body) {
  if (!stack_) stack_.reset(new std::byte[kStackBytes]);  // uninitialised: pages come when touched
  body_ = &body;
  is_abandoned_ = has_ended_ = false;
  fiber_frames_ = nullptr;
  fiber_ = boost::context::fiber(
      std::allocator_arg, KeptStack{this},
      [this](boost::context::fiber&& caller) { return run(std::move(caller)); });
}

boost::context::fiber ThreadFiber::run(boost::context::fiber&& caller) {
  __sanitizer_finish_switch_fiber(nullptr, &caller_stack_, &caller_stack_bytes_);
  caller_ = std::move(caller);
  try {
    (*body_)();
  } catch (const Abandoned&) {
  }
  has_ended_ = true;
  __sanitizer_start_switch_fiber(nullptr, caller_stack_, caller_stack_bytes_);
  return std::move(caller_);
}

bool ThreadFiber::resume() {
  __sanitizer_start_switch_fiber(&caller_frames_, stack_.get(), kStackBytes);
  fiber_ = std::move(fiber_).resume();
  __sanitizer_finish_switch_fiber(caller_frames_, nullptr, nullptr);
  return !has_ended_;
}

void ThreadFiber::wait() {
  __sanitizer_start_switch_fiber(&fiber_frames_, caller_stack_, caller_stack_bytes_);
  caller_ = std::move(caller_).resume();
  __sanitizer_finish_switch_fiber(fiber_frames_, &caller_stack_, &caller_stack_bytes_);
  if (is_abandoned_) throw Abandoned();
}

void ThreadFiber::abandon() {
  if (has_ended_) return;
  is_abandoned_ = true;
  resume();
}

}  // namespace sluice::simt
