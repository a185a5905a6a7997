(* Premises of the theorems about residue number systems hold for some bases. *)
From Arith Require Import residues.
From Arith Require fractions fractions_back avx2_residues.

Ltac computed := first [lia | vm_compute; intuition discriminate | apply cong_by_mod; [discriminate|vm_compute; reflexivity]].

Example reduce_example : reduce 7 (reciprocal 7) (B2 - 1) = (B2 - 1) mod 7.
Proof. apply reduce_correct; computed. Qed.
Example residue_example : residue 7 [1; 2] [5; 6] = val [5; 6] mod 7.
Proof.
  apply residue_correct; [computed|unfold limbs, word; repeat constructor; lia|cbn [length]; lia|].
  repeat split; vm_compute; reflexivity.
Qed.
Example part_of_example : let p := part_of 3 (part 7) 5 in 0 <= p < 2 ^ 48 /\ p * 7 <= 5 * 2 ^ 48 < (p + 2) * 7.
Proof. apply (part_of_correct 7 3 5); computed. Qed.
Example sub_assign_example : sub_assign [3; 1] [5] = (0, [B - 2; 0]).
Proof. vm_compute. reflexivity. Qed.

(* The moduli 5 and 8: one is a power of two. *)
Definition basis := [(Modulus 5 [8] 2, 2); (Modulus 8 [5] 5, 1)].
Example numbers_example : val (number [40] basis) = 17.
Proof.
  apply numbers_correct.
  - unfold limbs, word. repeat constructor; lia.
  - reflexivity.
  - vm_compute. discriminate.
  - unfold basis. repeat constructor; try (vm_compute; intuition discriminate);
      try (apply cong_by_mod; [discriminate|vm_compute; reflexivity]); cbn; lia.
  - vm_compute. intuition discriminate.
  - intros m r H. unfold basis in H. cbn [In] in H.
    destruct H as [H|[H|[]]]; injection H as <- <-; apply cong_by_mod; (discriminate || (vm_compute; reflexivity)).
Qed.

Example digits_example : exists digit rest,
  fractions.digits 3 7 3 = digit :: fractions.digits 2 7 rest /\ 0 <= digit < 4503599627370496 /\ 0 <= rest < 7 /\
  3 * 4503599627370496 = digit * 7 + rest.
Proof. apply fractions.digits_correct. lia. Qed.
Example fractions_example : let f := fractions.fractions [7; 9] (fractions.digits 4 35 1) in
  0 <= fractions.value f < 4503599627370496 * 4503599627370496 /\ exists over, 35 * fractions.value f =
    4503599627370496 * 4503599627370496 * ((1 * fractions.number [7; 9]) mod 35) + over /\ 0 <= over <= 2 * 2 * 35.
Proof. apply (fractions.fractions_correct 35 1 [7; 9]); computed. Qed.
Example fraction_residue_example : let f := fractions.fractions [7; 9] (fractions.digits 4 35 1) in
  Generated.fractions.residue (fst f) (snd f) 5 (7 mod 4503599627370496) (7 / 4503599627370496) = fractions.number [7; 9] mod 5.
Proof. apply (fractions.residue_correct 5 7 [7; 9]); computed. Qed.
Example scaled_example : let q := 2 ^ 59 + 1 in let f := fractions.fractions [7; 9] (fractions.digits 4 q 3) in
  Generated.fractions.scaled (fst f) (snd f) (q mod 4503599627370496) (q / 4503599627370496) = (3 * fractions.number [7; 9]) mod q.
Proof. apply (fractions.scaled_correct (2 ^ 59 + 1) 3 [7; 9]); computed. Qed.

(* Back on IFMA: a narrow modulus and a wide one. *)
Definition X := 123456789012345.
Definition two := [(Modulus 7 [2 ^ 59] 2, X mod 7); (Modulus (2 ^ 59) [7] 411757680216731063, X mod 2 ^ 59)].
Definition whole_two := 7 * 2 ^ 59.
Lemma two_members : Forall (member 1 whole_two) two.
Proof.
  unfold two, whole_two, X. repeat constructor; try (vm_compute; intuition discriminate);
    apply cong_by_mod; (discriminate || (vm_compute; reflexivity)).
Qed.
Lemma two_residues m r : In (m, r) two -> cong (q m) X r.
Proof.
  unfold two. cbn [In]. intros [H|[H|[]]]; injection H as <- <-; apply cong_by_mod; (discriminate || (vm_compute; reflexivity)).
Qed.
Example narrow_example : let ds := fractions.digits 2 7 2 in let f := Generated.ifma_back.narrow 3 (nth 0 ds 0) (nth 1 ds 0) in
  Generated.ifma_back.narrow_factor f (7 mod 2 ^ 52) = 6 /\ 2 ^ 52 * 6 <= 7 * (f mod 2 ^ 52) <= 2 ^ 52 * 6 + 2 * 7.
Proof. apply (fractions_back.narrow_correct 7 2 3); computed. Qed.
Example scale_example : let fs := fractions_back.factors two in let rows := fractions_back.rows 2 whole_two two in
  exists z, length fs = length rows /\ Z.of_nat (length fs) <= 2 * 512 + 1 /\
  cong ((2 ^ 52) ^ 2) (places.dot (2 ^ 52) (fractions_back.read fs) rows) z /\ cong whole_two z (terms two) /\
  - whole_two <= z < whole_two.
