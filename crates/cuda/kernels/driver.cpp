// The driver's interface (libcuda) without a card, for tests: memory is this process's, kernels are
// those of emulated.cpp. What it stands for goes by the number of the card:
//
//   0  sm_90, the exact product of integers       1  sm_90, the double-precision product itself
//   2  sm_89, 32-bit multipliers                  3  sm_75, too old
//   4  sm_90, one bit of every result is wrong    5  sm_90, every launch fails
//   6  sm_90, the second parts of powers alone are wrong, in the last row
//   7  as 0, for the test of what is left in memory
//
// With HEARITH_OLD it is a driver of CUDA 12.4 with one card.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include "job.h"

namespace {
enum { SUCCESS = 0, INVALID = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, LAUNCH_FAILED = 719 };
struct Card { const char *name; int major, minor; };
const Card CARDS[] = {
    {"Emulated exact", 9, 0}, {"Emulated fused", 9, 0},  {"Emulated narrow", 8, 9}, {"Emulated old", 7, 5},
    {"Emulated faulty", 9, 0}, {"Emulated broken", 9, 0}, {"Emulated treacherous", 9, 0},
    {"Emulated clean", 9, 0},
};
#ifdef HEARITH_OLD
constexpr int COUNT = 1;
#else
constexpr int COUNT = sizeof CARDS / sizeof *CARDS;
#endif

struct Function { bool narrow; int operation, limbs; };
thread_local int current = -1;
std::mutex lock;
struct Block { size_t bytes; int card; };
std::map<uint64_t, Block> blocks;  // memory that is taken, by address

Function parse(const std::string &name) {
  static const std::map<std::string, int> OPERATIONS = {
      {"power", 0}, {"multiple", 1}, {"comb", 2}, {"product", 3}, {"unpack", 4}, {"wipe", 5}};
  const size_t first = name.find('_'), second = name.find('_', first + 1);
  if (first == std::string::npos) return {false, -1, 0};
  const auto found = OPERATIONS.find(name.substr(first + 1, second == std::string::npos ? second : second - first - 1));
  const int limbs = second == std::string::npos ? 0 : atoi(name.c_str() + second + 1);
  return {name.substr(0, first) == "narrow", found == OPERATIONS.end() ? -1 : found->second, limbs};
}

// How many of these bytes are not 0.
size_t written(uint64_t at, size_t bytes) {
  size_t count = 0;
  for (size_t i = 0; i < bytes; i++) count += ((unsigned char *)at)[i] != 0;
  return count;
}

// Whether so many bytes from an address on are memory that was taken.
bool is_taken(uint64_t at, size_t bytes) {
  std::lock_guard<std::mutex> guard(lock);
  auto after = blocks.upper_bound(at);
  if (after == blocks.begin()) return false;
  --after;
  return at + bytes <= after->first + after->second.bytes;
}
}  // namespace

#ifndef HEARITH_OLD
extern "C" int hearith_cuda_emulated_exact(int narrow, int operation, int limbs, const Job *job);
extern "C" int hearith_cuda_emulated_fused(int narrow, int operation, int limbs, const Job *job);
#endif

