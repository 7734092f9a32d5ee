// A command as a child process: inside a namespace, in a process group of its own, and never
// longer alive than its owner.
// Surprises: between owner and command stands a supervisor (a fork of ours) to which all that the
// command leaves behind is reparented, so that grandchildren end too, even when the owner was
// killed with SIGKILL; and the owner is the thread that starts the command, since the kernel's
// death signal goes by thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "emu/host/namespace.h"

namespace sluice {

struct Command {
  std::vector<std::string> words;  // the program, looked up in PATH, and its arguments
  std::vector<std::pair<std::string, std::string>> environment;  // beside our own
  const NetworkNamespace* space = nullptr;                       // null: ours
  // Reads our input and, where that is a terminal, owns it until it ends; else it reads nothing.
  bool foreground = true;
  bool output_to_error = false;  // its stdout becomes our stderr
};

class ChildProcess {
 public:
  // Errors: the program does not exist or cannot be run.
  [[nodiscard]] static Result<ChildProcess> start(const Command& command);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  // Kills it with all its descendants.
  ~ChildProcess();

  // Its exit code, 128 + the number of the signal that ended it, or nullopt while it runs.
  [[nodiscard]] std::optional<int> poll();
  // Waits for its end. Of the signals that are meant for us, those blocked (BlockedSignals) are
  // passed on to it.
  [[nodiscard]] int wait();
  // SIGINT, SIGTERM, SIGHUP or SIGQUIT, to its process group.
  void send(int signal) const;
  // Kills it with all its descendants, and waits until they are gone.
  void kill();

 private:
  ChildProcess(pid_t supervisor, bool owns_terminal)
      : supervisor_(supervisor), owns_terminal_(owns_terminal) {}
  void ended(int wait_status);

  pid_t supervisor_ = -1;
  bool owns_terminal_ = false;
  std::optional<int> exit_code_;
};

// While it lives, the calling thread and the threads it starts hold back the signals that end
// programs, for ChildProcess::wait() to take.
class BlockedSignals {
 public:
  BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals();
  // Whether one has come that nobody took.
  [[nodiscard]] static std::optional<int> pending();

 private:
  sigset_t before_{};
};

}  // namespace sluice
