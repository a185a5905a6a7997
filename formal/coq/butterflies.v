(* crates/ntt/src/engine/loops.rs: butterflies and products of the long multiplication, translated, in one lane. *)
From Arith Require Export lanes modular ntt_words.
From Arith Require Import words.
From Generated Require Export ntt transform_bits.

(* Sums and differences that stay in their range, with a second operand that has wrapped. *)
Lemma add64_in a t : 0 <= a + t < B -> add64 a (t mod B) = a + t.
Proof. intros H. unfold add64. rewrite Zplus_mod_idemp_r. apply Z.mod_small, H. Qed.
Lemma sub64_in a t : 0 <= a - t < B -> sub64 a (t mod B) = a - t.
Proof. intros H. unfold sub64. rewrite Zminus_mod_idemp_r. apply Z.mod_small, H. Qed.
Lemma add64_small a b : 0 <= a + b < B -> add64 a b = a + b.
Proof. apply Z.mod_small. Qed.
Lemma sub64_small a b : 0 <= a - b < B -> sub64 a b = a - b.
Proof. apply Z.mod_small. Qed.
(* A difference that may be negative, and what makes up for it. *)
Lemma sub_add_small a b c : 0 <= a - b + c < B -> add64 (sub64 a b) c = a - b + c.
Proof. intros H. unfold add64, sub64. rewrite Zplus_mod_idemp_l. apply Z.mod_small, H. Qed.

Lemma reduce_range x b : 0 <= x < 2 * b -> 2 * b < B -> 0 <= reduce x b < b /\ (reduce x b = x \/ reduce x b = x - b).
Proof.
  intros Hx Hb. unfold reduce, sub64. destruct (Z_lt_le_dec x b).
  - rewrite <- (Z.mod_add (x - b) 1 B) by lia. rewrite Z.mod_small by lia. lia.
  - rewrite Z.mod_small by lia. lia.
Qed.

Section Prime.
Variables P inverse : Z.
Hypothesis HP : 0 < P < 2 ^ NTT_BITS.
Hypothesis Odd : rel_prime P D.
Hypothesis Inverse : cong D (inverse * P) 1.

(* Moduli::new *)
Definition multiples := Moduli 0 P (2 * P) (4 * P) (8 * P) ((- P) mod B).
(* Constant: c D mod P, and that times the inverse. *)
Definition stands_for (c : Z) (w : factor) :=
  0 <= value w < P /\ cong P (value w) (c * D) /\ by_inverse w = (value w * inverse) mod D.

Lemma bits : 16 * P < D.
Proof. unfold NTT_BITS in HP. change (2 ^ 48) with 281474976710656 in HP. lia. Qed.

Lemma cong_lower n d x y : cong (n * d) x y -> cong n x y.
Proof. intros [k ->]. exists (k * d). ring. Qed.

(* The upper halves of x w and of q P, which have the same lower half. *)
Lemma montgomery x v : 0 <= x < D -> 0 <= v < P ->
  let q := (x * ((v * inverse) mod D)) mod D in
  exists t, x * v / D - q * P / D = t /\ - P < t < P /\ cong P (D * t) (x * v) /\
    0 <= x * v / D < P /\ 0 <= q * P / D < P.
Proof.
  intros Hx Hv q. pose proof bits as HB.
  assert (Rq : 0 <= q < D) by (apply Z.mod_pos_bound; lia).
  assert (Same : (x * v) mod D = (q * P) mod D).
  { apply cong_mod_eq; [lia|]. unfold q. rewrite cong_mod by lia. rewrite cong_mod by lia.
    replace (x * (v * inverse) * P) with (x * v * (inverse * P)) by ring. rewrite Inverse. exists 0. ring. }
  pose proof (halves (x * v)) as H1. pose proof (halves (q * P)) as H2.
  assert (R1 : 0 <= x * v / D < P).
  { split; [apply Z.div_pos; [apply Z.mul_nonneg_nonneg; lia|lia]|]. apply Z.div_lt_upper_bound; [lia|].
    apply Z.mul_lt_mono_nonneg; lia. }
  assert (R2 : 0 <= q * P / D < P).
  { split; [apply Z.div_pos; [apply Z.mul_nonneg_nonneg; lia|lia]|]. apply Z.div_lt_upper_bound; [lia|].
    apply Z.mul_lt_mono_pos_r; lia. }
  exists (x * v / D - q * P / D). split; [reflexivity|]. split; [lia|]. split; [|split; assumption].
  exists (- q). lia.
