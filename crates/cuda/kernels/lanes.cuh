// Threads that share a number, on a GPU and on a CPU.
//
// The K limbs of a number are distributed over T threads of one warp, K / T consecutive limbs each,
// with the lowest in thread 0. On a GPU, each thread runs this source, so LANES is 1 and loops over
// lanes disappear. On a CPU, one thread runs it for all T in lockstep: LANES is T, and an exchange
// between threads is a copy.
#pragma once
#include <cstdint>

typedef uint32_t u32;
typedef unsigned long long u64;
typedef long long i64;

#ifdef __CUDACC__
#define DEV __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
template <int T> constexpr int LANES = 1;
// Threads of a block, whose tables in scratch are interleaved with this stride. As a compile-time
// constant, it needs no registers in addresses.
constexpr int BLOCK = 128;
template <int T> constexpr int STRIDE = BLOCK;
constexpr u32 WARP = 0xffffffffu;

// The index of this thread among a number's threads.
template <int T> DEV int place(int) { return T == 1 ? 0 : (int)(threadIdx.x % T); }

// Every thread receives the value of thread `from`.
template <int T, class X> DEV void broadcast(X (&v)[1], int from) {
  if (T > 1) v[0] = __shfl_sync(WARP, v[0], from, T);
}
// Every thread receives the value of the next higher thread; the highest receives 0.
template <int T> DEV void from_next(u64 (&v)[1]) {
  u64 next = T == 1 ? 0 : __shfl_down_sync(WARP, v[0], 1, T);
  v[0] = place<T>(0) == T - 1 ? 0 : next;
}
// Every thread receives the value of the next lower thread; the lowest receives 0.
template <int T> DEV void from_previous(u64 (&v)[1]) {
  u64 previous = T == 1 ? 0 : __shfl_up_sync(WARP, v[0], 1, T);
  v[0] = place<T>(0) == 0 ? 0 : previous;
}
// Whether `here` is true in any thread of the warp. A thread with a shorter loop must continue
// while others exchange values with it.
DEV bool any_of_warp(bool here) { return __any_sync(WARP, here); }

DEV u64 bits_of(double x) { return (u64)__double_as_longlong(x); }
DEV double number_of(u64 x) { return __longlong_as_double((i64)x); }
#else
#include <cstring>
#define DEV inline
#define UNROLL
#define ROLLED
template <int T> constexpr int LANES = T;
template <int T> constexpr int STRIDE = T;

template <int T> DEV int place(int lane) { return lane; }

template <int T, class X> DEV void broadcast(X (&v)[T], int from) {
  const X value = v[from];
  for (int lane = 0; lane < T; lane++) v[lane] = value;
}
template <int T> DEV void from_next(u64 (&v)[T]) {
  for (int lane = 0; lane < T; lane++) v[lane] = lane == T - 1 ? 0 : v[lane + 1];
}
template <int T> DEV void from_previous(u64 (&v)[T]) {
  for (int lane = T - 1; lane >= 0; lane--) v[lane] = lane == 0 ? 0 : v[lane - 1];
}
DEV bool any_of_warp(bool here) { return here; }

DEV u64 bits_of(double x) { u64 r; memcpy(&r, &x, 8); return r; }
DEV double number_of(u64 x) { double r; memcpy(&r, &x, 8); return r; }
#endif

// A loop over the threads that the running thread computes for.
#define EACH_LANE UNROLL for (int lane = 0; lane < LANES<T>; lane++)
