(* Premises of the theorems about dual residues, reciprocals, columns and encodings hold for some numbers. *)
From Arith Require Import dual.
From Arith Require barrett columns encodings.

Ltac computed := first [reflexivity | lia | unfold limbs, word, chunk; repeat constructor; lia
  | split; [unfold word; lia|reflexivity] | apply cong_by_mod; [discriminate|vm_compute; reflexivity]
  | split; [unfold limbs, word; repeat constructor; lia|vm_compute; intuition discriminate]
  | vm_compute; intuition discriminate].

(* 3, -3^-1 mod 2^64, and R^2 mod 9 = 1 + 1 3. *)
Definition m := [3].
Definition n := 6148914691236517205.
Definition r2 := [1; 1].
Example exit_example : reduced 1 m (times 1 m n r2 [1; 0]) /\ number 1 m (times 1 m n r2 [1; 0]) = 7 mod (val m * val m).
Proof. apply (exit_correct 1 m n); computed. Qed.
Example enter_example : let a := times 1 m n (horner 1 m n r2 [5] [[7]]) r2 in
  reduced 1 m a /\ cong (val m * val m) (number 1 m a) (joined 1 [5] [[7]] * R 1).
Proof. apply enter_correct; computed. Qed.
Example horner_example : first_factor 1 m (horner 1 m n r2 [5] [[7]]) /\
  cong (val m * val m) (number 1 m (horner 1 m n r2 [5] [[7]])) (joined 1 [5] [[7]]).
Proof. apply horner_correct; computed. Qed.

Example barrett_example : 0 <= 12 - (12 / 1 * 12 - 0) / (8 * (8 * 1)) * 5 < 2 * 5.
Proof. apply (barrett.barrett_quotient 8 1 5 3 4 12 12 0); vm_compute; intuition discriminate. Qed.
Example dropped_example : 4 * 5 < 2 ^ 28 * (2 ^ 28 * 1).
Proof. apply (barrett.barrett_dropped 1 1 5 (2 ^ 28)); [left; reflexivity|..]; vm_compute; intuition discriminate. Qed.

Lemma empty_columns c : columns.fits c c (fun _ => 0, 245).
Proof.
  split; [vm_compute; intuition discriminate|]. intros j _. cbn beta.
  assert (0 <= avx2.CARRIED + 245 * avx2.PRODUCT) by (vm_compute; discriminate).
  change (2 ^ 36) with 68719476736. destruct (_ <=? _)%nat; lia.
Qed.
Ltac limbs_below := unfold columns.below; repeat constructor; vm_compute; discriminate.
Example product_block_example : columns.fits 0 0 (columns.product_block 2 [5; 6] [7; 8; 9] 3 (fun _ => 0, 245)).
Proof. apply columns.product_block_fits; [lia|vm_compute; discriminate|limbs_below|limbs_below|apply empty_columns]. Qed.
Example square_block_example : 0 <= columns.sum (columns.term (fun _ => 5) (fun _ => 10) 2 1) 2.
Proof.
  refine (proj1 (columns.square_block_fits 2 1 (fun _ => 5) (fun _ => 10) _ _ _ _));
    [cbn; auto|lia|intros; vm_compute; intuition discriminate..].
Qed.
Example reduction_block_example :
  let '(s, digits, zeros) := columns.reduction_block 5 3 [4] [6; 7] [0; 1] 2 (fun _ => 0, 245) in
  columns.fits (2 + length [0; 1]) (2 + length [0; 1]) s /\ columns.below columns.LIMB digits /\
  Forall (fun v => 0 <= v < 2 ^ 64) zeros.
Proof.
  apply columns.reduction_block_fits; [vm_compute; intuition discriminate|limbs_below|limbs_below|limbs_below|reflexivity|
    vm_compute; discriminate|apply empty_columns].
Qed.
Example ifma_products_example :
  let sum := columns.ifma_product [[8; 9]] [10] 0 (columns.ifma_product [[5; 6]] [7] 0 (fun _ => 1)) 3 in
  1 <= sum <= 1 + 4 * Z.of_nat 2 * columns.HALF.
Proof.
  apply (columns.ifma_products_fit 2 [[5; 6]] [7] [[8; 9]] [10] (fun _ => 1) 3); try reflexivity; try lia; limbs_below.
Qed.

Example signed_example : 0 <= encodings.encode 7 (-3) < 7 /\ encodings.decode 7 (encodings.encode 7 (-3)) = -3.
Proof. apply encodings.signed_correct; vm_compute; intuition discriminate. Qed.
Example signed_sum_example :
  encodings.decode 101 (encodings.total (map (encodings.encode 101) [-3; 5; -7]) mod 101) = encodings.total [-3; 5; -7].
Proof. apply encodings.signed_sum_correct; vm_compute; intuition discriminate. Qed.
(* Two slots of four bits for numbers up to 3, to be added twice. *)
Example slots_example :
  encodings.unpack 4 1048576 2 (encodings.total (map (encodings.pack 4 1048576) [[1; -3]; [3; -3]]) mod 1048576) =
  Some (encodings.sum_rows 2 [[1; -3]; [3; -3]]).
Proof.
  apply (encodings.slots_correct 1048576 21 2 3 2 2 1); try (vm_compute; intuition discriminate);
    repeat constructor; cbn; lia.
Qed.
