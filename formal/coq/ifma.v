(* crates/arith/src/backend/ifma.rs: columns of halves of products of 52-bit limbs fit into 64 bits. The constants are
   those of the Rust source. *)
From Coq Require Import ZArith Lia.
From Generated Require Import ifma_constants.
Open Scope Z_scope.

(* As the kernel computes it. *)
Definition limbs (bits : Z) := ((bits + 8 + RADIX - 1) / RADIX + BLOCK - 1) / BLOCK * BLOCK.

Lemma limbs_spare bits : 0 <= bits -> bits + 8 <= RADIX * limbs bits.
Proof.
  unfold limbs, RADIX, BLOCK. intros.
  pose proof (Z.div_mod (bits + 8 + 52 - 1) 52 ltac:(lia)). pose proof (Z.mod_pos_bound (bits + 8 + 52 - 1) 52 ltac:(lia)).
  set (x := (bits + 8 + 52 - 1) / 52) in *.
  pose proof (Z.div_mod (x + 10 - 1) 10 ltac:(lia)). pose proof (Z.mod_pos_bound (x + 10 - 1) 10 ltac:(lia)). lia.
Qed.

(* ifma.rs: limbs *)
Theorem spare_bits bits m : 0 <= bits -> 0 < m < 2 ^ bits -> 256 * m <= 2 ^ (RADIX * limbs bits).
Proof.
  intros Hb Hm. pose proof (limbs_spare bits Hb) as H.
  assert (K : 2 ^ (bits + 8) <= 2 ^ (RADIX * limbs bits)) by (apply Z.pow_le_mono_r; lia).
  rewrite Z.pow_add_r in K by lia. change (2 ^ 8) with 256 in K. lia.
Qed.

(* ifma.rs: limbs *)
Theorem most_limbs : limbs MOST_BITS <= 320 /\ limbs (MOST_BITS / 2) <= 160.
Proof. vm_compute. split; discriminate. Qed.

(* blocks.rs: multiply_block. A column sums its start, [halves] halves of products and a carry; dual products have 6 k halves, plain ones 4 k. *)
Theorem column_fits k halves start sum carry : 0 <= k <= 320 -> 0 <= halves <= 6 * k -> 0 <= start < 2 ^ (RADIX + 1) ->
  0 <= sum <= halves * (2 ^ RADIX - 1) -> 0 <= carry < 2 ^ RADIX -> start + sum + carry < 2 ^ 63.
Proof.
  unfold RADIX. intros. change (2 ^ (52 + 1)) with (2 * 2 ^ 52) in *. change (2 ^ 63) with (2048 * 2 ^ 52).
  change (2 ^ 52) with 4503599627370496 in *. lia.
Qed.
