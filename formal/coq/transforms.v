(* crates/bfv/src/kernel/loops.rs: whole transforms of any depth, and the convolution theorem. The butterflies are those that
   lattice.v proves; the order of the loops and the transposition of the last levels are a model: each level before the next. *)
From Arith Require Import words.
From Arith Require Export lattice polynomials.

(* loops.rs: forward. Children of node n are 2 n and 2 n + 1. *)
Fixpoint forward (step : nat -> Z -> Z -> Z * Z) (levels node : nat) (a : list Z) : list Z :=
  match levels with
  | O => a
  | S levels => let '(low, high) := halve a in let '(l, h) := level (step node) low high in
    forward step levels (2 * node) l ++ forward step levels (2 * node + 1) h
  end.

Section Prime.
Variable Q : Z.
Hypothesis HQ : 0 < Q < 2 ^ BFV_BITS.
(* The roots by node, and as constants. *)
Variable root : nat -> Z.
Variable factor : nat -> Z * Z.
Hypothesis Roots : forall node, stands_for Q (root node) (factor node).
(* prime.rs: new. The children's roots, for as many nodes as the table has: of node 2 n a root of its parent's root, of 2 n + 1 one of its negative. *)
Variable count : nat.
Hypothesis Left : forall node, (0 < node)%nat -> (2 * node + 1 < count)%nat -> cong Q (root (2 * node)%nat * root (2 * node)%nat) (root node).
Hypothesis Right : forall node, (0 < node)%nat -> (2 * node + 1 < count)%nat -> cong Q (root (2 * node + 1)%nat * root (2 * node + 1)%nat) (- root node).

Definition step (node : nat) (x y : Z) := butterfly (of_prime Q) x y (factor node).
Definition small (l : list Z) := Forall (fun v => 0 <= v < 4 * Q) l.
Lemma level_correct node low : forall high, length low = length high -> small low -> small high ->
  let '(l, h) := level (step node) low high in
  length l = length low /\ length h = length low /\ small l /\ small h /\
  forall x, cong Q (eval l x) (eval low x + root node * eval high x) /\ cong Q (eval h x) (eval low x - root node * eval high x).
Proof.
  induction low as [|a low IH]; intros [|b high] E Hl Hh; try discriminate; cbn [level].
  - repeat split; try constructor; exists 0; cbn [eval]; ring.
  - inversion Hl as [|a' l' Ha Hl']; inversion Hh as [|b' h' Hb Hh']; subst. injection E as E.
    pose proof (butterfly_correct Q HQ (root node) (factor node) a b (Roots node) Ha Hb) as F. unfold step at 1.
    destruct (butterfly (of_prime Q) a b (factor node)) as [s d]. destruct F as (F1 & F2 & F3 & F4).
    specialize (IH high E Hl' Hh'). destruct (level (step node) low high) as [l h].
    destruct IH as (I1 & I2 & I3 & I4 & I5). cbn [length]. repeat split; try lia; try (constructor; assumption).
    + destruct (I5 x) as [I _]. cbn [eval]. rewrite I, F3. exists 0. ring.
    + destruct (I5 x) as [_ I]. cbn [eval]. rewrite I, F4. exists 0. ring.
Qed.

