// The kernels of conversions.cu, compiled for the CPU.
#include "tests/device/conversions.cu"
