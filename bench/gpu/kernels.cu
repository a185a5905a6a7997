// Rates of the kernels of crates/cuda alone, on random operands, without the crate: for comparing
// sizes, numbers of threads and changes of the source. bench/gpu.sh checks known answers and
// measures the whole. Prints a line per kernel: name, limbs, threads, registers, bytes of local
// memory, milliseconds, results per second, and a digest of the results, which does not depend on
// the threads that share a number.
//   nvcc -std=c++17 -O3 -arch=native -I crates/cuda/kernels bench/gpu/kernels.cu -o kernels
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "kernels.cuh"

#define CHECK(x)                                                                  \
  do {                                                                            \
    cudaError_t e_ = (x);                                                         \
    if (e_) fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e_)), exit(1);      \
  } while (0)

// The configurations that crates/cuda uses, and others with different numbers of threads.
MODULUS_KERNELS(Wide, wide, 20, 1)
MODULUS_KERNELS(Wide, wide, 30, 1)
MODULUS_KERNELS(Wide, wide, 40, 4)
SQUARE_KERNELS(Wide, wide, 80, 4)
MODULUS_KERNELS(Narrow, narrow, 37, 1)
MODULUS_KERNELS(Narrow, narrow, 76, 4)
SQUARE_KERNELS(Narrow, narrow, 148, 4)
MODULUS_KERNELS(Wide, other_wide, 20, 2)
MODULUS_KERNELS(Wide, other_wide, 30, 2)
MODULUS_KERNELS(Wide, other_wide, 40, 2)
SQUARE_KERNELS(Wide, other_wide, 80, 8)
MODULUS_KERNELS(Narrow, other_narrow, 38, 2)

static u64 state;
static u64 next() {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

// Appends a number below 2^bits in K limbs; the modulus is odd and has its highest bit set.
template <class A> void push(std::vector<typename A::Word> &to, int K, int bits, bool modulus = false) {
  for (int j = 0; j < K; j++) {
    const int left = bits - j * A::BITS;
    u64 limb = next() & A::MASK;
    if (left < A::BITS) limb &= left > 0 ? (1ull << left) - 1 : 0;
    if (modulus && left > 0 && left <= A::BITS) limb |= 1ull << (left - 1);
    if (modulus && j == 0) limb |= 1;
    to.push_back((typename A::Word)limb);
  }
}

template <class X> u64 sent(const std::vector<X> &from) {
  X *to;
  CHECK(cudaMalloc(&to, from.size() * sizeof(X)));
  CHECK(cudaMemcpy(to, from.data(), from.size() * sizeof(X), cudaMemcpyHostToDevice));
  return (u64)to;
}

enum Operation { POWER, COMB, PRODUCT };

// Distinct rows; the others repeat them, and must give the same results.
constexpr int DISTINCT = 1024, LIST = 32;

template <class A>
void measure(void (*kernel)(Job), const char *name, Operation operation, int K, int T, int blocks, int exponent, int rounds) {
  typedef typename A::Word Word;
  state = 88172645463325252ull + K * 1000003ull + operation;
  cudaDeviceProp card;
  CHECK(cudaGetDeviceProperties(&card, 0));
  const int grid = card.multiProcessorCount * blocks;
  const size_t numbers = (size_t)rounds * grid * BLOCK / T, rows = operation == PRODUCT ? numbers * LIST : numbers;
  const int bits = K * A::BITS - 8, pieces = operation == POWER ? 2 : 1, parts = operation == PRODUCT ? 1 : 2;
  Job job = {};
  job.rows = numbers;
  job.chunks = pieces;
  int constants = LIST + 2;
  std::vector<Word> key;
  push<A>(key, K, bits, true);
  u64 inverse = 1;
  for (int i = 0; i < 6; i++) inverse *= 2 - (u64)key[0] * inverse;
  key.push_back((Word)((0 - inverse) & A::MASK));
  if (operation == POWER) {
    std::vector<u32> digits;
    for (int d = 0; d < (exponent + 4) / 5; d++) digits.push_back(next() & 31);
    job.digits = digits.size();
    job.exponents = sent(digits);
    constants = 2 * (1 + 4);
  } else if (operation == COMB) {
    const int columns = (exponent + 4) / 5;
    job.blocks = (columns + 15) / 16;
    job.block = (columns + job.blocks - 1) / job.blocks;
    job.digits = (exponent + 63) / 64;
    std::vector<u64> few, all;
    for (u32 i = 0; i < DISTINCT * job.digits; i++) few.push_back(next());
    for (size_t i = 0; i < rows * job.digits; i++) all.push_back(few[i % few.size()]);
    job.exponents = sent(all);
    constants = 2 + job.blocks * 64;
  } else {
    std::vector<u32> index;
    for (size_t i = 0; i <= numbers; i++) index.push_back(i * LIST);
    for (size_t i = 0; i < rows; i++) index.push_back(i * 7919 % rows);
    job.index = sent(index);
  }
  for (int i = 0; i < constants; i++) push<A>(key, K, bits - 1);
  job.key = sent(key);
  std::vector<Word> few, all;
  for (int i = 0; i < DISTINCT * pieces; i++) push<A>(few, K, bits - 1);
  if (operation != COMB)
    for (size_t i = 0; i < rows * pieces * K; i++) all.push_back(few[i % few.size()]);
  std::vector<Word> results(numbers * parts * K, 0x55);
  job.input = sent(all);
  job.output = sent(results);
  job.scratch = sent(std::vector<Word>(operation == POWER ? (size_t)grid * BLOCK * (2 * K / T << 5) : 1));
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, kernel));
  cudaEvent_t before, after;
  CHECK(cudaEventCreate(&before));
  CHECK(cudaEventCreate(&after));
  float best = 1e9f, ms;
  for (int n = 0; n < 3; n++) {
    CHECK(cudaEventRecord(before));
    kernel<<<grid, BLOCK>>>(job);
    CHECK(cudaEventRecord(after));
    CHECK(cudaEventSynchronize(after));
    CHECK(cudaEventElapsedTime(&ms, before, after));
    if (ms < best) best = ms;
  }
  CHECK(cudaMemcpy(results.data(), (void *)job.output, results.size() * sizeof(Word), cudaMemcpyDeviceToHost));
  const size_t width = (size_t)parts * K, period = operation == PRODUCT ? results.size() : DISTINCT * width;
  u64 digest = 14695981039346656037ull;
  for (size_t i = 0; i < (operation == PRODUCT ? 8 * width : period); i++) digest = (digest ^ results[i]) * 1099511628211ull;
  for (size_t i = period; i < results.size(); i++)
    if (results[i] != results[i % period]) fprintf(stderr, "%s: equal rows give unlike results\n", name), exit(1);
  printf("%s\t%d\t%d\t%d\t%zu\t%.2f\t%.0f\t%016llx\n", name, K, T, attributes.numRegs, attributes.localSizeBytes, best,
         rows / best * 1e3, digest);
  fflush(stdout);
  for (u64 address : {job.key, job.input, job.output, job.scratch, job.exponents, job.index}) CHECK(cudaFree((void *)address));
}

