(* Every main theorem's premises hold for some numbers: no theorem is vacuous. *)
From Arith Require Import serial serial_dual squares bits doubling single.
From Arith Require avx2 ifma.

Ltac premise := first
  [ reflexivity | lia | unfold limbs, pair_word, word; cbn [fst snd]; repeat constructor; try lia; cbn; lia
  | split; [unfold word; lia | reflexivity] | vm_compute; reflexivity | vm_compute; intuition discriminate ].
Ltac example theorem := eapply theorem; try premise.

(* 3 + 2^64, and -3^-1 mod 2^64. *)
Definition m := [3; 1].
Definition n := 6148914691236517205.
Example odd : inverts n m. Proof. premise. Qed.

Example adc_example : let '(s, c) := adc (B - 1) (B - 1) 1 in word s /\ 0 <= c <= 2 /\ (1 <= 1 -> c <= 1) /\ s + B * c = B - 1 + (B - 1) + 1.
Proof. example adc_correct. Qed.
Example sbb_example : let '(s, c) := sbb 0 (B - 1) 1 in word s /\ 0 <= c <= 1 /\ s - B * c = 0 - (B - 1) - 1.
Proof. example sbb_correct. Qed.
Example mac_example : let '(l, h) := mac (B - 1) (B - 1) (B - 1) (B - 1) in
  word l /\ word h /\ l + B * h = B - 1 + (B - 1) * (B - 1) + (B - 1).
Proof. example mac_correct. Qed.
Example reduce_once_example : let '(s, r) := reduce_once [2; 2] 0 m in limbs r /\ length r = 2%nat /\
  val r = val [2; 2] + R 2 * 0 - s * val m /\ 0 <= val r < val m /\ (s = 0 \/ s = 1).
Proof. apply reduce_once_correct; premise. Qed.
Example mul_body_example : let '(r, _) := mul_body 2 [0; 0] [B - 1; B - 1] [2; 1] m n [0; 0; 0; 0] in
  limbs r /\ length r = 2%nat /\ 0 <= val r < val m /\ exists x, R 2 * val r = val [B - 1; B - 1] * val [2; 1] + x * val m.
Proof. apply mul_body_correct; premise. Qed.
Example reduce_example : let '(c, t) := reduce 2 [1; 2; 3; 4] m n in exists q w, t = q ++ w /\ limbs q /\ limbs w /\
  length q = 2%nat /\ length w = 2%nat /\ word c /\ R 2 * (val w + R 2 * c) = val [1; 2; 3; 4] + val q * val m.
Proof. apply reduce_correct; premise. Qed.
Example dual_mul_body_example :
  let '(r, _) := dual_mul_body 2 (repeat 0 4) ([B - 1; B - 1] ++ m) ([2; 1] ++ [2; 1]) m n (repeat 0 8) in
  exists low high, r = low ++ high /\ limbs low /\ limbs high /\ length low = 2%nat /\ length high = 2%nat /\
  0 <= val low < val m /\ 0 <= val high < val m /\
  exists x, (val [B - 1; B - 1] + val m * val m) * (val [2; 1] + val [2; 1] * val m) =
    R 2 * (val low + val high * val m) + x * (val m * val m).
Proof. apply dual_mul_body_correct; premise. Qed.
Example square_example : exists s, square 2 [7; 7; 7; 7; 7] [B - 1; B - 1] = s ++ [7] /\ limbs s /\
  length s = 4%nat /\ val s = val [B - 1; B - 1] * val [B - 1; B - 1].
Proof. apply (square_correct 2 [7; 7; 7; 7; 7]); premise. Qed.
Example sqr_body_example : let '(r, _) := sqr_body 2 [0; 0] [2; 1] m n [0; 0; 0; 0] in
  limbs r /\ length r = 2%nat /\ 0 <= val r < val m /\ exists x, R 2 * val r = val [2; 1] * val [2; 1] + x * val m.
Proof. apply sqr_body_correct; premise. Qed.
Example dual_sqr_body_example : let '(r, _) := dual_sqr_body 2 (repeat 0 4) ([2; 1] ++ [2; 1]) m n (repeat 0 8) in
  exists low high, r = low ++ high /\ limbs low /\ limbs high /\ length low = 2%nat /\ length high = 2%nat /\
  0 <= val low < val m /\ 0 <= val high < val m /\
  exists x, (val [2; 1] + val [2; 1] * val m) * (val [2; 1] + val [2; 1] * val m) =
    R 2 * (val low + val high * val m) + x * (val m * val m).
Proof. apply dual_sqr_body_correct; premise. Qed.
Example add_row_example : let '(c, r) := add_row (repeat (B - 1) 5) (repeat (B - 1) 5) (B - 1) in
  limbs r /\ length r = 5%nat /\ word c /\ val r + R 5 * c = val (repeat (B - 1) 5) + val (repeat (B - 1) 5) * (B - 1).
Proof. apply (add_row_correct (repeat (B - 1) 5)); premise. Qed.
(* 3 + 5 2^64 and its reciprocal. *)
Example product_body_example :
  let '(r, _) := product_body [0; 0] [B - 1; B - 1] [B - 1; B - 1] [3; 5] [6493253913945762168; 1475739525896764129; 3689348814741910323] (repeat 0 10) in
  limbs r /\ length r = 2%nat /\ val r = (val [B - 1; B - 1] * val [B - 1; B - 1]) mod val [3; 5].
Proof. apply product_body_correct; premise. Qed.
Example single_quotient_example : let q := (99 / 2 * (50 * 2 / 9) - 3) / 50 in 0 <= 99 - q * 9 < 3 * 9.
Proof. apply (single_quotient 2 50 9 99 (50 * 2 / 9) 3); premise. Qed.
Example add_example : let r := add 2 m [2; 1] [2; 1] in limbs r /\ length r = 2%nat /\
  (val r = val [2; 1] + val [2; 1] \/ val r = val [2; 1] + val [2; 1] - val m) /\ 0 <= val r < val m.
Proof. apply add_correct; premise. Qed.
Example add_chunk_example : exists low high, add_chunk 2 m ([2; 1] ++ [2; 1]) [B - 1; B - 1] = low ++ high /\
  limbs low /\ limbs high /\ length low = 2%nat /\ length high = 2%nat /\ val high <= val m /\
  val low + val high * val m = val [2; 1] + val [2; 1] * val m + val [B - 1; B - 1].
Proof. apply add_chunk_correct; premise. Qed.
Example make_room_example : 0 <= avx2.make_room 245 6 <= 250. Proof. apply (avx2.make_room_correct 245 6); vm_compute; intuition discriminate. Qed.
Example bits_at_example : bits_at [B - 1; 6] 60 8 = ((B - 1 + B * (6 + B * 0)) / 2 ^ 60) mod 2 ^ 8.
Proof. apply (bits_at_correct [B - 1; 6] 60 8); premise. Qed.
Example low_bits_example : low_bits 64 = 2 ^ 64 - 1. Proof. apply low_bits_correct. lia. Qed.
Example double_example : let '(s, r) := bits.double [2; 1] 1 m in limbs r /\ length r = 2%nat /\ 0 <= val r < val m /\
  0 <= s <= 1 /\ 2 * val [2; 1] + 1 = s * val m + val r.
Proof. apply double_correct; premise. Qed.
Example reciprocal_example : reciprocal 3735928559 = 2 ^ 63 / 3735928559. Proof. apply reciprocal_correct. lia. Qed.
(* Moduli of 65 bits, bit by bit, and of 129 bits, by their leading bits. *)
Example doubling_short : let '(_, _, prepared) := new m 65 in let '(q, r) := doubling.double m 65 prepared [2; 1] 24 5 in
  limbs r /\ length r = 2%nat /\ 0 <= val r < val m /\ 2 ^ 24 * val [2; 1] + 5 = q * val m + val r.
Proof. apply (doubling_correct m 65 [2; 1] 24 5); premise. Qed.
Example doubling_long : let '(_, _, prepared) := new [3; 0; 1] 129 in
  let '(q, r) := doubling.double [3; 0; 1] 129 prepared [2; 0; 1] 24 16777215 in
  limbs r /\ length r = 3%nat /\ 0 <= val r < val [3; 0; 1] /\ 2 ^ 24 * val [2; 0; 1] + 16777215 = q * val [3; 0; 1] + val r.
Proof. apply (doubling_correct [3; 0; 1] 129 [2; 0; 1] 24 16777215); premise. Qed.
