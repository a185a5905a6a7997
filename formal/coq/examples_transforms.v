(* Premises of the theorems about butterflies hold for a prime of each transform, the first of the source. *)
From Arith Require Import words butterflies.
From Arith Require lattice.

(* 2^48 - 40 2^24 + 1, its inverse modulo 2^52, and the constants 3 and 5. *)
Definition P := 2 ^ 48 - 40 * 2 ^ 24 + 1.
Definition inverse := 4222125321748481.
Definition of c := Factor ((c * D) mod P) (((c * D) mod P * inverse) mod D).
Ltac computed := first [apply cong_by_mod; [discriminate|vm_compute; reflexivity] | split; vm_compute; (discriminate || reflexivity)].
Lemma HP : 0 < P < 2 ^ NTT_BITS. Proof. computed. Qed.
Lemma odd : rel_prime P D. Proof. apply Zgcd_1_rel_prime. vm_compute. reflexivity. Qed.
Lemma inverted : cong D (inverse * P) 1. Proof. computed. Qed.
Lemma constant c : c = 3 \/ c = 5 -> stands_for P inverse c (of c).
Proof. intros [-> | ->]; (split; [computed|split; [computed|vm_compute; reflexivity]]). Qed.

Example times_example : exists t, times (of 3) (D - 1) (multiples P) = t mod B /\ - P < t < P /\ cong P t (3 * (D - 1)).
Proof. apply (times_correct P inverse HP odd inverted); [apply constant; auto|computed]. Qed.
Example times_positive_example : 0 < times_positive (of 3) (D - 1) (multiples P) < 2 * P /\
  cong P (times_positive (of 3) (D - 1) (multiples P)) (3 * (D - 1)).
Proof. apply (times_positive_correct P inverse HP odd inverted); [apply constant; auto|computed]. Qed.
Example forward2_example : let '(y0, y1) := forward2 (of 3) (multiples P) (12 * P - 1) (12 * P - 1) in
  0 <= y0 < 12 * P /\ 0 <= y1 < 12 * P /\ cong P y0 (12 * P - 1 + 3 * (12 * P - 1)) /\ cong P y1 (12 * P - 1 - 3 * (12 * P - 1)).
Proof. apply (forward2_correct P inverse HP odd inverted); [apply constant; auto|computed..]. Qed.
Example forward4_example : let '(y0, y1, y2, y3) := forward4 (of 3) (of 5) (of 3) (multiples P) (12 * P - 1) 1 2 (12 * P - 1) in
  (0 <= y0 < 12 * P /\ 0 <= y1 < 12 * P /\ 0 <= y2 < 12 * P /\ 0 <= y3 < 12 * P) /\
  cong P y0 (12 * P - 1 + 3 * 2 + 5 * (1 + 3 * (12 * P - 1))) /\ cong P y1 (12 * P - 1 + 3 * 2 - 5 * (1 + 3 * (12 * P - 1))) /\
  cong P y2 (12 * P - 1 - 3 * 2 + 3 * (1 - 3 * (12 * P - 1))) /\ cong P y3 (12 * P - 1 - 3 * 2 - 3 * (1 - 3 * (12 * P - 1))).
Proof. apply (forward4_correct P inverse HP odd inverted); [apply constant; auto|apply constant; auto|apply constant; auto|computed..]. Qed.
Example inverse2_example : let '(y0, y1) := inverse2 (of 3) (multiples P) (4 * P - 1) 0 in
  0 <= y0 < 4 * P /\ 0 <= y1 < 4 * P /\ cong P y0 (4 * P - 1 + 0) /\ cong P y1 (3 * (0 - (4 * P - 1))).
Proof. apply (inverse2_correct P inverse HP odd inverted); [apply constant; auto|computed..]. Qed.
Example inverse4_example : let '(y0, y1, y2, y3) := inverse4 (of 3) (of 5) (of 3) (multiples P) (4 * P - 1) 1 0 2 in
  (0 <= y0 < 4 * P /\ 0 <= y1 < 4 * P /\ 0 <= y2 < 4 * P /\ 0 <= y3 < 4 * P) /\
  cong P y0 (4 * P - 1 + 1 + (0 + 2)) /\ cong P y1 (5 * (1 - (4 * P - 1)) + 3 * (2 - 0)) /\
  cong P y2 (3 * (0 + 2 - (4 * P - 1 + 1))) /\ cong P y3 (3 * (3 * (2 - 0) - 5 * (1 - (4 * P - 1)))).
Proof. apply (inverse4_correct P inverse HP odd inverted); [apply constant; auto|apply constant; auto|apply constant; auto|computed..]. Qed.
Example reduced_example : let r := reduced (multiples P) (15 * D) (5 * P) inverse in
  0 < r < 5 * P + P + 16 /\ cong P (D * r) (D * (5 * P) + 15 * D).
Proof. apply (reduced_correct P inverse HP inverted); computed. Qed.

(* The largest prime of the lattice scheme. *)
Definition q := 1125899904679937.
Definition root c := (c, D * c / q).
Lemma Hq : 0 < q < 2 ^ BFV_BITS. Proof. computed. Qed.
Lemma root_stands c : 0 <= c < q -> lattice.stands_for q c (root c).
Proof. intros H. split; [reflexivity|]. split; [exact H|reflexivity]. Qed.
Example lattice_times : 0 <= bfv.times (lattice.of_prime q) (D - 1) (root 7) < 2 * q /\
  cong q (bfv.times (lattice.of_prime q) (D - 1) (root 7)) (7 * (D - 1)).
Proof. apply (lattice.times_correct q Hq); [apply root_stands|]; computed. Qed.
Example lattice_once : 0 <= bfv.once 9 5 < 5 /\ (bfv.once 9 5 = 9 \/ bfv.once 9 5 = 9 - 5).
Proof. apply lattice.once_correct; lia. Qed.
Example lattice_reduced : bfv.reduced (lattice.of_prime q) (4 * q - 1) = (4 * q - 1) mod q.
Proof. apply (lattice.reduced_correct q Hq). computed. Qed.
Example lattice_butterfly : let '(s, d) := bfv.butterfly (lattice.of_prime q) (4 * q - 1) (4 * q - 1) (root 7) in
  0 <= s < 4 * q /\ 0 <= d < 4 * q /\ cong q s (4 * q - 1 + 7 * (4 * q - 1)) /\ cong q d (4 * q - 1 - 7 * (4 * q - 1)).
Proof. apply (lattice.butterfly_correct q Hq); [apply root_stands|..]; computed. Qed.
Example lattice_back : let '(s, d) := bfv.back (lattice.of_prime q) 0 (2 * q - 1) (root 7) in
  0 <= s < 2 * q /\ 0 <= d < 2 * q /\ cong q s (0 + (2 * q - 1)) /\ cong q d (7 * (0 - (2 * q - 1))).
Proof. apply (lattice.back_correct q Hq); [apply root_stands|..]; computed. Qed.
Definition q_inverse := 3663851918786561.
Example lattice_multiply : let r := bfv.multiply_add (lattice.of_prime q) 0 q_inverse (q - 1) (q - 1) (q - 1) in
  0 <= r < q /\ cong q (D * r) (D * (q - 1) + (q - 1) * (q - 1)).
Proof. apply (lattice.multiply_add_correct q Hq); computed. Qed.
