(* Decryption as number theory over Z: crates/paillier. Exponents are those of the Rust source. *)
From Arith Require Import modular.
From Generated Require Import schemes.
From Coq Require Import Zpow_facts.
Import ListNotations.

Lemma cong_pow_1 n x e : 0 <= e -> cong n x 1 -> cong n (x ^ e) 1.
Proof. intros He C. rewrite <- (Z.pow_1_l e He). apply cong_pow; assumption. Qed.

Lemma pow_swap x a b : 0 <= a -> 0 <= b -> (x ^ a) ^ b = (x ^ b) ^ a.
Proof. intros Ha Hb. rewrite <- !Z.pow_mul_r by assumption. f_equal. ring. Qed.

(* (1 + n)^m, modulo the square of a part of n. *)
Lemma plain_power p n d m : 0 <= m -> n = d * p -> cong (p * p) ((1 + n) ^ m) (1 + m * d * p).
Proof. intros Hm ->. apply pow_one_plus, Hm. Qed.

(* A number given by its parts below p is 1 + l p: the low part is 1. *)
Lemma parts_of_one p low high l : 1 < p -> 0 <= low < p -> cong (p * p) (low + high * p) (1 + l * p) ->
  low = 1 /\ cong p high l.
Proof.
  intros Hp Hl C. assert (low = 1).
  { apply cong_small with p; try lia. apply cong_less in C.
    destruct C as [k C]. exists (k + l - high). lia. }
  subst low. split; [reflexivity|]. destruct C as [k C]. exists k.
  apply Z.mul_reg_r with p; [lia|]. lia.
Qed.

(* The randomiser r^n with n = d p: gone after a power e with r^e = 1 modulo p. *)
Lemma randomiser_gone p d r e : 0 <= p -> 0 <= d -> 0 <= e -> cong p (r ^ e) 1 -> cong (p * p) ((r ^ (d * p)) ^ e) 1.
Proof.
  intros Hp Hd He C. rewrite <- !Z.pow_mul_r by (try apply Z.mul_nonneg_nonneg; lia).
  replace (d * p * e) with (e * p * d) by ring.
  rewrite !Z.pow_mul_r by (try apply Z.mul_nonneg_nonneg; lia).
  apply cong_pow_1; [exact Hd|]. apply lift; assumption.
Qed.

(* c = (1 + n)^m r^n to a power e that takes the randomiser away. *)
Lemma power_of_ciphertext p d m r c e : 1 < p -> 0 <= d -> 0 <= m -> 0 <= e -> cong p (r ^ e) 1 ->
  cong (p * p) c ((1 + d * p) ^ m * r ^ (d * p)) -> cong (p * p) (c ^ e) (1 + e * m * d * p).
Proof.
  intros Hp Hd Hm He C E. rewrite (cong_pow _ _ _ e He E), Z.pow_mul_l.
  rewrite (randomiser_gone p d r e ltac:(lia) Hd He C), Z.mul_1_r.
  rewrite (cong_pow _ _ _ e He (plain_power p (d * p) d m Hm eq_refl)).
  rewrite (pow_one_plus p (m * d) e He). exists 0. ring.
Qed.

(* paillier/decrypt.rs: decrypt. One half of a decryption: the low part is 1, the high part times h the plaintext modulo p. *)
Theorem decrypt_half p q m r c low high h : prime p -> 0 <= q -> 0 <= m -> ~ (p | r) ->
  cong (p * p) c ((1 + p * q) ^ m * r ^ (p * q)) ->
  0 <= low < p -> cong (p * p) (low + high * p) (c ^ (p - LESS)) -> cong p (h * - q) 1 ->
  low = 1 /\ cong p (high * h) m.
Proof.
  unfold LESS. intros Hp Hq Hm Hr Ec Hl E Hh. pose proof (prime_ge_2 p Hp).
  rewrite (Z.mul_comm p q) in Ec.
  rewrite (power_of_ciphertext p q m r c (p - 1) ltac:(lia) Hq Hm ltac:(lia) (fermat_little p r Hp Hr) Ec) in E.
  destruct (parts_of_one p low high _ ltac:(lia) Hl E) as [L C]. split; [exact L|]. rewrite C.
  assert (X : cong p ((p - 1) * m * q * h) (m * (h * - q))) by (exists (m * q * h); ring).
  rewrite X, Hh, Z.mul_1_r. reflexivity.
Qed.

(* paillier/factors.rs: require_ones. The low part tells just the numbers that share the factor p. *)
Theorem units_detected p c low high : prime p -> 0 <= low < p -> cong (p * p) (low + high * p) (c ^ (p - LESS)) ->
  (low = 1 <-> ~ (p | c)).