Qed.

Lemma product c w x : stands_for c w -> 0 <= x < D ->
  exists t, times w x multiples = t mod B /\ times_positive w x multiples = t + P /\ - P < t < P /\ cong P t (c * x).
Proof.
  intros (Hv & Cv & Ew) Hx. pose proof bits as HB. destruct w as [v i]. cbn [value by_inverse] in *. subst i.
  destruct (montgomery x v Hx Hv) as (t & E & Rt & Ct & R1 & R2). exists t.
  unfold times, times_positive, add_low, add_high, multiples. cbn [zero p minus_p value by_inverse].
  rewrite !Z.add_0_l. set (q := (x * ((v * inverse) mod D)) mod D) in *.
  assert (Rq : 0 <= q < D) by (apply Z.mod_pos_bound; lia).
  assert (P0 : 0 < P) by apply HP. rewrite (Z.mod_small q B) by lia. rewrite (Z.mod_small x D) by lia.
  rewrite (Z.mod_small v D) by lia. rewrite (Z.mod_small q D) by lia. rewrite (Z.mod_small P D) by lia.
  rewrite (Z.mod_small (x * v / D)), (Z.mod_small (q * P / D)) by lia.
  split; [unfold sub64; f_equal; exact E|]. split; [|split; [exact Rt|]].
  - unfold sub64. rewrite Zplus_mod_idemp_l, Zminus_mod_idemp_r.
    rewrite Z.mod_small by lia. lia.
  - apply cong_cancel with D; [apply rel_prime_sym, Odd|]. rewrite Ct, Cv. exists 0. ring.
Qed.

(* ntt/engine/loops.rs: times *)
Theorem times_correct c w x : stands_for c w -> 0 <= x < D ->
  exists t, times w x multiples = t mod B /\ - P < t < P /\ cong P t (c * x).
Proof. intros Hw Hx. destruct (product c w x Hw Hx) as (t & H1 & _ & H2 & H3). exists t. auto. Qed.

(* ntt/engine/loops.rs: times_positive *)
Theorem times_positive_correct c w x : stands_for c w -> 0 <= x < D ->
  0 < times_positive w x multiples < 2 * P /\ cong P (times_positive w x multiples) (c * x).
Proof.
  intros Hw Hx. destruct (product c w x Hw Hx) as (t & _ & -> & H2 & H3). split; [lia|].
  rewrite <- H3. exists 1. ring.
Qed.

Lemma reduce_8 x : 0 <= x < 16 * P -> 0 <= reduce x (8 * P) < 8 * P /\ cong P (reduce x (8 * P)) x.
Proof.
  intros Hx. pose proof bits. destruct (reduce_range x (8 * P) ltac:(lia) ltac:(lia)) as [R [E|E]]; rewrite E in *; (split; [lia|]).
  - reflexivity.
  - exists (- 8). ring.
Qed.

Lemma reduce_4 x : 0 <= x < 8 * P -> 0 <= reduce x (4 * P) < 4 * P /\ cong P (reduce x (4 * P)) x.
Proof.
  intros Hx. pose proof bits. destruct (reduce_range x (4 * P) ltac:(lia) ltac:(lia)) as [R [E|E]]; rewrite E in *; (split; [lia|]).
  - reflexivity.
  - exists (- 4). ring.
Qed.

(* ntt/engine/loops.rs: forward2. Below 12 p stays below 12 p. *)
Theorem forward2_correct c w x0 x1 : stands_for c w -> 0 <= x0 < 12 * P -> 0 <= x1 < 12 * P ->
  let '(y0, y1) := forward2 w multiples x0 x1 in
  0 <= y0 < 12 * P /\ 0 <= y1 < 12 * P /\ cong P y0 (x0 + c * x1) /\ cong P y1 (x0 - c * x1).
Proof.
  intros Hw H0 H1. pose proof bits. unfold forward2. cbv zeta.
  destruct (times_positive_correct c w x1 Hw ltac:(lia)) as [Rt Ct]. set (t := times_positive w x1 multiples) in *.
  cbn [p8 p2 multiples]. destruct (reduce_8 x0 ltac:(lia)) as [Rx Cx]. set (x := reduce x0 (8 * P)) in *.
  rewrite (add64_small x t) by lia. rewrite (add64_small x (2 * P)) by lia. rewrite sub64_small by lia.
  split; [lia|]. split; [lia|]. split.
  - rewrite Cx, Ct. reflexivity.
  - rewrite <- Cx, <- Ct. exists 2. ring.
