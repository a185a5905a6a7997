(* crates/arith/src/backend/ifma/blocks.rs: rows of a product, in one lane: a block of limbs meets five limbs of the multiplier. The
   rows are translated; that their columns slide through registers is not. *)
From Arith Require Import words lanes modular unrolled ifma_squares.
From Generated Require Import square_blocks ifma_constants.
(* What the block's highest limb meets instead of the first of these limbs, at the start of the multiplier. *)
Definition first_digit (at_ : nat) (nearest : Z) (y : nat -> Z) := if (at_ =? 0)%nat then nearest else y 0%nat.
Lemma fold_same (f g : (nat -> Z) -> nat -> nat -> Z) l : (forall s i, In i l -> f s i = g s i) -> forall s, fold_left f l s = fold_left g l s.
Proof.
  induction l as [|i l IH]; intros H s; [reflexivity|]. cbn [fold_left]. rewrite H by (left; reflexivity).
  apply IH. intros t j Hj. apply H. right. exact Hj.
Qed.
Lemma one_row h op (shift : nat) x y last J cap s : half h op -> between cap s -> cap + D <= B -> (J <= 4)%nat -> (shift <= 1)%nat ->
  let t := fold_left (fun s i => put s (i + J + shift)%nat (op (s (i + J + shift)%nat) (x i) y)) (seq 0 9) s in
  let t := put t (J + 9 + shift)%nat (op (t (J + 9 + shift)%nat) (x 9%nat) last) in
  total 15 t = total 15 s + gather (seq 0 10) (fun i => D ^ Z.of_nat (i + J + shift) * h (x i) (if (i <? 9)%nat then y else last)) /\
  grown D s t.
Proof.
  intros H Hs HB HJ Hd. cbv zeta.
  destruct (row_adds h op 15 (fun _ => true) (fun i => (i + J + shift)%nat) x (fun i => if (i <? 9)%nat then y else last) (seq 0 10) H
    (seq_NoDup _ _) ltac:(intros i Hi _; apply in_seq in Hi; cbv beta; lia) ltac:(cbv beta; lia) cap s Hs HB) as (V & G & _).
  cbv beta zeta iota in V, G.
  assert (E : fold_left (fun (s : nat -> Z) i => put s (i + J + shift)%nat (op (s (i + J + shift)%nat) (x i) (if (i <? 9)%nat then y else last))) (seq 0 10) s =
    let t := fold_left (fun s i => put s (i + J + shift)%nat (op (s (i + J + shift)%nat) (x i) y)) (seq 0 9) s in
    put t (J + 9 + shift)%nat (op (t (J + 9 + shift)%nat) (x 9%nat) last)).
  { rewrite seq_S, fold_left_app. change (0 + 9)%nat with 9%nat. cbn [fold_left]. change (9 <? 9)%nat with false. cbv iota zeta.
    replace (9 + J + shift)%nat with (J + 9 + shift)%nat by lia. rewrite (fold_same _ (fun s i => put s (i + J + shift)%nat (op (s (i + J + shift)%nat) (x i) y))); [reflexivity|].
    intros t i Hi. apply in_seq in Hi. destruct (Nat.ltb_spec i 9); [reflexivity|lia]. }
  rewrite E in V, G. split; [exact V|exact G].
Qed.

Lemma number_S n x : number (S n) x = number n x + D ^ Z.of_nat n * limb (x n).
Proof. reflexivity. Qed.
Lemma number_0 x : number 0 x = 0.
Proof. reflexivity. Qed.
Lemma number_all n x : number n x = total n (fun i => limb (x i)).
Proof. reflexivity. Qed.
Global Opaque total number.

(* ifma/blocks.rs: multiply_block. Five rows, one after the other. A column gets two halves of a row at most. *)
Theorem rows_correct at_ x y s nearest cap : between cap s -> cap + 10 * D <= B ->
  let t := rows at_ x y s nearest in
  total 15 t = total 15 s + number 10 x * number 5 y + D ^ 9 * limb (x 9%nat) * (limb (first_digit at_ nearest y) - limb (y 0%nat)) /\
  grown (10 * D) s t.
Proof.
  intros Hs HB. cbv zeta. unfold rows. fold (first_digit at_ nearest y). set (f := first_digit at_ nearest y).
  match goal with |- context [fold_left ?f (seq 0 (5 - 0))] => set (step := f) end. cbv zeta.
  assert (Inv : forall n, (n <= 5)%nat -> let t := fold_left step (seq 0 n) s in
    total 15 t = total 15 s + number 10 x * number n y + (match n with O => 0 | S _ => D ^ 9 * limb (x 9%nat) * (limb f - limb (y 0%nat)) end) /\
    grown (Z.of_nat n * (2 * D)) s t).
  { induction n as [|n IH]; intros Hn; cbv zeta.
    - split; [rewrite number_0; cbn [seq fold_left]; generalize (total 15 s) (number 10 x); intros; ring|].
      intros j. cbn [seq fold_left]. lia.
    - specialize (IH ltac:(lia)). rewrite seq_S, fold_left_app. cbn [fold_left Nat.add]. cbv zeta in IH.
      set (s0 := fold_left step (seq 0 n) s) in *. destruct IH as [V0 G0]. unfold step. cbv beta zeta. change (9 - 0)%nat with 9%nat.
      set (last := if (n =? 0)%nat then f else y n). pose proof (grown_between _ _ _ _ Hs G0) as B0.
      destruct (one_row lower add_low 0 x (y n) last n _ s0 lower_half B0 ltac:(lia) ltac:(lia) ltac:(lia)) as [V1 G1].
      pose proof (grown_between _ _ _ _ B0 G1) as B1.
      assert (Low : forall (s : nat -> Z), fold_left (fun s i => put s (i + n + 0)%nat (add_low (s (i + n + 0)%nat) (x i) (y n))) (seq 0 9) s =
        fold_left (fun s i => put s (i + n)%nat (add_low (s (i + n)%nat) (x i) (y n))) (seq 0 9) s).
      { intros t. apply fold_same. intros t' i _. rewrite Nat.add_0_r. reflexivity. }
      rewrite Low in V1, G1, B1. rewrite Nat.add_0_r in V1, G1, B1. cbv beta zeta in V1, G1, B1.
      match type of V1 with total _ ?t = _ => set (s1 := t) in * end.
      destruct (one_row upper add_high 1 x (y n) last n _ s1 upper_half B1 ltac:(lia) ltac:(lia) ltac:(lia)) as [V2 G2].
      replace (n + 9 + 1)%nat with (n + 10)%nat in V2, G2 by lia. cbv beta zeta in V2, G2.
      match type of V2 with total _ ?t = _ => set (s2 := t) in * end. split.
      + set (g := gather _ _) in V1. set (g' := gather _ _) in V2.
        assert (E : g + g' = D ^ Z.of_nat n * limb (y n) * number 9 x + D ^ Z.of_nat n * (D ^ 9 * (limb (x 9%nat) * limb last))).
        { unfold g, g'. rewrite <- gather_add.
          rewrite (gather_same _ _ (fun i => D ^ Z.of_nat n * (D ^ Z.of_nat i * (limb (x i) * limb (if (i <? 9)%nat then y n else last))))).
          2:{ intros i _. rewrite <- both_halves, Nat.add_0_r, Nat.add_1_r, power_S, power_add. ring. }
          rewrite gather_snoc. change (9 <? 9)%nat with false. cbv iota.
          rewrite (gather_same (seq 0 9) _ (fun i => D ^ Z.of_nat n * limb (y n) * (D ^ Z.of_nat i * limb (x i)))).
          2:{ intros i Hi. apply in_seq in Hi. destruct (Nat.ltb_spec i 9); [|lia]. ring. }
          rewrite gather_scale, <- (total_gather 9 (fun i => limb (x i))), <- number_all. reflexivity. }
        pose proof (number_S 9 x) as N. change (Z.of_nat 9) with 9 in N.
        pose proof (number_S n y) as Ny.
        clearbody g g' s0 s1 s2. rewrite V2, V1, <- Z.add_assoc, E, V0, Ny, N. clear - Hn.
        unfold last. generalize (number 9 x) (total 15 s) (limb (x 9%nat)). intros X T e.
        destruct n as [|n]; cbn [Nat.eqb]; [rewrite number_0; change (D ^ Z.of_nat 0) with 1|generalize (number (S n) y); intros]; ring.
      + rewrite Nat2Z.inj_succ. replace (Z.succ (Z.of_nat n) * (2 * D)) with (Z.of_nat n * (2 * D) + D + D) by ring.
        eapply grown_more; [eapply grown_more; [exact G0|exact G1]|exact G2]. }
  exact (Inv 5%nat (le_n _)).
Qed.

Example rows_example : let t := rows 0 (fun _ => D - 1) (fun _ => D - 1) (fun _ => D) (D - 2) in
  total 15 t = total 15 (fun _ => D) + number 10 (fun _ => D - 1) * number 5 (fun _ => D - 1) +
    D ^ 9 * limb (D - 1) * (limb (D - 2) - limb (D - 1)).
Proof. apply (rows_correct 0 (fun _ => D - 1) (fun _ => D - 1) (fun _ => D) (D - 2) D); [intros j; lia|lia]. Qed.
