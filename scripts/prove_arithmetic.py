#!/usr/bin/env python3
"""Checks the proofs of the arithmetic in Coq.

Usage: prove_arithmetic.py [--mutants | --check | --update]

Without arguments: translates the kernels' Rust into Coq (formal/coq/translate.py), checks every
proof about it, prints what each main theorem assumes, and compares the results of the translated
functions with those that the kernels' tests use. It fails if a theorem assumes anything.
`--mutants` does the same, and then plants mistakes in copies of the Rust source: the proofs must
fail. `--check` only checks that theorems and functions name each other; it needs no Coq. `--update`
writes the results that the kernels' tests use.
"""

import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COQ = ROOT / "formal/coq"
CRATES = ROOT / "crates"
# Crates with functions that a theorem names.
NAMED = ("arith", "paillier", "threshold", "rns", "ntt", "bfv", "dghv")
PRODUCTS = CRATES / "arith/src/backend/serial_steps.txt"
SINGLE = CRATES / "arith/src/single_steps.txt"
CONVERSIONS = CRATES / "rns/src/convert/serial_steps.txt"
LATTICE = CRATES / "bfv/src/kernel/steps.txt"
TRANSFORMS = CRATES / "ntt/src/engine/steps.txt"
FLAGS = ["-Q", ".", "Arith", "-Q", "../generated", "Generated"]

# Time limit of the whole build in seconds. It takes two minutes on an idle machine, but may share
# the machine, and a broken proof may search for ever.
MOST_SECONDS = 1800

# The line by which a function names its theorem.
NOTE = r"Proved: `(\w+)` in formal/coq/(\w+\.v)\."

# What Coq says of a theorem that assumes nothing.
CLOSED = "Closed under the global context"

# Main theorems may assume nothing. An assumption that must be made is listed here, with its reason.
ALLOWED: dict[str, str] = {}

