(* crates/bfv/src/noise.rs: the noise that is counted is a bound of the noise that is there. A phase is an integer modulo q, the
   plaintext m stands at q m / t. *)
From Coq Require Import ZArith Lia List.
From Generated Require Import bfv_noise.
Import ListNotations.
Open Scope Z_scope.

(* The phase lies no more than [bound] away from q m / t, modulo q. *)
Definition within (q t m phase bound : Z) := exists e k, t * phase = q * m + e + k * (q * t) /\ Z.abs e <= t * bound.

(* What stands for a plaintext: the nearest integer, or its neighbour, modulo q. *)
Definition encoded (q t m plain : Z) := exists r k, t * plain = q * m + r + k * (q * t) /\ Z.abs r <= t.

(* An error: the ones among the bits of a word, less half of the bits. *)
Definition error (ones : Z) := ones - MAX_ERROR.

(* bfv/ciphertext.rs: encrypt. With the private key: an error and the rounding. *)
Theorem private_noise q t m plain ones : 0 < t -> encoded q t m plain -> 0 <= ones <= HALVES * MAX_ERROR ->
  within q t m (plain + error ones) (MAX_ERROR + ROUNDED).
Proof.
  unfold error, HALVES, ROUNDED, MAX_ERROR. intros Ht (r & k & E & Hr) Ho. exists (r + t * (ones - 21)), k.
  split; [rewrite Z.mul_add_distr_l, E; ring|].
  assert (t * Z.abs (ones - 21) <= t * 21) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (Z.abs (t * (ones - 21)) = t * Z.abs (ones - 21)) by (rewrite Z.abs_mul; lia). lia.
Qed.

(* bfv/noise.rs: fresh_public. With the public key: that e u + e_1 - e_2 s, a sum of random signs, stays below twelve
   deviations is the premise [Tail]; its probability is not proved. *)
Theorem public_noise q t m plain sum deviations : 0 < t -> encoded q t m plain ->
  forall Tail : Z.abs sum <= deviations + 1, within q t m (plain + sum) (deviations + PUBLIC_MORE).
Proof.
  unfold PUBLIC_MORE. intros Ht (r & k & E & Hr) Tail. exists (r + t * sum), k.
  split; [rewrite Z.mul_add_distr_l, E; ring|].
  assert (t * Z.abs sum <= t * (deviations + 1)) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (Z.abs (t * sum) = t * Z.abs sum) by (rewrite Z.abs_mul; lia). lia.
Qed.