Qed.

(* ntt/engine/loops.rs: forward4. Two levels at once: no word wraps, below 12 p stays below 12 p. *)
Theorem forward4_correct c0 c1 c2 w0 w1 w2 x0 x1 x2 x3 : stands_for c0 w0 -> stands_for c1 w1 -> stands_for c2 w2 ->
  0 <= x0 < 12 * P -> 0 <= x1 < 12 * P -> 0 <= x2 < 12 * P -> 0 <= x3 < 12 * P ->
  let '(y0, y1, y2, y3) := forward4 w0 w1 w2 multiples x0 x1 x2 x3 in
  (0 <= y0 < 12 * P /\ 0 <= y1 < 12 * P /\ 0 <= y2 < 12 * P /\ 0 <= y3 < 12 * P) /\
  cong P y0 (x0 + c0 * x2 + c1 * (x1 + c0 * x3)) /\ cong P y1 (x0 + c0 * x2 - c1 * (x1 + c0 * x3)) /\
  cong P y2 (x0 - c0 * x2 + c2 * (x1 - c0 * x3)) /\ cong P y3 (x0 - c0 * x2 - c2 * (x1 - c0 * x3)).
Proof.
  intros W0 W1 W2 H0 H1 H2 H3. pose proof bits. unfold forward4. cbv zeta.
  destruct (times_correct c0 w0 x2 W0 ltac:(lia)) as (t2 & -> & R2 & C2).
  destruct (times_correct c0 w0 x3 W0 ltac:(lia)) as (t3 & -> & R3 & C3).
  cbn [p8 p2 p multiples]. destruct (reduce_8 x0 ltac:(lia)) as [Rx Cx]. set (x := reduce x0 (8 * P)) in *.
  rewrite (add64_small x (2 * P)) by lia. rewrite (add64_small x1 P) by lia.
  rewrite !add64_in, !sub64_in by lia.
  destruct (times_correct c1 w1 (x1 + P + t3) W1 ltac:(lia)) as (s1 & E1 & S1 & D1).
  destruct (times_correct c2 w2 (x1 + P - t3) W2 ltac:(lia)) as (s2 & E2 & S2 & D2).
 rewrite E1, E2. rewrite !add64_in, !sub64_in by lia.
  assert (K1 : cong P (x1 + P + t3) (x1 + c0 * x3)) by (rewrite <- C3; exists 1; ring).
  assert (K2 : cong P (x1 + P - t3) (x1 - c0 * x3)) by (rewrite <- C3; exists 1; ring).
  rewrite K1 in D1. rewrite K2 in D2.
  split; [lia|]. rewrite <- Cx, <- C2, <- D1, <- D2. repeat split.
  - exists 2. ring.
  - exists 2. ring.
  - exists 2. ring.
  - exists 2. ring.
Qed.

(* ntt/engine/loops.rs: inverse2. Below 4 p stays below 4 p. *)
Theorem inverse2_correct c w u0 u1 : stands_for c w -> 0 <= u0 < 4 * P -> 0 <= u1 < 4 * P ->
  let '(y0, y1) := inverse2 w multiples u0 u1 in
  0 <= y0 < 4 * P /\ 0 <= y1 < 4 * P /\ cong P y0 (u0 + u1) /\ cong P y1 (c * (u1 - u0)).
Proof.
  intros Hw H0 H1. pose proof bits. unfold inverse2. cbv zeta. cbn [p4 multiples].
  rewrite (add64_small u0 u1) by lia. rewrite (sub_add_small u1 u0) by lia.
  destruct (times_positive_correct c w (u1 - u0 + 4 * P) Hw ltac:(lia)) as [Rt Ct].
  destruct (reduce_4 (u0 + u1) ltac:(lia)) as [Rx Cx].
  split; [lia|]. split; [lia|]. split; [exact Cx|]. rewrite Ct. exists (c * 4). ring.
Qed.

