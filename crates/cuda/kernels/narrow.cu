// The kernels for GPUs with a slow double-precision unit.
#include "kernels.cuh"
NARROW_MODULI(MODULUS_KERNELS)
NARROW_SQUARES(SQUARE_KERNELS)
UNPACK_KERNEL(Narrow, narrow)
WIPE_KERNEL(narrow)
