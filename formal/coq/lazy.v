(* crates/arith/src/backend/ifma.rs and avx2.rs: the ranges of lazily reduced residues. [q] are the quotient digits
   of a Montgomery reduction and [t], [v] what it leaves; the digits themselves are not proved here. *)
From Coq Require Import ZArith Lia.
Open Scope Z_scope.

Section Lazy.
Variables R m : Z.
Hypothesis Hm : 1 < m.
Hypothesis HR : 256 * m <= R.

(* ifma.rs: mul *)
Theorem lazy_low a b q t : 0 <= a < 2 * m -> 0 <= b < 2 * m -> 0 <= q < R -> a * b + q * m = R * t -> 0 <= t < 2 * m.
Proof. intros. assert (a * b <= 2 * m * (2 * m)) by nia. assert (4 * m * m <= R * m) by nia. nia. Qed.

(* ifma.rs: mul. The low part of what add_chunk makes is below R / 2. *)
Theorem lazy_chunk a b q t : 0 <= a -> 2 * a < R -> 0 <= b < 2 * m -> 0 <= q < R -> a * b + q * m = R * t -> 0 <= t < 2 * m.
Proof. intros. assert (2 * (a * b) <= R * (2 * m)) by nia. assert (a * b <= R * m) by nia. nia. Qed.

(* ifma.rs: sqr *)
Theorem lazy_sum_squared a q t : 0 <= a < 4 * m -> 0 <= q < R -> a * a + q * m = R * t -> 0 <= t < 2 * m.
Proof. intros. assert (a * a <= 16 * m * m) by nia. assert (16 * m * m <= R * m) by nia. nia. Qed.

(* ifma.rs: dual_mul *)
Theorem lazy_high a b c d Q q v : 0 <= a < 2 * m -> 0 <= c < 2 * m -> 0 <= b < 3 * m -> 0 <= d < 3 * m ->
  0 <= Q < R -> 0 <= q < R -> a * d + b * c + R * m - Q + q * m = R * v -> 0 <= v < 3 * m.
Proof.
  intros. assert (0 <= a * d <= 6 * m * m) by nia. assert (0 <= b * c <= 6 * m * m) by nia.
  assert (12 * m * m <= R * m) by nia. split; nia.
Qed.

(* ifma.rs: dual_mul *)
Theorem lazy_high_chunk a b c d Q q v : 0 <= a -> 2 * a < R -> 0 <= b < 3 * m -> 0 <= c < m -> 0 <= d < m ->
  0 <= Q < R -> 0 <= q < R -> a * d + b * c + R * m - Q + q * m = R * v -> 0 <= v < 3 * m.
Proof.
  intros. assert (2 * (a * d) <= R * m) by nia. assert (0 <= a * d) by nia. assert (0 <= b * c <= 3 * m * m) by nia.
  assert (3 * m * m * 2 <= R * m) by nia. split; nia.
Qed.
End Lazy.
