// Rates of NVIDIA's CGBN on this card, for bench/gpu.sh: powers modulo a number of the size of P^2,
// by fixed windows of 5 bits, and products modulo 4096 bits. Prints a line for each number of
// threads: operation, bits, TPI, rate per second. One result of each is compared with the same
// power by the CPU half of this file.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
// On the host CGBN needs GMP, but nothing here calls it: declaring its names is enough.
#ifndef __CUDA_ARCH__
#define __GMP_H__
typedef struct { int alloc, size; void *limbs; } mpz_t[1];
#define NAME(name) template <class... X> long name(X &&...) { return 0; }
NAME(mpz_add) NAME(mpz_add_ui) NAME(mpz_and) NAME(mpz_clear) NAME(mpz_clrbit) NAME(mpz_cmp)
NAME(mpz_cmp_ui) NAME(mpz_export) NAME(mpz_fdiv_q) NAME(mpz_fdiv_q_2exp) NAME(mpz_fdiv_q_ui)
NAME(mpz_fdiv_qr) NAME(mpz_fdiv_r) NAME(mpz_fdiv_r_2exp) NAME(mpz_fdiv_r_ui) NAME(mpz_gcd)
NAME(mpz_get_si) NAME(mpz_get_ui) NAME(mpz_import) NAME(mpz_init) NAME(mpz_invert) NAME(mpz_ior)
NAME(mpz_mul) NAME(mpz_mul_2exp) NAME(mpz_mul_ui) NAME(mpz_out_str) NAME(mpz_popcount)
NAME(mpz_powm) NAME(mpz_scan1) NAME(mpz_set) NAME(mpz_set_si) NAME(mpz_set_ui) NAME(mpz_setbit)
NAME(mpz_sgn) NAME(mpz_sizeinbase) NAME(mpz_sqrt) NAME(mpz_sub) NAME(mpz_sub_ui) NAME(mpz_submul)
NAME(mpz_swap) NAME(mpz_tstbit) NAME(mpz_ui_sub) NAME(mpz_xor)
#endif
#include "cgbn/cgbn.h"

#define CHECK(x) do { cudaError_t e_ = (x); if (e_) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e_)); exit(1); } } while (0)

template <uint32_t tpi, uint32_t bits> struct Params {
  static const uint32_t TPB = 0, MAX_ROTATION = 4, SHM_LIMIT = 0, TPI = tpi, BITS = bits;
  static const bool CONSTANT_TIME = false;
};
constexpr int WINDOW = 5;

template <class P> using Memory = cgbn_mem_t<P::BITS>;

// Computes x[i]^e modulo m or, with exponent_bits = 0, x[i] multiplied `products` times by x[0] /
// R.
template <class P>
__global__ void run(cgbn_error_report_t *report, Memory<P> *x, const Memory<P> *m, const Memory<P> *e, int exponent_bits,
                    int products, int count) {
  const int instance = (blockIdx.x * blockDim.x + threadIdx.x) / P::TPI;
  if (instance >= count) return;
  typedef cgbn_context_t<P::TPI, P> context_t;
  typedef cgbn_env_t<context_t, P::BITS> env_t;
  context_t context(cgbn_report_monitor, report, (uint32_t)instance);
  env_t env(context);
  typename env_t::cgbn_t r, t, modulus, power;
  cgbn_load(env, modulus, (Memory<P> *)m);
  cgbn_load(env, r, x + instance);
  if (exponent_bits == 0) {
    const uint32_t inverse = cgbn_bn2mont(env, t, r, modulus);
#pragma nounroll
    for (int n = 0; n < products; n++) cgbn_mont_mul(env, r, r, t, modulus, inverse);
    cgbn_store(env, x + instance, r);
    return;
  }
  typename env_t::cgbn_local_t window[1 << WINDOW];
  cgbn_load(env, power, (Memory<P> *)e);
  cgbn_negate(env, t, modulus);
  cgbn_store(env, window + 0, t);
  const uint32_t inverse = cgbn_bn2mont(env, r, r, modulus);
  cgbn_store(env, window + 1, r);
  cgbn_set(env, t, r);
#pragma nounroll
  for (int index = 2; index < 1 << WINDOW; index++) {
    cgbn_mont_mul(env, r, r, t, modulus, inverse);
    cgbn_store(env, window + index, r);
  }
  int position = (exponent_bits - 1) / WINDOW * WINDOW;
  cgbn_load(env, r, window + cgbn_extract_bits_ui32(env, power, position, WINDOW));
#pragma nounroll
  while (position > 0) {
#pragma nounroll
    for (int n = 0; n < WINDOW; n++) cgbn_mont_sqr(env, r, r, modulus, inverse);
    position -= WINDOW;
    cgbn_load(env, t, window + cgbn_extract_bits_ui32(env, power, position, WINDOW));
    cgbn_mont_mul(env, r, r, t, modulus, inverse);
  }
  cgbn_mont2bn(env, r, r, modulus, inverse);
  cgbn_store(env, x + instance, r);
}