(* The points at which the values of a block are those of its polynomial: the root of the leaf's node, or its negative. *)
Fixpoint points (levels node : nat) (point : Z) : list Z :=
  match levels with
  | O => [point]
  | S levels => points levels (2 * node) (root node) ++ points levels (2 * node + 1) (- root node)
  end.

(* bfv/kernel/loops.rs: forward. At any depth numbers stay below 4 q, and the values are those of the polynomial at the
   points; [point] is the block's: its own root's square, for which x^(2^levels) stands. *)
Theorem forward_correct levels : forall node a, (0 < node)%nat -> length a = (2 ^ levels)%nat -> small a ->
  let b := forward step levels node a in
  length b = (2 ^ levels)%nat /\ small b.
Proof.
  induction levels as [|levels IH]; intros node a Hn L Ha; cbv zeta; cbn [forward]; [auto|].
  destruct (halves_of levels a L) as (low & high & -> & Ea & L1 & L2). subst a. apply Forall_app in Ha as [H1 H2].
  pose proof (level_correct node low high ltac:(lia) H1 H2) as F. destruct (level (step node) low high) as [l h].
  destruct F as (F1 & F2 & F3 & F4 & _).
  destruct (IH (2 * node)%nat l ltac:(lia) ltac:(lia) F3) as [I1 I2].
  destruct (IH (2 * node + 1)%nat h ltac:(lia) ltac:(lia) F4) as [I3 I4]. split.
  - rewrite app_length, I1, I3, Nat.pow_succ_r'. lia.
  - apply Forall_app. auto.
Qed.

Lemma two_levels levels : Z.of_nat (2 ^ S levels) = 2 * Z.of_nat (2 ^ levels).
Proof. rewrite Nat.pow_succ_r'. lia. Qed.

(* Nodes of a block's levels are in the table. *)
Lemma deep node levels : ((node + 1) * 2 ^ S levels <= 2 * count)%nat -> (0 < levels)%nat -> (2 * node + 1 < count)%nat.
Proof.
  intros H Hl. destruct levels as [|l]; [lia|]. rewrite !Nat.pow_succ_r' in H. pose proof (Nat.pow_nonzero 2 l ltac:(lia)). nia.
Qed.
Lemma child node levels k : (k <= 1)%nat -> ((node + 1) * 2 ^ S levels <= 2 * count)%nat ->
  ((2 * node + k + 1) * 2 ^ levels <= 2 * count)%nat.
Proof. intros Hk H. rewrite Nat.pow_succ_r' in H. nia. Qed.
Lemma child_0 node levels : ((node + 1) * 2 ^ S levels <= 2 * count)%nat -> ((2 * node + 1) * 2 ^ levels <= 2 * count)%nat.
Proof. intros H. pose proof (child node levels 0 ltac:(lia) H). rewrite Nat.add_0_r in *. assumption. Qed.

(* x^(2^levels) is the block's root's square at all of them. *)
Lemma points_correct levels : forall node c, (0 < node)%nat -> ((node + 1) * 2 ^ levels <= 2 * count)%nat ->
  ((0 < levels)%nat -> cong Q (root node * root node) c) ->
  length (points levels node c) = (2 ^ levels)%nat /\ Forall (fun x => cong Q (x ^ Z.of_nat (2 ^ levels)) c) (points levels node c).
Proof.
  induction levels as [|levels IH]; intros node c Hn Hd Hc; cbn [points].
  - split; [reflexivity|]. constructor; [|constructor]. change (Z.of_nat (2 ^ 0)) with 1. rewrite Z.pow_1_r. reflexivity.
  - specialize (Hc (Nat.lt_0_succ levels)).
    destruct (IH (2 * node)%nat (root node) ltac:(lia) (child_0 _ _ Hd) (fun H => Left node Hn (deep _ _ Hd H))) as [L1 F1].
    destruct (IH (2 * node + 1)%nat (- root node) ltac:(lia) (child _ _ 1 (le_n 1) Hd) (fun H => Right node Hn (deep _ _ Hd H))) as [L2 F2]. split.
    + rewrite app_length, L1, L2, Nat.pow_succ_r'. lia.
    + assert (Up : forall w xs, cong Q (w * w) c -> Forall (fun x => cong Q (x ^ Z.of_nat (2 ^ levels)) w) xs ->
        Forall (fun x => cong Q (x ^ Z.of_nat (2 ^ S levels)) c) xs).
      { intros w xs Hw. apply Forall_impl. intros x Hx. rewrite two_levels, Z.mul_comm, Z.pow_mul_r by lia.
        rewrite Z.pow_2_r, Hx. exact Hw. }
      apply Forall_app. split; [apply (Up (root node)); assumption|apply (Up (- root node)); [|assumption]].
      rewrite <- Hc. exists 0. ring.
Qed.

(* bfv/kernel/loops.rs: forward. What comes out are the polynomial's values at the points of the leaves. *)
Theorem values_correct levels : forall node c a, (0 < node)%nat -> ((node + 1) * 2 ^ levels <= 2 * count)%nat ->
  ((0 < levels)%nat -> cong Q (root node * root node) c) ->
  length a = (2 ^ levels)%nat -> small a ->
  Forall2 (fun b x => cong Q b (eval a x)) (forward step levels node a) (points levels node c).
Proof.
  induction levels as [|levels IH]; intros node c a Hn Hd Hc L Ha; cbn [forward points].
  - destruct a as [|v [|w a]]; try discriminate. constructor; [|constructor]. cbn [eval]. exists 0. ring.
  - destruct (halves_of levels a L) as (low & high & -> & Ea & L1 & L2). subst a. apply Forall_app in Ha as [H1 H2].
    pose proof (level_correct node low high ltac:(lia) H1 H2) as F. destruct (level (step node) low high) as [l h].
    destruct F as (F1 & F2 & F3 & F4 & F5).
    pose proof (IH (2 * node)%nat (root node) l ltac:(lia) (child_0 _ _ Hd) (fun H => Left node Hn (deep _ _ Hd H)) ltac:(lia) F3) as I1.
    pose proof (IH (2 * node + 1)%nat (- root node) h ltac:(lia) (child _ _ 1 (le_n 1) Hd) (fun H => Right node Hn (deep _ _ Hd H)) ltac:(lia) F4) as I2.
    destruct (points_correct levels (2 * node)%nat (root node) ltac:(lia) (child_0 _ _ Hd) (fun H => Left node Hn (deep _ _ Hd H))) as [_ P1].
    destruct (points_correct levels (2 * node + 1)%nat (- root node) ltac:(lia) (child _ _ 1 (le_n 1) Hd) (fun H => Right node Hn (deep _ _ Hd H))) as [_ P2].
    apply Forall2_app.
    + apply (Forall2_with _ _ _ _ _ I1 P1). cbv beta. intros b x Hb Hx. destruct (F5 x) as [E _].
      rewrite Hb, E, eval_app, L1, Hx. reflexivity.
    + apply (Forall2_with _ _ _ _ _ I2 P2). cbv beta. intros b x Hb Hx. destruct (F5 x) as [_ E].
      rewrite Hb, E, eval_app, L1, Hx. exists 0. ring.
Qed.

Lemma eval_wrapped n f x : (n <= length f)%nat -> cong Q (x ^ Z.of_nat n) (-1) -> cong Q (eval (wrapped n f) x) (eval f x).
Proof.
  intros Hn Hx. unfold wrapped. rewrite eval_add, eval_opp. rewrite <- (firstn_skipn n f) at 3. rewrite eval_app.
  rewrite firstn_length_le, Hx by exact Hn. exists 0. ring.
Qed.

(* bfv/kernel/loops.rs: forward. The convolution theorem: at every leaf the product of two transforms is the value of the
   product modulo x^n + 1, n = 2^levels. Node 1 is the top: its root's square is -1. *)
Theorem convolution_correct levels a b : (2 ^ levels <= count)%nat -> cong Q (root 1%nat * root 1%nat) (-1) ->
  length a = (2 ^ levels)%nat -> length b = (2 ^ levels)%nat -> small a -> small b ->
  Forall2 (fun uv x => cong Q (fst uv * snd uv) (eval (wrapped (2 ^ levels) (mul_poly a b)) x))
    (combine (forward step levels 1 a) (forward step levels 1 b)) (points levels 1 (-1)).
Proof.
  intros Hd Hr La Lb Ha Hb.
  assert (Hd' : ((1 + 1) * 2 ^ levels <= 2 * count)%nat) by lia.
  pose proof (values_correct levels 1 (-1) a ltac:(lia) Hd' (fun _ => Hr) La Ha) as Va.
  pose proof (values_correct levels 1 (-1) b ltac:(lia) Hd' (fun _ => Hr) Lb Hb) as Vb.
  destruct (points_correct levels 1 (-1) ltac:(lia) Hd' (fun _ => Hr)) as [_ P].
  assert (N : a <> []).
  { intros ->. cbn [length] in La. pose proof (Nat.pow_nonzero 2 levels ltac:(lia)). lia. }
  pose proof (mul_length a b N) as M. rewrite Lb in M.
  apply (Forall2_with _ _ _ _ _ (both _ _ _ _ Va _ Vb) P). cbv beta. intros uv x [Eu Ev] Hx.
  rewrite Eu, Ev, (eval_wrapped _ _ _ M Hx), eval_mul. reflexivity.
Qed.
End Prime.

(* Modulo 17: 4 is a root of -1, 2 one of 4, and 8 one of -4. *)
Definition roots (node : nat) : Z := nth node [1; 4; 2; 8] 1.
Definition factors (node : nat) := (roots node, D * roots node / 17).
Lemma prime_17 : 0 < 17 < 2 ^ BFV_BITS. Proof. split; reflexivity. Qed.
Lemma roots_stand node : stands_for 17 (roots node) (factors node).
Proof. do 4 (destruct node as [|node]; [vm_compute; intuition discriminate|]). destruct node; vm_compute; intuition discriminate. Qed.
Lemma roots_left node : (0 < node)%nat -> (2 * node + 1 < 4)%nat -> cong 17 (roots (2 * node) * roots (2 * node)) (roots node).
Proof. intros H1 H2. assert (node = 1%nat) by lia. subst. exists 0. reflexivity. Qed.
Lemma roots_right node : (0 < node)%nat -> (2 * node + 1 < 4)%nat -> cong 17 (roots (2 * node + 1) * roots (2 * node + 1)) (- roots node).
Proof. intros H1 H2. assert (node = 1%nat) by lia. subst. exists 4. reflexivity. Qed.
Lemma roots_top : cong 17 (roots 1 * roots 1) (-1). Proof. exists 1. reflexivity. Qed.
Ltac all_small := unfold small; repeat constructor; lia.
Example forward_example : let b := forward (step 17 factors) 2 1 [5; 67; 0; 9] in length b = (2 ^ 2)%nat /\ small 17 b.
Proof. apply (forward_correct 17 prime_17 roots factors roots_stand 2 1 [5; 67; 0; 9]); [lia|reflexivity|all_small]. Qed.
Example values_example : Forall2 (fun b x => cong 17 b (eval [5; 67; 0; 9] x)) (forward (step 17 factors) 2 1 [5; 67; 0; 9])
  (points roots 2 1 (-1)).
Proof.
  apply (values_correct 17 prime_17 roots factors roots_stand 4 roots_left roots_right 2 1 (-1) [5; 67; 0; 9]);
    [lia|cbn; lia|intros _; exact roots_top|reflexivity|all_small].
Qed.
Example convolution_example :
  Forall2 (fun uv x => cong 17 (fst uv * snd uv) (eval (wrapped (2 ^ 2) (mul_poly [5; 67; 0; 9] [1; 2; 3; 4])) x))
    (combine (forward (step 17 factors) 2 1 [5; 67; 0; 9]) (forward (step 17 factors) 2 1 [1; 2; 3; 4])) (points roots 2 1 (-1)).
Proof.
  apply (convolution_correct 17 prime_17 roots factors roots_stand 4 roots_left roots_right 2 [5; 67; 0; 9] [1; 2; 3; 4]);
    [cbn; lia|exact roots_top|reflexivity|reflexivity|all_small|all_small].
Qed.
