(* crates/arith/src/ring.rs: into and out of dual residues, with the products of the portable kernel. *)
From Arith Require Export serial_dual modular.
From Coq Require Import Zpow_facts.

Lemma inverts_coprime n m : inverts n m -> rel_prime B (val m).
Proof.
  intros [_ H]. destruct m as [|x m]; cbn [nth val] in *; [rewrite Z.mul_0_r in H; discriminate|].
  pose proof (Z.div_mod (n * x) B ltac:(lia)) as D. rewrite H in D.
  apply bezout_rel_prime. apply Bezout_intro with (n * x / B + 1 + n * val m) (- n). lia.
Qed.

Lemma R_coprime k n m : inverts n m -> rel_prime (R k) (val m * val m).
Proof.
  intros H. apply inverts_coprime in H. unfold R. apply rel_prime_sym, rel_prime_Zpower_r; [lia|].
  apply rel_prime_sym, rel_prime_mult; exact H.
Qed.

Section Ring.
Variables (k : nat) (m : list Z) (n : Z).
Hypothesis Hm : limbs m.
Hypothesis Em : length m = k.
Hypothesis Hk : (1 <= k)%nat.
Hypothesis Hn : inverts n m.
Notation M := (val m * val m).

(* The number of a dual residue. *)
Definition number (l : list Z) := val (firstn k l) + val (skipn k l) * val m.
(* Both parts below m; and what add_chunk makes: only good as the first factor of a product. *)
Definition reduced l := limbs l /\ length l = (2 * k)%nat /\ val (firstn k l) < val m /\ val (skipn k l) < val m.
Definition first_factor l := limbs l /\ length l = (2 * k)%nat /\ val (skipn k l) <= val m.

Definition times (a b : list Z) := fst (dual_mul_body k (repeat 0 (2 * k)) a b m n (repeat 0 (4 * k))).

Lemma reduced_first l : reduced l -> first_factor l.
Proof. intros (H1 & H2 & H3 & H4). repeat split; auto; lia. Qed.

Lemma number_range l : reduced l -> 0 <= number l < M.
Proof.
  intros (H1 & H2 & H3 & H4). unfold number. pose proof (val_range _ (limbs_firstn k l H1)).
  pose proof (val_range _ (limbs_skipn k l H1)).
  assert (0 <= val (skipn k l) * val m) by (apply Z.mul_nonneg_nonneg; lia).
  assert (val (skipn k l) * val m <= (val m - 1) * val m) by (apply Z.mul_le_mono_nonneg_r; lia). lia.
Qed.

Lemma times_correct a b : first_factor a -> reduced b ->
  reduced (times a b) /\ cong M (R k * number (times a b)) (number a * number b).
Proof.
  intros (A1 & A2 & A3) (B1 & B2 & B3 & B4). unfold times.
  pose proof (dual_mul_body_correct k (repeat 0 (2 * k)) (firstn k a) (skipn k a) (firstn k b) (skipn k b) m n
    (repeat 0 (4 * k)) (limbs_firstn _ _ A1) (limbs_skipn _ _ A1) (limbs_firstn _ _ B1) (limbs_skipn _ _ B1) Hm
    (limbs_zeros _)) as D.
  rewrite !firstn_length_le, !skipn_length, !repeat_length in D by lia.
  specialize (D eq_refl ltac:(lia) eq_refl ltac:(lia) Em eq_refl eq_refl Hk Hn A3 B3 B4). rewrite !firstn_skipn in D.
  destruct (dual_mul_body k (repeat 0 (2 * k)) a b m n (repeat 0 (4 * k))) as [r s]. cbn [fst].
  destruct D as (low & high & -> & L1 & L2 & E1 & E2 & R1 & R2 & x & D).
  assert (F : firstn k (low ++ high) = low) by exact (window [] low high 0 k eq_refl E1).
  assert (S : skipn k (low ++ high) = high) by (rewrite <- E1, skipn_app, skipn_all, Nat.sub_diag; reflexivity).
  split.
  - unfold reduced. rewrite F, S, app_length. repeat split; try lia. apply limbs_app; auto.
  - unfold number at 1. rewrite F, S. exists (- x). unfold number. lia.
Qed.

(* The constants: R^2, and R times the bound of a chunk, which is R here, too. *)
Variable r2 : list Z.
Hypothesis Hr2 : reduced r2.
Hypothesis Vr2 : cong M (number r2) (R k * R k).

(* ring.rs: exit. The residue of y becomes the number y mod m^2 in its two parts. *)
Theorem exit_correct a y : reduced a -> 1 < val m -> cong M (number a) (y * R k) ->
  let unit := 1 :: repeat 0 (2 * k - 1) in
  reduced (times a unit) /\ number (times a unit) = y mod M.
