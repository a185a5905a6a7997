(* crates/arith/src/barrett.rs: the quotient from the upper half of a product and a reciprocal. *)
From Coq Require Import ZArith Lia.
From Generated Require avx2_constants ifma_constants.
From Generated Require Import barrett_digits.
Open Scope Z_scope.

Section Barrett.
(* A limb's bound b, d limbs of the modulus, and b^(d-1). *)
Variables b low m x y t mu dropped : Z.
Hypothesis Hb : 4 <= b.
Hypothesis Hlow : 1 <= low.
(* digits: three bits or more in the highest limb, and factors that are one bit shorter than d limbs. *)
Hypothesis Hm : 2 ^ HIGHEST * low <= m < b * low.
Hypothesis Hx : 0 <= x /\ 2 * x <= b * low.
Hypothesis Hy : 0 <= y /\ 2 * y <= b * low.
Hypothesis Ht : t = x * y.
Hypothesis Hmu : mu = b * low * (b * low) / m.
(* What product_from leaves out below column d - 1. *)
Hypothesis Hdropped : 0 <= dropped /\ 4 * dropped < b * (b * low).

(* barrett.rs: mul; ifma/alone.rs: products *)
Theorem barrett_quotient : 0 <= dropped <= t / low * mu ->
  let q := (t / low * mu - dropped) / (b * (b * low)) in 0 <= t - q * m < 2 * m.
Proof.
  intros Hd q. unfold HIGHEST in Hm. change (2 ^ 2) with 4 in Hm.
  pose proof (Z.div_mod t low ltac:(lia)) as D1. pose proof (Z.mod_pos_bound t low ltac:(lia)) as M1.
  pose proof (Z.div_mod (b * low * (b * low)) m ltac:(lia)) as D2.
  pose proof (Z.mod_pos_bound (b * low * (b * low)) m ltac:(lia)) as M2. rewrite <- Hmu in D2.
  set (u := t / low) in *. set (v := t mod low) in *. set (w := (b * low * (b * low)) mod m) in *.
  set (W := b * (b * low)) in *. assert (PW : 0 < W) by (unfold W; apply Z.mul_pos_pos; lia).
  pose proof (Z.div_mod (u * mu - dropped) W ltac:(lia)) as D3.
  pose proof (Z.mod_pos_bound (u * mu - dropped) W PW) as M3. fold q in D3.
  set (z := (u * mu - dropped) mod W) in *.
  assert (T0 : 0 <= t) by (subst t; apply Z.mul_nonneg_nonneg; lia).
  assert (U0 : 0 <= u) by (apply Z.div_pos; lia).
  assert (MU0 : 0 <= mu) by (subst mu; apply Z.div_pos; lia).
  assert (T4 : 4 * t <= b * low * (b * low)).
  { subst t. replace (4 * (x * y)) with (2 * x * (2 * y)) by ring. apply Z.mul_le_mono_nonneg; lia. }
  clearbody u v w z q.
  (* t b^(2d) = (u low + v) (mu m + w). *)
  assert (WL : W * low = b * low * (b * low)) by (unfold W; ring).
  rewrite <- WL in D2, T4.
  (* q W <= u mu, and u mu m <= u W low <= W t. *)
  assert (A : u * mu * m <= W * t).
  { assert (u * (m * mu) <= u * (W * low)) by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (W * (low * u) <= W * t) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
  assert (Q : q * W <= u * mu) by lia.
  assert (L : q * m <= t).
  { apply Z.mul_le_mono_pos_l with W; [exact PW|].
    assert (q * W * m <= u * mu * m) by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
  (* 4 W (t - q m) < 7 W m. *)
  assert (H1 : 4 * W * v <= W * m).
  { replace (4 * W * v) with (W * (4 * v)) by ring. apply Z.mul_le_mono_nonneg_l; lia. }
  assert (H2 : 4 * u * w <= W * m).
  { assert (4 * (u * low) <= W * low) by lia.
    assert (4 * u <= W) by (apply Z.mul_le_mono_pos_r with low; lia).
    assert (4 * u * w <= W * w) by (apply Z.mul_le_mono_nonneg_r; lia).
    assert (W * w <= W * m) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
  assert (H3 : 4 * dropped * m <= W * m) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (H4 : z * m <= (W - 1) * m) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (E : W * (t - q * m) = W * v + u * w + dropped * m + z * m).
  { assert (X1 : W * t = W * (low * u) + W * v) by (rewrite D1 at 1; ring).
    assert (X2 : u * (W * low) = u * (m * mu + w)) by (f_equal; exact D2).
    assert (X3 : (u * mu - dropped) * m = (W * q + z) * m) by (f_equal; exact D3). lia. }
  split; [lia|]. apply Z.mul_lt_mono_pos_l with (4 * W); lia.
Qed.
End Barrett.

(* barrett.rs: mul; ifma/alone.rs: products. What is left out are at most 2 k products of limbs below b^2, at most in column d - 2, below b^d each:
   with 586 limbs of 28 bits or 320 of 52 that is far below a quarter of b^(d+1). *)
Theorem barrett_dropped k low dropped b : b = 2 ^ avx2_constants.RADIX \/ b = 2 ^ ifma_constants.RADIX ->
  0 <= k <= 600 -> 1 <= low -> 0 <= dropped <= 2 * k * (b * low) -> 4 * dropped < b * (b * low).
Proof.
  unfold avx2_constants.RADIX, ifma_constants.RADIX.
  change (2 ^ 28) with 268435456. change (2 ^ 52) with 4503599627370496. intros Hb Hk Hl H.
  assert (2 * k * (b * low) <= 1200 * (b * low)) by (apply Z.mul_le_mono_nonneg_r; [destruct Hb; subst b; lia|lia]).
  destruct Hb; subst b; lia.
Qed.