// Returns 3^e modulo 2^BITS - 1, whose reduction is an addition: the expected result of the first
// instance.
template <class P> void expected(uint32_t *r, const uint32_t *e, int exponent_bits) {
  constexpr int WORDS = P::BITS / 32;
  std::vector<uint32_t> v(WORDS, 0), w(2 * WORDS);
  v[0] = 1;
  auto fold = [&](const std::vector<uint32_t> &wide) {
    uint64_t over = 0;
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < WORDS; i++) {
        over += pass == 0 ? (uint64_t)wide[i] + wide[i + WORDS] : v[i];
        v[i] = (uint32_t)over;
        over >>= 32;
      }
    }
  };
  for (int bit = exponent_bits - 1; bit >= 0; bit--) {
    std::fill(w.begin(), w.end(), 0);
    for (int i = 0; i < WORDS; i++) {
      uint64_t over = 0;
      for (int j = 0; j < WORDS; j++) {
        over += (uint64_t)v[i] * v[j] + w[i + j];
        w[i + j] = (uint32_t)over;
        over >>= 32;
      }
      w[i + WORDS] = (uint32_t)over;
    }
    fold(w);
    if (e[bit / 32] >> (bit % 32) & 1) {
      std::fill(w.begin(), w.end(), 0);
      uint64_t over = 0;
      for (int i = 0; i < WORDS; i++) {
        over += (uint64_t)v[i] * 3;
        w[i] = (uint32_t)over;
        over >>= 32;
      }
      w[WORDS] = (uint32_t)over;
      fold(w);
    }
  }
  for (int i = 0; i < WORDS; i++) r[i] = v[i];
}

template <uint32_t tpi, uint32_t bits> void measure(int exponent_bits, int multiprocessors) {
  typedef Params<tpi, bits> P;
  constexpr int WORDS = bits / 32, PRODUCTS = 1000;
  const int count = multiprocessors * 2048 / tpi * 4;
  Memory<P> modulus, exponent;
  std::vector<Memory<P>> x(count);
  for (int i = 0; i < WORDS; i++) {
    modulus._limbs[i] = 0xffffffffu;
    exponent._limbs[i] = i * 32 < exponent_bits ? 0x9e3779b9u * (i + 1) : 0;
  }
  if (exponent_bits > 0) {
    // Clears the bits above the length and sets the highest one.
    if (exponent_bits % 32) exponent._limbs[exponent_bits / 32] &= (1u << exponent_bits % 32) - 1;
    exponent._limbs[(exponent_bits - 1) / 32] |= 1u << (exponent_bits - 1) % 32;
  }
  for (auto &number : x) {
    for (int i = 0; i < WORDS; i++) number._limbs[i] = i == 0 ? 3 : 0;
  }
  Memory<P> *rows, *m, *e;
  cgbn_error_report_t *report;
  CHECK(cudaMalloc(&rows, sizeof(Memory<P>) * count));
  CHECK(cudaMalloc(&m, sizeof modulus));
  CHECK(cudaMalloc(&e, sizeof exponent));
  CHECK(cgbn_error_report_alloc(&report));
  CHECK(cudaMemcpy(m, &modulus, sizeof modulus, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(e, &exponent, sizeof exponent, cudaMemcpyHostToDevice));
  cudaEvent_t before, after;
  CHECK(cudaEventCreate(&before));
  CHECK(cudaEventCreate(&after));
  float best = 1e9f;
  for (int n = 0; n < 3; n++) {
    CHECK(cudaMemcpy(rows, x.data(), sizeof(Memory<P>) * count, cudaMemcpyHostToDevice));
    CHECK(cudaEventRecord(before));
    run<P><<<(count * tpi + 127) / 128, 128>>>(report, rows, m, e, exponent_bits, PRODUCTS, count);
    CHECK(cudaEventRecord(after));
    CHECK(cudaGetLastError());
    CHECK(cudaEventSynchronize(after));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, before, after));
    if (ms < best) best = ms;
  }
  if (exponent_bits > 0) {
    Memory<P> found;
    CHECK(cudaMemcpy(&found, rows + count - 1, sizeof found, cudaMemcpyDeviceToHost));
    uint32_t right[WORDS];
    expected<P>(right, exponent._limbs, exponent_bits);
    for (int i = 0; i < WORDS; i++) {
      if (found._limbs[i] != right[i]) {
        fprintf(stderr, "CGBN's power of %u bits with %u threads is wrong\n", bits, tpi);
        exit(1);
      }
    }
    printf("power\t%u\t%d\t%u\t%.0f\n", bits, exponent_bits, tpi, count / (double)best * 1e3);
  } else {
    printf("product\t%u\t0\t%u\t%.0f\n", bits, tpi, (double)count * PRODUCTS / best * 1e3);
  }
  fflush(stdout);
  CHECK(cudaFree(rows));
  CHECK(cudaFree(m));
  CHECK(cudaFree(e));
}

int main() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  const int n = properties.multiProcessorCount;
  // A decryption needs two powers: modulo P^2 and Q^2. CGBN accepts no fewer threads than these.
  measure<8, 2048>(1024, n);
  measure<16, 2048>(1024, n);
  measure<8, 2048>(257, n);
  measure<16, 3072>(1536, n);
  measure<32, 3072>(1536, n);
  measure<16, 4096>(0, n);
  measure<32, 4096>(0, n);
}
