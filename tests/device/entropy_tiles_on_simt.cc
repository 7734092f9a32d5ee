// The kernels of entropy_tiles.cu, compiled for the CPU.
#include "tests/device/entropy_tiles.cu"
