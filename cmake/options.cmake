# Every choice a builder has. AUTO takes what is found, ON fails when it is missing, OFF leaves it out.
set(SLUICE_NS3 AUTO CACHE STRING "ns-3 tiers: AUTO, ON or OFF")
set(SLUICE_CUDA AUTO CACHE STRING "CUDA backends of codecs: AUTO, ON or OFF")
set(SLUICE_SANITIZE "" CACHE STRING "Sanitizers, as in address,undefined or thread; empty for none")
# AVX2 kernels are compiled where the compiler aims at x86-64, and chosen at run time.
string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
if(processor MATCHES "x86_64|amd64")
  set(SLUICE_AVX2 1)
else()
  set(SLUICE_AVX2 0)
endif()
option(SLUICE_WERROR "Warnings are errors" ON)
option(SLUICE_TESTS "Build the tests" ON)
# For machines that hold little but a GPU (tests/device/run.sh): fmt, nlohmann-json, OpenSSL and GoogleTest are enough.
option(SLUICE_DEVICE_ONLY "Build the codecs, their CUDA backends and tests/device alone" OFF)
option(SLUICE_FUZZ "Build the libFuzzer program (clang only; the preset `fuzz` sets what it needs)" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")  # our assertions stay on

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness lets ccache serve units that use a precompiled header; the base folder lets clones share.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
endif()
