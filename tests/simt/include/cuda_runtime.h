// CUDA's names for the host SIMT layer: what .cu files include, when they are compiled for the CPU.
// Where in the flow: first on the include path of tests/simt's targets, in place of the toolkit's.
// Surprise: only what this project's kernels use is here, as its programming guide defines it; a
// missing name is a compile error, and then belongs here.
#pragma once

#include "tests/simt/include/simt_api.h"
#include "tests/simt/include/simt_device.h"