# File, text, and the mistake that replaces it: at least one for every kernel.
MUTANTS = [
    ("arith/src/natural.rs", "u128::from(a) + u128::from(b) + u128::from(carry)", "u128::from(a) + u128::from(b)"),
    ("arith/src/natural.rs", "(difference >> 127) as u64", "(difference >> 126) as u64"),
    ("arith/src/natural.rs", "u128::from(b) * u128::from(c) + u128::from(carry)", "u128::from(b) * u128::from(c)"),
    ("arith/src/natural.rs", "let subtract = 1 - sbb(top, 0, below).1;", "let subtract = 1 - below;"),
    ("arith/src/backend/serial.rs", "carry = carry_rows(&mut t[i + k..i + k + 2], grown, reduced, carry);",
     "carry = carry_rows(&mut t[i + k..i + k + 2], grown, reduced, 0);"),
    ("arith/src/backend/serial.rs", "mac_row(&mut t[i..i + k], a, b[i])", "mac_row(&mut t[i..i + k], a, b[i - 1])"),
    ("arith/src/backend/serial.rs", "while i + 1 < k {\n        let reduced", "while i + 2 < k {\n        let reduced"),
    ("arith/src/backend/serial.rs", "carry += s;", "carry += 0;"),
    ("arith/src/backend/serial.rs", "subtract_digits(k, high, low, subtracted)", "subtract_digits(k, high, low, 0)"),
    ("arith/src/backend/serial.rs", "let (left, under) = sbb(top, above, borrow);", "let (left, under) = sbb(top, 0, borrow);"),
    ("arith/src/backend/serial.rs", "(*x, borrow) = sbb(*x, y & mask(over), borrow);", "(*x, borrow) = sbb(*x, y, borrow);"),
    ("arith/src/backend/serial.rs", "above = pair[1] >> 63;", "above = pair[1] >> 62;"),
    ("arith/src/backend/serial.rs", "mac_rows_from(both, &a[i + 2..], a[i], a[i + 1], carry)",
     "mac_rows_from(both, &a[i + 2..], a[i], a[i + 1], 0)"),
    ("arith/src/backend/serial.rs", "for i in (1..2 * k).rev() {", "for i in (2..2 * k).rev() {"),
    ("arith/src/natural.rs", "high = if shift == 0 { 0 } else { limb(index + 1) << (64 - shift) };",
     "high = if shift == 0 { 0 } else { limb(index) << (64 - shift) };"),
    ("arith/src/natural.rs", "let shifted = *x << 1 | carry;", "let shifted = *x << 1;"),
    ("arith/src/doubling.rs", "reciprocal(leading.wrapping_add(1))", "reciprocal(leading)"),
    ("arith/src/doubling.rs", "const STEP: u32 = 24;", "const STEP: u32 = 40;"),
    ("arith/src/doubling.rs", "shifted_out = *a >> (64 - times);", "shifted_out = *a >> (63 - times);"),
    ("arith/src/backend/avx2/blocks.rs", "const ROOM: usize = 250;", "const ROOM: usize = 256;"),
    ("arith/src/backend/avx2/blocks.rs", "const BLOCK: usize = 6;", "const BLOCK: usize = 126;"),
    ("arith/src/backend/avx2.rs", "const RADIX: u32 = 28;", "const RADIX: u32 = 29;"),
    ("arith/src/backend/ifma.rs", "pub const RADIX: u32 = 52;", "pub const RADIX: u32 = 53;"),
    ("arith/src/backend/avx2/blocks.rs", "self.make_room(0, weight * SIZE);", "self.make_room(0, SIZE);"),
    ("arith/src/backend/avx2/blocks.rs", "self.make_room(0, 2 * SIZE);", "self.make_room(0, SIZE);"),
    ("arith/src/backend/avx2/blocks.rs", "make_room(at, SIZE);", "make_room(at, 1);"),
    ("arith/src/backend/avx2/blocks.rs", "_mm256_add_epi64(sum, _mm256_mul_epu32(x, y))",
     "_mm256_add_epi64(x, _mm256_mul_epu32(x, y))"),
    ("arith/src/backend/avx2/blocks.rs", "add_product($sums[$j + I], $limbs[I], digit)",
     "add_product($sums[$j + I], digit, digit)"),
    ("arith/src/backend/avx2/blocks.rs", "_mm256_add_epi64(_mm256_and_si256(value, ones()), carry)",
     "_mm256_add_epi64(value, carry)"),
    ("arith/src/backend/avx2/blocks.rs", "            self.held = 0;", "            self.held = 1;"),
    ("arith/src/backend/avx2/blocks.rs", "sum = add_product(sum, get(&x[I]), get(&x[I]));",
     "sum = add_product(sum, get(&x[I]), sum);"),
    ("arith/src/backend/avx2/blocks.rs", "&& 2 * I == COLUMN {", "&& I == COLUMN {"),
    ("arith/src/backend/avx2/blocks.rs", "_mm256_add_epi64(get(limb), get(limb))", "get(limb)"),
    ("arith/src/backend/avx2/blocks.rs", "&twice[at + SIZE..]", "&twice[at + 1..]"),
    ("arith/src/backend/avx2/blocks.rs", "_mm256_mul_epu32(column, neg_inverse), ones()",
     "_mm256_mul_epu32(column, column), ones()"),
    ("arith/src/backend/avx2/blocks.rs", "_mm256_srli_epi64::<{ RADIX as i32 }>(zero)",
     "_mm256_srli_epi64::<{ RADIX as i32 }>(sums[j])"),
    ("arith/src/backend/avx2/blocks.rs", "add_product(sums[j + I], digit, get(&m[I]))",
     "add_product(sums[j + I], digit, digit)"),
    ("arith/src/backend/avx2/blocks.rs", "_mm256_andnot_si256(digit, ones())", "_mm256_and_si256(digit, ones())"),
    ("arith/src/backend/avx2/blocks.rs", "&digits, &m[SIZE..]", "&digits, &m[1..]"),
    ("arith/src/backend/avx2/blocks.rs", "set(out, _mm256_and_si256(sum, ones()));", "set(out, sum);"),
    ("arith/src/backend/avx2/blocks.rs", "set(column, _mm256_and_si256(sum, ones()));", "set(column, sum);"),
    ("arith/src/backend/avx2/blocks.rs", "_mm256_sub_epi64(_mm256_sub_epi64(get(limb), get(b)), borrow)",
     "_mm256_sub_epi64(get(limb), get(b))"),
    ("arith/src/backend/avx2/blocks.rs", "_mm256_add_epi64(_mm256_add_epi64(get(limb), more), carry)",
     "_mm256_add_epi64(get(limb), more)"),
    ("arith/src/backend/avx2/blocks.rs", "_mm256_sub_epi64(_mm256_sub_epi64(get(limb), get(m)), borrow)",
     "_mm256_sub_epi64(get(limb), get(m))"),
    ("arith/src/backend/avx2/blocks.rs", "_mm256_and_si256(fits, get(m))", "get(m)"),
    ("arith/src/backend/avx2/blocks.rs", "|limb| *limb -= 1", "|limb| *limb -= 2"),
    ("arith/src/backend/avx2/blocks.rs", "start[0] = Quad([1; 4]);", "start[0] = Quad([2; 4]);"),
    ("arith/src/backend/avx2/blocks.rs", "from.saturating_sub(at + SIZE - 1) / 2 * 2;", "from.saturating_sub(at) / 2 * 2;"),
    ("arith/src/backend/avx2/blocks.rs", "&mut self.columns[at + skipped..]", "&mut self.columns[at..]"),
    ("arith/src/backend/avx2/blocks.rs", "&b[..k - at]", "&b[..k - at - 2]"),
    ("arith/src/backend/avx2.rs", "(0..3).for_each", "(0..2).for_each"),
    ("arith/src/backend/avx2.rs", "t.multiply(a, b);", "t.multiply(a, a);"),
    ("arith/src/backend/avx2.rs", "normalise(out, &columns[m.k..]);", "normalise(out, columns);"),
    ("arith/src/backend/avx2.rs", "u.multiply(a_high, b_low);", "u.multiply(a_high, b_high);"),
    ("arith/src/backend/avx2.rs", "u.multiply_twice(a_high, twice);", "u.multiply(a_high, twice);"),
    ("arith/src/backend/ifma/blocks.rs", "low(inverse, column, inverse)", "low(column, column, inverse)"),
    ("arith/src/backend/ifma/blocks.rs", "Octet([2 * MASK + 1; 8])", "Octet([2 * MASK; 8])"),
    ("arith/src/backend/ifma/across.rs", "let carry = _mm512_maskz_srai_epi64::<RADIX>(1, columns[0]);",
     "let carry = _mm512_maskz_srai_epi64::<RADIX>(1, pending[0]);"),
    ("arith/src/backend/ifma/across.rs", "        pending[0] = _mm512_add_epi64(pending[0], carry);\n", ""),
    ("arith/src/backend/ifma/across.rs", "12 13 14 15 17 18 19 20)", "12 13 14 15 17 18 19 50)"),
    ("arith/src/backend/ifma/across.rs", "add_low(&mut u_pending, &a_low, spread(second(at + 1)));",
     "add_low(&mut u_pending, &a_low, spread(second(at)));"),
    ("arith/src/backend/ifma/across.rs", "add_columns(&mut u, &modulus.limbs);",
     "add_columns(&mut t, &modulus.limbs);"),
    ("arith/src/backend/ifma/across.rs", "u[0] = _mm512_mask_sub_epi64(u[0], 1, u[0], quotient);",
     "u[0] = _mm512_mask_sub_epi64(u[0], 1, u[0], digit);"),
    ("arith/src/backend/ifma/across.rs", "_mm512_srli_epi64::<{ RADIX - 1 }>(x[v])",
     "_mm512_srli_epi64::<RADIX>(x[v])"),
    ("arith/src/backend/ifma/across.rs", "_mm512_alignr_epi64::<1>(above, x[v])",
     "_mm512_alignr_epi64::<2>(above, x[v])"),
    ("arith/src/backend/ifma/across.rs", ".chain([0]))", ".chain([1]))"),
    ("arith/src/backend/ifma/across.rs", "self.0.overflowing_add(over.0 << 1)", "self.0.overflowing_add(over.0 << 2)"),
    ("arith/src/backend/ifma/across.rs", "carried.of(v), columns[v], spread(1))",
     "carried.of(v), columns[v], spread(2))"),
    ("arith/src/backend/ifma/across.rs", "        columns[v] = _mm512_and_si512(columns[v], ones);\n", ""),
    ("arith/src/backend/ifma/across.rs", "let sum = *limb + more + carry;", "let sum = *limb + more;"),
    ("arith/src/backend/ifma/across.rs", "b.chain(std::iter::repeat(0))", "b.chain(std::iter::repeat(1))"),
    ("arith/src/backend/ifma/across.rs", "limb.wrapping_sub(m & taken)", "limb.wrapping_sub(m)"),
    ("arith/src/backend/ifma/across.rs", "a.wrapping_sub(m).wrapping_sub(borrow) >> 63;", "a.wrapping_sub(m) >> 63;"),
    ("arith/src/backend/ifma/across.rs", "(0..3).for_each(|_| _ = reduce_once(high, &m.m));",
     "(0..2).for_each(|_| _ = reduce_once(high, &m.m));"),
    ("arith/src/backend/ifma/across.rs", "std::iter::once(carried)", "std::iter::once(0)"),
    ("arith/src/backend/ifma/across.rs", "add(&mut a[..m.k], chunk.iter().copied());",
     "add(&mut a[m.k..], chunk.iter().copied());"),
    ("arith/src/backend/ifma.rs", "RADIX * k as u32 - 2\n", "RADIX * k as u32 - 1\n"),
    ("arith/src/backend/ifma/blocks.rs", "let far = high(near, limbs[J], two);", "let far = high(near, limbs[J + 1], two);"),
    ("arith/src/backend/ifma/blocks.rs", "let two = _mm512_set1_epi64(2);", "let two = _mm512_set1_epi64(1);"),
    ("arith/src/backend/ifma/blocks.rs", "if I + 1 == J { sums[I + J] = low(sums[I + J], limbs[I + 1], near);",
     "if I + 1 == J { sums[I + J] = low(sums[I + J], limbs[I + 1], far);"),
    ("arith/src/backend/ifma/blocks.rs", "if I + 1 < J { sums[I + J + 1] =", "if I + 2 < J { sums[I + J + 1] ="),
    ("arith/src/backend/ifma/blocks.rs", "sums[2 * J] = low(sums[2 * J], limbs[J + 1], limbs[J + 1]);",
     "sums[2 * J] = low(sums[2 * J], limbs[J + 1], near);"),
    ("arith/src/backend/ifma/blocks.rs", "sums[J + 9] = low(sums[J + 9], x9, last);",
     "sums[J + 9] = low(sums[J + 9], x9, digit);"),
    ("arith/src/backend/ifma/blocks.rs", "let nearest = if at == 0 { nearest } else { &y[0] };",
     "let nearest = if at == 0 { &y[0] } else { nearest };"),
    ("arith/src/backend/ifma/blocks.rs", "sums[I + J + 1] = high(sums[I + J + 1], x~I, digit);",
     "sums[I + J] = high(sums[I + J], x~I, digit);"),
    ("arith/src/backend/ifma/blocks.rs", "seq!(I in 0..10 { sums[I] = sums[I + 5]; });",
     "seq!(I in 0..10 { sums[I] = sums[I + 4]; });"),
    ("arith/src/backend/ifma/blocks.rs", "if at + BLOCK + STEP <= valid {", "if at + BLOCK <= valid {"),
    ("arith/src/backend/ifma/blocks.rs", "set(t, y.len() + I, sums[I]);", "set(t, I, sums[I]);"),
    ("arith/src/backend/ifma/blocks.rs", "let filled = if block == 0 { 0 } else { k };",
     "let filled = if block == 0 { 0 } else { first };"),
    ("arith/src/backend/ifma/blocks.rs", "multiply_block(&mut t[block * BLOCK..], x, b, &b[0], columns, &[]);",
     "multiply_block(&mut t[block * BLOCK..], x, b, &b[1], columns, &[]);"),
    ("arith/src/backend/ifma/blocks.rs", "let y = &b[from.saturating_sub(first + BLOCK - 1)",
     "let y = &b[from.saturating_sub(first)"),
    ("arith/src/backend/ifma/blocks.rs", "multiply_block(&mut t[first..], x, &b[..b.len() - first],",
     "multiply_block(&mut t[first..], x, &b[..b.len() - first - STEP],"),
    ("arith/src/backend/ifma/blocks.rs", "set(&mut nearest, 0, _mm512_add_epi64(get(a, above), get(a, above)));",
     "set(&mut nearest, 0, get(twice, above));"),
    ("arith/src/backend/ifma/blocks.rs", "if first > 0 { a[first - 1] }", "if first > 0 { a[first] }"),
    ("arith/src/backend/ifma/blocks.rs", "x, &twice[above..k], &nearest[0], columns,", "x, &twice[first..k], &nearest[0], columns,"),
    ("arith/src/backend/ifma/blocks.rs", "multiply_block(&mut t[BLOCK..], x, &twice", "multiply_block(&mut t[2 * BLOCK..], x, &twice"),
    ("arith/src/backend/ifma/blocks.rs", "x, below, &start[2 * first..]);", "x, below, &start[first..]);"),
    ("dghv/src/sums/ifma.rs", "4095 / shape.taps", "4097 / shape.taps"),
    ("dghv/src/sums/ifma.rs", "const DIGIT: u32 = 48;", "const DIGIT: u32 = 50;"),
    ("dghv/src/sums/ifma.rs", "column].0[s]) << 52);", "column].0[s]) << 48);"),
    ("dghv/src/sums/ifma.rs", "highs[k] = _mm512_madd52hi_epu64(highs[k], position, value);",
     "highs[k] = _mm512_madd52lo_epu64(highs[k], position, value);"),
    ("dghv/src/sums/blocks.rs", "                since = 1;", "                since = 0;"),
    ("dghv/src/sums/blocks/transform.rs", "const TERMS: usize = 4095;", "const TERMS: usize = 4097;"),
    ("dghv/src/sums/blocks/transform.rs", "const MOST_TERMS: usize = 1 << 15;", "const MOST_TERMS: usize = 1 << 16;"),
    ("dghv/src/sums/blocks/transform.rs", "store(high, add(load(high), _mm512_srli_epi64::<52>(sum)));",
     "store(high, load(high));"),
    ("arith/src/barrett.rs", "highest > 2 &&", "highest > 0 &&"),
    ("arith/src/single.rs", "> 64 * (d - 1) + 2", "> 64 * (d - 1) + 1"),
    ("arith/src/single.rs", "let upper = &t[d - 1..];", "let upper = &t[d..];"),
    ("arith/src/single.rs", "let first = (d - 2).saturating_sub(i);", "let first = d.saturating_sub(i);"),
    ("arith/src/single.rs", "row::<ADX>(&mut low[i..], &m[..d + 1 - i], limb);",
     "row::<ADX>(&mut low[i..d], &m[..d - i], limb);"),
    ("arith/src/single.rs", "for _ in 0..2 {", "for _ in 0..1 {"),
    ("arith/src/single.rs", "wrapping_sub(borrowed & subtracted)", "wrapping_sub(borrowed)"),
    ("arith/src/single.rs", "carry = high3.wrapping_add(u64::from(over));", "carry = high3;"),
    ("arith/src/single.rs", "t[0].carrying_add(low0, false)", "t[0].carrying_add(low0, over)"),
    ("paillier/src/encoding/slots.rs", "self.value_bits + self.addition_bits + 1", "self.value_bits + self.addition_bits"),
    ("paillier/src/encoding/slots.rs", "key_bits.saturating_sub(1) / self.slot_bits()",
     "key_bits.saturating_sub(0) / self.slot_bits()"),
    ("paillier/src/key/factors.rs", "(difference(&self.p, &[1]), difference(", "(difference(&self.p, &[2]), difference("),
    ("rns/src/convert/serial.rs", "u128::from((x1 * m0) as u64);", "u128::from((x1 * m1) as u64);"),
    ("rns/src/convert/serial.rs", "r.min(r.wrapping_sub(self.q))", "r"),
    ("rns/src/convert/serial.rs", "const LIMBS: usize = 15;", "const LIMBS: usize = 17;"),
    ("rns/src/convert/serial.rs", "const FRACTION: u32 = 48;", "const FRACTION: u32 = 8;"),
    ("rns/src/convert/serial.rs", "let shift = 63 + (", "let shift = 62 + ("),
    ("arith/src/natural.rs", "for x in high {\n        (*x, borrow) = sbb(*x, 0, borrow);",
     "for x in high {\n        (*x, borrow) = sbb(*x, 0, 0);"),
    ("rns/src/convert/ifma.rs", "_mm512_madd52hi_epu64(lower_carry[g], limb, third)",
     "_mm512_madd52hi_epu64(lower_carry[g], limb, second)"),
    ("rns/src/convert/ifma.rs", "broadcast(2 * x.len() as u64)", "broadcast(1 * x.len() as u64)"),
    ("rns/src/convert/ifma.rs", "_mm512_madd52hi_epu64(broadcast(1), lower, q[0])",
     "_mm512_madd52hi_epu64(broadcast(0), lower, q[0])"),
    ("rns/src/convert/ifma/forward.rs", "_mm512_madd52lo_epu64(broadcast(1), upper, cofactor[0])",
     "_mm512_madd52lo_epu64(broadcast(0), upper, cofactor[0])"),
    ("rns/src/convert/ifma/forward.rs", "(4 * limbs as u128)", "(1 * limbs as u128)"),
    ("rns/src/convert/ifma/back.rs", "_mm512_madd52lo_epu64(broadcast(2), residue,",
     "_mm512_madd52lo_epu64(broadcast(1), residue,"),
    ("rns/src/convert/ifma/back.rs", "broadcast(self.scales.len() as u64)", "broadcast(0 * self.scales.len() as u64)"),
    ("rns/src/convert/ifma/back.rs", "(bit_length(&system.product) + 1)", "(bit_length(&system.product) + 0)"),
    ("rns/src/convert/ifma/back.rs", "_mm512_madd52hi_epu64(high[j], factor, broadcast(row[j]))",
     "_mm512_madd52hi_epu64(high[j], factor, broadcast(row[j + 1]))"),
    ("rns/src/convert/ifma/back.rs", "_mm512_add_epi64(_mm512_add_epi64(load(limb), added), carry)",
     "_mm512_add_epi64(load(limb), added)"),
    ("rns/src/convert/ifma/back.rs", "broadcast(1 << (RADIX - 1))", "broadcast(1 << (RADIX - 2))"),
    ("rns/src/convert/avx2.rs", "const TERMS: usize = 40;", "const TERMS: usize = 50;"),
    ("rns/src/convert/avx2.rs", "less(step(step(sum)), q)", "step(step(sum))"),
    ("rns/src/convert/avx2.rs", "_mm256_min_epu32(x, _mm256_sub_epi32(x, q))", "x"),
    ("rns/src/convert/avx2.rs", "(0..RADIX * limb + 64)", "(0..RADIX * limb + 32)"),
    ("rns/src/convert/avx2.rs", "((1_u64 << (31 + bits)) - 1)", "((1_u64 << (32 + bits)) - 1)"),
    ("rns/src/convert/avx2.rs", "(bits + 1).div_ceil(RADIX)", "(bits + 0).div_ceil(RADIX)"),
    ("rns/src/convert/avx2.rs", "_mm256_add_epi64(x[first + g + 1][half], high)", "x[first + g + 1][half]"),
    ("rns/src/convert/avx2.rs", "_mm256_add_epi64(limb[half], carry)", "limb[half]"),
    ("rns/src/convert/avx2.rs", "_mm256_srli_epi64::<63>(difference)", "_mm256_srli_epi64::<62>(difference)"),
    ("ntt/src/engine/loops.rs", "m.zero.add_high(x, self.value).sub(m.minus_p.add_high(q, m.p))",
     "m.zero.add_high(x, self.value).sub(m.zero.add_high(q, m.p))"),
    ("ntt/src/engine/loops.rs", "sub(self.minus_p.add_high(q, self.p))", "sub(self.zero.add_high(q, self.p))"),
    ("ntt/src/engine/loops.rs", "let x = reduce(W::load(x0), m.p8);", "let x = reduce(W::load(x0), m.p4);"),
    ("ntt/src/engine/loops.rs", "let other = W::load(x1).add(m.p);", "let other = W::load(x1);"),
    ("ntt/src/engine/loops.rs", "w.times_positive(y.sub(x).add(m.p4), m)", "w.times_positive(y.sub(x).add(m.p2), m)"),
    ("ntt/src/engine/loops.rs", "w[0].times_positive(a2.sub(a0).add(m.p8), m)", "w[0].times_positive(a2.sub(a0).add(m.p4), m)"),
    ("ntt/src/primes.rs", "(1 << 48) - (c << LOG_ORDER) + 1", "(1 << 49) - (c << LOG_ORDER) + 1"),
    ("bfv/src/prime.rs", "const PRIME_BITS: u32 = 50;", "const PRIME_BITS: u32 = 51;"),
    ("bfv/src/kernel/loops.rs", "let whole = zero.add_high(x, quotient);", "let whole = zero.add_low(x, quotient);"),
    ("bfv/src/kernel/loops.rs", "x.min(x.sub(b))", "x"),
    ("bfv/src/kernel/loops.rs", "Self::once(Self::once(x, self.two_q), self.q)", "Self::once(x, self.two_q)"),
    ("bfv/src/kernel/loops.rs", "(x.add(y), x.sub(y).add(self.two_q))", "(x.add(y), x.sub(y).add(self.q))"),
    ("bfv/src/kernel/loops.rs", "let difference = x.sub(y).add(self.two_q);", "let difference = x.sub(y).add(self.q);"),
    ("bfv/src/kernel/loops.rs", "let high = W::load(sum).add(modulus.q).add_high(a, b);",
     "let high = W::load(sum).add_high(a, b);"),
    ("bfv/src/kernel/loops.rs", "Modulus::once(modulus.times(W::load(a), c), modulus.q).store(a);",
     "modulus.times(W::load(a), c).store(a);"),
    ("bfv/src/kernel/loops.rs", "W::load(a).add(small.min(small.add(q)))", "W::load(a).add(small)"),
    ("bfv/src/kernel/loops.rs", "Modulus::once(W::load(a).add(q).sub(W::load(b)), q)",
     "Modulus::once(W::load(a).sub(W::load(b)), q)"),
    ("bfv/src/kernel/loops.rs", "Modulus::once(W::load(a).add(W::load(b)), q).store(a);",
     "W::load(a).add(W::load(b)).store(a);"),
    ("bfv/src/kernel/loops.rs", "modulus.reduced(Modulus::once(sum, four_q)).store(a);", "modulus.reduced(sum).store(a);"),
    ("bfv/src/kernel/loops.rs", "W::splat(4 * prime.q)", "W::splat(3 * prime.q)"),
    ("ntt/src/engine/loops.rs", "high[g] = high[g].add_high(x, y);", "high[g] = high[g].add_low(x, y);"),
    ("ntt/src/engine/loops.rs", "{ m.p.sub(product) }", "{ m.p.add(product) }"),
    ("ntt/src/engine/loops.rs", "reduce(sum.add(W::load(out)), m.p8)", "sum.add(W::load(out))"),
    ("ntt/src/primes.rs", "1 << (LOG_ORDER - 2 - level)", "1 << (LOG_ORDER - 1 - level)"),
    ("threshold/src/lagrange.rs", "i128::from(j) - i128::from(i)).product();", "i128::from(i) - i128::from(j)).product();"),
    ("threshold/src/combine.rs", ".map(|one| 2 * one)", ".map(|one| 1 * one)"),
    ("threshold/src/combine.rs", "inverse(key.root(), 2 * factorial(", "inverse(key.root(), 1 * factorial("),
    ("paillier/src/key/subgroup.rs", "product_in(prime, &[2], limbs_of(", "product_in(prime, &[1], limbs_of("),
    ("bfv/src/noise.rs", "FRESH_PRIVATE: u128 = MAX_ERROR as u128 + 1;", "FRESH_PRIVATE: u128 = MAX_ERROR as u128 + 0;"),
    ("bfv/src/noise.rs", "square.isqrt() + 2", "square.isqrt() + 1"),
    ("bfv/src/noise.rs", "(1_u128 << half) - (1 << (half - 16))", "(1_u128 << half) - (1 << (half - 49))"),
    ("bfv/src/random.rs", "(1 << (2 * MAX_ERROR)) - 1;", "(1 << (3 * MAX_ERROR)) - 1;"),
    ("arith/src/constants.rs", "const MOST_BITS: u32 = 16384;", "const MOST_BITS: u32 = 16640;"),
]  # fmt: skip


