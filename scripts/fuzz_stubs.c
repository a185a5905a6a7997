/* What instrumented code calls, for programs that no fuzzer drives: see fuzz_rustc.sh. libFuzzer brings its own. */
#include <stdint.h>

#define STUB __attribute__((weak)) void

STUB __sanitizer_cov_8bit_counters_init(char *start, char *stop) { (void)start, (void)stop; }
STUB __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop) { (void)start, (void)stop; }
STUB __sanitizer_cov_trace_pc_indir(uintptr_t callee) { (void)callee; }
STUB __sanitizer_cov_trace_cmp1(uint8_t a, uint8_t b) { (void)a, (void)b; }
STUB __sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b) { (void)a, (void)b; }
STUB __sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b) { (void)a, (void)b; }
STUB __sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b) { (void)a, (void)b; }
STUB __sanitizer_cov_trace_const_cmp1(uint8_t a, uint8_t b) { (void)a, (void)b; }
STUB __sanitizer_cov_trace_const_cmp2(uint16_t a, uint16_t b) { (void)a, (void)b; }
STUB __sanitizer_cov_trace_const_cmp4(uint32_t a, uint32_t b) { (void)a, (void)b; }
STUB __sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b) { (void)a, (void)b; }
STUB __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases) { (void)value, (void)cases; }