Proof.
  intros Ha H1 V unit.
  assert (Lu : limbs unit) by (constructor; [unfold word; lia|apply limbs_zeros]).
  assert (Eu : unit = (1 :: repeat 0 (k - 1)) ++ repeat 0 k).
  { unfold unit. cbn [app]. f_equal. rewrite <- repeat_app. f_equal. lia. }
  assert (E1 : length (1 :: repeat 0 (k - 1)) = k) by (cbn [length]; rewrite repeat_length; lia).
  assert (F : firstn k unit = 1 :: repeat 0 (k - 1)) by (rewrite Eu; exact (window [] _ _ 0 k eq_refl E1)).
  assert (S : skipn k unit = repeat 0 k).
  { rewrite Eu, skipn_app, skipn_all2, E1, Nat.sub_diag by lia. reflexivity. }
  assert (Ru : reduced unit).
  { unfold reduced. rewrite F, S. cbn [val]. rewrite !val_zeros. repeat split; auto; try lia.
    rewrite Eu, app_length, E1, repeat_length. lia. }
  assert (Vu : number unit = 1) by (unfold number; rewrite F, S; cbn [val]; rewrite !val_zeros; ring).
  destruct (times_correct a unit (reduced_first _ Ha) Ru) as [T C]. split; [exact T|].
  rewrite Vu, Z.mul_1_r, V, (Z.mul_comm y) in C. apply cong_cancel in C; [|apply (R_coprime k n), Hn].
  rewrite <- (Z.mod_small (number (times a unit)) M) by (apply number_range, T).
  apply cong_mod_eq; [|exact C]. pose proof (number_range _ T). lia.
Qed.

(* A chunk more below: Horner's rule. *)
Definition step (a chunk : list Z) := add_chunk k m (times a r2) chunk.
Definition horner (first : list Z) (chunks : list (list Z)) := fold_left step chunks (first ++ repeat 0 k).
(* The number whose chunks these are, the highest first. *)
Definition joined (first : list Z) (chunks : list (list Z)) := fold_left (fun v c => v * R k + val c) chunks (val first).
Definition chunk (l : list Z) := limbs l /\ length l = k.

Lemma step_correct a c : first_factor a -> chunk c ->
  first_factor (step a c) /\ cong M (number (step a c)) (number a * R k + val c).
Proof.
  intros Ha [C1 C2]. unfold step. destruct (times_correct a r2 Ha Hr2) as [T C].
  assert (V : cong M (number (times a r2)) (number a * R k)).
  { apply cong_cancel with (R k); [apply (R_coprime k n), Hn|]. rewrite C, Vr2. exists 0. ring. }
  destruct T as (T1 & T2 & T3 & T4).
  pose proof (add_chunk_correct k m (firstn k (times a r2)) (skipn k (times a r2)) c (limbs_firstn _ _ T1)
    (limbs_skipn _ _ T1) C1 Hm) as D.
  rewrite firstn_length_le, skipn_length, firstn_skipn in D by lia.
  destruct (D eq_refl ltac:(lia) C2 Em Hk T3 T4) as (low & high & -> & L1 & L2 & E1 & E2 & R2 & N).
  assert (F : firstn k (low ++ high) = low) by exact (window [] low high 0 k eq_refl E1).
  assert (S : skipn k (low ++ high) = high) by (rewrite <- E1, skipn_app, skipn_all, Nat.sub_diag; reflexivity).
  split.
  - unfold first_factor. rewrite S, app_length. repeat split; try lia. apply limbs_app; auto.
  - unfold number at 1. rewrite F, S, N. fold (number (times a r2)). rewrite V. reflexivity.
Qed.

(* ring.rs: reduce. A number of any length, cut into chunks, modulo m^2. *)
Theorem horner_correct first chunks : chunk first -> Forall chunk chunks ->
  first_factor (horner first chunks) /\ cong M (number (horner first chunks)) (joined first chunks).
Proof.
  intros [F1 F2] Hc. unfold horner, joined.
  assert (Start : first_factor (first ++ repeat 0 k) /\ cong M (number (first ++ repeat 0 k)) (val first)).
  { assert (F : firstn k (first ++ repeat 0 k) = first) by exact (window [] first _ 0 k eq_refl F2).
    assert (S : skipn k (first ++ repeat 0 k) = repeat 0 k)
      by (rewrite <- F2 at 1; rewrite skipn_app, skipn_all, Nat.sub_diag; reflexivity).
    unfold first_factor, number. rewrite F, S, val_zeros, app_length, repeat_length. split.
    - pose proof (val_range _ Hm). repeat split; try lia. apply limbs_app; split; auto. apply limbs_zeros.
    - exists 0. ring. }
  revert Start. generalize (first ++ repeat 0 k) as a. generalize (val first) as v.
  induction chunks as [|c chunks IH]; intros v a [A V]; cbn [fold_left].
  - split; assumption.
  - inversion Hc as [|c' chunks' C1 C2]; subst. apply IH; [exact C2|].
    destruct (step_correct a c A C1) as [S W]. split; [exact S|]. rewrite W, V. reflexivity.
Qed.

(* ring.rs: enter *)
Theorem enter_correct first chunks : chunk first -> Forall chunk chunks ->
  let a := times (horner first chunks) r2 in
  reduced a /\ cong M (number a) (joined first chunks * R k).
Proof.
  intros F C a. destruct (horner_correct first chunks F C) as [H V]. destruct (times_correct _ r2 H Hr2) as [T W].
  split; [exact T|]. apply cong_cancel with (R k); [apply (R_coprime k n), Hn|].
  fold a in W. rewrite W, V, Vr2. exists 0. ring.
Qed.
End Ring.
