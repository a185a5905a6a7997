(* Decryption as number theory over Z: crates/paillier and crates/threshold. Exponents are those of the Rust source. *)
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

(* paillier/decrypt.rs: short. Under a subgroup key, modulo one prime P of n = P Q, the order being s: the low part is 1 for
   just the randomisers whose power 2 s is 1 modulo P, and then the plaintext comes out. A foreign randomiser is found unless
   its order modulo P divides 2 s and that modulo Q the same of the other prime. *)
Theorem subgroup_half P Q s m r c low high h : prime P -> 0 <= Q -> 0 <= m -> 0 <= s -> rel_prime (P * Q) (P - 1) -> ~ (P | r) ->
  cong (P * P) c ((1 + P * Q) ^ m * r ^ (P * Q)) ->
  0 <= low < P -> cong (P * P) (low + high * P) (c ^ (SHORT * s)) -> cong P (h * (Q * (SHORT * s))) 1 ->
  (low = 1 <-> cong P (r ^ (SHORT * s)) 1) /\ (low = 1 -> cong P (high * h) m).
Proof.
  unfold SHORT. intros HP HQ Hm Hs Hg Hr Ec Hl E Hh. pose proof (prime_ge_2 P HP).
  assert (Sound : cong P (r ^ (2 * s)) 1 -> low = 1 /\ cong P (high * h) m).
  { intros C. rewrite (Z.mul_comm P Q) in Ec.
    rewrite (power_of_ciphertext P Q m r c (2 * s) ltac:(lia) HQ Hm ltac:(lia) C Ec) in E.
    destruct (parts_of_one P low high _ ltac:(lia) Hl E) as [L X]. split; [exact L|]. rewrite X.
    replace (2 * s * m * Q * h) with (m * (h * (Q * (2 * s)))) by ring. rewrite Hh, Z.mul_1_r. reflexivity. }
  assert (Complete : low = 1 -> cong P (r ^ (2 * s)) 1).
  { intros ->. apply cong_less in E.
    assert (E' : cong P (c ^ (2 * s)) 1) by (transitivity (1 + high * P); [symmetry; exact E|exists high; ring]).
    assert (C : cong P c (r ^ (P * Q))).
    { apply cong_less in Ec. rewrite Ec, (cong_pow_1 P (1 + P * Q) m Hm) by (exists Q; ring). exists 0. ring. }
    rewrite (cong_pow _ _ _ (2 * s) ltac:(lia) C) in E'.
    (* g = r^(2 s) has g^(P Q) = 1 and g^(P - 1) = 1. *)
    set (g := r ^ (2 * s)).
    assert (S0 : 0 <= 2 * s) by lia. assert (PQ0 : 0 <= P * Q) by (apply Z.mul_nonneg_nonneg; lia).
    assert (P0 : 0 <= P - 1) by lia.
    assert (G1 : cong P (g ^ (P * Q)) 1) by (unfold g; rewrite (pow_swap r (2 * s) (P * Q) S0 PQ0); exact E').
    assert (G2 : cong P (g ^ (P - 1)) 1).
    { unfold g. rewrite (pow_swap r (2 * s) (P - 1) S0 P0). apply cong_pow_1; [exact S0|].
      apply fermat_little; assumption. }
    clearbody g.
    destruct (rel_prime_bezout _ _ Hg) as [u v Huv].
    (* Make the coefficient of P Q a number that is not negative. *)
    set (u' := u mod (P - 1)). assert (Hu' : 0 <= u').
    { unfold u'. destruct (Z.eq_dec P 2) as [->|]; [rewrite Z.mod_1_r; lia|]. apply Z.mod_pos_bound. lia. }
    assert (W : exists w, u' * (P * Q) = 1 + w * (P - 1)).
    { unfold u'. pose proof (Z.div_mod u (P - 1) ltac:(lia)). exists (- v - u / (P - 1) * (P * Q)).
      replace (u mod (P - 1)) with (u - (P - 1) * (u / (P - 1))) by lia. lia. }
    destruct W as [w W]. assert (H0 : 0 <= u' * (P * Q)) by (repeat apply Z.mul_nonneg_nonneg; lia).
    assert (A : cong P (g ^ (u' * (P * Q))) 1).
    { rewrite (Z.mul_comm u' (P * Q)), (Z.pow_mul_r g (P * Q) u' PQ0 Hu'). apply cong_pow_1; assumption. }
    destruct (Z_lt_le_dec w 0) as [Neg|Pos].
    - (* 1 + w (P - 1) >= 0 only for w = -1 and P = 2. *)
      assert (P = 2).
      { assert (Low : w * (P - 1) <= (-1) * (P - 1)) by (apply Z.mul_le_mono_nonneg_r; clear - H Neg; lia).
        rewrite W in H0. clear - H H0 Low. lia. }
      subst P. change (2 - 1) with 1 in G2. rewrite Z.pow_1_r in G2. exact G2.
    - assert (X : g ^ (1 + w * (P - 1)) = g * (g ^ (P - 1)) ^ w).
      { rewrite Z.pow_add_r by (try apply Z.mul_nonneg_nonneg; lia). rewrite Z.pow_1_r, (Z.mul_comm w), Z.pow_mul_r by lia.
        reflexivity. }
      rewrite W, X in A. rewrite (cong_pow_1 P (g ^ (P - 1)) w Pos G2), Z.mul_1_r in A. exact A. }
  split; [split|]; intros H1.
  - apply Complete, H1.
  - apply Sound, H1.
  - apply Sound, Complete, H1.
Qed.

(* paillier/decrypt.rs: short. Both halves put together: with randomisers of both subgroups, the plaintext. *)
Theorem subgroup_correct P Q s_p s_q m r c low_p high_p low_q high_q h_p h_q inverse :
  prime P -> prime Q -> P <> Q -> 0 <= m < P * Q -> 0 <= s_p -> 0 <= s_q -> ~ (P | r) -> ~ (Q | r) ->
  rel_prime (P * Q) (P - 1) -> rel_prime (P * Q) (Q - 1) ->
  cong P (r ^ (SHORT * s_p)) 1 -> cong Q (r ^ (SHORT * s_q)) 1 ->
  cong (P * Q * (P * Q)) c ((1 + P * Q) ^ m * r ^ (P * Q)) ->
  0 <= low_p < P -> cong (P * P) (low_p + high_p * P) (c ^ (SHORT * s_p)) -> cong P (h_p * (Q * (SHORT * s_p))) 1 ->
  0 <= low_q < Q -> cong (Q * Q) (low_q + high_q * Q) (c ^ (SHORT * s_q)) -> cong Q (h_q * (P * (SHORT * s_q))) 1 ->
  cong Q (P * inverse) 1 ->
  let x := (high_p * h_p) mod P in let y := (high_q * h_q) mod Q in
  low_p = 1 /\ low_q = 1 /\ x + P * (((y - x) * inverse) mod Q) = m.
Proof.
  intros HP HQ HPQ Hm Hsp Hsq Rp Rq Gp Gq Op Oq Ec Lp Ep Ip Lq Eq Iq Hi x y.
  pose proof (prime_ge_2 P HP). pose proof (prime_ge_2 Q HQ).
  assert (Cp : cong (P * P) c ((1 + P * Q) ^ m * r ^ (P * Q))).
  { apply cong_less with (Q * Q). replace (Q * Q * (P * P)) with (P * Q * (P * Q)) by ring. exact Ec. }
  assert (Cq : cong (Q * Q) c ((1 + Q * P) ^ m * r ^ (Q * P))).
  { apply cong_less with (P * P). rewrite (Z.mul_comm Q P). replace (P * P * (Q * Q)) with (P * Q * (P * Q)) by ring. exact Ec. }
  rewrite (Z.mul_comm P Q) in Gq.
  destruct (subgroup_half P Q s_p m r c low_p high_p h_p HP ltac:(lia) ltac:(lia) Hsp Gp Rp Cp Lp Ep Ip) as [[_ L1] C1].
  destruct (subgroup_half Q P s_q m r c low_q high_q h_q HQ ltac:(lia) ltac:(lia) Hsq Gq Rq Cq Lq Eq Iq) as [[_ L2] C2].
  specialize (L1 Op). specialize (L2 Oq). split; [exact L1|]. split; [exact L2|].
  apply halves_combined; try assumption; unfold x, y.
  - apply Z.mod_pos_bound. lia.
  - rewrite cong_mod by lia. apply C1, L1.
  - rewrite cong_mod by lia. apply C2, L2.
Qed.

(* paillier/subgroup.rs: doubled. The key's own randomisers, powers of h = - y^(2 u v) with P = 2 s u + 1, are not foreign. *)
Theorem subgroup_own P s u v y a : prime P -> P = 2 * s * u + 1 -> 0 <= s -> 0 <= u -> 0 <= v -> 0 <= a -> ~ (P | y) ->
  cong P (((- y ^ (2 * u * v)) ^ a) ^ (SHORT * s)) 1.
Proof.
  unfold SHORT. intros HP E Hs Hu Hv Ha Hy.
  assert (U : 0 <= 2 * u * v) by (repeat apply Z.mul_nonneg_nonneg; lia).
  set (x := y ^ (2 * u * v)). rewrite (pow_swap (- x) a (2 * s)) by lia. apply cong_pow_1; [exact Ha|].
  rewrite (Z.pow_mul_r (- x) 2 s), Z.pow_opp_even by (try (exists 1; ring); lia).
  rewrite <- (Z.pow_mul_r x 2 s) by lia. unfold x. rewrite <- (Z.pow_mul_r y) by lia.
  replace (2 * u * v * (2 * s)) with ((P - 1) * (2 * v)) by (rewrite E; ring).
  pose proof (prime_ge_2 P HP). rewrite (Z.pow_mul_r y (P - 1) (2 * v)) by lia.
  apply cong_pow_1; [lia|]. apply fermat_little; assumption.
Qed.

(* Threshold: shares c^(2 D s_i) and integers in place of Lagrange's coefficients, split by their sign. *)
Record share := Share { value : Z; plus : Z; minus : Z }.
Definition weighted (f : share -> Z) (shares : list share) := fold_right (fun s v => f s * value s + v) 0 shares.
Definition powers (c D : Z) (f : share -> Z) (shares : list share) :=
  fold_right (fun s v => (c ^ (2 * D * value s)) ^ (TWICE * f s) * v) 1 shares.

Lemma powers_value c D f shares : 0 <= D -> Forall (fun s => 0 <= value s /\ 0 <= f s) shares ->
  powers c D f shares = c ^ (4 * D * weighted f shares) /\ 0 <= weighted f shares.
Proof.
  intros HD. induction 1 as [|s l [H1 H2] _ [IH W]]; unfold powers, weighted, TWICE in *; cbn [fold_right].
  - rewrite Z.mul_0_r, Z.pow_0_r. split; [reflexivity|lia].
  - assert (0 <= f s * value s) by (apply Z.mul_nonneg_nonneg; lia). split; [|lia].
    set (w := fold_right (fun s v => f s * value s + v) 0 l) in *. clearbody w.
    assert (X1 : 0 <= D * value s) by (apply Z.mul_nonneg_nonneg; lia).
    assert (X2 : 0 <= D * w) by (apply Z.mul_nonneg_nonneg; lia).
    assert (X3 : 0 <= D * value s * f s) by (apply Z.mul_nonneg_nonneg; lia).
    assert (Y1 : 0 <= 2 * D * value s) by lia. assert (Y2 : 0 <= 2 * f s) by lia.
    assert (Y3 : 0 <= 4 * D * w) by lia. assert (Y4 : 0 <= 2 * D * value s * (2 * f s)) by lia.
    rewrite IH, <- (Z.pow_mul_r c _ _ Y1 Y2), <- (Z.pow_add_r c _ _ Y4 Y3). f_equal. ring.
Qed.

Lemma pow_same N g o e1 e2 : 0 <= o -> cong N (g ^ o) 1 -> 0 <= e1 -> 0 <= e2 -> (o | e1 - e2) -> cong N (g ^ e1) (g ^ e2).
Proof.
  intros Ho Hg H1 H2 [u Hu].
  assert (Up : forall x y u, 0 <= y -> 0 <= u -> x = y + o * u -> cong N (g ^ x) (g ^ y)).
  { intros x y v Hy Hv ->. rewrite Z.pow_add_r, Z.pow_mul_r by (try apply Z.mul_nonneg_nonneg; lia).
    rewrite (cong_pow _ _ _ v Hv Hg), Z.pow_1_l by lia. rewrite Z.mul_1_r. reflexivity. }
  destruct (Z_lt_le_dec u 0).
  - symmetry. apply Up with (- u); lia.
  - apply Up with u; lia.
Qed.

(* Modulo the square of one prime a = 2 a' + 1 of n: x c^k2 = c^k1 leaves only the plaintext in x. *)
Lemma threshold_half a b a' n m r c k1 k2 x : prime a -> 0 <= b -> a = 2 * a' + 1 -> n = b * a -> 0 <= m -> ~ (a | r) ->
  cong (a * a) c ((1 + n) ^ m * r ^ n) -> 0 <= k1 -> 0 <= k2 -> (2 * a' | k1 - k2) -> cong (a * a) (x * c ^ k2) (c ^ k1) ->
  cong (a * a) x (1 + (k1 - k2) * m * n).
Proof.
  intros Ha Hb Ea En Hm Hr Ec H1 H2 Hk Hx. pose proof (prime_ge_2 a Ha).
  assert (Hn : 0 <= n) by (subst n; apply Z.mul_nonneg_nonneg; lia).
  assert (Pow : forall k, 0 <= k -> cong (a * a) (c ^ k) ((1 + k * m * n) * (r ^ n) ^ k)).
  { intros k K. rewrite (cong_pow _ _ _ k K Ec), Z.pow_mul_l. apply cong_mul; [|reflexivity].
    rewrite (cong_pow _ _ _ k K (plain_power a n b m Hm En)), (pow_one_plus a (m * b) k K). exists 0. subst n. ring. }
  rewrite (Pow k1 H1), (Pow k2 H2) in Hx. set (g := r ^ n) in *.
  assert (G : cong (a * a) (g ^ (2 * a')) 1).
  { unfold g. rewrite En. apply randomiser_gone; try lia. replace (2 * a') with (a - 1) by lia. apply fermat_little; assumption. }
  rewrite (pow_same _ g (2 * a') k1 k2 ltac:(lia) G H1 H2 Hk) in Hx.
  assert (U : rel_prime (g ^ k2) (a * a)).
  { assert (Rg : rel_prime r a) by (apply rel_prime_sym, prime_rel_prime; assumption).
    unfold g. rewrite <- Z.pow_mul_r by assumption. replace (a * a) with (a ^ 2) by ring.
    apply rel_prime_Zpower; [apply Z.mul_nonneg_nonneg; lia|lia|exact Rg]. }
  assert (V : cong (a * a) (x * (1 + k2 * m * n)) (1 + k1 * m * n)).
  { apply cong_cancel with (g ^ k2); [exact U|].
    replace (g ^ k2 * (x * (1 + k2 * m * n))) with (x * ((1 + k2 * m * n) * g ^ k2)) by ring. rewrite Hx.
    exists 0. ring. }
  assert (W : cong (a * a) (x * (1 + k2 * m * n) * (1 - k2 * m * n)) ((1 + k1 * m * n) * (1 - k2 * m * n)))
    by (rewrite V; reflexivity).
  assert (X : cong (a * a) (x * (1 + k2 * m * n) * (1 - k2 * m * n)) x).
  { exists (- x * (k2 * m * b) * (k2 * m * b)). subst n. ring. }
  rewrite X in W. rewrite W. exists (- (k1 * m * b) * (k2 * m * b)). subst n. ring.
Qed.

(* threshold/combine.rs: put_together. [x] is the product of the shares' powers, negative ones being powers of inverses; for
   safe primes p = 2 p' + 1 and q = 2 q' + 1, and the shared d = 0 modulo p' q' and 1 modulo n. *)
Theorem threshold_correct p q p' q' m r c d D shares x low high inverse :
  prime p -> prime q -> p <> q -> p = 2 * p' + 1 -> q = 2 * q' + 1 -> 0 <= m < p * q -> ~ (p | r) -> ~ (q | r) -> 0 <= D ->
  let n := p * q in
  cong (n * n) c ((1 + n) ^ m * r ^ n) -> cong n d 1 -> cong (p' * q') d 0 ->
  Forall (fun s => 0 <= value s /\ 0 <= plus s) shares -> Forall (fun s => 0 <= value s /\ 0 <= minus s) shares ->
  cong (p' * q' * n) (weighted plus shares - weighted minus shares) (D * d) ->
  cong (n * n) (x * powers c D minus shares) (powers c D plus shares) ->
  0 <= low < n -> cong (n * n) (low + high * n) x -> cong n (INVERTED * D * inverse) 1 ->
  low = 1 /\ (high * inverse * inverse) mod n = m.
Proof.
  intros Hp Hq Hpq Ep Eq Hm Rp Rq HD n Ec Dn Dm Sp Sm Lag Ex Hl Exl Hi. unfold INVERTED in Hi.
  pose proof (prime_ge_2 p Hp). pose proof (prime_ge_2 q Hq).
  assert (Hn : 1 < n). { unfold n. assert (2 * 2 <= p * q) by (apply Z.mul_le_mono_nonneg; lia). lia. }
  destruct (powers_value c D plus shares HD Sp) as [Vp Wp].
  destruct (powers_value c D minus shares HD Sm) as [Vm Wm].
  rewrite Vp, Vm in Ex. set (e1 := weighted plus shares) in *. set (e2 := weighted minus shares) in *. clearbody e1 e2.
  assert (K1 : 0 <= 4 * D * e1) by (repeat apply Z.mul_nonneg_nonneg; lia).
  assert (K2 : 0 <= 4 * D * e2) by (repeat apply Z.mul_nonneg_nonneg; lia).
  assert (Div : (p' * q' | e1 - e2)).
  { destruct Lag as [t Lag]. destruct Dm as [u Dm]. exists (D * u + t * n). rewrite Lag, Dm. ring. }
  destruct Div as [w Div].
  assert (XP : cong (p * p) x (1 + (4 * D * e1 - 4 * D * e2) * m * n)).
  { apply (threshold_half p q p' n m r c); try assumption; try lia.
    - apply cong_less with (q * q). replace (q * q * (p * p)) with (n * n) by (unfold n; ring). exact Ec.
    - exists (2 * D * (w * q')). replace (4 * D * e1 - 4 * D * e2) with (4 * D * (e1 - e2)) by ring. rewrite Div. ring.
    - apply cong_less with (q * q). replace (q * q * (p * p)) with (n * n) by (unfold n; ring). exact Ex. }
  assert (XQ : cong (q * q) x (1 + (4 * D * e1 - 4 * D * e2) * m * n)).
  { apply (threshold_half q p q' n m r c); try assumption; try lia.
    - apply cong_less with (p * p). replace (p * p * (q * q)) with (n * n) by (unfold n; ring). exact Ec.
    - exists (2 * D * (w * p')). replace (4 * D * e1 - 4 * D * e2) with (4 * D * (e1 - e2)) by ring. rewrite Div. ring.
    - apply cong_less with (p * p). replace (p * p * (q * q)) with (n * n) by (unfold n; ring). exact Ex. }
  assert (R : rel_prime (p * p) (q * q)).
  { replace (p * p) with (p ^ 2) by ring. replace (q * q) with (q ^ 2) by ring.
    apply rel_prime_Zpower; try lia. apply prime_rel_prime; [exact Hp|]. intros D'. apply prime_div_prime in D'; auto. }
  pose proof (cong_both _ _ _ _ R XP XQ) as X. replace (p * p * (q * q)) with (n * n) in X by (unfold n; ring).
  assert (E : cong n (e1 - e2) D).
  { apply cong_less in Lag.
    assert (Lag' : cong n (e1 - e2) (D * d)).
    { destruct Lag as [t Lag]. exists t. exact Lag. }
    rewrite Lag', Dn. exists 0. ring. }
  rewrite X in Exl.
  assert (Exl' : cong (n * n) (low + high * n) (1 + 4 * D * (e1 - e2) * m * n)) by (rewrite Exl; exists 0; ring).
  destruct (parts_of_one n low high _ Hn Hl Exl') as [L H1]. split; [exact L|].
  rewrite <- (Z.mod_small m n) by (unfold n; lia). apply cong_mod_eq; [lia|].
  rewrite H1, E. replace (4 * D * D * m * inverse * inverse) with (2 * D * inverse * (2 * D * inverse) * m) by ring.
  rewrite Hi. exists 0. ring.
Qed.
