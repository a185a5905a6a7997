(* crates/bfv/src/kernel/loops.rs: butterflies and products of the lattice scheme, translated, in one lane. *)
From Arith Require Export lanes modular bfv_words.
From Arith Require Import words.
From Generated Require Export bfv transform_bits.

Section Prime.
Variable Q : Z.
Hypothesis HQ : 0 < Q < 2 ^ BFV_BITS.

(* Modulus::new *)
Definition of_prime := Modulus Q (2 * Q) (D - Q) (D - 1).
(* Constant::new *)
Definition stands_for (c : Z) (w : Z * Z) := fst w = c /\ 0 <= c < Q /\ snd w = D * c / Q.

Lemma bits : 4 * Q < D + 1.
Proof. unfold BFV_BITS in HQ. change (2 ^ 50) with 1125899906842624 in HQ. lia. Qed.

(* bfv/kernel/loops.rs: times. Any number of 52 bits by a constant: below 2 q. *)
Theorem times_correct c w x : stands_for c w -> 0 <= x < D ->
  0 <= times of_prime x w < 2 * Q /\ cong Q (times of_prime x w) (c * x).
Proof.
  intros (E1 & Hc & E2) Hx. pose proof bits as HB. destruct w as [v k]. cbn [fst snd] in *. subst v k.
  unfold times, add_low, add_high, of_prime. cbn [q two_q negative mask]. cbv zeta. rewrite !Z.add_0_l.
  change (D - 1) with (Z.ones 52). rewrite Z.land_ones by lia. change (2 ^ 52) with D.
  pose proof (Z.div_mod (D * c) Q ltac:(lia)) as E. pose proof (Z.mod_pos_bound (D * c) Q ltac:(lia)) as He.
  set (k := D * c / Q) in *. set (e := (D * c) mod Q) in *.
  assert (Hk : 0 <= k < D).
  { split; [enough (-1 < k) by lia|]; apply Z.mul_lt_mono_pos_l with Q; lia. }
  rewrite (Z.mod_small x D), (Z.mod_small k D) by lia. pose proof (high_range x k Hx Hk) as Hw.
  pose proof (halves (x * k)) as Hf. pose proof (low_range (x * k)) as Rf. set (f := (x * k) mod D) in *.
  set (whole := x * k / D) in *. rewrite (Z.mod_small whole B) by lia.
  pose proof (low_range (x * c)). pose proof (low_range (whole * (D - Q))).
  rewrite (Z.mod_small ((x * c) mod D)) by lia. rewrite (Z.mod_small (_ + _)) by lia.
  rewrite <- Zplus_mod.
  assert (I : D * (x * c - whole * Q) = x * e + Q * f).
  { replace (D * (x * c - whole * Q)) with (x * (D * c) - Q * (D * whole)) by ring. rewrite E.
    replace (D * whole) with (x * k - f) by lia. ring. }
  assert (0 <= x * e <= D * Q) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]).
  assert (0 <= Q * f <= Q * (D - 1)) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_l; lia]).
  assert (M : (x * c + whole * (D - Q)) mod D = x * c - whole * Q).
  { replace (x * c + whole * (D - Q)) with (x * c - whole * Q + whole * D) by ring. rewrite Z.mod_add by lia.
    apply Z.mod_small. lia. }
  rewrite M. split; [lia|]. exists (- whole). ring.
Qed.

(* bfv/kernel/loops.rs: once *)
Theorem once_correct x b : 0 <= x < 2 * b -> 2 * b < B -> 0 <= once x b < b /\ (once x b = x \/ once x b = x - b).
Proof.
  intros Hx Hb. unfold once, sub64. destruct (Z_lt_le_dec x b).
  - rewrite <- (Z.mod_add (x - b) 1 B) by lia. rewrite Z.mod_small by lia. lia.
  - rewrite Z.mod_small by lia. lia.
Qed.

