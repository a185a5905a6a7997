// The kernels. Each has one argument, distributes rows over threads, and keeps its threads until no
// row is left.
#pragma once
#include "narrow.cuh"
#include "operations.cuh"
#include "sizes.h"
#include "wide.cuh"

// 128 threads per block and two blocks per multiprocessor allow 255 registers per thread. Combs of
// at most 10 limbs per thread use up to 168 registers and three blocks, which is slightly faster.
// src/shape.rs has the same numbers of blocks.
#define LAUNCH(BLOCKS) __global__ void __launch_bounds__(BLOCK, BLOCKS)
template <int L> constexpr int COMB_BLOCKS = L <= 10 ? 3 : 2;

// This thread's part of its block's scratch: a table of 2^window pairs, with L limbs of each of
// their numbers. The parts of a block's threads are interleaved word by word.
template <class A, int L> DEV typename A::Word *table_of(const Job &job, int window) {
  return (typename A::Word *)job.scratch + (u64)blockIdx.x * BLOCK * (2 * L << window) + threadIdx.x;
}

// Runs BODY for every `row` of this thread. If no row is left for it while another thread still has
// one, `here` is false and `row` is the last row. BODY then computes without writing results, since
// the threads of a warp exchange values.
#define FOR_ROWS(T, BODY)                                                                                           \
  const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x, threads = (u64)gridDim.x * blockDim.x;            \
  const u64 group = thread / T, groups = threads / T;                                                              \
  ROLLED for (u64 first = 0; first < job.rows; first += groups) {                                                  \
    const bool here = first + group < job.rows;                                                                    \
    const u64 row = here ? first + group : job.rows - 1;                                                           \
    BODY;                                                                                                          \
  }

#define MODULUS_KERNELS(A, NAME, K, T)                                                                              \
  extern "C" LAUNCH(2) NAME##_power_##K(Job job) {                                                                     \
    FOR_ROWS(T, (Operations<A, K, T>::template power<false>(job, row, here, {table_of<A, K / T>(job, 5)})));                    \
  }                                                                                                                 \
  extern "C" LAUNCH(2) NAME##_multiple_##K(Job job) {                                                                  \
    FOR_ROWS(T, (Operations<A, K, T>::template power<true>(job, row, here, {table_of<A, K / T>(job, 4)})));                     \
  }                                                                                                                 \
  extern "C" LAUNCH(COMB_BLOCKS<K / T>) NAME##_comb_##K(Job job) {                                                                      \
    FOR_ROWS(T, (Operations<A, K, T>::comb(job, row, here)));                                                       \
  }

#define SQUARE_KERNELS(A, NAME, K, T)                                                                               \
  extern "C" LAUNCH(2) NAME##_product_##K(Job job) { FOR_ROWS(T, (Operations<A, K, T>::product(job, row, here))); }

#define UNPACK_KERNEL(A, NAME)                                                                                      \
  extern "C" LAUNCH(2) NAME##_unpack(Job job) {                                                                        \
    FOR_ROWS(1, (here ? unpack<A>(job, row) : (void)0));                                                            \
  }

// Overwrites the local memory of resident threads, where kernels store operands that do not fit
// registers. For each thread it overwrites at least as much as any kernel uses (a test compares).
// src/card.rs launches as many threads as can be resident.
constexpr int LOCAL_WORDS = 256;
#define WIPE_KERNEL(NAME)                                                                                           \
  extern "C" __global__ void __launch_bounds__(BLOCK, 2) NAME##_wipe(Job job) {                                       \
    volatile u64 local[LOCAL_WORDS];                                                                                \
    for (int i = 0; i < LOCAL_WORDS; i++) local[i] = 0;                                                             \
    if (local[job.rows % LOCAL_WORDS] != 0) ((u64 *)job.output)[0] = 1;                                             \
  }
