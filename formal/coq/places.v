(* Lists of digits to any base: values, carries and cutting numbers into digits. *)
From Arith Require Import words.
From Arith Require Export modular.

Fixpoint in_base (b : Z) (l : list Z) : Z := match l with [] => 0 | x :: l => x + b * in_base b l end.
Definition all_below (b : Z) (l : list Z) := Forall (fun x => 0 <= x < b) l.
Fixpoint cut (b : Z) (n : nat) (x : Z) : list Z := match n with O => [] | S n => x mod b :: cut b n (x / b) end.

Lemma pow_S b n : b ^ Z.of_nat (S n) = b * b ^ Z.of_nat n.
Proof. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. reflexivity. Qed.

Lemma in_base_range b l : 0 < b -> all_below b l -> 0 <= in_base b l < b ^ Z.of_nat (length l).
Proof.
  intros Hb. induction 1 as [|x l Hx _ IH]; cbn [in_base length]; [rewrite Z.pow_0_r; lia|].
  rewrite pow_S. assert (b * in_base b l <= b * (b ^ Z.of_nat (length l) - 1)) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (0 <= b * in_base b l) by (apply Z.mul_nonneg_nonneg; lia). lia.
Qed.

Lemma in_base_app b l r : in_base b (l ++ r) = in_base b l + b ^ Z.of_nat (length l) * in_base b r.
Proof.
  induction l as [|x l IH]; cbn [app in_base length]; [rewrite Z.pow_0_r; lia|]. rewrite IH, pow_S. ring.
Qed.

Lemma in_base_zeros b n : in_base b (repeat 0 n) = 0.
Proof. induction n as [|n IH]; cbn [repeat in_base]; [reflexivity|]. rewrite IH. ring. Qed.

Lemma cut_length b n : forall x, length (cut b n x) = n.
Proof. induction n as [|n IH]; intros x; cbn [cut length]; [reflexivity|]. rewrite IH. reflexivity. Qed.

Lemma cut_below b n : 0 < b -> forall x, all_below b (cut b n x).
Proof.
  intros Hb. induction n as [|n IH]; intros x; cbn [cut]; constructor; [apply Z.mod_pos_bound; lia|apply IH].
Qed.

Lemma cut_cong b n : 0 < b -> forall x, cong (b ^ Z.of_nat n) (in_base b (cut b n x)) x.
Proof.
  intros Hb. induction n as [|n IH]; intros x; cbn [cut in_base].
  - rewrite Z.pow_0_r. exists (- x). ring.
  - destruct (IH (x / b)) as [k E]. rewrite E, pow_S. exists k. pose proof (Z.div_mod x b ltac:(lia)). lia.
Qed.

Lemma cut_value b n x : 0 < b -> 0 <= x < b ^ Z.of_nat n -> in_base b (cut b n x) = x.
Proof.
  intros Hb Hx. apply cong_small with (b ^ Z.of_nat n); [|exact Hx|apply cut_cong, Hb].
  pose proof (in_base_range b (cut b n x) Hb (cut_below b n Hb x)) as R. rewrite cut_length in R. exact R.
Qed.

(* The sum of the products of factors and the values of their rows. *)
Fixpoint dot (b : Z) (fs : list Z) (rows : list (list Z)) : Z :=
  match fs, rows with f :: fs, row :: rows => f * in_base b row + dot b fs rows | _, _ => 0 end.

Lemma dot_app b fs : forall rows gs others, length fs = length rows ->
  dot b (fs ++ gs) (rows ++ others) = dot b fs rows + dot b gs others.
Proof.
  induction fs as [|f fs IH]; intros [|row rows] gs others E; try discriminate; cbn [app dot length] in *; [lia|].
  rewrite IH by lia. lia.
Qed.
