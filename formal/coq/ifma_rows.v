(* crates/arith/src/backend/ifma/blocks.rs: a row of a product, in one lane: a block of limbs meets a limb of the multiplier. The
   row is translated. *)
From Arith Require Import words lanes modular unrolled ifma_squares.
From Generated Require Import square_blocks ifma_constants.
(* The columns that ten limbs touch, from one on. *)
Definition touched (first j : nat) : Z := if ((first <=? j)%nat && (j <? first + 10)%nat)%bool then 1 else 0.
Lemma fold_same (f g : (nat -> Z) -> nat -> nat -> Z) l : (forall s i, In i l -> f s i = g s i) -> forall s,
  fold_left f l s = fold_left g l s.
Proof.
  induction l as [|i l IH]; intros H s; [reflexivity|]. cbn [fold_left]. rewrite H by (left; reflexivity).
  apply IH. intros t j Hj. apply H. right. exact Hj.
Qed.
Lemma one_row h op (shift : nat) x y last J cap s : half h op -> between cap s -> cap + D <= B -> (J <= 4)%nat -> (shift <= 1)%nat ->
  let t := fold_left (fun s i => put s (i + J + shift)%nat (op (s (i + J + shift)%nat) (x i) y)) (seq 0 9) s in
  let t := put t (J + 9 + shift)%nat (op (t (J + 9 + shift)%nat) (x 9%nat) last) in
  total 15 t = total 15 s + gather (seq 0 10) (fun i => D ^ Z.of_nat (i + J + shift) * h (x i) (if (i <? 9)%nat then y else last)) /\
  forall j, s j <= t j <= s j + D * touched (J + shift) j.
Proof.
  intros H Hs HB HJ Hd. cbv zeta.
  destruct (row_adds h op 15 (fun _ => true) (fun i => (i + J + shift)%nat) x (fun i => if (i <? 9)%nat then y else last) (seq 0 10) H
    (seq_NoDup _ _) ltac:(intros i Hi _; apply in_seq in Hi; cbv beta; lia) ltac:(cbv beta; lia) cap s Hs HB) as (V & G & U).
  cbv beta zeta iota in V, G, U.
  assert (E : fold_left (fun (s : nat -> Z) i => put s (i + J + shift)%nat (op (s (i + J + shift)%nat) (x i) (if (i <? 9)%nat then y else last))) (seq 0 10) s =
    let t := fold_left (fun s i => put s (i + J + shift)%nat (op (s (i + J + shift)%nat) (x i) y)) (seq 0 9) s in
    put t (J + 9 + shift)%nat (op (t (J + 9 + shift)%nat) (x 9%nat) last)).
  { rewrite seq_S, fold_left_app. change (0 + 9)%nat with 9%nat. cbn [fold_left]. change (9 <? 9)%nat with false. cbv iota zeta.
    replace (9 + J + shift)%nat with (J + 9 + shift)%nat by lia. rewrite (fold_same _ (fun s i => put s (i + J + shift)%nat (op (s (i + J + shift)%nat) (x i) y))); [reflexivity|].
    intros t i Hi. apply in_seq in Hi. destruct (Nat.ltb_spec i 9); [reflexivity|lia]. }
  rewrite E in V, G, U. cbv zeta in G, U. split; [exact V|]. intros j. specialize (G j). unfold touched.
  destruct (Nat.leb_spec (J + shift) j), (Nat.ltb_spec j (J + shift + 10)); cbn [andb]; [lia|..]; (rewrite U; [lia|]);
    intros i Hi _; apply in_seq in Hi; lia.
Qed.

Lemma number_S n x : number (S n) x = number n x + D ^ Z.of_nat n * limb (x n).
Proof. reflexivity. Qed.
Lemma number_0 x : number 0 x = 0.
Proof. reflexivity. Qed.
Lemma number_all n x : number n x = total n (fun i => limb (x i)).
Proof. reflexivity. Qed.
Global Opaque total number.

(* ifma/blocks.rs: multiply_block. One row: the columns grow by its product, in which the block's highest limb may meet another digit
   first; by at most two halves each. *)
