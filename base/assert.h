// Checks of our own logic, on in every build. Never for user input: that returns a Result.
#pragma once

#include <cstdio>
#include <cstdlib>

#define SLUICE_ASSERT(condition, message)                                                     \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      std::fprintf(stderr, "bug: %s:%d: %s (%s)\n", __FILE__, __LINE__, message, #condition); \
      std::abort();                                                                           \
    }                                                                                         \
  } while (false)
