# The CUDA Toolkit (12.x or 13.x), found by itself; and sluice_cuda_objects() for kernels.
set(SLUICE_HAVE_CUDA OFF)
if(NOT SLUICE_CUDA STREQUAL "OFF")
  find_program(SLUICE_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda/bin /opt/cuda/bin)
  if(SLUICE_NVCC)
    execute_process(COMMAND ${SLUICE_NVCC} --list-gpu-arch OUTPUT_VARIABLE known_architectures)
    # PTX once, for the oldest GPU, and code for each from it: kernels use nothing newer, older tools read it, newer GPUs
    # compile it, and nvcc reads the sources once instead of seven times.
    set(SLUICE_CUDA_CODE compute_75)
    foreach(architecture 75 80 86 89 90 100 120)
      if(known_architectures MATCHES "compute_${architecture}(\n|$)")
        string(APPEND SLUICE_CUDA_CODE ",sm_${architecture}")
      endif()
    endforeach()
    # CMake looks both up before it tries the compiler; its own default is older than nvcc 13 knows.
    set(CMAKE_CUDA_COMPILER ${SLUICE_NVCC})
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual)
    set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
    include(CheckLanguage)
    check_language(CUDA)
    find_package(CUDAToolkit 12)
  endif()
  if(SLUICE_NVCC AND CMAKE_CUDA_COMPILER AND CUDAToolkit_FOUND)
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 is older than the first nvcc that knows C++20
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
    set(SLUICE_HAVE_CUDA ON)
  elseif(SLUICE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SLUICE_CUDA=ON but no CUDA Toolkit 12 or 13 that works was found; put its nvcc on the PATH")
  endif()
endif()

# sluice_cuda_objects(NAME SOURCES a.cu …): kernels for every architecture that this toolkit knows. Arithmetic is IEEE to the
# bit: no fused multiply-add, exact division. What ptxas says of registers and spills is kept beside each object, for
# tests/device/resources.py.
function(sluice_cuda_objects name)
  cmake_parse_arguments(A "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} OBJECT ${A_SOURCES})
  set_target_properties(${name} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF
    CUDA_ARCHITECTURES OFF)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_compile_options(${name} PRIVATE "SHELL:-gencode arch=compute_75,code=[${SLUICE_CUDA_CODE}]"
    -fmad=false -prec-div=true -prec-sqrt=true -ftz=false --expt-relaxed-constexpr
    -Xptxas -v -Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers,-ffp-contract=off $<$<BOOL:${SLUICE_WERROR}>:--Werror=all-warnings>)
  target_link_libraries(${name} PUBLIC ${A_LINKS} CUDA::cudart_static)
  set_target_properties(${name} PROPERTIES RULE_LAUNCH_COMPILE "${CMAKE_SOURCE_DIR}/cmake/keep_log.sh <OBJECT>.ptxas")
endfunction()