extern "C" {
// For tests: bytes of a card's memory, of all that is taken, that are not 0.
size_t hearith_emulated_written(int card) {
  std::lock_guard<std::mutex> guard(lock);
  size_t count = 0;
  for (const auto &block : blocks) {
    if (block.second.card == card) count += written(block.first, block.second.bytes);
  }
  return count;
}

int cuInit(unsigned) { return SUCCESS; }
int cuDriverGetVersion(int *version) {
#ifdef HEARITH_OLD
  *version = 12040;
#else
  *version = 13000;
#endif
  return SUCCESS;
}
int cuGetErrorString(int code, const char **text) {
  *text = code == LAUNCH_FAILED ? "unspecified launch failure" : code == OUT_OF_MEMORY ? "out of memory" : "invalid argument";
  return SUCCESS;
}
int cuDeviceGetCount(int *count) { *count = COUNT; return SUCCESS; }
int cuDeviceGet(int *device, int number) { *device = number; return number < COUNT ? SUCCESS : INVALID; }
int cuDeviceGetName(char *name, int length, int device) { strncpy(name, CARDS[device].name, length); return SUCCESS; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  // Multiprocessors, and the compute capability.
  *value = attribute == 16 ? 1 : attribute == 75 ? CARDS[device].major : attribute == 76 ? CARDS[device].minor : 0;
  return SUCCESS;
}
int cuDeviceTotalMem_v2(size_t *bytes, int) { *bytes = 1 << 30; return SUCCESS; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)(size_t)(device + 1); return SUCCESS; }
int cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
int cuCtxSetCurrent(void *context) { current = (int)(size_t)context - 1; return SUCCESS; }
int cuCtxSynchronize() { return current == 5 ? LAUNCH_FAILED : SUCCESS; }
int cuModuleLoadData(void **module, const void *image) {
  // An object file, or PTX.
  const char *text = (const char *)image;
  *module = (void *)1;
  return memcmp(text, "\177ELF", 4) == 0 || memcmp(text, "//", 2) == 0 ? SUCCESS : INVALID;
}
int cuModuleUnload(void *) { return SUCCESS; }
int cuModuleGetFunction(void **function, void *, const char *name) {
  const Function found = parse(name);
  if (found.operation < 0) return NOT_FOUND;
  *function = (void *)(size_t)(1 + found.narrow + 2 * found.operation + 16 * found.limbs);
  return SUCCESS;
}
int cuMemAlloc_v2(uint64_t *at, size_t bytes) {
  if (bytes > (size_t)1 << 30) return OUT_OF_MEMORY;
  void *memory = malloc(bytes);
  if (!memory) return OUT_OF_MEMORY;
  memset(memory, 0xa5, bytes);
  *at = (uint64_t)memory;
  std::lock_guard<std::mutex> guard(lock);
  blocks[*at] = {bytes, current};
  return SUCCESS;
}
int cuMemFree_v2(uint64_t at) {
  std::lock_guard<std::mutex> guard(lock);
  const auto found = blocks.find(at);
  if (found == blocks.end()) return INVALID;
  // Memory goes back overwritten: keys and plaintexts were in it.
  if (written(found->first, found->second.bytes) != 0) {
    fprintf(stderr, "memory of a card was given back with something in it\n");
    abort();
  }
  free((void *)at);
  blocks.erase(found);
  return SUCCESS;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  if (!is_taken(to, bytes)) return INVALID;
  memcpy((void *)to, from, bytes);
  return SUCCESS;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  if (!is_taken(from, bytes)) return INVALID;
  memcpy(to, (const void *)from, bytes);
  return SUCCESS;
}
int cuMemsetD8_v2(uint64_t at, unsigned char value, size_t bytes) {
  if (!is_taken(at, bytes)) return INVALID;
  memset((void *)at, value, bytes);
  return SUCCESS;
}
int cuLaunchKernel(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                   void **parameters, void **) {
#ifdef HEARITH_OLD
  (void)function, (void)parameters;
  return INVALID;
#else
  const size_t what = (size_t)function - 1;
  const int narrow = what & 1, operation = what / 2 % 8, limbs = (int)(what / 16);
  const Job &job = *(const Job *)parameters[0];
  if (current == 5) return LAUNCH_FAILED;
  if (operation == 5) return SUCCESS;
  const auto emulated = current == 1 ? hearith_cuda_emulated_fused : hearith_cuda_emulated_exact;
  if (!emulated(narrow, operation, limbs, &job)) return NOT_FOUND;
  const bool pairs = operation < 3;
  uint64_t *limb = (uint64_t *)job.output;
  if (current == 4 && operation != 4) limb[pairs ? limbs : 0] ^= 1 << 17;
  if (current == 6 && pairs) limb[(job.rows - 1) * 2 * limbs + limbs + 3] ^= 1;
  return SUCCESS;
#endif
}
}
