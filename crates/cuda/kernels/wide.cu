// The kernels for GPUs with a fast double-precision unit.
#include "kernels.cuh"
WIDE_MODULI(MODULUS_KERNELS)
WIDE_SQUARES(SQUARE_KERNELS)
UNPACK_KERNEL(Wide, wide)
WIPE_KERNEL(wide)
