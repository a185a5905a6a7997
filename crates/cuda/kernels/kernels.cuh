// The kernels themselves: one argument, rows over threads, threads that stay until no row is left.
#pragma once
#include "narrow.cuh"
#include "operations.cuh"
#include "sizes.h"
#include "wide.cuh"

// 128 threads a block and two blocks a multiprocessor: 255 registers a thread. Combs of few limbs
// take 168 and three blocks, which is a little faster (src/shape.rs has the same numbers).
#define LAUNCH(BLOCKS) __global__ void __launch_bounds__(BLOCK, BLOCKS)
template <int L> constexpr int COMB_BLOCKS = L <= 10 ? 3 : 2;

// This thread's column of its block's tables of 2^window pairs, of whose numbers it has L limbs.
template <class A, int L> DEV typename A::Word *table_of(const Job &job, int window) {
  return (typename A::Word *)job.scratch + (u64)blockIdx.x * BLOCK * (2 * L << window) + threadIdx.x;
}

// Calls BODY with `row` for every row of this thread's share, `here` false where the row is
// another's, computed only because threads of a warp exchange.
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

// Overwrites the local memory of resident threads, where kernels keep what does not fit registers:
// for each thread as much as any kernel takes, at least (a test compares). All that can be resident
// are started.
constexpr int LOCAL_WORDS = 256;
#define WIPE_KERNEL(NAME)                                                                                           \
  extern "C" __global__ void __launch_bounds__(BLOCK, 2) NAME##_wipe(Job job) {                                       \
    volatile u64 local[LOCAL_WORDS];                                                                                \
    for (int i = 0; i < LOCAL_WORDS; i++) local[i] = 0;                                                             \
    if (local[job.rows % LOCAL_WORDS] != 0) ((u64 *)job.output)[0] = 1;                                             \
  }