(* ntt/engine/loops.rs: inverse4. Two levels at once. *)
Theorem inverse4_correct c0 c1 c2 w0 w1 w2 u0 u1 u2 u3 : stands_for c0 w0 -> stands_for c1 w1 -> stands_for c2 w2 ->
  0 <= u0 < 4 * P -> 0 <= u1 < 4 * P -> 0 <= u2 < 4 * P -> 0 <= u3 < 4 * P ->
  let '(y0, y1, y2, y3) := inverse4 w0 w1 w2 multiples u0 u1 u2 u3 in
  (0 <= y0 < 4 * P /\ 0 <= y1 < 4 * P /\ 0 <= y2 < 4 * P /\ 0 <= y3 < 4 * P) /\
  cong P y0 (u0 + u1 + (u2 + u3)) /\ cong P y1 (c1 * (u1 - u0) + c2 * (u3 - u2)) /\
  cong P y2 (c0 * (u2 + u3 - (u0 + u1))) /\ cong P y3 (c0 * (c2 * (u3 - u2) - c1 * (u1 - u0))).
Proof.
  intros W0 W1 W2 H0 H1 H2 H3. pose proof bits. unfold inverse4. cbv zeta. cbn [p8 p4 p2 multiples].
  rewrite (add64_small u0 u1), (add64_small u2 u3) by lia. rewrite (sub_add_small u1 u0), (sub_add_small u3 u2) by lia.
  rewrite (sub_add_small (u2 + u3) (u0 + u1)) by lia. rewrite (add64_small (u0 + u1)) by lia.
  destruct (times_positive_correct c1 w1 (u1 - u0 + 4 * P) W1 ltac:(lia)) as [R1 C1].
  destruct (times_positive_correct c2 w2 (u3 - u2 + 4 * P) W2 ltac:(lia)) as [R2 C2].
  destruct (times_positive_correct c0 w0 (u2 + u3 - (u0 + u1) + 8 * P) W0 ltac:(lia)) as [R3 C3].
  set (a1 := times_positive w1 _ _) in *. set (a3 := times_positive w2 _ _) in *.
  rewrite (add64_small a1 a3) by lia. rewrite (sub_add_small a3 a1) by lia.
  destruct (times_positive_correct c0 w0 (a3 - a1 + 2 * P) W0 ltac:(lia)) as [R4 C4].
  destruct (reduce_8 (u0 + u1 + (u2 + u3)) ltac:(lia)) as [R5 C5].
  destruct (reduce_4 (reduce (u0 + u1 + (u2 + u3)) (8 * P)) ltac:(lia)) as [R6 C6].
  split; [lia|]. rewrite C6, C5, C4, C3.
  assert (K1 : cong P a1 (c1 * (u1 - u0))) by (rewrite C1; exists (c1 * 4); ring).
  assert (K2 : cong P a3 (c2 * (u3 - u2))) by (rewrite C2; exists (c2 * 4); ring).
  rewrite <- K1, <- K2. repeat split.
  - reflexivity.
  - reflexivity.
  - exists (c0 * 8). ring.
  - exists (c0 * 2). ring.
Qed.

(* ntt/engine/loops.rs: reduced. Montgomery's reduction of sums of halves, as the leaves make them. *)
Theorem reduced_correct low high : 0 <= low < 16 * D -> 0 <= high < 3 * P + 3 * P ->
  let r := reduced multiples low high inverse in
  0 < r < high + P + 16 /\ cong P (D * r) (D * high + low).
Proof.
  intros Hl Hh. pose proof bits. unfold reduced, add_low, add_high, shr. cbn [zero p minus_p multiples]. cbv zeta.
  rewrite Z.add_0_l. change (2 ^ 52) with D. pose proof (halves low) as HL. pose proof (low_range low) as RL.
  set (q := (low * inverse) mod D). assert (Rq : 0 <= q < D) by (apply Z.mod_pos_bound; lia).
  rewrite (Z.mod_small q B) by lia. rewrite (Z.mod_small q D), (Z.mod_small P D) by lia.
  assert (R2 : 0 <= q * P / D < P).
  { split; [apply Z.div_pos; [apply Z.mul_nonneg_nonneg; lia|lia]|]. apply Z.div_lt_upper_bound; [lia|].
    apply Z.mul_lt_mono_pos_r; lia. }
  assert (R3 : 0 <= low / D < 16) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
  rewrite (add64_small high (low / D)) by lia. unfold sub64. rewrite Zplus_mod_idemp_l, Zminus_mod_idemp_r.
  rewrite (Z.mod_small (high + low / D - (- P + q * P / D))) by lia. split; [lia|].
  assert (Same : low mod D = (q * P) mod D).
  { apply cong_mod_eq; [lia|]. unfold q. rewrite cong_mod by lia.
    replace (low * inverse * P) with (low * (inverse * P)) by ring. rewrite Inverse. exists 0. ring. }
  pose proof (halves (q * P)) as HQ. exists (D - q). lia.
Qed.
End Prime.
