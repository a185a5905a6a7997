(* crates/arith/src/backend/avx2.rs and avx2/blocks.rs: columns of products of 28-bit limbs fit into 64 bits. The
   constants are those of the Rust source. *)
From Coq Require Import ZArith Lia.
From Generated Require Import avx2_constants.
Open Scope Z_scope.

(* The largest product of two limbs. *)
Definition PRODUCT := (2 ^ RADIX - 1) * (2 ^ RADIX - 1).
(* What carry_once leaves in a column at most. *)
Definition CARRIED := 2 ^ 36 + 2 ^ 28.

(* It carries where the products held would exceed ROOM. *)
Definition make_room (held more : Z) := (if ROOM <? held + more then 0 else held) + more.

(* blocks.rs: make_room *)
Theorem make_room_correct held more : 0 <= held -> 0 <= more <= 2 * BLOCK -> 0 <= make_room held more <= ROOM.
Proof.
  unfold make_room. intros. destruct (Z.ltb_spec ROOM (held + more)); unfold ROOM, BLOCK in *; lia.
Qed.

(* blocks.rs: add_product. A column holds its start or what carry_once left, at most ROOM products, a digit and the carry from below. *)
Theorem column_fits start held products digit carry : 0 <= start <= CARRIED -> 0 <= held <= ROOM ->
  0 <= products <= held * PRODUCT -> 0 <= digit < 2 ^ RADIX -> 0 <= carry < 2 ^ (64 - RADIX) ->
  0 <= start + products + digit + carry < 2 ^ 64.
Proof.
  unfold CARRIED, ROOM, PRODUCT, RADIX. intros.
  change (2 ^ 36) with 68719476736 in *. change (2 ^ 28) with 268435456 in *.
  change (2 ^ (64 - 28)) with 68719476736 in *. change (2 ^ 64) with 18446744073709551616 in *. lia.
Qed.

(* blocks.rs: carry_once *)
Theorem carry_once_fits value below : 0 <= value < 2 ^ 64 -> 0 <= below < 2 ^ 64 ->
  0 <= value mod 2 ^ RADIX + below / 2 ^ RADIX <= CARRIED.
Proof.
  unfold CARRIED, RADIX. intros. pose proof (Z.mod_pos_bound value (2 ^ 28) ltac:(lia)).
  assert (below / 2 ^ 28 < 2 ^ 36) by (apply Z.div_lt_upper_bound; lia).
  assert (0 <= below / 2 ^ 28) by (apply Z.div_pos; lia). lia.
Qed.

(* blocks.rs: square. vpmuludq reads 32 bits: a limb, twice a limb. *)
Theorem factors_fit limb : 0 <= limb < 2 ^ RADIX -> 2 * limb < 2 ^ 32.
Proof. unfold RADIX. intros. change (2 ^ 32) with (16 * 2 ^ 28). lia. Qed.

(* avx2.rs: limbs. R has SPARE bits more than the modulus, so 256 m <= R as lazy.v needs. *)
Theorem spare_bits bits k m : 0 <= bits -> 0 < m < 2 ^ bits -> bits + SPARE <= RADIX * k -> 256 * m <= 2 ^ (RADIX * k).
Proof.
  unfold SPARE, RADIX. intros Hb Hm Hk.
  assert (2 ^ (bits + 28) <= 2 ^ (28 * k)) by (apply Z.pow_le_mono_r; lia).
  rewrite Z.pow_add_r in H by lia. change (2 ^ 28) with 268435456 in H. lia.
Qed.
