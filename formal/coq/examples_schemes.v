(* Premises of the schemes' theorems hold for some keys and ciphertexts. *)
From Arith Require Import modular schemes lagrange.
From Generated Require Import schemes.
Import ListNotations.

Lemma small_prime p : 1 < p -> (forall n, 1 <= n < p -> Z.gcd n p = 1) -> prime p.
Proof. intros H G. apply prime_intro; [exact H|]. intros n Hn. apply Zgcd_1_rel_prime, G, Hn. Qed.
Lemma prime_5 : prime 5.
Proof. apply small_prime; [lia|]. intros n Hn. assert (n = 1 \/ n = 2 \/ n = 3 \/ n = 4) by lia. intuition subst; reflexivity. Qed.
Lemma prime_7 : prime 7.
Proof.
  apply small_prime; [lia|]. intros n Hn. assert (n = 1 \/ n = 2 \/ n = 3 \/ n = 4 \/ n = 5 \/ n = 6) by lia.
  intuition subst; reflexivity.
Qed.
Lemma prime_11 : prime 11.
Proof.
  apply small_prime; [lia|]. intros n Hn. assert (n <= 5 \/ 6 <= n) as [H|H] by lia.
  - assert (n = 1 \/ n = 2 \/ n = 3 \/ n = 4 \/ n = 5) by lia. intuition subst; reflexivity.
  - assert (n = 6 \/ n = 7 \/ n = 8 \/ n = 9 \/ n = 10) by lia. intuition subst; reflexivity.
Qed.
Lemma not_divided p r : 0 < r < p -> ~ (p | r).
Proof. intros H D. apply Z.divide_pos_le in D; lia. Qed.
Ltac computed := first [exact prime_5 | exact prime_7 | exact prime_11 | apply not_divided; lia | lia
  | apply cong_by_mod; [discriminate|vm_compute; reflexivity] | vm_compute; intuition discriminate].

Definition c := (1 + 5 * 7) ^ 3 * 2 ^ (5 * 7).
Example decrypt_half_example : 1 = 1 /\ cong 5 (4 * 2) 3.
Proof. apply (decrypt_half 5 7 3 2 c); computed. Qed.
Example units_detected_example : 1 = 1 <-> ~ (5 | c).
Proof. apply (units_detected 5 c 1 4); computed. Qed.
Example combine_example : let z := 3 + 5 * (((3 - 3) * 3) mod 7) in
  0 <= z < 5 * 7 /\ cong 5 z 3 /\ cong 7 z 3 /\ forall m, 0 <= m < 5 * 7 -> cong 5 m 3 -> cong 7 m 3 -> m = z.
Proof. apply (combine_correct 5 7 3 3 3); try computed. apply Zgcd_1_rel_prime. reflexivity. Qed.
Example decrypt_example : let x := (4 * 2) mod 5 in let y := (6 * 4) mod 7 in
  1 = 1 /\ 1 = 1 /\ x + 5 * (((y - x) * 3) mod 7) = 3.
Proof. apply (decrypt_correct 5 7 3 2 c 1 4 1 6 2 4 3); computed. Qed.
Example djn_example : (3 ^ 35) ^ 4 = (3 ^ 4) ^ 35. Proof. apply djn_randomiser; lia. Qed.
(* P = 7 = 2 3 1 + 1, Q = 11. *)
Definition c_short := (1 + 7 * 11) ^ 2 * 3 ^ (7 * 11).
Example subgroup_example : (1 = 1 <-> cong 7 (3 ^ (SHORT * 3)) 1) /\ (1 = 1 -> cong 7 (6 * 5) 2).
Proof. apply (subgroup_half 7 11 3 2 3 c_short); try computed. apply Zgcd_1_rel_prime. reflexivity. Qed.
(* Both primes, of the orders 3 and 5. *)
Definition c_both := (1 + 7 * 11) ^ 30 * 2 ^ (7 * 11).
Example subgroup_both_example : let x := (6 * 5) mod 7 in let y := (10 * 3) mod 11 in
  1 = 1 /\ 1 = 1 /\ x + 7 * (((y - x) * 8) mod 11) = 30.
Proof.
  apply (subgroup_correct 7 11 3 5 30 2 c_both 1 6 1 10 5 3 8); try computed; apply Zgcd_1_rel_prime; reflexivity.
Qed.
Example subgroup_own_example : cong 7 (((- 3 ^ (2 * 1 * 1)) ^ 4) ^ (SHORT * 3)) 1.
Proof. apply (subgroup_own 7 3 1 1 3 4); computed. Qed.
(* Safe primes 5 and 7, one trustee with the share 36, which is 0 modulo 2 3 and 1 modulo 35. *)
Example threshold_example : 1 = 1 /\ (12 * 18 * 18) mod (5 * 7) = 3.
Proof.
  apply (threshold_correct 5 7 2 3 3 2 683 36 1 [Share 36 1 0] 421); try computed; repeat constructor; cbn; lia.
Qed.
(* d = 36 shared by the polynomial 36 + 4 x among two trustees, D = 2: the coefficients 4 and -2, the shares 40 and 44. *)
Example threshold_shared_example : 1 = 1 /\ (13 * 9 * 9) mod (5 * 7) = 3.
Proof.
  apply (threshold_shared 5 7 2 3 3 2 683 36 2 [1; 2] [36; 4] (fun i => 36 + 4 * i) (fun i => if i =? 1 then 4 else -2) 456);
    try computed.
  - repeat constructor; cbn; intuition discriminate.
  - cbn. lia.
  - intros i [<-|[<-|[]]]; (split; [vm_compute; discriminate|]); apply cong_by_mod; (discriminate || reflexivity).
  - intros i [<-|[<-|[]]]; reflexivity.
Qed.
