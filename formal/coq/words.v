(* Words, limbs and values: what the translated functions are made of. *)
From Coq Require Export ZArith List Lia.
Export ListNotations.
Open Scope Z_scope.
Global Arguments Z.mul : simpl never.
Global Arguments Z.add : simpl never.
Global Arguments Z.sub : simpl never.
Global Arguments Z.div : simpl never.
Global Arguments Z.modulo : simpl never.
Global Arguments Z.pow : simpl never.
Global Arguments Z.lor : simpl never.
Global Arguments Z.land : simpl never.

(* Words of 64 and 128 bits wrap, as in a release build. *)
Notation B := 18446744073709551616.
Notation B2 := 340282366920938463463374607431768211456.
Definition low64 (x : Z) := x mod B.
Definition add64 (x y : Z) := (x + y) mod B.
Definition sub64 (x y : Z) := (x - y) mod B.
Definition mul64 (x y : Z) := (x * y) mod B.
Definition neg64 (x : Z) := (- x) mod B.
Definition not64 (x : Z) := B - 1 - x.
Definition shl64 (x n : Z) := (x * 2 ^ n) mod B.
Definition shr (x n : Z) := x / 2 ^ n.
Definition add128 (x y : Z) := (x + y) mod B2.
Definition sub128 (x y : Z) := (x - y) mod B2.
Definition mul128 (x y : Z) := (x * y) mod B2.
Definition is_empty (l : list Z) := match l with [] => true | _ => false end.

(* The list with the limbs of [part] from limb [at] on. *)
Definition splice (l : list Z) (at_ : nat) (part : list Z) :=
  firstn at_ l ++ part ++ skipn (at_ + length part) l.

Definition word (x : Z) := 0 <= x < B.
Definition limbs (l : list Z) := Forall word l.
Fixpoint val (l : list Z) : Z := match l with [] => 0 | x :: l => x + B * val l end.
(* B^n: R for n limbs. *)
Definition R (n : nat) : Z := B ^ Z.of_nat n.

Lemma R_0 : R 0 = 1.
Proof. reflexivity. Qed.

Lemma R_S n : R (S n) = B * R n.
Proof. unfold R. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. reflexivity. Qed.

Lemma R_plus n k : R (n + k) = R n * R k.
Proof. unfold R. rewrite Nat2Z.inj_add, Z.pow_add_r by lia. reflexivity. Qed.

Lemma R_pos n : 0 < R n.
Proof. unfold R. apply Z.pow_pos_nonneg; lia. Qed.

Lemma val_range l : limbs l -> 0 <= val l < R (length l).
Proof.
  induction 1 as [|x l Hx _ IH]; simpl val; simpl length; [rewrite R_0; lia|].
  rewrite R_S. unfold word in Hx. lia.
Qed.

Lemma val_app l r : val (l ++ r) = val l + R (length l) * val r.
Proof.
  induction l as [|x l IH]; simpl val; simpl length; [rewrite R_0; simpl; lia|].
  rewrite IH, R_S. ring.
Qed.

Lemma val_zeros n : val (repeat 0 n) = 0.
Proof. induction n; simpl; lia. Qed.

Lemma limbs_zeros n : limbs (repeat 0 n).
Proof. induction n; constructor; [unfold word; lia|assumption]. Qed.

Lemma limbs_app l r : limbs (l ++ r) <-> limbs l /\ limbs r.
Proof. apply Forall_app. Qed.

Lemma limbs_cons x l : limbs (x :: l) <-> word x /\ limbs l.
Proof. unfold limbs. split; [inversion 1; auto|intros []; constructor; auto]. Qed.

Lemma limbs_firstn n l : limbs l -> limbs (firstn n l).
Proof. revert l; induction n; intros [|x l] H; simpl; try constructor; inversion H; subst; auto; apply IHn; auto. Qed.

Lemma limbs_skipn n l : limbs l -> limbs (skipn n l).
Proof. revert l; induction n; intros [|x l] H; simpl; auto; inversion H; subst; apply IHn; auto. Qed.

Lemma limbs_nth n l : limbs l -> word (nth n l 0).
Proof.
  revert l; induction n; intros [|x l] H; simpl; try (unfold word; lia); inversion H; subst; auto; apply IHn; auto.
Qed.

(* Windows: how slices and their places read once the list is cut there. *)
Lemma window (p w h : list Z) i n : length p = i -> length w = n -> firstn n (skipn i (p ++ w ++ h)) = w.
Proof.
  intros <- <-. rewrite skipn_app, skipn_all, Nat.sub_diag. simpl.
  rewrite firstn_app, firstn_all, Nat.sub_diag. simpl. apply app_nil_r.
Qed.

Lemma splice_window (p w w' h : list Z) i : length p = i -> length w' = length w -> splice (p ++ w ++ h) i w' = p ++ w' ++ h.
Proof.
  intros <- E. unfold splice. rewrite firstn_app, firstn_all, Nat.sub_diag. simpl. rewrite app_nil_r.
  f_equal. f_equal. rewrite E, app_assoc, skipn_app.
  rewrite skipn_all2 by (rewrite app_length; lia). rewrite app_length. replace (_ - _)%nat with 0%nat by lia. reflexivity.
Qed.

Lemma splice_tail (p s s' : list Z) i : length p = i -> length s' = length s -> splice (p ++ s) i s' = p ++ s'.
Proof.
  intros E E'. pose proof (splice_window p s s' [] i E E') as H. rewrite !app_nil_r in H. exact H.
Qed.

Lemma splice_head (p p' s : list Z) : length p' = length p -> splice (p ++ s) 0 p' = p' ++ s.
Proof. intros E. exact (splice_window [] p p' s 0 eq_refl E). Qed.

Lemma splice_all l l' : length l = length l' -> splice l 0 l' = l'.
Proof. intros E. unfold splice. simpl. rewrite <- E, skipn_all. apply app_nil_r. Qed.

Lemma cut (l : list Z) n : (n <= length l)%nat -> exists p s, l = p ++ s /\ length p = n /\ firstn n l = p /\ skipn n l = s.
Proof.
  intros H. exists (firstn n l), (skipn n l). rewrite firstn_skipn. repeat split. apply firstn_length_le, H.
Qed.