Lemma once_2 x : 0 <= x < 4 * Q -> 0 <= once x (2 * Q) < 2 * Q /\ cong Q (once x (2 * Q)) x.
Proof.
  intros Hx. pose proof bits. destruct (once_correct x (2 * Q) ltac:(lia) ltac:(lia)) as [R [E|E]]; rewrite E in *; (split; [lia|]).
  - reflexivity.
  - exists (- 2). ring.
Qed.

(* bfv/kernel/loops.rs: reduced *)
Theorem reduced_correct x : 0 <= x < 4 * Q -> reduced of_prime x = x mod Q.
Proof.
  intros Hx. pose proof bits. unfold reduced. cbn [q two_q of_prime]. destruct (once_2 x Hx) as [R C].
  destruct (once_correct (once x (2 * Q)) Q ltac:(lia) ltac:(lia)) as [R2 C2].
  apply cong_small with Q; [exact R2|apply Z.mod_pos_bound; lia|]. rewrite cong_mod by lia.
  transitivity (once x (2 * Q)); [|exact C]. destruct C2 as [->| ->]; [reflexivity|exists (- 1); ring].
Qed.

Lemma sub_add_small a b c : 0 <= a - b + c < B -> add64 (sub64 a b) c = a - b + c.
Proof. intros H. unfold add64, sub64. rewrite Zplus_mod_idemp_l. apply Z.mod_small, H. Qed.

(* bfv/kernel/loops.rs: butterfly. Below 4 q stays below 4 q. *)
Theorem butterfly_correct c w x y : stands_for c w -> 0 <= x < 4 * Q -> 0 <= y < 4 * Q ->
  let '(s, d) := butterfly of_prime x y w in
  0 <= s < 4 * Q /\ 0 <= d < 4 * Q /\ cong Q s (x + c * y) /\ cong Q d (x - c * y).
