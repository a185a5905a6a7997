(* Polynomials as lists of coefficients, and blocks of them: what transforms are about. *)
From Arith Require Import words.
From Arith Require Export modular.

(* One level of a block: [f] of each number of the lower half and its partner. *)
Fixpoint level (f : Z -> Z -> Z * Z) (low high : list Z) : list Z * list Z :=
  match low, high with
  | x :: low, y :: high => let '(s, d) := f x y in let '(l, h) := level f low high in (s :: l, d :: h)
  | _, _ => ([], [])
  end.
Definition halve (a : list Z) := (firstn (length a / 2) a, skipn (length a / 2) a).

Lemma halves_twice n (a : list Z) : length a = (2 * n)%nat -> exists low high, halve a = (low, high) /\ a = low ++ high /\
  length low = n /\ length high = n.
Proof.
  intros L. assert (H : (length a / 2 = n)%nat) by (rewrite L, Nat.mul_comm; apply Nat.div_mul; lia).
  unfold halve. rewrite H. exists (firstn n a), (skipn n a).
  rewrite firstn_skipn, firstn_length, skipn_length, L. repeat split; lia.
Qed.
Lemma halves_of levels (a : list Z) : length a = (2 ^ S levels)%nat -> exists low high, halve a = (low, high) /\ a = low ++ high /\
  length low = (2 ^ levels)%nat /\ length high = (2 ^ levels)%nat.
Proof. intros L. apply halves_twice. rewrite L. apply Nat.pow_succ_r'. Qed.

(* The value of a polynomial. *)
Fixpoint eval (f : list Z) (x : Z) : Z := match f with [] => 0 | c :: f => c + x * eval f x end.

Lemma eval_app f g x : eval (f ++ g) x = eval f x + x ^ Z.of_nat (length f) * eval g x.
Proof.
  induction f as [|c f IH]; [cbn [app eval length]; rewrite Z.pow_0_r; ring|].
  cbn [app eval length]. rewrite IH, Nat2Z.inj_succ, Z.pow_succ_r by lia. ring.
Qed.

(* Products of polynomials, and modulo x^n + 1. *)
Fixpoint add_poly (f g : list Z) : list Z :=
  match f, g with [], _ => g | _, [] => f | c :: f, d :: g => c + d :: add_poly f g end.
Fixpoint mul_poly (f g : list Z) : list Z :=
  match f with [] => [] | c :: f => add_poly (map (Z.mul c) g) (0 :: mul_poly f g) end.
Definition wrapped (n : nat) (f : list Z) := add_poly (firstn n f) (map Z.opp (skipn n f)).

Lemma eval_add f x : forall g, eval (add_poly f g) x = eval f x + eval g x.
Proof. induction f as [|c f IH]; intros [|d g]; cbn [add_poly eval]; try ring. rewrite IH. ring. Qed.
Lemma eval_map k f x : eval (map (Z.mul k) f) x = k * eval f x.
Proof. induction f as [|c f IH]; cbn [map eval]; [ring|]. rewrite IH. ring. Qed.
Lemma eval_opp f x : eval (map Z.opp f) x = - eval f x.
Proof. induction f as [|c f IH]; cbn [map eval]; [ring|]. rewrite IH. ring. Qed.
Lemma eval_mul f g x : eval (mul_poly f g) x = eval f x * eval g x.
Proof. induction f as [|c f IH]; cbn [mul_poly eval]; [ring|]. rewrite eval_add, eval_map. cbn [eval]. rewrite IH. ring. Qed.

Lemma add_length f : forall g, length (add_poly f g) = Nat.max (length f) (length g).
Proof. induction f as [|c f IH]; intros [|d g]; cbn [add_poly length]; try reflexivity. rewrite IH. reflexivity. Qed.
Lemma mul_length f g : f <> [] -> (length g <= length (mul_poly f g))%nat.
Proof. destruct f as [|c f]; [contradiction|]. intros _. cbn [mul_poly]. rewrite add_length, map_length. lia. Qed.

Lemma both {A C} (P P' : A -> C -> Prop) us xs : Forall2 P us xs -> forall vs, Forall2 P' vs xs ->
  Forall2 (fun uv x => P (fst uv) x /\ P' (snd uv) x) (combine us vs) xs.
Proof. induction 1; intros vs F; inversion F; subst; cbn [combine]; constructor; auto. Qed.

Lemma mul_most f : forall g, (length (mul_poly f g) <= length f + length g)%nat.
Proof.
  induction f as [|c f IH]; intros g; cbn [mul_poly length]; [lia|]. rewrite add_length, map_length. cbn [length].
  specialize (IH g). lia.
Qed.
Lemma wrapped_length n f : (n <= length f <= 2 * n)%nat -> length (wrapped n f) = n.
Proof. intros H. unfold wrapped. rewrite add_length, firstn_length, map_length, skipn_length. lia. Qed.
Lemma Forall2_with {A C} (P P' : A -> C -> Prop) R bs xs : Forall2 P bs xs -> Forall R xs ->
  (forall b x, P b x -> R x -> P' b x) -> Forall2 P' bs xs.
Proof. induction 1; intros F H'; inversion F; subst; constructor; auto. Qed.

Lemma halve_app (u v : list Z) : length u = length v -> halve (u ++ v) = (u, v).
Proof.
  intros E. unfold halve. assert (H : (length (u ++ v) / 2 = length u)%nat).
  { rewrite app_length, <- E. replace (length u + length u)%nat with (length u * 2)%nat by lia. apply Nat.div_mul. lia. }
  rewrite H, firstn_app, skipn_app, Nat.sub_diag, firstn_all, skipn_all. cbn [firstn skipn app]. rewrite app_nil_r. reflexivity.
Qed.

Lemma Forall2_length {A C} {P : A -> C -> Prop} {us xs} : Forall2 P us xs -> length us = length xs.
Proof. induction 1; cbn [length]; lia. Qed.
Lemma Forall2_join {A C E} (P : A -> E -> Prop) (P' : C -> E -> Prop) (S : A -> C -> Prop) us xs :
  (forall u v x, P u x -> P' v x -> S u v) -> Forall2 P us xs -> forall vs, Forall2 P' vs xs -> Forall2 S us vs.
Proof. intros H. induction 1; intros vs F; inversion F; subst; constructor; eauto. Qed.
Lemma Forall2_compose {A C E} (P : A -> C -> Prop) (P' : C -> E -> Prop) (S : A -> E -> Prop) us vs :
  (forall u v x, P u v -> P' v x -> S u x) -> Forall2 P us vs -> forall xs, Forall2 P' vs xs -> Forall2 S us xs.
Proof. intros H. induction 1; intros xs F; inversion F; subst; constructor; eauto. Qed.

