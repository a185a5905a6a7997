// Threads that share a number, on a card and on a CPU.
//
// A number of K limbs lies in the registers of T threads of one warp, K / T consecutive limbs in
// each: thread 0 has the lowest. On a card a thread runs this source for itself, so LANES is 1 and
// loops over lanes vanish. On a CPU one thread runs it for all T in lockstep: LANES is T, and an
// exchange between threads is a copy.
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
// Threads of a block, side by side in tables of their own: a number that is known here, so that
// addresses take no registers.
constexpr int BLOCK = 128;
template <int T> constexpr int STRIDE = BLOCK;
constexpr u32 WARP = 0xffffffffu;

// Which of a number's threads this is.
template <int T> DEV int place(int) { return T == 1 ? 0 : (int)(threadIdx.x % T); }

// Every thread takes the value of the thread at `from`.
template <int T, class X> DEV void broadcast(X (&v)[1], int from) {
  if (T > 1) v[0] = __shfl_sync(WARP, v[0], from, T);
}
// Every thread takes the value of the next higher one, the highest 0.
template <int T> DEV void from_next(u64 (&v)[1]) {
  u64 next = T == 1 ? 0 : __shfl_down_sync(WARP, v[0], 1, T);
  v[0] = place<T>(0) == T - 1 ? 0 : next;
}
// Every thread takes the value of the next lower one, the lowest 0.
template <int T> DEV void from_previous(u64 (&v)[1]) {
  u64 previous = T == 1 ? 0 : __shfl_up_sync(WARP, v[0], 1, T);
  v[0] = place<T>(0) == 0 ? 0 : previous;
}
// Whether any thread of the warp says so: loops of unlike lengths must not leave a thread behind
// that others exchange with.
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

// A loop over the threads that this source runs for.
#define EACH_LANE UNROLL for (int lane = 0; lane < LANES<T>; lane++)