Proof. apply (fractions_back.scale_correct 1 whole_two 2 two); [computed|apply two_members|computed]. Qed.
Example columns_example : let sum := fractions_back.columns 2 [5; 6] [[7; 8]; [9; 10]] in
  length sum = 2%nat /\ places.all_below (B - 4096) sum /\
  cong ((2 ^ 52) ^ 2) (places.in_base (2 ^ 52) sum) (places.dot (2 ^ 52) [5; 6] [[7; 8]; [9; 10]]).
Proof. apply (fractions_back.columns_correct 2 [5; 6]); repeat constructor; computed. Qed.
Example settle_example : let s := fractions_back.settle [2 ^ 52 - 3; 2 ^ 52 - 1] (places.cut (2 ^ 52) 2 5) in
  places.all_below (2 ^ 52) s /\ places.in_base (2 ^ 52) s = -3 mod 5.
Proof. apply (fractions_back.settle_correct 2 _ 5 (-3)); repeat constructor; computed. Qed.
Example back_example : let x := fractions_back.back 2 whole_two two in
  places.all_below (2 ^ 52) x /\ places.in_base (2 ^ 52) x = X.
Proof.
  apply (fractions_back.back_correct 62 2 1 whole_two two X);
    [computed|computed|computed|computed|apply two_members|computed|apply two_residues].
Qed.

(* Residues and back on AVX2: odd moduli of up to 30 bits. *)
Definition neg (q : Z) := if q =? 7 then 1227133513 else 3405295499.
Definition odd := [(Modulus 7 [1073741789] 1, 4321987654 mod 7); (Modulus 1073741789 [7] 920350105, 4321987654 mod 1073741789)].
Lemma seven : avx2_residues.narrow_modulus 7 (neg 7).
Proof. unfold avx2_residues.narrow_modulus. repeat split; try (vm_compute; intuition discriminate). apply cong_by_mod; [discriminate|reflexivity]. Qed.
Lemma odd_members : Forall (avx2_residues.odd_member neg 1 (7 * 1073741789)) odd.
Proof.
  unfold odd, avx2_residues.odd_member, avx2_residues.narrow_modulus. repeat constructor; try (vm_compute; intuition discriminate);
    apply cong_by_mod; (discriminate || (vm_compute; reflexivity)).
Qed.
Lemma odd_residues m r : In (m, r) odd -> cong (q m) 4321987654 r.
Proof.
  unfold odd. cbn [In]. intros [H|[H|[]]]; injection H as <- <-; apply cong_by_mod; (discriminate || (vm_compute; reflexivity)).
Qed.
Example avx2_less_example : Generated.avx2_residues.less 9 7 = 9 mod 7.
Proof. apply avx2_residues.less_correct; computed. Qed.
Example avx2_add_example : Generated.avx2_residues.add 5 6 7 = (5 + 6) mod 7.
Proof. apply avx2_residues.add_correct; computed. Qed.
Example avx2_reduce_example : let r := Generated.avx2_residues.reduce 7 (neg 7) (40 * 2 ^ 58) in
  0 <= r < 7 /\ cong 7 (r * 2 ^ 64) (40 * 2 ^ 58).
Proof. apply avx2_residues.reduce_correct; [apply seven|computed]. Qed.
Example avx2_residues_example :
  avx2_residues.to_residue 7 (neg 7) (repeat 99 50) (avx2_residues.powers 7 50) = places.in_base (2 ^ 28) (repeat 99 50) mod 7.
Proof. apply (avx2_residues.residues_correct 7 (neg 7) (repeat 99 50)); [apply seven|apply Forall_forall; intros x H; apply repeat_spec in H; lia]. Qed.
Example avx2_scale_example : let fs := avx2_residues.factors neg odd in let rows := avx2_residues.rows 2 (7 * 1073741789) odd in
  exists z, length fs = length rows /\ Z.of_nat (length fs) <= 512 + 1 /\ places.all_below (2 ^ 30) fs /\
  cong ((2 ^ 28) ^ 2) (places.dot (2 ^ 28) fs rows) z /\ cong (7 * 1073741789) z (terms odd) /\ 0 <= z < 2 * (7 * 1073741789).
Proof. apply (avx2_residues.scale_correct neg 1 _ 2 odd); [computed|apply odd_members|computed]. Qed.
Example avx2_combine_example : let x := avx2_residues.combine 2 [5; 6] [[7; 8]; [9; 10]] in
  length x = 2%nat /\ places.all_below (2 ^ 46) x /\
  cong ((2 ^ 28) ^ 2) (places.in_base (2 ^ 28) x) (places.dot (2 ^ 28) [5; 6] [[7; 8]; [9; 10]]).
Proof. apply (avx2_residues.combine_correct 2 [5; 6]); repeat constructor; computed. Qed.
Example avx2_settle_example : let s := avx2_residues.settle [8; 0] (places.cut (2 ^ 28) 2 5) in
  places.all_below (2 ^ 28) s /\ places.in_base (2 ^ 28) s = 8 mod 5.
Proof. apply (avx2_residues.settle_correct 2 _ 5 8); repeat constructor; computed. Qed.
Example avx2_back_example : let x := avx2_residues.back neg 2 (7 * 1073741789) odd in
  places.all_below (2 ^ 28) x /\ places.in_base (2 ^ 28) x = 4321987654.
Proof.
  apply (avx2_residues.back_correct neg 33 2 1 _ odd 4321987654);
    [computed|computed|computed|computed|apply odd_members|computed|apply odd_residues].
Qed.