def theorems():
    """Returns the main theorems.

    Maps theorem name and Coq file to the Rust code that the comment above the theorem names: crate,
    end of the path, and functions. Paths without a crate belong to `hearith-arith`; semicolons
    separate files.
    """
    found = {}
    place = r"[\w/]+\.rs: \w+(?:, \w+)*"
    pattern = re.compile(rf"\(\* ({place}(?:; {place})*)(?:\.[^*]*)? \*\)\s*Theorem (\w+)")
    for path in sorted(COQ.glob("*.v")):
        for places, theorem in pattern.findall(path.read_text()):
            named = found.setdefault((path.name, theorem), [])
            for part in places.split("; "):
                file, functions = part.split(".rs: ")
                crate, _, rest = file.partition("/")
                crate, rest = (crate, rest) if crate in NAMED and rest else ("arith", file)
                named.append((crate, rest, functions.split(", ")))
    return found


def is_file(path, end):
    """Whether a path below a crate's sources, without its extension, ends in these names."""
    return f"/{path.with_suffix('').as_posix()}".endswith(f"/{end}")


def check_names():
    """Returns the faults in the names of theorems and functions."""
    known, wrong = theorems(), []
    rust = {
        (crate, path.relative_to(CRATES / crate / "src")): path.read_text()
        for crate in NAMED
        for path in sorted((CRATES / crate / "src").rglob("*.rs"))
    }
    for module, theorem in all_theorems():
        if (f"{module}.v", theorem) not in known:
            wrong.append(f"{module}.v: {theorem} names no function in the comment above it")
    for (path, theorem), files in known.items():
        for crate, file, functions in files:
            texts = [text for (other, name), text in rust.items() if other == crate and is_file(name, file)]
            for function in functions:
                if not any(re.search(rf"\bfn {function}\b", text) for text in texts):
                    wrong.append(f"{path}: {theorem} names {function} in {crate}/{file}.rs, which is not there")
                elif not any(theorem in notes(text, function, path) for text in texts):
                    wrong.append(
                        f'{crate}/{file}.rs: {function} lacks the note "Proved: `{theorem}` in formal/coq/{path}."'
                    )
    for (crate, name), text in rust.items():
        for theorem, path in re.findall(NOTE, text):
            if not any(other == crate and is_file(name, file) for other, file, _ in known.get((path, theorem), [])):
                wrong.append(f"{crate}: {name}: formal/coq/{path} has no theorem {theorem} that names a function here")
    return wrong