int main() {
  measure<Wide>(wide_power_20, "power, 1024 bits, wide", POWER, 20, 1, 2, 1024, 4);
  measure<Wide>(other_wide_power_20, "power, 1024 bits, wide", POWER, 20, 2, 2, 1024, 4);
  measure<Wide>(wide_power_20, "power, 257 bits, wide", POWER, 20, 1, 2, 257, 4);
  measure<Wide>(wide_power_30, "power, 1536 bits, wide", POWER, 30, 1, 2, 1536, 2);
  measure<Wide>(other_wide_power_30, "power, 1536 bits, wide", POWER, 30, 2, 2, 1536, 4);
  measure<Wide>(wide_power_40, "power, 2048 bits, wide", POWER, 40, 4, 2, 2048, 4);
  measure<Wide>(other_wide_power_40, "power, 2048 bits, wide", POWER, 40, 2, 2, 2048, 2);
  measure<Wide>(wide_comb_40, "comb, 1024 bits, wide", COMB, 40, 4, COMB_BLOCKS<10>, 1024, 8);
  measure<Wide>(other_wide_comb_40, "comb, 1024 bits, wide", COMB, 40, 2, 2, 1024, 4);
  measure<Wide>(wide_product_80, "product, 4096 bits, wide", PRODUCT, 80, 4, 2, 0, 4);
  measure<Wide>(other_wide_product_80, "product, 4096 bits, wide", PRODUCT, 80, 8, 2, 0, 4);
  measure<Narrow>(narrow_power_37, "power, 1024 bits, narrow", POWER, 37, 1, 2, 1024, 2);
  measure<Narrow>(other_narrow_power_38, "power, 1024 bits, narrow", POWER, 38, 2, 2, 1024, 2);
  measure<Narrow>(narrow_comb_76, "comb, 1024 bits, narrow", COMB, 76, 4, 2, 1024, 4);
  measure<Narrow>(narrow_product_148, "product, 4096 bits, narrow", PRODUCT, 148, 4, 2, 0, 2);
}