(* A weighted sum: its addends' weights, plaintexts, phases and bounds. *)
Record addend := Addend { weight : Z; plaintext : Z; phase : Z; bound : Z }.
Definition total (f : addend -> Z) (l : list addend) := fold_right (fun a s => f a + s) 0 l.

(* bfv/ciphertext.rs: add, multiply; bfv/sums.rs: add_rows. Bounds times the magnitudes of weights, added up, bound the sum. *)
Theorem sum_noise q t l : 0 < t -> Forall (fun a => within q t (plaintext a) (phase a) (bound a)) l ->
  within q t (total (fun a => weight a * plaintext a) l) (total (fun a => weight a * phase a) l)
    (total (fun a => Z.abs (weight a) * bound a) l).
Proof.
  intros Ht. induction 1 as [|a l (e & k & E & He) _ (e' & k' & E' & He')]; unfold total in *; cbn [fold_right].
  - exists 0, 0. split; [ring|lia].
  - exists (weight a * e + e'), (weight a * k + k'). split.
    + replace (t * (weight a * phase a + fold_right (fun a s => weight a * phase a + s) 0 l)) with
        (weight a * (t * phase a) + t * fold_right (fun a s => weight a * phase a + s) 0 l) by ring.
      rewrite E, E'. ring.
    + assert (Z.abs (weight a * e) = Z.abs (weight a) * Z.abs e) by apply Z.abs_mul.
      assert (Z.abs (weight a) * Z.abs e <= Z.abs (weight a) * (t * bound a)) by (apply Z.mul_le_mono_nonneg_l; lia).
      rewrite Z.mul_add_distr_l. replace (t * (Z.abs (weight a) * bound a)) with (Z.abs (weight a) * (t * bound a)) by ring. lia.
Qed.

(* noise.rs: limit, where it is below 2^126. *)
Definition limit (modulus_bits bits : Z) := let half := modulus_bits - bits - 1 in 2 ^ half - 2 ^ (half - LESS).

(* bfv/noise.rs: limit. Below the limit the nearest multiple of q / t gives the plaintext, modulo t. *)
Theorem limit_correct q modulus_bits bits m phase bound : 0 < bits -> bits + 1 + LESS <= modulus_bits ->
  2 ^ modulus_bits - 2 ^ (modulus_bits - LESS) <= q -> 0 <= bound < limit modulus_bits bits ->
  within q (2 ^ bits) m phase bound -> ((2 * 2 ^ bits * phase + q) / (2 * q)) mod 2 ^ bits = m mod 2 ^ bits.
Proof.
  unfold limit, LESS. intros Hb Hm Hq Hl (e & k & E & He). cbv zeta in Hl.
  set (h := modulus_bits - bits - 1) in *.
  assert (T0 : 0 < 2 ^ bits) by (apply Z.pow_pos_nonneg; lia).
  assert (E1 : 2 ^ modulus_bits = 2 * (2 ^ bits * 2 ^ h)).
  { rewrite <- Z.pow_add_r by (unfold h; lia). rewrite <- Z.pow_succ_r by (unfold h; lia). f_equal. unfold h. lia. }
  assert (E2 : 2 ^ (modulus_bits - 16) = 2 * (2 ^ bits * 2 ^ (h - 16))).
  { rewrite <- Z.pow_add_r by (unfold h; lia). rewrite <- Z.pow_succ_r by (unfold h; lia). f_equal. unfold h. lia. }
  rewrite E1, E2 in Hq. set (t := 2 ^ bits) in *.
  assert (t * bound <= t * (2 ^ h - 2 ^ (h - 16) - 1)) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (Small : 2 * Z.abs e < q) by lia.
  assert (Q : (2 * t * phase + q) / (2 * q) = m + k * t).
  { symmetry. apply Z.div_unique with (2 * e + q); [left; lia|].
    replace (2 * t * phase + q) with (2 * (t * phase) + q) by ring. rewrite E. ring. }
  rewrite Q. apply Z.mod_add. lia.
Qed.

(* prime.rs: PRIMES. The limit's premise about q holds for as many of them as a set takes. *)
Definition PRIMES := [1125899904679937; 1125899903991809; 1125899903827969; 1125899903795201;
  1125899903500289; 1125899903107073; 1125899902124033; 1125899901665281].
Definition products := map (fun n => fold_right Z.mul 1 (firstn n PRIMES)) [1; 2; 3; 4; 5; 6; 7; 8]%nat.
Example primes_suffice : forallb (fun p => 2 ^ fst p - 2 ^ (fst p - LESS) <=? snd p)
  (combine [50; 100; 150; 200; 250; 300; 350; 400] products) = true.
Proof. vm_compute. reflexivity. Qed.

Example private_example : within 1000003 16 5 (312501 + error 0) 22.
Proof. apply private_noise; [lia|exists 1, 0; lia|vm_compute; split; discriminate]. Qed.
Example public_example : within 1000003 16 5 (312501 + 3520) 3521.
Proof. apply (public_noise 1000003 16 5 312501 3520 3519); [lia|exists 1, 0; lia|lia]. Qed.
Definition addends := [Addend 3 5 312480 22; Addend (-2) 7 437500 22].
Example sum_example : within 1000003 16 (total (fun a => weight a * plaintext a) addends)
  (total (fun a => weight a * phase a) addends) (total (fun a => Z.abs (weight a) * bound a) addends).
Proof. apply sum_noise; [lia|]. unfold addends. repeat constructor; cbn; [exists (-335), 0|exists (-21), 0]; lia. Qed.
Example limit_example : ((2 * 2 ^ 4 * 5242979 + 16777215) / (2 * 16777215)) mod 2 ^ 4 = 5 mod 2 ^ 4.
Proof.
  apply (limit_correct 16777215 24 4 5 5242979 100).
  - lia.
  - vm_compute. discriminate.
  - vm_compute. discriminate.
  - vm_compute. split; [discriminate|reflexivity].
  - exists 1589, 0. split; [reflexivity|vm_compute; discriminate].
Qed.
