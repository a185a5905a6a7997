// The compiled sizes: MODULI(X) for arithmetic modulo m^2 in dual numbers, SQUARES(X) for products
// modulo a square, each X(arithmetic, name, limbs, threads). src/shape.rs has the same table.
//
// As few threads share a number as registers allow. Kernels with 30 limbs in one thread spill, but
// were faster than with two threads on an H200 (bench/results/gpu.md).
//
// They fit moduli of 512, 1024, 1536, 2048, 3072 and 4096 bits and squares of 2048, 4096, 6144 and
// 8192 bits, with at least 8 spare bits.
#pragma once
#define WIDE_MODULI(X) X(Wide, wide, 10, 1) X(Wide, wide, 20, 1) X(Wide, wide, 30, 1) X(Wide, wide, 40, 4) X(Wide, wide, 60, 4) X(Wide, wide, 80, 8)
#define WIDE_SQUARES(X) X(Wide, wide, 40, 2) X(Wide, wide, 80, 4) X(Wide, wide, 120, 8) X(Wide, wide, 160, 8)
#define NARROW_MODULI(X) X(Narrow, narrow, 19, 1) X(Narrow, narrow, 37, 1) X(Narrow, narrow, 56, 2) X(Narrow, narrow, 76, 4) X(Narrow, narrow, 112, 4) X(Narrow, narrow, 152, 8)
#define NARROW_SQUARES(X) X(Narrow, narrow, 74, 2) X(Narrow, narrow, 148, 4) X(Narrow, narrow, 224, 8) X(Narrow, narrow, 296, 8)
