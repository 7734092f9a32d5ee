// Marks a function that kernels on a GPU call as well; without a CUDA compiler it means nothing.
// Where in the flow: on the arithmetic rules that every backend shares, so that each stands once.
#pragma once

#if defined(__CUDACC__)
#define SLUICE_HOST_DEVICE __host__ __device__
#else
#define SLUICE_HOST_DEVICE
#endif