Proof.
  intros Hw Hx Hy. pose proof bits. unfold butterfly. cbv zeta. cbn [two_q of_prime].
  destruct (times_correct c w y Hw ltac:(lia)) as [Rt Ct]. destruct (once_2 x Hx) as [Rx Cx].
  set (t := times of_prime y w) in *. set (x' := once x (2 * Q)) in *.
  rewrite sub_add_small by lia. unfold add64. rewrite Z.mod_small by lia.
  split; [lia|]. split; [lia|]. rewrite <- Cx, <- Ct. split; [reflexivity|]. exists 2. ring.
Qed.

(* bfv/kernel/loops.rs: back. Below 2 q stays below 2 q. *)
Theorem back_correct c w x y : stands_for c w -> 0 <= x < 2 * Q -> 0 <= y < 2 * Q ->
  let '(s, d) := back of_prime x y w in
  0 <= s < 2 * Q /\ 0 <= d < 2 * Q /\ cong Q s (x + y) /\ cong Q d (c * (x - y)).
Proof.
  intros Hw Hx Hy. pose proof bits. unfold back. cbv zeta. cbn [two_q of_prime].
  rewrite sub_add_small by lia. destruct (times_correct c w (x - y + 2 * Q) Hw ltac:(lia)) as [Rt Ct].
  unfold add64. rewrite (Z.mod_small (x + y)) by lia. destruct (once_2 (x + y) ltac:(lia)) as [Rx Cx].
  split; [exact Rx|]. split; [exact Rt|]. split; [exact Cx|]. rewrite Ct. exists (c * 2). ring.
Qed.

(* bfv/kernel/loops.rs: multiply_add. Montgomery's product, added and reduced. *)
Theorem multiply_add_correct inverse sum a b : cong D (inverse * Q) 1 ->
  0 <= sum < Q -> 0 <= a < Q -> 0 <= b < Q ->
  let r := multiply_add of_prime 0 inverse sum a b in 0 <= r < Q /\ cong Q (D * r) (D * sum + a * b).
Proof.
  intros Hi Hs Ha Hb. pose proof bits. unfold multiply_add, add_low, add_high. cbv zeta.
  rewrite !Z.add_0_l. cbn [q of_prime]. pose proof (low_range (a * b)) as R1. rewrite (Z.mod_small ((a * b) mod D)) by lia.
  set (m := ((a * b) mod D * inverse) mod D). assert (Rm : 0 <= m < D) by (apply Z.mod_pos_bound; lia).
  rewrite (Z.mod_small m B) by lia.
  rewrite (Z.mod_small a D), (Z.mod_small b D), (Z.mod_small m D), (Z.mod_small Q D) by lia.
  assert (R2 : 0 <= a * b / D < Q).
  { assert (a * b <= Q * b) by (apply Z.mul_le_mono_nonneg_r; lia). assert (0 <= a * b) by (apply Z.mul_nonneg_nonneg; lia).
    assert (Q * b <= Q * (D - 1)) by (apply Z.mul_le_mono_nonneg_l; lia).
    split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; lia. }
  assert (R3 : 0 <= m * Q / D < Q).
  { split; [apply Z.div_pos; [apply Z.mul_nonneg_nonneg; lia|lia]|]. apply Z.div_lt_upper_bound; [lia|].
    apply Z.mul_lt_mono_pos_r; lia. }
  unfold add64, sub64. rewrite (Z.mod_small (sum + Q)) by lia. rewrite (Z.mod_small (sum + Q + a * b / D)) by lia.
  rewrite (Z.mod_small (m * Q / D)) by lia. rewrite (Z.mod_small (_ - _)) by lia.
  change (Modulus Q (2 * Q) (D - Q) (D - 1)) with of_prime.
  rewrite reduced_correct by lia. split; [apply Z.mod_pos_bound; lia|].
  assert (Same : (a * b) mod D = (m * Q) mod D).
  { rewrite <- (Zmod_mod (a * b)). apply cong_mod_eq; [lia|]. unfold m. rewrite (cong_mod D (_ * inverse)) by lia.
    replace ((a * b) mod D * inverse * Q) with ((a * b) mod D * (inverse * Q)) by ring. rewrite Hi. exists 0. ring. }
  rewrite cong_mod by lia. pose proof (halves (a * b)) as H1. pose proof (halves (m * Q)) as H2.
  exists (D - m). lia.
Qed.

(* bfv/kernel/loops.rs: add_limbs. Limbs are any numbers of 52 bits; the sum is below 8 q before it is reduced. *)
Theorem add_limbs_correct start a c0 c1 c2 w0 w1 w2 l0 l1 l2 : 0 <= start < Q -> 0 <= a < Q ->
  stands_for c0 w0 -> stands_for c1 w1 -> stands_for c2 w2 -> 0 <= l0 < D -> 0 <= l1 < D -> 0 <= l2 < D ->
  add_limbs of_prime start a w0 w1 w2 l0 l1 l2 = (a + start + c0 * l0 + c1 * l1 + c2 * l2) mod Q.
Proof.
  intros Hs Ha W0 W1 W2 L0 L1 L2. pose proof bits. unfold add_limbs. cbv zeta. change (q of_prime) with Q.
  destruct (times_correct c0 w0 l0 W0 L0) as [R0 C0]. destruct (times_correct c1 w1 l1 W1 L1) as [R1 C1].
  destruct (times_correct c2 w2 l2 W2 L2) as [R2 C2]. unfold add64.
  set (t0 := times of_prime l0 w0) in *. set (t1 := times of_prime l1 w1) in *. set (t2 := times of_prime l2 w2) in *.
  rewrite (Z.mod_small (t0 + t1)), (Z.mod_small (a + start)), (Z.mod_small (a + start + (t0 + t1))), Z.mod_small by lia.
  destruct (once_correct (a + start + (t0 + t1) + t2) (4 * Q) ltac:(lia) ltac:(lia)) as [R E].
  rewrite reduced_correct by lia. apply cong_mod_eq; [lia|]. rewrite <- C0, <- C1, <- C2.
  destruct E as [-> | ->]; [exists 0|exists (-4)]; ring.
Qed.
End Prime.
