// The operations of the kernels: powers and products, one row per call, and conversion to limbs.
//
// Memory addresses do not depend on a row's secrets: tables indexed by a row's own exponent are
// scanned completely. `power` indexes tables by digits that all rows of a key share;
// docs/explanation/gpu.md discusses what this may reveal.
#pragma once
#include "job.h"
#include "ring.cuh"

template <class A, int K, int T> struct Operations {
  typedef Ring<A, K, T> R;
  typedef typename R::Number Number;
  typedef typename R::Word Word;
  typedef typename R::Digits Digits;
  typedef typename R::Modulus Modulus;
  static constexpr int L = R::L;
  // Digit widths in bits: of an exponent shared by all rows, and of a row's own exponent.
  static constexpr int WINDOW = 5, OWN_WINDOW = 4;
  // Rows of a comb, and entries of one of its tables.
  static constexpr int TEETH = 5, COMB_ENTRIES = 1 << TEETH;

  // A table in scratch. Consecutive limbs of a thread's part of an entry are one block's threads
  // apart, so a warp reads contiguous memory.
  struct Table {
    Word *at;
    DEV Word &word(int entry, int part, int j, int lane) const {
      return at[(u64)((entry * 2 + part) * L) * STRIDE<T> + j * STRIDE<T> + lane];
    }
  };

  static DEV const Word *constants(const Job &job) { return (const Word *)job.key; }

  static DEV void load_modulus(Modulus &k, const Job &job) {
    R::load(k.m, constants(job));
    k.negative_inverse = constants(job)[K];
  }

  static DEV void write(const Table &t, int entry, const Number &a, const Number &c) {
    EACH_LANE UNROLL for (int j = 0; j < L; j++) {
      t.word(entry, 0, j, lane) = (Word)A::value(a.v[lane][j]);
      t.word(entry, 1, j, lane) = (Word)A::value(c.v[lane][j]);
    }
  }

  static DEV void read(Number &a, Number &c, const Table &t, int entry) {
    EACH_LANE UNROLL for (int j = 0; j < L; j++) {
      a.v[lane][j] = A::limb(t.word(entry, 0, j, lane));
      c.v[lane][j] = A::limb(t.word(entry, 1, j, lane));
    }
  }

  // (a, c) = entry `digit` of the thread's own table. Reads every entry.
  static DEV void scan(Number &a, Number &c, const Table &t, int entries, u32 digit) {
    Word low[LANES<T>][L], high[LANES<T>][L];
    EACH_LANE UNROLL for (int j = 0; j < L; j++) low[lane][j] = high[lane][j] = 0;
    ROLLED for (int entry = 0; entry < entries; entry++) {
      const Word mask = (Word)0 - (Word)((u32)entry == digit);
      EACH_LANE UNROLL for (int j = 0; j < L; j++) {
        low[lane][j] |= mask & t.word(entry, 0, j, lane);
        high[lane][j] |= mask & t.word(entry, 1, j, lane);
      }
    }
    EACH_LANE UNROLL for (int j = 0; j < L; j++) {
      a.v[lane][j] = A::limb(low[lane][j]);
      c.v[lane][j] = A::limb(high[lane][j]);
    }
  }

  // (a, c) = entry `digit` of a table of pairs that all rows share. Reads every entry.
  static DEV void scan_shared(Number &a, Number &c, const Word *table, u32 digit) {
    Word low[LANES<T>][L], high[LANES<T>][L];
    EACH_LANE UNROLL for (int j = 0; j < L; j++) low[lane][j] = high[lane][j] = 0;
    ROLLED for (int entry = 0; entry < COMB_ENTRIES; entry++) {
      const Word mask = (Word)0 - (Word)((u32)entry == digit);
      EACH_LANE {
        const Word *pair = table + (u64)entry * 2 * K + place<T>(lane) * L;
        UNROLL for (int j = 0; j < L; j++) {
          low[lane][j] |= mask & pair[j];
          high[lane][j] |= mask & pair[K + j];
        }
      }
    }
    EACH_LANE UNROLL for (int j = 0; j < L; j++) {
      a.v[lane][j] = A::limb(low[lane][j]);
      c.v[lane][j] = A::limb(high[lane][j]);
    }
  }

  // (b, d) = (1, s), which is 1 + s m for a number s < m, or (1, 0) if s is null: the factor of a
  // power's last product. This product leaves the Montgomery form: the first part of
  // (a, c) (1, s) / R is at most m, the second below 2 m.
  static DEV void last(Number &b, Number &d, const Word *s) {
    R::zero(b);
    EACH_LANE if (place<T>(lane) == 0) b.v[lane][0] = A::limb(1);
    R::zero(d);
    if (s) R::load(d, s);
  }

  // out = input^exponent (1 + second m) mod m^2.
  //
  // key: m, -1 / m, the pair R mod m^2 (the Montgomery form of 1), then the pair R^(i + 2) mod m^2
  // for each piece i of the input. A piece has K limbs.
  //
  // With OWN, each row has its own exponent of `block` digits of 4 bits, and tables are scanned.
  // Otherwise all rows share the exponent, of `digits` digits of 5 bits.
  //
  // The input is below R^chunks, with at most 4 chunks. Its Montgomery form is the sum of
  // (x_i, 0) (R^(i + 2) mod m^2) / R over its pieces x_i, with parts below 8 m. All products other
  // than squarings share one call of `multiply`, which is inlined.
  template <bool OWN> static DEV void power(const Job &job, u64 row, bool here, const Table &table) {
    constexpr int BITS = OWN ? OWN_WINDOW : WINDOW, ENTRIES = 1 << BITS;
    Number a, c, b, d;
    Digits q;
    Modulus k;
    load_modulus(k, job);
    const Word *one = constants(job) + K + 1, *powers = one + 2 * K;
    const Word *input = (const Word *)job.input + row * job.chunks * K;
    const u32 *digits = (const u32 *)job.exponents;
    const u64 *exponent = (const u64 *)job.exponents + row * job.digits;
    const Word *second = job.second ? (const Word *)job.second + row * K : nullptr;
    R::load(a, one);
    R::load(c, one + K);
    write(table, 0, a, c);
    const int entered = (int)job.chunks, filled = entered + ENTRIES - 2;
    const int end = filled + (OWN ? (int)job.block : (int)job.digits);
    // Digits are processed from the highest, which no squarings precede.
    ROLLED for (int n = 0; n <= end; n++) {
      if (n < entered) {
        R::load(a, input + n * K);
        R::zero(c);
        R::load(b, powers + n * 2 * K);
        R::load(d, powers + n * 2 * K + K);
      } else if (n < filled) {
        read(b, d, table, 1);
      } else if (n < end) {
        if (n == filled) {
          R::load(a, one);
          R::load(c, one + K);
        } else {
          R::square(a, c, BITS, b, d, q, k);
        }
        const int w = end - 1 - n;
        if (OWN) {
          const u32 digit = (u32)(exponent[w * BITS / 64] >> (w * BITS % 64)) & (ENTRIES - 1);
          scan(b, d, table, ENTRIES, digit);
        } else {
          read(b, d, table, (int)digits[w]);
        }
      } else {
        last(b, d, second);
      }
      R::template multiply<false>(a, c, b, d, q, k);
      if (n < entered) {
        if (n > 0) {
          read(b, d, table, 1);
          R::add(a, b);
          R::add(c, d);
        }
        write(table, 1, a, c);
      } else if (n < filled) {
        write(table, n - entered + 2, a, c);
      }
    }
    if (here) {
      R::store((Word *)job.output + row * 2 * K, a);
      R::store((Word *)job.output + row * 2 * K + K, c);
    }
  }

  // out = base^exponent (1 + second m) mod m^2, by a comb [LL94] of 5 teeth. Column i of block b
  // combines the exponent's bits b block + i + t columns for the teeth t, with
  // columns = blocks block.
  //
  // key: m, -1 / m, the pair R mod m^2, then `blocks` tables of 32 pairs.
  static DEV void comb(const Job &job, u64 row, bool here) {
    Number a, c, b, d;
    Digits q;
    Modulus k;
    load_modulus(k, job);
    const Word *one = constants(job) + K + 1, *tables = one + 2 * K;
    const u64 *exponent = (const u64 *)job.exponents + row * job.digits;
    const Word *second = job.second ? (const Word *)job.second + row * K : nullptr;
    const u32 columns = job.blocks * job.block;
    R::load(a, one);
    R::load(c, one + K);
    ROLLED for (u32 n = 0; n <= columns; n++) {
      if (n == columns) {
        last(b, d, second);
      } else {
        const u32 block = n % job.blocks, column = job.block - 1 - n / job.blocks;
        if (block == 0 && n > 0) R::square(a, c, 1, b, d, q, k);
        u32 digit = 0;
        ROLLED for (u32 tooth = 0; tooth < TEETH; tooth++) {
          const u32 bit = tooth * columns + block * job.block + column;
          if (bit / 64 < job.digits) digit |= (u32)(exponent[bit / 64] >> (bit % 64) & 1) << tooth;
        }
        scan_shared(b, d, tables + (u64)block * COMB_ENTRIES * 2 * K, digit);
      }
      R::template multiply<false>(a, c, b, d, q, k);
    }
    if (here) {
      R::store((Word *)job.output + row * 2 * K, a);
      R::store((Word *)job.output + row * 2 * K + K, c);
    }
  }

  // out: the product of a row's list modulo m, below 2 m; 1 for an empty list.
  //
  // index: rows + 1 numbers with the start of each row's list, then the lists of input row numbers.
  // Input rows are below 2 m.
  //
  // key: m, -1 / m, then for every list length from 0 the factor that cancels the divisions by R:
  // R, R, R^2, R^3, ... An empty list uses the factor of length 1.
  static DEV void product(const Job &job, u64 row, bool here) {
    Number a, b;
    Digits q;
    Modulus k;
    load_modulus(k, job);
    const u32 *starts = (const u32 *)job.index, *lists = starts + job.rows + 1;
    const u32 from = starts[row], length = starts[row + 1] - from, last = length == 0 ? 1 : length;
    const Word *input = (const Word *)job.input;
    if (length == 0) {
      R::zero(a);
      EACH_LANE if (place<T>(lane) == 0) a.v[lane][0] = A::limb(1);
    } else {
      R::load(a, input + (u64)lists[from] * K);
    }
    // A thread whose list has ended keeps multiplying, since the threads of a warp exchange values.
    ROLLED for (u32 i = 1; any_of_warp(i <= last); i++) {
      R::load(b, i < last ? input + (u64)lists[from + i] * K : constants(job) + K + 1 + (u64)last * K);
      R::multiply_plain(a, b, q, k);
      if (here && i == last) R::store((Word *)job.output + row * K, a);
    }
  }
};

// Writes limb number `at` of the output, which is limb j of a row of 64-bit words: its bits BITS j
// to BITS (j + 1) - 1, with zeros beyond the row's words.
template <class A> DEV void unpack(const Job &job, u64 at) {
  const u64 row = at / job.limbs, bit = at % job.limbs * A::BITS, word = bit / 64, shift = bit % 64;
  const u64 *words = (const u64 *)job.input + row * job.words;
  u64 v = word < job.words ? words[word] >> shift : 0;
  if (shift + A::BITS > 64 && word + 1 < job.words) v |= words[word + 1] << (64 - shift);
  ((typename A::Word *)job.output)[at] = (typename A::Word)(v & A::MASK);
}
