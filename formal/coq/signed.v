(* Words of 32 bits and signed words of 128 bits wrap, too. *)
From Arith Require Import words.

Notation HALF := 170141183460469231731687303715884105728.
Definition sub32 (x y : Z) := (x - y) mod 4294967296.
Definition signed128 (x : Z) := (x + HALF) mod B2 - HALF.
Definition addi128 (x y : Z) := signed128 (x + y).
Definition subi128 (x y : Z) := signed128 (x - y).
Definition muli128 (x y : Z) := signed128 (x * y).

Lemma signed128_small x : - HALF <= x < HALF -> signed128 x = x.
Proof. intros. unfold signed128. rewrite Z.mod_small by lia. lia. Qed.

(* Bits side by side. *)
Lemma lor_add x y k : 0 <= k -> 0 <= x < 2 ^ k -> Z.lor (y * 2 ^ k) x = y * 2 ^ k + x.
Proof.
  intros Hk Hx. assert (L : Z.land (y * 2 ^ k) x = 0).
  { apply Z.bits_inj'. intros n Hn. rewrite Z.land_spec, Z.bits_0.
    destruct (Z_lt_le_dec n k).
    - rewrite Z.mul_pow2_bits_low by lia. reflexivity.
    - rewrite <- (Z.mod_small x (2 ^ k)) by lia. rewrite Z.mod_pow2_bits_high by lia. apply Bool.andb_false_r. }
  rewrite <- Z.lxor_lor, <- Z.add_nocarry_lxor by exact L. reflexivity.
Qed.
