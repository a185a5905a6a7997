(* crates/threshold/src/lagrange.rs: integers in place of Lagrange's coefficients give D times the value at 0. *)
From Arith Require Export modular schemes.
From Generated Require Import schemes.
From Generated Require Import lagrange_factors.
From Coq Require Import List Permutation.
Import ListNotations.

(* Polynomials as lists of coefficients, the constant one first. *)
Fixpoint eval (f : list Z) (x : Z) : Z := match f with [] => 0 | c :: f => c + x * eval f x end.
Lemma eval_padded f n x : eval (f ++ repeat 0 n) x = eval f x.
Proof.
  induction f as [|c f IH]; cbn [app eval]; [|rewrite IH; reflexivity].
  induction n as [|n IH]; cbn [repeat eval]; [reflexivity|]. rewrite IH. ring.
Qed.
(* What is a polynomial with [n] coefficients. *)
Definition is_poly (n : nat) (g : Z -> Z) := exists f, length f = n /\ forall x, g x = eval f x.

Lemma poly_scale n c g : is_poly n g -> is_poly n (fun x => c * g x).
Proof.
  intros (f & <- & E). exists (map (Z.mul c) f). split; [apply map_length|]. intros x. rewrite E. clear E.
  induction f as [|a f IH]; cbn [map eval]; [ring|]. rewrite <- IH. ring.
Qed.

Lemma poly_add n g h : is_poly n g -> is_poly n h -> is_poly n (fun x => g x + h x).
Proof.
  revert g h. induction n as [|n IH]; intros g h (f & Lf & Ef) (k & Lk & Ek).
  - destruct f; [|discriminate]. destruct k; [|discriminate]. exists []. split; [reflexivity|].
    intros x. rewrite Ef, Ek. reflexivity.
  - destruct f as [|a f]; [discriminate|]. destruct k as [|b k]; [discriminate|].
    injection Lf as Lf. injection Lk as Lk.
    destruct (IH (eval f) (eval k)) as (s & Ls & Es); [exists f; auto|exists k; auto|].
    exists (a + b :: s). split; [cbn [length]; lia|]. intros x. rewrite Ef, Ek. cbn [eval]. rewrite <- Es. ring.
Qed.

Lemma poly_times n a g : is_poly n g -> is_poly (S n) (fun x => (x - a) * g x).
Proof.
  intros (f & Lf & E).
  assert (P : is_poly (S n) (fun x => x * g x)).
  { exists (0 :: f). split; [cbn [length]; lia|]. intros x. cbn [eval]. rewrite E. ring. }
  assert (Q : is_poly (S n) (fun x => - a * g x)).
  { apply (poly_scale (S n) (- a) g). exists (f ++ [0]). split; [rewrite app_length; cbn; lia|].
    intros x. rewrite E. clear. induction f as [|c f IH]; cbn [app eval]; [ring|]. rewrite IH. reflexivity. }
  destruct (poly_add _ _ _ P Q) as (s & Ls & Es). exists s. split; [exact Ls|]. intros x. rewrite <- Es. ring.
Qed.

(* Division by x - a. *)
Lemma factor_out f a : exists k, length k = pred (length f) /\ forall x, eval f x - eval f a = (x - a) * eval k x.
Proof.
  induction f as [|c f (k & Lk & E)].
  - exists []. split; [reflexivity|]. intros x. cbn [eval]. ring.
  - destruct f as [|d f'].
    + exists []. split; [reflexivity|]. intros x. cbn [eval]. ring.
    + exists (eval (d :: f') a :: k). split; [cbn [length] in *; lia|]. intros x.
      change (eval (c :: d :: f') x) with (c + x * eval (d :: f') x). change (eval (c :: d :: f') a) with (c + a * eval (d :: f') a).
      change (eval (eval (d :: f') a :: k) x) with (eval (d :: f') a + x * eval k x).
      replace (c + x * eval (d :: f') x - (c + a * eval (d :: f') a)) with
        (x * (eval (d :: f') x - eval (d :: f') a) + (x - a) * eval (d :: f') a) by ring.
      rewrite E. ring.
Qed.

(* A polynomial with as many roots as coefficients is zero. *)
Lemma zero_of_roots points : NoDup points -> forall f, (length f <= length points)%nat ->
  (forall a, In a points -> eval f a = 0) -> forall x, eval f x = 0.
Proof.
  induction 1 as [|a points Ha _ IH]; intros f Lf Hf x.
  - destruct f; [reflexivity|cbn [length] in Lf; lia].
  - destruct (factor_out f a) as (k & Lk & E). rewrite (Hf a (or_introl eq_refl)) in E.
    assert (K : forall y, eval k y = 0).
    { apply IH; [cbn [length] in Lf; lia|]. intros b Hb. specialize (E b). rewrite (Hf b (or_intror Hb)) in E.
      assert (b <> a) by (intros ->; auto). assert (0 = (b - a) * eval k b) as Z0 by lia. symmetry in Z0.
      apply Z.mul_eq_0 in Z0 as [Z0|Z0]; [lia|exact Z0]. }
    specialize (E x). rewrite K in E. lia.
Qed.

(* The product of x - b over all points but one. *)
Definition others (i : Z) (points : list Z) := filter (fun j => negb (j =? i)) points.
Definition product_at (points : list Z) (x : Z) := fold_right (fun b v => (x - b) * v) 1 points.

Lemma product_poly points : is_poly (S (length points)) (product_at points).
Proof.
  induction points as [|a points IH]; cbn [length].
  - exists [1]. split; [reflexivity|]. intros x. unfold product_at. cbn [fold_right eval]. lia.
  - apply (poly_times _ a) in IH. exact IH.
Qed.

Lemma product_zero points a : In a points -> product_at points a = 0.
Proof.
  induction points as [|b points IH]; intros H; [destruct H|]. unfold product_at in *. cbn [fold_right].
  destruct H as [->|H].
  - rewrite Z.sub_diag. apply Z.mul_0_l.
  - rewrite (IH H). apply Z.mul_0_r.
Qed.

Lemma product_nonzero points a : ~ In a points -> product_at points a <> 0.
Proof.
  induction points as [|b points IH]; intros H; unfold product_at in *; cbn [fold_right]; [lia|].
  cbn [In] in H. intros E. apply Z.mul_eq_0 in E as [E|E]; [apply H; left; lia|apply IH; auto].
Qed.

Lemma others_length i points : NoDup points -> In i points -> S (length (others i points)) = length points.
Proof.
  unfold others. induction 1 as [|a points Ha N IH]; intros H; [destruct H|]. cbn [filter length].
  destruct (Z.eqb_spec a i) as [->|Ne]; cbn [negb].
  - f_equal. assert (E : filter (fun j => negb (j =? i)) points = points); [|rewrite E; reflexivity].
    clear - Ha. induction points as [|b points IH]; [reflexivity|]. cbn [filter]. cbn [In] in Ha.
    destruct (Z.eqb_spec b i) as [->|]; [exfalso; apply Ha; left; reflexivity|]. cbn [negb]. f_equal. apply IH. auto.
  - cbn [length]. f_equal. apply IH. destruct H as [H|H]; [contradiction|exact H].
Qed.

Lemma others_in i j points : In j (others i points) <-> In j points /\ j <> i.
Proof. unfold others. rewrite filter_In. destruct (Z.eqb_spec j i); cbn [negb]; intuition congruence. Qed.

(* The common denominator. *)
Definition denominators (points : list Z) (l : list Z) := fold_right (fun i v => product_at (others i points) i * v) 1 l.

Lemma denominator_divides points l i : In i l -> (product_at (others i points) i | denominators points l).
Proof.
  induction l as [|j l IH]; intros H; [destruct H|]. unfold denominators in *. cbn [fold_right].
  destruct H as [->|H]; [apply Z.divide_mul_l, Z.divide_refl|apply Z.divide_mul_r, IH, H].
Qed.

Lemma denominators_nonzero points l : (forall i, In i l -> In i points) -> denominators points l <> 0.
Proof.
  induction l as [|j l IH]; intros H; unfold denominators in *; cbn [fold_right]; [lia|]. intros E.
  apply Z.mul_eq_0 in E as [E|E].
  - revert E. apply product_nonzero. rewrite others_in. intuition.
  - revert E. apply IH. intros i Hi. apply H. right. exact Hi.
Qed.

Definition sum_over (l : list Z) (g : Z -> Z) := fold_right (fun i v => g i + v) 0 l.

(* Lagrange's interpolation times the common denominator. *)
Lemma interpolation points f : NoDup points -> (length f <= length points)%nat -> forall x,
  let delta := denominators points points in
  delta * eval f x = sum_over points (fun i => eval f i * (delta / product_at (others i points) i) * product_at (others i points) x).
Proof.
  intros N Lf x delta.
  set (w := fun i => eval f i * (delta / product_at (others i points) i)).
  assert (Sum : forall l, (forall i, In i l -> In i points) ->
    is_poly (length points) (fun x => sum_over l (fun i => w i * product_at (others i points) x))).
  { induction l as [|i l IH]; intros Hl; unfold sum_over in *; cbn [fold_right].
    - exists (repeat 0 (length points)). split; [apply repeat_length|]. intros y.
      symmetry. exact (eval_padded [] (length points) y).
    - apply (poly_add _ (fun x => w i * product_at (others i points) x)).
      + apply poly_scale. rewrite <- (others_length i points N) by (apply Hl; left; reflexivity). apply product_poly.
      + apply IH. intros j Hj. apply Hl. right. exact Hj. }
  specialize (Sum points (fun i H => H)).
  assert (Pf : is_poly (length points) (fun x => delta * eval f x)).
  { apply poly_scale. exists (f ++ repeat 0 (length points - length f)).
    split; [rewrite app_length, repeat_length; lia|]. intros y. rewrite eval_padded. reflexivity. }
  pose proof (poly_scale _ (-1) _ Sum) as Sum'.
  destruct (poly_add _ _ _ Pf Sum') as (h & Lh & Eh). cbv beta in Eh.
  enough (E : eval h x = 0) by (rewrite <- Eh in E; unfold w in E; lia).
  apply (zero_of_roots points N h); [lia|]. intros a Ha. rewrite <- Eh.
  enough (E : sum_over points (fun i => w i * product_at (others i points) a) = delta * eval f a) by lia.
  (* Only the term of a itself is left. *)
  assert (Rest : forall l, ~ In a l -> (forall i, In i l -> In i points) ->
    sum_over l (fun i => w i * product_at (others i points) a) = 0).
  { induction l as [|i l IH]; intros Hn Hl; unfold sum_over in *; cbn [fold_right]; [reflexivity|].
    cbn [In] in Hn. rewrite IH by intuition. rewrite product_zero; [ring|]. rewrite others_in. intuition congruence. }
  apply in_split in Ha as (l1 & l2 & Ep).
  assert (App : forall g m1 m2, sum_over (m1 ++ m2) g = sum_over m1 g + sum_over m2 g).
  { intros g m1 m2. unfold sum_over. induction m1 as [|y m1 IH]; cbn [app fold_right]; [ring|]. rewrite IH. ring. }
  assert (Na : ~ In a (l1 ++ l2)) by (apply NoDup_remove_2; rewrite <- Ep; exact N).
  assert (In1 : forall i, In i (l1 ++ l2) -> In i points).
  { intros i Hi. rewrite Ep. apply in_app_iff in Hi. apply in_app_iff. cbn [In]. intuition. }
  assert (S1 : sum_over points (fun i => w i * product_at (others i points) a) =
    sum_over l1 (fun i => w i * product_at (others i points) a) +
    (w a * product_at (others a points) a + sum_over l2 (fun i => w i * product_at (others i points) a))).
  { rewrite Ep at 1. rewrite App. reflexivity. }
  rewrite S1, (Rest l1), (Rest l2).
  - unfold w. assert (D : (product_at (others a points) a | delta)).
    { apply denominator_divides. rewrite Ep. apply in_app_iff. right. left. reflexivity. }
    assert (Nz : product_at (others a points) a <> 0) by (apply product_nonzero; rewrite others_in; intuition).
    destruct D as [u Hu]. rewrite Hu, Z.div_mul by exact Nz. ring.
  - intros Hi. apply Na, in_app_iff. right. exact Hi.
  - intros i Hi. apply In1, in_app_iff. right. exact Hi.
  - intros Hi. apply Na, in_app_iff. left. exact Hi.
  - intros i Hi. apply In1, in_app_iff. left. exact Hi.
Qed.

(* As the code forms a coefficient: the products of j, and of j - i, over all others. *)
Definition over (l : list Z) := fold_right Z.mul 1 l.
Definition under (i : Z) (l : list Z) := fold_right (fun j v => UNDER j i * v) 1 l.

Lemma signs l : exists sign, sign * sign = 1 /\ product_at l 0 = sign * over l /\ forall i, product_at l i = sign * under i l.
Proof.
  induction l as [|j l (sign & E & O & U)].
  - exists 1. repeat split.
  - exists (- sign). split; [lia|]. unfold product_at, over, under, UNDER in *. cbn [fold_right]. split.
    + rewrite O. ring.
    + intros i. rewrite U. ring.
Qed.

(* threshold/lagrange.rs: coefficients. D prod j / (j - i), whole: D times the value at 0 of every polynomial with as many
   coefficients as there are points, from its values. *)
Theorem coefficients_correct points f lambda D : NoDup points -> (length f <= length points)%nat ->
  (forall i, In i points -> lambda i * under i (others i points) = D * over (others i points)) ->
  sum_over points (fun i => lambda i * eval f i) = D * eval f 0.
Proof.
  intros N Lf Hl. pose proof (interpolation points f N Lf 0) as I. cbv zeta in I.
  set (delta := denominators points points) in *.
  assert (Nz : delta <> 0) by (apply denominators_nonzero; auto).
  apply Z.mul_reg_l with delta; [exact Nz|].
  replace (delta * (D * eval f 0)) with (D * (delta * eval f 0)) by ring. rewrite I. clear I.
  assert (G : forall l, (forall i, In i l -> In i points) -> delta * sum_over l (fun i => lambda i * eval f i) =
    D * sum_over l (fun i => eval f i * (delta / product_at (others i points) i) * product_at (others i points) 0)).
  { induction l as [|i l IH]; intros H; unfold sum_over in *; cbn [fold_right]; [ring|].
    rewrite !Z.mul_add_distr_l, IH by (intros j Hj; apply H; right; exact Hj). f_equal.
    assert (Di : (product_at (others i points) i | delta)) by (apply denominator_divides, H; left; reflexivity).
    assert (Ni : product_at (others i points) i <> 0) by (apply product_nonzero; rewrite others_in; intuition).
    destruct Di as [u Hu]. rewrite Hu, Z.div_mul by exact Ni.
    specialize (Hl i (H i (or_introl eq_refl))).
    assert (Hl' : lambda i * product_at (others i points) i = D * product_at (others i points) 0).
    { destruct (signs (others i points)) as (sign & _ & -> & U). rewrite U.
      replace (lambda i * (sign * under i (others i points))) with (sign * (lambda i * under i (others i points))) by ring.
      rewrite Hl. ring. }
    clear Hl. rename Hl' into Hl.
    replace (u * product_at (others i points) i * (lambda i * eval f i)) with
      (u * eval f i * (lambda i * product_at (others i points) i)) by ring. rewrite Hl. ring. }
  apply G. auto.
Qed.

(* threshold/lagrange.rs: coefficients. The same modulo any number, from shares that are the polynomial's values modulo it:
   what threshold_correct (schemes.v) asks of the shares. *)
Theorem shares_correct points f lambda D N s : NoDup points -> (length f <= length points)%nat ->
  (forall i, In i points -> lambda i * under i (others i points) = D * over (others i points)) ->
  (forall i, In i points -> cong N (s i) (eval f i)) ->
  cong N (sum_over points (fun i => lambda i * s i)) (D * eval f 0).
Proof.
  intros Nd Lf Hl Hs. rewrite <- (coefficients_correct points f lambda D Nd Lf Hl).
  assert (G : forall l, (forall i, In i l -> In i points) ->
    cong N (sum_over l (fun i => lambda i * s i)) (sum_over l (fun i => lambda i * eval f i))).
  { induction l as [|i l IH]; intros H; unfold sum_over in *; cbn [fold_right]; [reflexivity|].
    rewrite IH by (intros j Hj; apply H; right; exact Hj). rewrite (Hs i (H i (or_introl eq_refl))). reflexivity. }
  apply G. auto.
Qed.

(* Coefficients split by their sign, as schemes.v takes them. *)
Definition split_shares (points : list Z) (s lambda : Z -> Z) :=
  map (fun i => Share (s i) (Z.max 0 (lambda i)) (Z.max 0 (- lambda i))) points.

Lemma split_weights points s lambda :
  weighted plus (split_shares points s lambda) - weighted minus (split_shares points s lambda) =
  sum_over points (fun i => lambda i * s i).
Proof.
  induction points as [|i points IH]; unfold weighted, split_shares, sum_over in *; cbn [map fold_right]; [reflexivity|].
  cbn [plus minus value] in *. rewrite <- IH.
  assert (E : lambda i * s i = Z.max 0 (lambda i) * s i - Z.max 0 (- lambda i) * s i).
  { rewrite <- Z.mul_sub_distr_r. f_equal. lia. }
  lia.
Qed.

(* threshold/combine.rs: put_together. As threshold_correct, from a polynomial of the shared d alone: shares are its values at
   the trustees' points, modulo p' q' n. *)
Theorem threshold_shared p q p' q' m r c d D points f s lambda x low high inverse :
  prime p -> prime q -> p <> q -> p = 2 * p' + 1 -> q = 2 * q' + 1 -> 0 <= m < p * q -> ~ (p | r) -> ~ (q | r) -> 0 <= D ->
  let n := p * q in
  cong (n * n) c ((1 + n) ^ m * r ^ n) -> cong n d 1 -> cong (p' * q') d 0 ->
  NoDup points -> (length f <= length points)%nat -> eval f 0 = d ->
  (forall i, In i points -> 0 <= s i /\ cong (p' * q' * n) (s i) (eval f i)) ->
  (forall i, In i points -> lambda i * under i (others i points) = D * over (others i points)) ->
  let shares := split_shares points s lambda in
  cong (n * n) (x * powers c D minus shares) (powers c D plus shares) ->
  0 <= low < n -> cong (n * n) (low + high * n) x -> cong n (INVERTED * D * inverse) 1 ->
  low = 1 /\ (high * inverse * inverse) mod n = m.
Proof.
  intros Hp Hq Hpq Ep Eq Hm Rp Rq HD n Ec Dn Dm Nd Lf Ed Hs Hl shares Ex Hlow Exl Hi.
  assert (All : forall g, (forall i, In i points -> 0 <= g (Share (s i) (Z.max 0 (lambda i)) (Z.max 0 (- lambda i)))) ->
    Forall (fun share => 0 <= value share /\ 0 <= g share) shares).
  { intros g Hg. apply Forall_forall. intros share H. apply in_map_iff in H as (i & <- & H).
    split; [apply (Hs i H)|apply (Hg i H)]. }
  apply (threshold_correct p q p' q' m r c d D shares x low high inverse); try assumption.
  - apply All. intros. cbn. lia.
  - apply All. intros. cbn. lia.
  - unfold shares. rewrite split_weights. rewrite <- Ed. apply shares_correct; try assumption. intros i Hin. apply (Hs i Hin).
Qed.

(* The points 1 and 3, the polynomial 7 + 2 x, D = 3!. *)
Example coefficients_example : sum_over [1; 3] (fun i => (if i =? 1 then 9 else -3) * eval [7; 2] i) = 6 * eval [7; 2] 0.
Proof.
  apply (coefficients_correct [1; 3] [7; 2] (fun i => if i =? 1 then 9 else -3) 6).
  - repeat constructor; cbn; intuition discriminate.
  - cbn. lia.
  - intros i [<-|[<-|[]]]; reflexivity.
Qed.
Example shares_example : cong 10 (sum_over [1; 3] (fun i => (if i =? 1 then 9 else -3) * (if i =? 1 then 19 else 3))) (6 * eval [7; 2] 0).
Proof.
  apply (shares_correct [1; 3] [7; 2] (fun i => if i =? 1 then 9 else -3) 6 10 (fun i => if i =? 1 then 19 else 3)).
  - repeat constructor; cbn; intuition discriminate.
  - cbn. lia.
  - intros i [<-|[<-|[]]]; reflexivity.
  - intros i [<-|[<-|[]]]; apply cong_by_mod; (discriminate || reflexivity).
Qed.
