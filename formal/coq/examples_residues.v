(* Premises of the theorems about residue number systems hold for some bases. *)
From Arith Require Import residues.
From Arith Require fractions.

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