Proof.
  unfold LESS. intros Hp Hl E. pose proof (prime_ge_2 p Hp). apply cong_less in E.
  assert (E' : cong p low (c ^ (p - 1))) by (destruct E as [k E]; exists (k - high); lia).
  split.
  - intros -> [k ->]. assert (D : cong p ((k * p) ^ (p - 1)) 0).
    { replace (p - 1) with (Z.succ (p - 2)) by lia. rewrite Z.pow_succ_r by lia. exists (k * (k * p) ^ (p - 2)). ring. }
    rewrite D in E'. assert (1 = 0); [|lia]. apply cong_small with p; lia || exact E'.
  - intros Hc. apply cong_small with p; try lia. rewrite E'. apply fermat_little; assumption.
Qed.

(* paillier/factors.rs: combine *)
Theorem combine_correct p q x y inverse : 0 < p -> 0 < q -> rel_prime p q -> 0 <= x < p -> cong q (p * inverse) 1 ->
  let z := x + p * (((y - x) * inverse) mod q) in
  0 <= z < p * q /\ cong p z x /\ cong q z y /\ forall m, 0 <= m < p * q -> cong p m x -> cong q m y -> m = z.
Proof.
  intros Hp Hq Hpq Hx Hi z. pose proof (Z.mod_pos_bound ((y - x) * inverse) q Hq) as M.
  assert (Rz : 0 <= z < p * q).
  { assert (0 <= p * (((y - x) * inverse) mod q)) by (apply Z.mul_nonneg_nonneg; lia).
    assert (p * (((y - x) * inverse) mod q) <= p * (q - 1)) by (apply Z.mul_le_mono_nonneg_l; lia). unfold z. lia. }
  assert (Zp : cong p z x) by (exists (((y - x) * inverse) mod q); unfold z; ring).
  assert (Zq : cong q z y).
  { unfold z. rewrite cong_mod by lia. replace (p * ((y - x) * inverse)) with ((y - x) * (p * inverse)) by ring.
    rewrite Hi. exists 0. ring. }
  split; [exact Rz|]. split; [exact Zp|]. split; [exact Zq|]. intros m Hm Mp Mq.
  apply cong_small with (p * q); try assumption. apply cong_both; [exact Hpq| |].
  - rewrite Mp, Zp. reflexivity.
  - rewrite Mq, Zq. reflexivity.
Qed.

(* Both halves put together. *)
Lemma halves_combined p q m x y inverse : prime p -> prime q -> p <> q -> 0 <= m < p * q -> 0 <= x < p ->
  cong p x m -> cong q y m -> cong q (p * inverse) 1 -> x + p * (((y - x) * inverse) mod q) = m.
Proof.
  intros Hp Hq Hpq Hm Hx Cx Cy Hi. pose proof (prime_ge_2 p Hp). pose proof (prime_ge_2 q Hq).
  assert (R : rel_prime p q).
  { apply prime_rel_prime; [exact Hp|]. intros D. apply prime_div_prime in D; auto. }
  destruct (combine_correct p q x y inverse ltac:(lia) ltac:(lia) R Hx Hi) as (_ & _ & _ & U).
  symmetry. apply U; [exact Hm|symmetry; exact Cx|symmetry; exact Cy].
Qed.

(* paillier/decrypt.rs: decrypt. The plaintext of every ciphertext (1 + n)^m r^n modulo n^2 whose r is a unit. *)
Theorem decrypt_correct p q m r c low_p high_p low_q high_q h_p h_q inverse :
  prime p -> prime q -> p <> q -> 0 <= m < p * q -> ~ (p | r) -> ~ (q | r) ->
  cong (p * q * (p * q)) c ((1 + p * q) ^ m * r ^ (p * q)) ->
  0 <= low_p < p -> cong (p * p) (low_p + high_p * p) (c ^ (p - LESS)) -> cong p (h_p * - q) 1 ->
  0 <= low_q < q -> cong (q * q) (low_q + high_q * q) (c ^ (q - LESS)) -> cong q (h_q * - p) 1 ->
  cong q (p * inverse) 1 ->
  let x := (high_p * h_p) mod p in let y := (high_q * h_q) mod q in
  low_p = 1 /\ low_q = 1 /\ x + p * (((y - x) * inverse) mod q) = m.
Proof.
  intros Hp Hq Hpq Hm Rp Rq Ec Lp Ep Ip Lq Eq Iq Hi x y. pose proof (prime_ge_2 p Hp). pose proof (prime_ge_2 q Hq).
  assert (Cp : cong (p * p) c ((1 + p * q) ^ m * r ^ (p * q))).
  { apply cong_less with (q * q). replace (q * q * (p * p)) with (p * q * (p * q)) by ring. exact Ec. }
  assert (Cq : cong (q * q) c ((1 + q * p) ^ m * r ^ (q * p))).
  { apply cong_less with (p * p). rewrite (Z.mul_comm q p). replace (p * p * (q * q)) with (p * q * (p * q)) by ring. exact Ec. }
  destruct (decrypt_half p q m r c low_p high_p h_p Hp ltac:(lia) ltac:(lia) Rp Cp Lp Ep Ip) as [L1 C1].
  destruct (decrypt_half q p m r c low_q high_q h_q Hq ltac:(lia) ltac:(lia) Rq Cq Lq Eq Iq) as [L2 C2].
  split; [exact L1|]. split; [exact L2|]. apply halves_combined; try assumption; unfold x, y.
  - apply Z.mod_pos_bound. lia.
  - rewrite cong_mod by lia. exact C1.
  - rewrite cong_mod by lia. exact C2.
Qed.

(* paillier/decrypt.rs: decrypt. A DJN ciphertext (1 + n)^m (h^n)^a is one with the randomiser h^a. *)
Theorem djn_randomiser n h a : 0 <= n -> 0 <= a -> (h ^ n) ^ a = (h ^ a) ^ n.
Proof. intros Hn Ha. rewrite <- !Z.pow_mul_r by assumption. f_equal. ring. Qed.