def notes(text, function, path):
    """Returns the theorems of a Coq file that the comment of a function names."""
    found = []
    for match in re.finditer(
        rf"^((?:[ ]*(?://|#\[)[^\n]*\n)+)[ ]*(?:pub(?:\([a-z]+\))? )?(?:const )?fn {function}\b", text, re.MULTILINE
    ):
        found += [theorem for theorem, file in re.findall(NOTE, match.group(1)) if file == path]
    return found


class OutOfTime(Exception):
    """Coq has neither proved nor failed within the time limit."""


def run(command, folder, seconds):
    """Runs a command with a time limit. Returns its output if it fails, else nothing.

    # Errors
    `OutOfTime`, after killing the command and its children.
    """
    with subprocess.Popen(
        command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise OutOfTime(f"{command[0]} took more than {seconds:.0f} seconds") from None
    return (output.strip() or f"{command[0]} failed") if process.returncode else ""


def build(sources, folder, seconds):
    """Translates and proves in a copy with a time limit; returns the output of a failure, or
    nothing.

    # Errors
    `OutOfTime`.
    """
    coq, new, generated = folder / "coq", folder / "new", folder / "generated"
    try:
        command = [sys.executable, str(COQ / "translate.py"), str(sources), str(new)]
        subprocess.run(command, capture_output=True, text=True, check=True)
    except subprocess.CalledProcessError as error:
        return error.stderr.strip()
    # Unchanged files keep their timestamps, so their compiled files stay valid.
    generated.mkdir(exist_ok=True)
    for path in new.iterdir():
        if not (generated / path.name).exists() or (generated / path.name).read_text() != path.read_text():
            shutil.copyfile(path, generated / path.name)
    commands = [
        ["coq_makefile", "-f", "_CoqProject", "-o", "CoqMakefile"],
        ["make", "--silent", "--jobs=2", "-f", "CoqMakefile"],
    ]
    return next(filter(None, (run(command, coq, seconds) for command in commands)), "")


def copy_of_proofs(folder):
    """Copies the sources of the proofs into a separate folder."""
    (folder / "coq").mkdir(parents=True)
    for path in [*COQ.glob("*.v"), COQ / "_CoqProject"]:
        shutil.copy(path, folder / "coq")


def all_theorems():
    """Returns every theorem as module and name."""
    for path in sorted(COQ.glob("*.v")):
        for name in re.findall(r"^Theorem (\w+)", path.read_text(), re.MULTILINE):
            yield path.stem, name


def coq(text, folder):
    """Returns the output of Coq for a file next to the proofs. Several may run at a time."""
    with tempfile.NamedTemporaryFile("w", dir=folder / "coq", prefix="query_", suffix=".v", delete=False) as file:
        file.write(text)
    command = ["coqc", "-q", *FLAGS, Path(file.name).name]
    return subprocess.run(command, cwd=folder / "coq", capture_output=True, text=True, check=True).stdout


def assumptions(folder):
    """Prints what each theorem assumes and returns those with an assumption that is not allowed.

    Coq goes through all proofs below a theorem each time. So it is asked for all theorems at once,
    and for each only if they assume anything.
    """
    names = [f"{module}.{name}" for module, name in all_theorems()]
    modules = sorted({name.split(".")[0] for name in names})
    wrong = []
    head = "".join(f"From Arith Require {module}.\n" for module in modules)
    all_of_them = "".join(f"let _ := @Arith.{name} in\n" for name in names)
    together = coq(f"{head}Definition together := {all_of_them}I.\nPrint Assumptions together.\n", folder)
    if together.split() == CLOSED.split():
        for name in names:
            print(f"{name}: {CLOSED}")
        return []
    mark = 'Goal True. idtac "----". Abort.\n'
    output = coq(head + "".join(f"{mark}Print Assumptions Arith.{name}.\n" for name in names), folder)
    for name, part in zip(names, output.split("----")[1:], strict=True):
        print(f"{name}: {' '.join(part.split())}")
        if CLOSED not in part and name not in ALLOWED:
            wrong.append(name)
    return wrong


def numbers():
    """Yields pseudo-random words with many zeros and ones."""
    state = 0x48454152495448
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        kind = state >> 61
        yield {0: 0, 1: 2**64 - 1, 2: 1}.get(kind, (state * 0x9E3779B97F4A7C15 ^ state >> 29) % 2**64)


def drawing(words):
    """Returns a function that draws a number of k words from a generator."""
    return lambda k: sum(next(words) << 64 * i for i in range(k))


def operands():
    """Yields moduli with boundary and other factors: limbs, modulus, -m^-1, first and second factor
    as dual residues.
    """
    number = drawing(numbers())
    for k in (1, 2, 3, 5):
        least = (1 << 64 * (k - 1)) + 2 if k > 1 else 3
        for m in ((1 << 64 * k) - 1, least | 1, number(k) | 1 << (64 * k - 1) | 1):
            inverse = -pow(m, -1, 2**64) % 2**64
            most = (1 << 64 * k) - 1
            pairs = [((most, m), (m - 1, m - 1)), ((0, 0), (m - 1, 0))]
            pairs += [((number(k), number(k) % m), (number(k) % m, number(k) % m)) for _ in range(2)]
            for a, b in pairs:
                yield k, m, inverse, a, b


def limbs(number, k):
    """Returns a number's limbs."""
    return [number >> 64 * i & (2**64 - 1) for i in range(k)]


def vectors(folder):
    """Returns the results of the translated functions, computed by Coq: a line for each call."""
    calls, lines = [], []
    for k, m, inverse, a, b in operands():
        dual = [*limbs(a[0], k), *limbs(a[1], k)], [*limbs(b[0], k), *limbs(b[1], k)]
        for name, factors, out, scratch in (
            ("mul_body", [x[:k] for x in dual], k, 2 * k),
            ("dual_mul_body", dual, 2 * k, 4 * k),
            ("sqr_body", [dual[1][:k]] * 2, k, 2 * k),
            ("dual_sqr_body", [dual[1]] * 2, 2 * k, 4 * k),
        ):
            passed = factors[:1] if "sqr" in name else factors
            lists = [f"[{'; '.join(map(str, x))}]" for x in (*passed, limbs(m, k))]
            calls.append(f"{name} {k} (repeat 0 {out}) {' '.join(lists)} {inverse} (repeat 0 {scratch})")
            lines.append((name, k, inverse, limbs(m, k), *factors))
    text = "From Arith Require Import squares.\n" + "".join(
        f"Eval vm_compute in (let '(out, scratch) := {call} in out ++ scratch).\n" for call in calls
    )
    results = re.findall(r"= \[(.*?)\]\s*: list Z", coq(text, folder), re.DOTALL)
    found = ["# Translated from the Rust source and computed by Coq: scripts/prove_arithmetic.py --update",
             "# function, limbs, -m^-1: m, a, b, out, scratch"]  # fmt: skip
    for (name, k, inverse, *lists), result in zip(lines, results, strict=True):
        flat = [int(word) for word in result.split(";")]
        out = 2 * k if name.startswith("dual") else k
        parts = [" ".join(f"{word:x}" for word in part) for part in (*lists, flat[:out], flat[out:])]
        found.append(f"{name} {k} {inverse:x}: {', '.join(parts)}")
    return "\n".join(found) + "\n"


def singles(folder):
    """Returns products with a reciprocal, computed by Coq: a line for each call."""
    number, calls, rows = drawing(numbers()), [], []
    for d in (2, 3, 5, 6):
        top = 64 * (d - 1)
        for m in ((1 << 64 * d) - 1, (4 << top) + 1, number(d) | 1 << (64 * d - 1) | 1, number(d - 1) | 5 << top | 1):
            most = (1 << 64 * d) - 1
            for x, y in ((most, most), (m - 1, m - 1), (0, most), (number(d), number(d)), (number(d) % m, 1)):
                lists = [limbs(x, d), limbs(y, d), limbs(m, d), limbs((1 << 128 * d) // m, d + 1)]
                zeros = f"(repeat 0 {d})", f"(repeat 0 {4 * d + 2})"
                call = f"product_body {zeros[0]} {' '.join(map(coq_list, lists))} {zeros[1]}"
                calls.append(f"let '(out, space) := {call} in out ++ space")
                rows.append(("product_body", *lists))
    results = evaluated("words single", calls, folder)
    return table(
        [(*row, result[: len(row[1])], result[len(row[1]) :]) for row, result in zip(rows, results, strict=True)]
    )


def bases():
    """Returns lists of pairwise coprime moduli: the smallest, powers of two, the largest, and a
    base large enough that its numbers take more than one piece.
    """
    words = numbers()
    many = [2**60 - 1]
    while len(many) < 18:
        modulus = next(words) >> 4 | 1
        if modulus > 1 and all(math.gcd(modulus, other) == 1 for other in many):
            many.append(modulus)
    return [[2], [5, 8], [2**59, 3**37, 2**60 - 93], many]


def conversions(folder):
    """Converts residues and numbers by the models in residues.v: a line for each number."""
    words, calls, lines = numbers(), [], []
    for moduli in bases():
        product = math.prod(moduli)
        k = -(-product.bit_length() // 64)
        for number in (0, product - 1, *(sum(next(words) << 64 * i for i in range(k + 1)) % product for _ in range(3))):
            row = coq_list(limbs(number, k))
            powers = [coq_list([2 ** (64 * i) % q for i in range(k)]) for q in moduli]
            residues = "; ".join(f"residue {q} {of} {row}" for q, of in zip(moduli, powers, strict=True))
            members = "; ".join(
                f"(Modulus {q} {coq_list(limbs(product // q, k))} {pow(product // q, -1, q)}, {number % q})"
                for q in moduli
            )
            calls.append(f"[{residues}] ++ number {coq_list(limbs(product, k))} [{members}]")
            lines.append(moduli)
    text = "From Arith Require Import residues.\n" + "".join(f"Eval vm_compute in ({call}).\n" for call in calls)
    results = re.findall(r"= \[(.*?)\]\s*: list Z", coq(text, folder), re.DOTALL)
    found = ["# Computed by Coq: scripts/prove_arithmetic.py --update", "# moduli, residues, number"]
    for moduli, result in zip(lines, results, strict=True):
        flat = [int(word) for word in result.split(";")]
        parts = (moduli, flat[: len(moduli)], flat[len(moduli) :])
        found.append(", ".join(" ".join(f"{word:x}" for word in part) for part in parts))
    return "\n".join(found) + "\n"


def evaluated(module, calls, folder):
    """Returns the lists of numbers that Coq computes for these calls."""
    text = f"From Arith Require Import {module}.\n" + "".join(f"Eval vm_compute in ({call}).\n" for call in calls)
    found = re.findall(r"= \[(.*?)\]\s*: list Z", coq(text, folder), re.DOTALL)
    return [[int(word) for word in result.split(";")] for result in found]


def table(rows):
    """Returns lines of names and lists of words."""
    head = ["# Translated from the Rust source and computed by Coq: scripts/prove_arithmetic.py --update"]
    lines = [f"{name}: {', '.join(' '.join(f'{word:x}' for word in part) for part in parts)}" for name, *parts in rows]
    return "\n".join(head + lines) + "\n"


def pairs(bound, words):
    """Returns eight pairs of numbers below a bound: the ends, and random ones."""
    ends = [(0, 0), (bound - 1, bound - 1), (0, bound - 1), (bound - 1, 0)]
    return ends + [(next(words) % bound, next(words) % bound) for _ in range(4)]


def lattice(folder):
    """Returns steps and whole transforms of the lattice scheme: a line for eight lanes or 64
    coefficients.
    """
    words, calls, rows = numbers(), [], []

    def lanes(name, of_lane, q, constant, operands):
        """Adds one function in eight lanes: Coq's call of the lane (x, y)."""
        lists = [coq_list(column) for column in zip(*operands, strict=True)]
        calls.append(f"let f := fun x y => {of_lane} in flat_map (fun '(x, y) => f x y) (combine {' '.join(lists)})")
        rows.append((name, [q, *constant], *map(list, zip(*operands, strict=True))))

    for q in (1125899904679937, 1125899901665281):
        prime, inverse = f"(of_prime {q})", pow(q, -1, 2**52)
        for w in (1, q - 1, *(next(words) % q for _ in range(2))):
            constant = f"(constant {q} {w})"
            pair = f"(let '(s, d) := butterfly {prime} x y {constant} in [s; d])"
            lanes("forward", pair, q, [w], pairs(4 * q, words))
            back = f"(let '(s, d) := back {prime} x y {constant} in map (fun v => scale {prime} v {constant}) [s; d])"
            lanes("inverse", back, q, [w], pairs(2 * q, words))
            lanes("scale", f"[scale {prime} x {constant}]", q, [w], [(x, 0) for x, _ in pairs(2**52, words)])
        for start in (0, q - 1):
            product = f"[multiply_add {prime} 0 {inverse} {start} x y]"
            lanes("multiply_add", product, q, [start, inverse], pairs(q, words))
        lanes("add", f"[add_residues {q} x y]", q, [], pairs(q, words))
        lanes("subtract", f"[subtract_residues {q} x y]", q, [], pairs(q, words))
        small = [(x, (y - q // 2) % 2**64) for x, y in pairs(q, words)]
        lanes("add_small", f"[add_small {q} x y]", q, [], small)
        # A root of order 128, as in the table of 64 coefficients.
        root = next(r for r in (pow(x, (q - 1) // 128, q) for x in range(2, q)) if pow(r, 64, q) == q - 1)
        back = pow(root, -1, q)
        values = [q - 1 if next(words) % 4 == 0 else next(words) % q for _ in range(64)]
        # All powers of a root, once each.
        powers = f"let powers := map (fun node => constant {q} (power_of {q} %s 6 node)) (seq 0 64) in"
        steps = "(fun node => nth node powers (0, 0))"
        whole = f"map (reduced {prime}) (forward (step {q} {steps}) 6 1 {coq_list(values)})"
        calls.append(f"{powers % root} {whole} ++ map fst powers")
        rows.append(("transform", [q], values))
        undone = f"inverse (back_step {q} {steps}) 6 1 {coq_list(values)}"
        calls.append(f"{powers % back} map (fun v => scale {prime} v (constant {q} {pow(64, -1, q)})) ({undone})")
        rows.append(("back", [q], values))
    results = evaluated("words convolutions", calls, folder)
    return table([(*row, result) for row, result in zip(rows, results, strict=True)])


def transforms(folder):
    """Returns butterflies of long multiplication: a line for the eight primes, one per lane."""
    words, calls, rows = numbers(), [], []
    primes = [2**48 - (c << 24) + 1 for c in (40, 45, 46, 61, 84, 88, 99, 103)]
    for name, count, bound in (("forward2", 2, 12), ("forward4", 4, 12), ("inverse2", 2, 4), ("inverse4", 4, 4)):
        for kind in range(8):
            kinds = [kind * 5 // (1 + i) % 3 for i in range(count)]
            # Zero, the largest number, or a random one.
            operands = [[(0, bound * p - 1, next(words) % (bound * p))[of] for of in kinds] for p in primes]
            roots = [
                [(1, p - 1, next(words) % p)[(kind + i) % 3] for i in range(3 if count == 4 else 1)] for p in primes
            ]
            parts = []
            for p, xs, ws in zip(primes, operands, roots, strict=True):
                values = [w * 2**52 % p for w in ws]
                factors = " ".join(f"(Factor {v} {v * pow(p, -1, 2**52) % 2**52})" for v in values)
                ys = " ".join(map(str, xs))
                names = ["a", "b", "c", "d"][:count]
                parts.append(
                    f"(let '({', '.join(names)}) := {name} {factors} (multiples {p}) {ys} in [{'; '.join(names)}])"
                )
            calls.append(" ++ ".join(parts))
            rows.append((name, *map(list, zip(*roots, strict=True)), *map(list, zip(*operands, strict=True))))
    results = evaluated("words butterflies", calls, folder)
    return table([(*row, result) for row, result in zip(rows, results, strict=True)])


def coq_list(words):
    """Writes a list of numbers in Coq."""
    return f"[{'; '.join(map(str, words))}]"


def mutants(proved, seconds):
    """Plants each mistake in turn, starting from the compiled proofs of the correct source; returns
    those that no proof finds, and those for which Coq ran out of time.
    """
    survivors, undecided = [], []
    for rust, right, planted in MUTANTS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for crate in NAMED:
                shutil.copytree(CRATES / crate / "src", folder / "crates" / crate / "src")
            text = (folder / "crates" / rust).read_text()
            if right not in text:
                sys.exit(f"prove-arithmetic: {rust} has no {right!r} to plant a mistake in")
            (folder / "crates" / rust).write_text(text.replace(right, planted))
            for part in ("coq", "generated"):
                shutil.copytree(proved / part, folder / part)
            mistake = f"{rust}: {planted.strip()!r}"
            try:
                failure = build(folder / "crates", folder, seconds)
            except OutOfTime as error:
                undecided.append(f"{mistake}: {error}")
                print(f"undecided: {undecided[-1]}", flush=True)
                continue
        if failure:
            lines = [line for line in failure.splitlines() if "Error" in line or "File" in line or "translate" in line]
            print(f"found: {mistake}: {' '.join(lines[:2]) or failure.splitlines()[0]}", flush=True)
        else:
            survivors.append(mistake)
            print(f"NOT found: {mistake}", flush=True)
    found = len(MUTANTS) - len(survivors) - len(undecided)
    print(f"mistakes: {found} found, {len(survivors)} not found, {len(undecided)} undecided")
    return survivors, undecided


def main(arguments):
    """Runs the checks that the arguments select."""
    wrong = check_names()
    if wrong:
        sys.exit("prove-arithmetic: " + "\nprove-arithmetic: ".join(wrong))
    if "--check" in arguments:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_of_proofs(folder)
        start = time.monotonic()
        try:
            failure = build(CRATES, folder, MOST_SECONDS)
        except OutOfTime as error:
            sys.exit(f"prove-arithmetic: {error}")
        took = time.monotonic() - start
        if failure:
            sys.exit(f"prove-arithmetic: a proof fails:\n{failure}")
        # As many at a time as files are proved.
        with ThreadPoolExecutor(2) as pool:
            parts = {LATTICE: lattice, PRODUCTS: vectors, SINGLE: singles}
            parts |= {CONVERSIONS: conversions, TRANSFORMS: transforms}
            wrong, *texts = pool.map(lambda part: part(folder), (assumptions, *parts.values()))
        if wrong:
            sys.exit(f"prove-arithmetic: these theorems assume something: {', '.join(wrong)}")
        found = dict(zip(parts, texts, strict=True))
        survivors, undecided = mutants(folder, 2 * took) if "--mutants" in arguments else ([], [])
    for path, text in found.items():
        if "--update" in arguments:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(
                f"prove-arithmetic: {path.relative_to(ROOT)} is not up to date: scripts/prove_arithmetic.py --update"
            )
    if survivors:
        sys.exit("prove-arithmetic: no proof finds these mistakes:\n" + "\n".join(survivors))
    if undecided:
        sys.exit("prove-arithmetic: Coq ran out of time, which finds nothing:\n" + "\n".join(undecided))
    print("prove-arithmetic: passed")


if __name__ == "__main__":
    main(sys.argv[1:])
