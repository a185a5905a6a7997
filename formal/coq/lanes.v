(* One lane of a vector: what IFMA's products add to a word, and Rust's portable words beside them. *)
From Arith Require Import words.

(* 2^52: half of the bits of a product. *)
Notation D := 4503599627370496.
Definition add_low (s a b : Z) := (s + (a * b) mod D) mod B.
Definition add_high (s a b : Z) := (s + (a mod D) * (b mod D) / D) mod B.

Lemma low_range x : 0 <= x mod D < D.
Proof. apply Z.mod_pos_bound. lia. Qed.

Lemma high_range a b : 0 <= a < D -> 0 <= b < D -> 0 <= a * b / D < D.
Proof.
  intros Ha Hb. assert (0 <= a * b) by (apply Z.mul_nonneg_nonneg; lia).
  split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; [lia|]. apply Z.mul_lt_mono_nonneg; lia.
Qed.

Lemma halves x : x = D * (x / D) + x mod D.
Proof. apply Z.div_mod. lia. Qed.

(* Masks, and the two words of 32 bits of a lane. *)
Definition test_mask (x y : Z) := if Z.land x y =? 0 then 0 else 1.
Definition maskz (k x : Z) := if k =? 0 then 0 else x.
Definition mul32 (a b : Z) := (a mod 4294967296) * (b mod 4294967296).
Definition by_halves (f : Z -> Z -> Z) (x y : Z) :=
  4294967296 * f (x / 4294967296) (y / 4294967296) + f (x mod 4294967296) (y mod 4294967296).
Definition sub32s := by_halves (fun x y => (x - y) mod 4294967296).
Definition min32s := by_halves Z.min.
(* Of masks only zeros and ones are modelled: others give no word. *)
Definition blend (a b mask : Z) := if mask =? 0 then a else if mask =? B - 1 then b else -1.
Definition andnot (a b : Z) := Z.land (not64 a) b.

(* Limbs of 28 bits. *)
Lemma land_limb x : Z.land x 268435455 = x mod 268435456.
Proof. change 268435455 with (Z.ones 28). rewrite Z.land_ones by lia. reflexivity. Qed.

(* A difference of limbs, and what is borrowed. *)
Lemma difference_correct limb x borrow : 0 <= limb < 268435456 -> 0 <= x < 268435456 -> 0 <= borrow <= 1 ->
  let d := sub64 (sub64 limb x) borrow in let next := shr d 63 in
  0 <= next <= 1 /\ 0 <= Z.land d 268435455 < 268435456 /\ limb - x - borrow = Z.land d 268435455 - 268435456 * next.
Proof.
  intros Hl Hx Hb. cbv zeta. rewrite land_limb. unfold sub64, shr. rewrite Zminus_mod_idemp_l. change (2 ^ 63) with 9223372036854775808.
  pose proof (Z.mod_pos_bound ((limb - x - borrow) mod B) 268435456 ltac:(lia)). split; [|split; [lia|]].
  - pose proof (Z.mod_pos_bound (limb - x - borrow) B ltac:(lia)). split; [apply Z.div_pos; lia|].
    enough ((limb - x - borrow) mod B / 9223372036854775808 < 2) by lia. apply Z.div_lt_upper_bound; lia.
  - destruct (Z_lt_le_dec (limb - x - borrow) 0) as [N|N].
    + assert (M : (limb - x - borrow) mod B = limb - x - borrow + B) by (symmetry; apply Z.mod_unique with (-1); lia).
      rewrite M. replace ((limb - x - borrow + B) / 9223372036854775808) with 1 by (apply Z.div_unique with (limb - x - borrow + 9223372036854775808); lia).
      replace ((limb - x - borrow + B) mod 268435456) with (limb - x - borrow + 268435456); [lia|]. apply Z.mod_unique with (B / 268435456 - 1); [lia|]. change (B / 268435456) with 68719476736. lia.
    + rewrite (Z.mod_small _ B) by lia. rewrite (Z.div_small _ 9223372036854775808), (Z.mod_small _ 268435456) by lia. lia.
Qed.
