// Montgomery arithmetic modulo m, and modulo m^2 in dual numbers. A is the arithmetic of limbs
// (wide.cuh, narrow.cuh). A number has K limbs of A::BITS bits, distributed over T threads.
//
// R = 2^(A::BITS K), and R >= 2^8 m. A residue is any number below 2 m. There is no final
// subtraction of m.
//
// The Montgomery product of a < x m and b < y m is
//   (a b + Q m) / R < m (x y m / R + 1) <= m (x y / 256 + 1).
//
// A number a + c m modulo m^2 is the pair (a, c). With a b = R t - Q m, the product of (a, c) and
// (b, d) divided by R is (t, u) with
//   t = (a b + Q m) / R,   u = (a d + c b - Q + Q' m) / R,
// where -1 < u < m ((a d + c b) / (m R) + 1). Since u is an integer, u >= 0.
//
// Both stay below 2 m for numbers below 2 m, also in a squaring, where u has one product with a
// doubled factor below 4 m. The same holds for sums of up to 4 of these numbers (below 8 m), since
// 128 / 256 + 1 < 2.
#pragma once
#include "lanes.cuh"

template <class A, int K, int T> struct Ring {
  static_assert(K % T == 0, "every thread has as many limbs");
  static constexpr int L = K / T;
  typedef typename A::Limb Limb;
  typedef typename A::Word Word;

  struct Number { Limb v[LANES<T>][L]; };
  struct Columns { u64 v[LANES<T>][L + 1]; };  // column L is a part of the next thread's column 0
  struct Digits { Word v[LANES<T>][K]; };      // of a quotient; only the lowest thread's are used
  struct Modulus {
    Number m;
    u64 negative_inverse;  // -1 / m modulo 2^BITS
  };

  // Initial columns: minus the exponent bits of ROWS products per step, over all K steps. Returns
  // the initial value of the column that enters at the top after step 0.
  template <int ROWS> static DEV u64 start(Columns &acc) {
    const u64 low = (u64)ROWS * A::LOW, high = (u64)ROWS * A::HIGH, both = low + high;
    EACH_LANE {
      const int p = place<T>(lane);
      const u64 base = 0 - (low + (u64)(p * L) * both);
      UNROLL for (int j = 0; j < L; j++) acc.v[lane][j] = base - (u64)j * both;
      acc.v[lane][L] = p == T - 1 ? 0 - (high + (u64)(K - 1) * both) : 0;
    }
    return 0 - (high + (u64)(K - 2) * both);
  }

  // Adds each column's carry to the next column once, without propagating it. Afterwards all
  // columns are small.
  static DEV void settle(Columns &acc) {
    EACH_LANE UNROLL for (int j = L - 1; j >= 0; j--) {
      const i64 v = (i64)acc.v[lane][j];
      acc.v[lane][j] = (u64)v & A::MASK;
      acc.v[lane][j + 1] += (u64)(v >> A::BITS);
    }
  }

  // Converts columns to limbs. The number is not negative and below R, so the highest thread's
  // carry is 0.
  static DEV void carry(Number &out, Columns &acc) {
    u64 over[LANES<T>];
    EACH_LANE over[lane] = 0;
    // After round r, the limbs of thread r are final.
    ROLLED for (int round = 0; round < T; round++) {
      EACH_LANE {
        i64 in = (i64)over[lane];
        UNROLL for (int j = 0; j < L; j++) {
          const i64 v = (i64)acc.v[lane][j] + in;
          acc.v[lane][j] = (u64)v & A::MASK;
          in = v >> A::BITS;
        }
        over[lane] = (u64)in;
      }
      from_previous<T>(over);
    }
    EACH_LANE UNROLL for (int j = 0; j < L; j++) out.v[lane][j] = A::limb(acc.v[lane][j]);
  }

  // K steps of acc = (acc + x_i y [+ x2_i y2] [- q_i] + Q_i m) / 2^BITS. TWO adds the products
  // x2_i y2. STORE saves the Q_i in q. SUBTRACT subtracts the q_i of an earlier pass.
  template <bool TWO, bool STORE, bool SUBTRACT>
  static DEV void pass(Columns &acc, const Number &x, const Number &y, const Number &x2, const Number &y2, Digits &q,
                       const Modulus &k) {
    constexpr int ROWS = TWO ? 3 : 2;
    u64 fresh = start<ROWS>(acc);
    ROLLED for (int from = 0; from < T; from++) {
      if (A::SETTLES && T > 1 && from > 0) settle(acc);
      ROLLED for (int i = 0; i < L; i++) {
        Limb digit[LANES<T>];
        EACH_LANE digit[lane] = x.v[lane][i];
        broadcast<T>(digit, from);
        EACH_LANE A::template add_row<L>(acc.v[lane], digit[lane], y.v[lane]);
        if (TWO) {
          EACH_LANE digit[lane] = x2.v[lane][i];
          broadcast<T>(digit, from);
          EACH_LANE A::template add_row<L>(acc.v[lane], digit[lane], y2.v[lane]);
        }
        if (SUBTRACT) {
          EACH_LANE if (place<T>(lane) == 0) acc.v[lane][0] -= q.v[lane][from * L + i];
        }
        u64 quotient[LANES<T>], lowest[LANES<T>];
        EACH_LANE quotient[lane] = (acc.v[lane][0] * k.negative_inverse) & A::MASK;
        broadcast<T>(quotient, 0);
        if (STORE) {
          EACH_LANE if (place<T>(lane) == 0) q.v[lane][from * L + i] = (Word)quotient[lane];
        }
        EACH_LANE {
          lowest[lane] = A::template reduce_row<L>(acc.v[lane], A::limb(quotient[lane]), k.m.v[lane]);
          const int p = place<T>(lane);
          // The lowest thread's `lowest` is a multiple of 2^BITS.
          if (p == 0) acc.v[lane][0] += (u64)((i64)lowest[lane] >> A::BITS);
          acc.v[lane][L] = p == T - 1 ? fresh : 0;
        }
        from_next<T>(lowest);
        EACH_LANE acc.v[lane][L - 1] += lowest[lane];
        fresh += (u64)ROWS * (A::LOW + A::HIGH);
      }
    }
  }

  // Squaring by halves: for a = l + h B with B = 2^(BITS HALF), a^2 = l (l + 2 h B) + h^2 B^2. The
  // product l h is thus computed once. The upper limbs of 2 a are 2 h plus the carry out of 2 l.
  static constexpr bool BY_HALVES = T == 1 && K % 2 == 0 && K <= A::HALVES;
  static constexpr int HALF = K / 2;

  // Adds the exponent bits of the products that the second half omits: its rows lack the lower HALF
  // limbs, but `start` has subtracted the exponent bits of complete rows.
  static DEV void make_up(Columns &acc) {
    UNROLL for (int column = 0; column < K; column++) {
      int lows = 0, highs = 0;
      UNROLL for (int step = 0; step < HALF; step++) {
        lows += column >= step && column - step < HALF;
        highs += column > step && column - step - 1 < HALF;
      }
      acc.v[0][column] += (u64)lows * A::LOW + (u64)highs * A::HIGH;
    }
  }

  // The steps of one half: x_i times the limbs of a from FROM on, where x = a and two = 2 a. The
  // first half doubles the limbs from HALF on.
  template <bool SECOND>
  static DEV void half(Columns &acc, u64 &fresh, const Number &x, const Number &a, const Number &two, Digits &q,
                       const Modulus &k) {
    constexpr int FROM = SECOND ? HALF : 0, TO = FROM + HALF;
    if (SECOND) make_up(acc);
    // All ones if 2 l has a carry into the upper limbs, else 0.
    const u64 over = SECOND ? 0 : 0 - (A::value(a.v[0][HALF - 1]) >> (A::BITS - 1));
    ROLLED for (int i = FROM; i < TO; i++) {
      const Limb digit = x.v[0][i];
      u64 before = 0;
      A::template add_part<FROM, TO, L>(acc.v[0], digit, a.v[0], before);
      if (!SECOND) {
        acc.v[0][HALF] -= A::value(digit) & over;
        A::template add_part<HALF, K, L>(acc.v[0], digit, two.v[0], before);
      }
      acc.v[0][K] += before;
      const u64 quotient = (acc.v[0][0] * k.negative_inverse) & A::MASK;
      q.v[0][i] = (Word)quotient;
      const u64 lowest = A::template reduce_row<L>(acc.v[0], A::limb(quotient), k.m.v[0]);
      acc.v[0][0] += (u64)((i64)lowest >> A::BITS);
      acc.v[0][K] = fresh;
      fresh += 2 * (A::LOW + A::HIGH);
    }
  }

  // (a, c) = (a, c)^2 / R mod m^2, by halves. Requires b = a and d = c.
  static DEV void square_by_halves(Number &a, Number &c, const Number &b, const Number &d, Digits &q,
                                   const Modulus &k) {
    Columns acc;
    Number t, two;
    twice(two, a);
    u64 fresh = start<2>(acc);
    half<false>(acc, fresh, b, a, two, q, k);
    half<true>(acc, fresh, b, a, two, q, k);
    carry(t, acc);
    pass<false, false, true>(acc, d, two, d, two, q, k);
    carry(c, acc);
    copy(a, t);
  }

  // a = a b / R mod m
  static DEV void multiply_plain(Number &a, const Number &b, Digits &q, const Modulus &k) {
    Columns acc;
    pass<false, false, false>(acc, b, a, b, a, q, k);
    carry(a, acc);
  }

  // (a, c) = (a, c) (b, d) / R mod m^2. SQUARE requires b = a and d = 2 c.
  template <bool SQUARE>
  static DEV void multiply(Number &a, Number &c, const Number &b, const Number &d, Digits &q, const Modulus &k) {
    Columns acc;
    Number t;
    pass<false, true, false>(acc, b, a, b, a, q, k);
    carry(t, acc);
    pass<!SQUARE, false, true>(acc, d, a, b, c, q, k);
    carry(c, acc);
    copy(a, t);
  }

  // d = 2 c, for c < R / 2
  static DEV void twice(Number &d, const Number &c) {
    u64 top[LANES<T>];
    EACH_LANE top[lane] = A::value(c.v[lane][L - 1]) >> (A::BITS - 1);
    from_previous<T>(top);
    EACH_LANE {
      u64 over = top[lane];
      UNROLL for (int j = 0; j < L; j++) {
        const u64 v = A::value(c.v[lane][j]) * 2 + over;
        d.v[lane][j] = A::limb(v & A::MASK);
        over = v >> A::BITS;
      }
    }
  }

  // Squares (a, c) `times` times, each time divided by R. Overwrites b, d and q.
  static DEV void square(Number &a, Number &c, int times, Number &b, Number &d, Digits &q, const Modulus &k) {
    ROLLED for (int n = 0; n < times; n++) {
      copy(b, a);
      if constexpr (BY_HALVES) {
        copy(d, c);
        square_by_halves(a, c, b, d, q, k);
      } else {
        twice(d, c);
        multiply<true>(a, c, b, d, q, k);
      }
    }
  }

  // a += b, for a + b < R
  static DEV void add(Number &a, const Number &b) {
    Columns acc;
    EACH_LANE UNROLL for (int j = 0; j < L; j++) acc.v[lane][j] = A::value(a.v[lane][j]) + A::value(b.v[lane][j]);
    carry(a, acc);
  }

  static DEV void copy(Number &to, const Number &from) {
    EACH_LANE UNROLL for (int j = 0; j < L; j++) to.v[lane][j] = from.v[lane][j];
  }

  static DEV void zero(Number &out) {
    EACH_LANE UNROLL for (int j = 0; j < L; j++) out.v[lane][j] = A::limb(0);
  }

  static DEV void load(Number &out, const Word *from) {
    EACH_LANE UNROLL for (int j = 0; j < L; j++) out.v[lane][j] = A::limb(from[place<T>(lane) * L + j]);
  }

  static DEV void store(Word *to, const Number &x) {
    EACH_LANE UNROLL for (int j = 0; j < L; j++) to[place<T>(lane) * L + j] = (Word)A::value(x.v[lane][j]);
  }
};
