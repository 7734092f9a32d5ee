#include "emu/host/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "emu/host/descriptor.h"
#include "emu/host/supervisor.h"

namespace sluice {
namespace {

sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&set, signal);
  return set;
}

// Ours, with some variables added or replaced.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : more)
      replaced = replaced || text.substr(0, text.find('=')) == name;
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

Error not_started(const std::string& program, int code) {
  return error_in(program, fmt::format("cannot be started: {}", std::strerror(code)),
                  "name a program that can be run");
}

// The group of the terminal is ours again.
void take_terminal_back() {
  sigset_t output, before;
  ::sigemptyset(&output);
  ::sigaddset(&output, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &output, &before);
  (void)::tcsetpgrp(STDIN_FILENO, ::getpgrp());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const Command& command) {
  std::vector<std::string> words = command.words;
  if (words.empty() || words.front().empty())
    return error_in("command", "no program is named", "give one after `--`");
  std::vector<std::string> environment = environment_with(command.environment);
  const std::vector<char*> argv = pointers(words), envp = pointers(environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return not_started(words.front(), errno);
  Descriptor report(ends[0]), told(ends[1]);
  const bool terminal =
      command.foreground && ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
  SupervisedCommand supervised{.words = argv.data(),
                               .environment = envp.data(),
                               .space = command.space ? command.space->descriptor() : -1,
                               .report = told.get(),
                               .foreground = command.foreground,
                               .output_to_error = command.output_to_error,
                               .owner = ::getpid(),
                               .signals = {}};
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // The command gets all signals, also those that we hold back ourselves.
  supervised.signals = before;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD})
    ::sigdelset(&supervised.signals, signal);
  const pid_t supervisor = ::fork();
  if (supervisor == 0) supervise(supervised);
  const int fork_code = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (supervisor < 0) return not_started(words.front(), fork_code);
  ChildProcess child(supervisor, terminal);
  told.reset();
  int code = 0;
  ssize_t n = 0;
  while ((n = ::read(report.get(), &code, sizeof code)) < 0 && errno == EINTR) continue;
  if (n == sizeof code) return not_started(words.front(), code);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : supervisor_(std::exchange(other.supervisor_, -1)),
      owns_terminal_(other.owns_terminal_),
      exit_code_(other.exit_code_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(supervisor_, other.supervisor_);
  std::swap(owns_terminal_, other.owns_terminal_);
  std::swap(exit_code_, other.exit_code_);
  return *this;
}

ChildProcess::~ChildProcess() {
  kill();
}

void ChildProcess::ended(int status) {
  supervisor_ = -1;
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (owns_terminal_) take_terminal_back();
}

std::optional<int> ChildProcess::poll() {
  int status = 0;
  if (supervisor_ > 0 && ::waitpid(supervisor_, &status, WNOHANG) == supervisor_) ended(status);
  return exit_code_;
}

int ChildProcess::wait() {
  sigset_t awaited = ending_signals(), blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    if (::sigismember(&blocked, signal) == 0) ::sigdelset(&awaited, signal);
  }
  ::sigaddset(&awaited, SIGCHLD);
  sigset_t child, before;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &child, &before);
  while (!poll()) {
    // Other threads may take SIGCHLD: look again from time to time.
    const timespec patience{.tv_sec = 0, .tv_nsec = 20'000'000};
    const int signal = ::sigtimedwait(&awaited, nullptr, &patience);
    if (signal > 0 && signal != SIGCHLD) send(signal);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return *exit_code_;
}

void ChildProcess::send(int signal) const {
  if (supervisor_ > 0) ::kill(supervisor_, signal);
}

void ChildProcess::kill() {
  if (supervisor_ <= 0) return;
  ::kill(supervisor_, kEndEverything);
  int status = 0;
  while (::waitpid(supervisor_, &status, 0) < 0 && errno == EINTR) continue;
  ended(status);
}

BlockedSignals::BlockedSignals() {
  const sigset_t set = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
}

BlockedSignals::~BlockedSignals() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> BlockedSignals::pending() {
  sigset_t waiting;
  ::sigpending(&waiting);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    if (::sigismember(&waiting, signal) == 1) return signal;
  }
  return std::nullopt;
}

}  // namespace sluice
