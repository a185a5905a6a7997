// FLINT's products and remainders for bench/src/bin/ntt.rs: one request a line, one answer a line.
//   version                          -> FLINT's version
//   product LIMBS THREADS REPEATS    -> seconds and a hash of the product of two numbers of LIMBS limbs
//   remainder X M THREADS REPEATS    -> seconds and a hash of X limbs modulo M limbs
#include <flint/flint.h>
#include <flint/fmpz.h>
#include <flint/mpn_extras.h>
#include <flint/thread_support.h>
#include <gmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The numbers that both sides make: splitmix64 from a seed.
static void fill(mp_limb_t *limbs, size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        limbs[i] = z ^ z >> 31;
    }
}

static uint64_t hash(const mp_limb_t *limbs, size_t count) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; i++) h = (h ^ limbs[i]) * 0x100000001b3u;
    return h;
}

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

// One thread is measured by the processor time that it gets, since the machine may be shared, several by the wall clock.
static double now(int threads) { return seconds(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC); }

static void product(size_t limbs, int threads, int repeats) {
    mp_limb_t *a = malloc(8 * limbs), *b = malloc(8 * limbs), *out = malloc(16 * limbs);
    fill(a, limbs, 1);
    fill(b, limbs, 2);
    flint_mpn_mul(out, a, limbs, b, limbs);
    double start = now(threads);
    for (int i = 0; i < repeats; i++) flint_mpn_mul(out, a, limbs, b, limbs);
    printf("%.9g %llu\n", now(threads) - start, (unsigned long long)hash(out, 2 * limbs));
    free(a);
    free(b);
    free(out);
}

static void remainder_of(size_t limbs, size_t modulus_limbs, int threads, int repeats) {
    mp_limb_t *x = malloc(8 * limbs), *m = malloc(8 * modulus_limbs);
    fill(x, limbs, 1);
    fill(m, modulus_limbs, 2);
    m[modulus_limbs - 1] |= (mp_limb_t)1 << 63;
    fmpz_t fx, fm, fr;
    fmpz_init(fx);
    fmpz_init(fm);
    fmpz_init(fr);
    fmpz_set_ui_array(fx, x, limbs);
    fmpz_set_ui_array(fm, m, modulus_limbs);
    fmpz_fdiv_r(fr, fx, fm);
    double start = now(threads);
    for (int i = 0; i < repeats; i++) fmpz_fdiv_r(fr, fx, fm);
    double taken = now(threads) - start;
    memset(m, 0, 8 * modulus_limbs);
    fmpz_get_ui_array(m, modulus_limbs, fr);
    printf("%.9g %llu\n", taken, (unsigned long long)hash(m, modulus_limbs));
    fmpz_clear(fx);
    fmpz_clear(fm);
    fmpz_clear(fr);
    free(x);
    free(m);
}

int main(void) {
    char line[200];
    while (fgets(line, sizeof line, stdin)) {
        size_t limbs, modulus_limbs;
        int threads, repeats;
        if (sscanf(line, "product %zu %d %d", &limbs, &threads, &repeats) == 3) {
            flint_set_num_threads(threads);
            product(limbs, threads, repeats);
        } else if (sscanf(line, "remainder %zu %zu %d %d", &limbs, &modulus_limbs, &threads, &repeats) == 4) {
            flint_set_num_threads(threads);
            remainder_of(limbs, modulus_limbs, threads, repeats);
        } else {
            printf("FLINT %s with fft_small\n", FLINT_VERSION);
        }
        fflush(stdout);
    }
    return 0;
}
