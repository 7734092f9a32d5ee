# Flags of our own code, and the two ways to add a target: sluice_library() and sluice_program().
add_library(sluice_options INTERFACE)
target_include_directories(sluice_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(sluice_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  -Wno-missing-field-initializers  # designated initialisers name what matters
  $<$<BOOL:${SLUICE_WERROR}>:-Werror>)
# The same floating-point results on every host and in every build: no fused multiply-add behind our back.
target_compile_options(sluice_options INTERFACE -ffp-contract=off)
if(CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(sluice_options INTERFACE -fpch-preprocess)
endif()
target_compile_definitions(sluice_options INTERFACE SLUICE_AVX2=$<BOOL:${SLUICE_AVX2}>)
if(SLUICE_SANITIZE)
  target_compile_options(sluice_options INTERFACE -fsanitize=${SLUICE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # under sanitizers g++ 12 sees it in every move of a std::variant
  target_link_options(sluice_options INTERFACE -fsanitize=${SLUICE_SANITIZE})
endif()

# One precompiled header for all: the slow standard and library headers.
set(SLUICE_PRECOMPILED <algorithm> <functional> <map> <memory> <optional> <span> <string> <string_view>
  <unordered_map> <variant> <vector> <filesystem> <fstream> <fmt/format.h>)

# Compiled once and used by every target: they must agree on flags and definitions, so all link fmt.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cc CONTENT "")
add_library(sluice_precompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
target_link_libraries(sluice_precompiled PUBLIC sluice_options fmt::fmt)
target_precompile_headers(sluice_precompiled PRIVATE ${SLUICE_PRECOMPILED})

# sluice_library(NAME SOURCES a.cc … AVX2 b.cc … LINKS lib …)
# AVX2 sources are left out where the compiler does not aim at x86-64, and called only where codec/backend.h says so. They
# include kernels and intrinsics only: an inline function of another header, compiled there, could be the one that the linker
# keeps for everybody.
function(sluice_library name)
  cmake_parse_arguments(A "" "" "SOURCES;AVX2;LINKS" ${ARGN})
  if(SLUICE_AVX2 AND A_AVX2)
    list(APPEND A_SOURCES ${A_AVX2})
    # clang's own headers of F16C use compound literals
    set_source_files_properties(${A_AVX2} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
      COMPILE_OPTIONS "-mavx2;-mf16c;-mbmi2;-O3;$<$<CXX_COMPILER_ID:Clang>:-Wno-c99-extensions>")
  endif()
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC sluice_options fmt::fmt ${A_LINKS})
  target_precompile_headers(${name} REUSE_FROM sluice_precompiled)
endfunction()

# sluice_program(NAME SOURCES a.cc … LINKS lib …): build/bin/NAME
function(sluice_program name)
  cmake_parse_arguments(A "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE sluice_options fmt::fmt ${A_LINKS})
  target_precompile_headers(${name} REUSE_FROM sluice_precompiled)
endfunction()
