// The driver's interface (libcuda) without a card, for tests: device memory is in this process, and
// the kernels are those of emulated.cpp. The number of the card selects the behaviour:
//
//   0  sm_90, the exact product of integers       1  sm_90, the double-precision product itself
//   2  sm_89, 32-bit multipliers                  3  sm_75, too old
//   4  sm_90, one bit of every result is wrong    5  sm_90, every launch fails
//   6  sm_90, only the second parts of powers are wrong, in the last row
//   7, 8  as 0, for tests of memory that is left behind and of allocations
//
// Work in a stream runs only when somebody waits for it. A caller that forgets to wait, or
// overwrites the source of a pending copy, therefore gets wrong results.
//
// With HEARITH_OLD it is a driver of CUDA 12.4 with one card.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>
#include "job.h"

namespace {
enum { SUCCESS = 0, INVALID = 1, OUT_OF_MEMORY = 2, NOT_INITIALISED = 3, NOT_FOUND = 500, LAUNCH_FAILED = 719 };
struct Card { const char *name; int major, minor; };
const Card CARDS[] = {
    {"Emulated exact", 9, 0}, {"Emulated fused", 9, 0},  {"Emulated narrow", 8, 9}, {"Emulated old", 7, 5},
    {"Emulated faulty", 9, 0}, {"Emulated broken", 9, 0}, {"Emulated treacherous", 9, 0},
    {"Emulated clean", 9, 0}, {"Emulated frugal", 9, 0},
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
std::map<uint64_t, Block> blocks;  // allocated memory, by address
std::map<uint64_t, Block> pins;    // pinned memory

// Pending work by stream, and how many operations each stream has done.
struct Work { std::function<void()> run; bool computes; };
struct Stream {
  int card;
  std::deque<Work> waiting;
  uint64_t started, done;
  std::mutex running;  // held by the thread that does its work, in order
};
typedef std::shared_ptr<Stream> Held;
struct Event { Held stream; uint64_t at; };
std::map<void *, Held> streams;

// For tests: the most bytes allocated, including pinned ones, and the copies to a card that were
// started while a kernel was pending, or vice versa.
struct Counts { size_t taken, most, overlaps; } counts[16];

void take(int card, size_t bytes) {
  Counts &c = counts[card];
  c.taken += bytes;
  if (c.taken > c.most) c.most = c.taken;
}

// Runs the pending work of a stream up to its operation `until`.
void happen(const Held &stream, uint64_t until) {
  std::lock_guard<std::mutex> running(stream->running);
  for (;;) {
    Work work;
    {
      std::lock_guard<std::mutex> guard(lock);
      if (stream->done >= until) return;
      work = stream->waiting.front();
    }
    work.run();
    std::lock_guard<std::mutex> guard(lock);
    stream->waiting.pop_front();
    stream->done++;
  }
}

// Runs all pending work of a card.
void happen_all(int card) {
  std::vector<std::pair<Held, uint64_t>> all;
  {
    std::lock_guard<std::mutex> guard(lock);
    for (const auto &one : streams) {
      if (one.second->card == card) all.push_back({one.second, one.second->started});
    }
  }
  for (const auto &one : all) happen(one.first, one.second);
}

Held found(void *stream) {
  std::lock_guard<std::mutex> guard(lock);
  return streams.at(stream);
}

void start(void *into, bool computes, std::function<void()> run) {
  std::lock_guard<std::mutex> guard(lock);
  const Held stream = streams.at(into);
  for (const auto &one : streams) {
    if (one.second->card != stream->card || one.second == stream) continue;
    for (const Work &work : one.second->waiting) {
      if (work.computes != computes) { counts[stream->card].overlaps++; break; }
    }
  }
  stream->waiting.push_back({run, computes});
  stream->started++;
}

pid_t initialised = 0;

Function parse(const std::string &name) {
  static const std::map<std::string, int> OPERATIONS = {
      {"power", 0}, {"multiple", 1}, {"comb", 2}, {"product", 3}, {"unpack", 4}, {"wipe", 5}};
  const size_t first = name.find('_'), second = name.find('_', first + 1);
  if (first == std::string::npos) return {false, -1, 0};
  const auto found = OPERATIONS.find(name.substr(first + 1, second == std::string::npos ? second : second - first - 1));
  const int limbs = second == std::string::npos ? 0 : atoi(name.c_str() + second + 1);
  return {name.substr(0, first) == "narrow", found == OPERATIONS.end() ? -1 : found->second, limbs};
}

// Returns how many of these bytes are not 0.
size_t written(uint64_t at, size_t bytes) {
  size_t count = 0;
  for (size_t i = 0; i < bytes; i++) count += ((unsigned char *)at)[i] != 0;
  return count;
}

// Whether `bytes` bytes from an address on are allocated.
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
// For tests: returns the non-zero bytes in a card's allocated memory.
size_t hearith_emulated_written(int card) {
  std::lock_guard<std::mutex> guard(lock);
  size_t count = 0;
  for (const auto &block : blocks) {
    if (block.second.card == card) count += written(block.first, block.second.bytes);
  }
  for (const auto &pin : pins) {
    if (pin.second.card == card) count += written(pin.first, pin.second.bytes);
  }
  return count;
}
// For tests: returns the most bytes allocated on a card, and pinned for it, since the last call.
size_t hearith_emulated_most(int card) {
  std::lock_guard<std::mutex> guard(lock);
  const size_t most = counts[card].most;
  counts[card].most = counts[card].taken;
  return most;
}
// For tests: returns how often work was started while work of another kind was pending.
size_t hearith_emulated_overlaps(int card) {
  std::lock_guard<std::mutex> guard(lock);
  return counts[card].overlaps;
}

// Like the real driver, which does not work in a child of the process that initialised it.
int cuInit(unsigned) {
  if (initialised == 0) initialised = getpid();
  return initialised == getpid() ? SUCCESS : NOT_INITIALISED;
}
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
int cuCtxSynchronize() {
  happen_all(current);
  return current == 5 ? LAUNCH_FAILED : SUCCESS;
}
int cuModuleLoadData(void **module, const void *image) {
  // A cubin, or PTX.
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
  take(current, bytes);
  return SUCCESS;
}
int cuMemFree_v2(uint64_t at) {
  happen_all(current);
  std::lock_guard<std::mutex> guard(lock);
  const auto found = blocks.find(at);
  if (found == blocks.end()) return INVALID;
  counts[found->second.card].taken -= found->second.bytes;
  // Memory must be zeroed before it is freed: it contained keys and plaintexts.
  if (written(found->first, found->second.bytes) != 0) {
    fprintf(stderr, "memory of a card was freed before it was zeroed\n");
    abort();
  }
  free((void *)at);
  blocks.erase(found);
  return SUCCESS;
}
int cuMemHostAlloc(void **at, size_t bytes, unsigned) {
  *at = malloc(bytes);
  if (!*at) return OUT_OF_MEMORY;
  std::lock_guard<std::mutex> guard(lock);
  pins[(uint64_t)*at] = {bytes, current};
  take(current, bytes);
  return SUCCESS;
}
int cuMemFreeHost(void *at) {
  std::lock_guard<std::mutex> guard(lock);
  const auto found = pins.find((uint64_t)at);
  if (found == pins.end()) return INVALID;
  if (written(found->first, found->second.bytes) != 0) {
    fprintf(stderr, "pinned memory was freed before it was zeroed\n");
    abort();
  }
  counts[found->second.card].taken -= found->second.bytes;
  pins.erase(found);
  free(at);
  return SUCCESS;
}
int cuStreamCreate(void **stream, unsigned) {
  std::lock_guard<std::mutex> guard(lock);
  const Held made = std::make_shared<Stream>();
  made->card = current;
  streams[made.get()] = made;
  *stream = made.get();
  return SUCCESS;
}
int cuStreamDestroy_v2(void *stream) {
  const Held ended = found(stream);
  happen(ended, ended->started);
  std::lock_guard<std::mutex> guard(lock);
  streams.erase(stream);
  return SUCCESS;
}
int cuStreamWaitEvent(void *stream, void *event, unsigned) {
  // The present mark of the event; later marks have no effect here.
  const Event mark = *(Event *)event;
  start(stream, false, [mark] { happen(mark.stream, mark.at); });
  return SUCCESS;
}
int cuEventCreate(void **event, unsigned) { *event = new Event{nullptr, 0}; return SUCCESS; }
int cuEventDestroy_v2(void *event) { delete (Event *)event; return SUCCESS; }
int cuEventRecord(void *event, void *stream) {
  const Held marked = found(stream);
  *(Event *)event = {marked, marked->started};
  return SUCCESS;
}
int cuEventSynchronize(void *event) {
  const Event mark = *(Event *)event;
  if (mark.stream) happen(mark.stream, mark.at);
  return SUCCESS;
}
int cuEventElapsedTime(float *milliseconds, void *, void *) { *milliseconds = 1; return SUCCESS; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
  if (!is_taken(to, bytes)) return INVALID;
  start(stream, false, [=] { memcpy((void *)to, from, bytes); });
  return SUCCESS;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  if (!is_taken(from, bytes)) return INVALID;
  start(stream, false, [=] { memcpy(to, (const void *)from, bytes); });
  return SUCCESS;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  if (!is_taken(to, bytes)) return INVALID;
  happen_all(current);
  memcpy((void *)to, from, bytes);
  return SUCCESS;
}
int cuMemsetD8_v2(uint64_t at, unsigned char value, size_t bytes) {
  if (!is_taken(at, bytes)) return INVALID;
  happen_all(current);
  memset((void *)at, value, bytes);
  return SUCCESS;
}
int cuLaunchKernel(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *stream,
                   void **parameters, void **) {
#ifdef HEARITH_OLD
  (void)function, (void)parameters, (void)stream;
  return INVALID;
#else
  const size_t what = (size_t)function - 1;
  const int narrow = what & 1, operation = what / 2 % 8, limbs = (int)(what / 16), card = current;
  const Job job = *(const Job *)parameters[0];
  if (card == 5) return LAUNCH_FAILED;
  const auto run = [=] {
    if (operation == 5) return;
    const auto emulated = card == 1 ? hearith_cuda_emulated_fused : hearith_cuda_emulated_exact;
    if (!emulated(narrow, operation, limbs, &job)) abort();
    const bool pairs = operation < 3;
    uint64_t *limb = (uint64_t *)job.output;
    if (card == 4 && operation != 4) limb[pairs ? limbs : 0] ^= 1 << 17;
    if (card == 6 && pairs) limb[(job.rows - 1) * 2 * limbs + limbs + 3] ^= 1;
  };
  if (stream) {
    start(stream, true, run);
  } else {
    happen_all(card);
    run();
  }
  return SUCCESS;
#endif
}
}