Theorem row_correct J x y s nearest cap : between cap s -> cap + 2 * D <= B -> (J <= 4)%nat -> let t := row J x y s nearest in
  total 15 t = total 15 s + D ^ Z.of_nat J * (number 10 x * limb (y J) +
    (if (J =? 0)%nat then D ^ 9 * limb (x 9%nat) * (limb nearest - limb (y 0%nat)) else 0)) /\
  forall j, s j <= t j <= s j + D * (touched J j + touched (S J) j).
Proof.
  intros Hs HB HJ. cbv zeta. unfold row. change (9 - 0)%nat with 9%nat. set (last := if (J =? 0)%nat then nearest else y J).
  destruct (one_row lower add_low 0 x (y J) last J _ s lower_half Hs ltac:(lia) ltac:(lia) ltac:(lia)) as [V1 G1].
  assert (Low : forall (s : nat -> Z), fold_left (fun s i => put s (i + J + 0)%nat (add_low (s (i + J + 0)%nat) (x i) (y J))) (seq 0 9) s =
    fold_left (fun s i => put s (i + J)%nat (add_low (s (i + J)%nat) (x i) (y J))) (seq 0 9) s).
  { intros t. apply fold_same. intros t' i _. rewrite Nat.add_0_r. reflexivity. }
  rewrite Low in V1, G1. rewrite !Nat.add_0_r in V1, G1. cbv beta zeta in V1, G1.
  match type of V1 with total _ ?t = _ => set (s1 := t) in * end.
  assert (B1 : between (cap + D) s1).
  { intros j. specialize (Hs j). specialize (G1 j). unfold touched in G1. destruct (_ && _)%bool in G1; lia. }
  destruct (one_row upper add_high 1 x (y J) last J _ s1 upper_half B1 ltac:(lia) ltac:(lia) ltac:(lia)) as [V2 G2].
  replace (J + 9 + 1)%nat with (J + 10)%nat in V2, G2 by lia. rewrite (Nat.add_1_r J) in G2. cbv beta zeta in V2, G2.
  match type of V2 with total _ ?t = _ => set (s2 := t) in * end. split.
  - set (g := gather _ _) in V1. set (g' := gather _ _) in V2.
    assert (E : g + g' = D ^ Z.of_nat J * limb (y J) * number 9 x + D ^ Z.of_nat J * (D ^ 9 * (limb (x 9%nat) * limb last))).
    { unfold g, g'. rewrite <- gather_add.
      rewrite (gather_same _ _ (fun i => D ^ Z.of_nat J * (D ^ Z.of_nat i * (limb (x i) * limb (if (i <? 9)%nat then y J else last))))).
      2:{ intros i _. rewrite <- both_halves, Nat.add_0_r, Nat.add_1_r, power_S, power_add. ring. }
      rewrite gather_snoc. change (9 <? 9)%nat with false. cbv iota.
      rewrite (gather_same (seq 0 9) _ (fun i => D ^ Z.of_nat J * limb (y J) * (D ^ Z.of_nat i * limb (x i)))).
      2:{ intros i Hi. apply in_seq in Hi. destruct (Nat.ltb_spec i 9); [|lia]. ring. }
      rewrite gather_scale, <- (total_gather 9 (fun i => limb (x i))), <- number_all. reflexivity. }
    pose proof (number_S 9 x) as N. change (Z.of_nat 9) with 9 in N.
    clearbody g g' s1 s2. rewrite V2, V1, <- Z.add_assoc, E, N. clear. unfold last.
    generalize (number 9 x) (total 15 s) (limb (x 9%nat)). intros X T e.
    destruct (Nat.eqb_spec J 0) as [->|]; ring.
  - intros j. specialize (G1 j). specialize (G2 j). rewrite ?Nat.add_0_r in G1. lia.
Qed.

Example row_example : let t := row 0 (fun _ => D - 1) (fun _ => D - 1) (fun _ => D) (D - 2) in
  total 15 t = total 15 (fun _ => D) + D ^ Z.of_nat 0 * (number 10 (fun _ => D - 1) * limb (D - 1) +
    D ^ 9 * limb (D - 1) * (limb (D - 2) - limb (D - 1))).
Proof. apply (row_correct 0 (fun _ => D - 1) (fun _ => D - 1) (fun _ => D) (D - 2) D); [intros j; lia|lia|lia]. Qed.
