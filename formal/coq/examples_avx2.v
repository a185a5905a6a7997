(* Premises of the theorems about the AVX2 kernel's values hold for some numbers. *)
From Arith Require Import words lanes places columns avx2_values avx2_products.
From Arith Require avx2_limbs avx2_parts.
From Generated Require Import avx2_lanes.

(* The modulus 2^28 + 5 in two limbs; 5 inverse = -1 modulo 2^28. *)
Definition m := [5; 1].
Definition inverse := 53687091.
Definition R := E ^ Z.of_nat 2.
Ltac below_base := unfold all_below, m; repeat constructor; vm_compute; intuition discriminate.
Ltac computed := first [reflexivity | below_base | split; [below_base|reflexivity] | vm_compute; intuition discriminate].
Lemma inverse_correct : cong E (inverse * hd 0 m) (-1). Proof. exists 1. reflexivity. Qed.
Lemma modulus_example : modulus_of inverse m.
Proof.
  split; [below_base|]. split; [exists 1%nat; reflexivity|]. split; [vm_compute; intuition discriminate|].
  split; [exact inverse_correct|vm_compute; discriminate].
Qed.
Definition t := of_list [1; 2; 3; 0].
Lemma t_fits : fits 0 0 t. Proof. apply of_list_fits. below_base. Qed.

Example reduction_example : let '(s, q) := reduce inverse m t in length q = 2%nat /\ all_below E q /\ fits 2 2 s /\
  R * span (fst s) 2 2 = span (fst t) 0 4 + value q * value m.
Proof. apply (reduction_correct inverse m t); try apply modulus_example; try exact t_fits. Qed.
Example reduction_pair_example : let '(s, Q, u, q) := reduce_pair inverse m t t in
  length Q = 2%nat /\ all_below E Q /\ length q = 2%nat /\ all_below E q /\ fits 2 2 s /\ fits 2 2 u /\
  R * span (fst s) 2 2 = span (fst t) 0 4 + value Q * value m /\
  R * span (fst u) 2 2 = span (fst t) 0 4 + (R - 1 - value Q) + value q * value m.
Proof. apply (reduction_pair_correct inverse m t t); try apply modulus_example; try exact t_fits. Qed.
Example normalise_example : all_below E (normalise [E + 5; 7]) /\ length (normalise [E + 5; 7]) = 2%nat /\
  value (normalise [E + 5; 7]) = value [E + 5; 7].
Proof. apply normalise_correct; computed. Qed.
Example carry_example : all_below E (carry [E + 5; E - 1]) /\ length (carry [E + 5; E - 1]) = 2%nat /\
  value (carry [E + 5; E - 1]) = value [E + 5; E - 1] mod R.
Proof. apply carry_correct. computed. Qed.
Example start_high_example : all_below E (start_high m) /\ length (start_high m) = 4%nat /\ value (start_high m) = R * (value m - 1) + 1.
Proof. apply (start_high_correct inverse m inverse_correct). below_base. Qed.
Example multiply_example : fits 0 0 (multiplied [3; 1] [4; 1] t) /\
  span (fst (multiplied [3; 1] [4; 1] t)) 0 4 = span (fst t) 0 4 + value [3; 1] * value [4; 1].
Proof. apply (multiply_correct inverse m modulus_example [3; 1] [4; 1] t); try exact t_fits; computed. Qed.
Example multiply_twice_example : let s := add_blocks 2 (sizes 2) [3; 1] (map twice_lane [4; 1]) 0 t in
  fits 0 0 s /\ span (fst s) 0 4 = span (fst t) 0 4 + 2 * (value [3; 1] * value [4; 1]).
Proof. apply (multiply_twice_correct inverse m modulus_example [3; 1] [4; 1] t); try exact t_fits; computed. Qed.
Example square_example : fits 0 0 (squared [3; 1] t) /\ span (fst (squared [3; 1] t)) 0 4 = span (fst t) 0 4 + value [3; 1] * value [3; 1].
Proof. apply (square_correct inverse m modulus_example [3; 1] t); try exact t_fits; computed. Qed.
Example below_example : let s := avx2_parts.multiply_below [3; 1] [4; 1] t in fits 0 0 s /\
  exists dropped, 0 <= dropped /\ span (fst s) 0 4 + R * dropped = span (fst t) 0 4 + value [3; 1] * value [4; 1].
Proof.
  apply (avx2_parts.multiply_below_correct [3; 1] [4; 1] t); try exact t_fits;
    first [exists 1%nat; reflexivity | cbn; lia | computed].
Qed.
Example from_example : let s := avx2_parts.multiply_from [3; 1] [4; 1] 2 t in fits 0 0 s /\
  exists dropped, 0 <= dropped <= 2 * E ^ 3 /\ span (fst s) 0 4 + dropped = span (fst t) 0 4 + value [3; 1] * value [4; 1].
Proof.
  apply (avx2_parts.multiply_from_correct [3; 1] [4; 1] 2 t); try exact t_fits;
    first [exists 1%nat; reflexivity | cbn; lia | computed].
Qed.
Example mul_example : let '(r, q) := mul inverse m [3; 1] [4; 1] in number m r /\ 0 <= value r < 2 * value m /\
  R * value r = value [3; 1] * value [4; 1] + value q * value m.
Proof. apply (mul_correct inverse m modulus_example [3; 1] [4; 1]); computed. Qed.
Example sqr_example : let '(r, q) := sqr inverse m [3; 3] in number m r /\ 0 <= value r < 2 * value m /\
  R * value r = value [3; 3] * value [3; 3] + value q * value m.
Proof. apply (sqr_correct inverse m modulus_example [3; 3]); computed. Qed.
Definition dual_result (a b c d : list Z) (result : list Z * list Z * list Z * list Z) :=
  let '(r, Q, s, q) := result in number m r /\ 0 <= value r < 2 * value m /\ number m s /\ 0 <= value s < 3 * value m /\
  (value a + value b * value m) * (value c + value d * value m) =
    R * (value r + value s * value m) + (value b * value d - R - value q) * (value m * value m).
Example dual_mul_example : dual_result [3; 1] [4; 2] [5; 1] [6; 2] (dual_mul inverse m [3; 1] [4; 2] [5; 1] [6; 2]).
Proof. apply (dual_mul_correct inverse m modulus_example [3; 1] [4; 2] [5; 1] [6; 2]); computed. Qed.
(* The first factor has a chunk in its low part. *)
Example dual_mul_chunk_example : dual_result [3; 9] [4; 2] [3; 1] [2; 1] (dual_mul inverse m [3; 9] [4; 2] [3; 1] [2; 1]).
Proof. apply (dual_mul_correct inverse m modulus_example [3; 9] [4; 2] [3; 1] [2; 1]); computed. Qed.
Example dual_sqr_example : dual_result [3; 1] [4; 2] [3; 1] [4; 2] (dual_sqr inverse m [3; 1] [4; 2]).
Proof. apply (dual_sqr_correct inverse m modulus_example [3; 1] [4; 2]); computed. Qed.

Example subtract_example : all_below E (avx2_limbs.subtract [3; 1] m) /\ length (avx2_limbs.subtract [3; 1] m) = 2%nat /\
  value (avx2_limbs.subtract [3; 1] m) = (value [3; 1] - value m) mod R.
Proof. apply avx2_limbs.subtract_correct; computed. Qed.
Example reduce_once_example : let '(r, s) := avx2_limbs.reduce_once [3; 2] m in all_below E r /\ length r = 2%nat /\
  value r = value [3; 2] - s * value m /\ s = if value [3; 2] <? value m then 0 else 1.
Proof. apply (avx2_limbs.reduce_once_correct [3; 2] m); computed. Qed.
Example add_example : all_below E (avx2_limbs.add [3; 2] [E - 1]) /\ length (avx2_limbs.add [3; 2] [E - 1]) = 2%nat /\
  value (avx2_limbs.add [3; 2] [E - 1]) = (value [3; 2] + value [E - 1]) mod R.
Proof. apply avx2_limbs.add_correct; [below_base|below_base|cbn; auto]. Qed.
Example canonical_example : let '(r, s) := avx2_limbs.canonical m [3; 2] [4; 2] in all_below E r /\ all_below E s /\
  length r = 2%nat /\ length s = 2%nat /\ value r = value [3; 2] mod value m /\ 0 <= value s < value m /\
  exists x, value [3; 2] + value [4; 2] * value m = value r + value s * value m + x * (value m * value m).
Proof. apply (avx2_limbs.canonical_correct m [3; 2] [4; 2]); computed. Qed.
Example add_chunk_example : all_below E (avx2_limbs.add [3; 1] [E - 1]) /\ length (avx2_limbs.add [3; 1] [E - 1]) = 2%nat /\
  value (avx2_limbs.add [3; 1] [E - 1]) = value [3; 1] + value [E - 1] /\ 2 * value (avx2_limbs.add [3; 1] [E - 1]) < R.
Proof. apply (avx2_limbs.add_chunk_correct m [3; 1] [E - 1]); first [computed | cbn; auto]. Qed.
Example remainder_example : all_below E (avx2_limbs.remainder m [3; 2] [1; 0]) /\ length (avx2_limbs.remainder m [3; 2] [1; 0]) = 2%nat /\
  value (avx2_limbs.remainder m [3; 2] [1; 0]) = value [2; 2] mod value m.
Proof. apply avx2_limbs.remainder_correct; first [computed | exists 0; reflexivity]. Qed.
