(* crates/ntt/src/engine/loops.rs and transform.rs: the convolution theorem. Two transforms forward, products at the leaves and one
   transform back give the product of two polynomials modulo x^n - 1, up to the factors that reciprocal.rs and digits.rs know. *)
From Arith Require Import words.
From Arith Require Export leaves.

(* Polynomials that agree everywhere have the same coefficients. *)
Lemma zero_poly f : (forall x, 0 < x -> eval f x = 0) -> Forall (fun c => c = 0) f.
Proof.
  induction f as [|c f IH]; intros H; constructor.
  - pose proof (H (Z.abs c + 1) ltac:(lia)) as E. cbn [eval] in E. set (e := eval f (Z.abs c + 1)) in *. clearbody e.
    assert (e = 0 \/ 1 <= e \/ e <= - 1) as [->|[He|He]] by lia; [lia|..].
    + assert ((Z.abs c + 1) * 1 <= (Z.abs c + 1) * e) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
    + assert ((Z.abs c + 1) * e <= (Z.abs c + 1) * (- 1)) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
  - apply IH. intros x Hx.
    assert (c = 0) as ->.
    { pose proof (H (Z.abs c + 1) ltac:(lia)) as E. cbn [eval] in E. set (e := eval f (Z.abs c + 1)) in *. clearbody e.
      assert (e = 0 \/ 1 <= e \/ e <= - 1) as [->|[He|He]] by lia; [lia|..].
      + assert ((Z.abs c + 1) * 1 <= (Z.abs c + 1) * e) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
      + assert ((Z.abs c + 1) * e <= (Z.abs c + 1) * (- 1)) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
    pose proof (H x Hx) as E. cbn [eval] in E. apply Z.mul_reg_l with x; lia.
Qed.
Lemma nth_zeros f : Forall (fun c => c = 0) f -> forall j, nth j f 0 = 0.
Proof. induction 1 as [|c f -> H IH]; intros [|j]; cbn [nth]; auto. Qed.
Lemma nth_add f : forall g j, nth j (add_poly f g) 0 = nth j f 0 + nth j g 0.
Proof.
  induction f as [|c f IH]; intros [|e g] [|j]; cbn [add_poly nth]; try lia. apply IH.
Qed.
Lemma nth_times k f : forall j, nth j (map (Z.mul k) f) 0 = k * nth j f 0.
Proof. induction f as [|c f IH]; intros [|j]; cbn [map nth]; try lia. apply IH. Qed.
Lemma nth_shift n h j : nth j (repeat 0 n ++ h) 0 = if (j <? n)%nat then 0 else nth (j - n) h 0.
Proof.
  destruct (Nat.ltb_spec j n).
  - rewrite app_nth1 by (rewrite repeat_length; lia). apply nth_repeat.
  - rewrite app_nth2, repeat_length by (rewrite repeat_length; lia). reflexivity.
Qed.
Lemma eval_shift n h x : eval (repeat 0 n ++ h) x = x ^ Z.of_nat n * eval h x.
Proof.
  rewrite eval_app, repeat_length. assert (E : eval (repeat 0 n) x = 0); [|rewrite E; ring].
  induction n as [|n IH]; cbn [repeat eval]; [reflexivity|]. rewrite IH. ring.
Qed.
Lemma skipn_nth p : forall (l : list Z), (p < length l)%nat -> skipn p l = nth p l 0 :: skipn (S p) l.
Proof.
  induction p as [|p IH]; intros [|v l] H; cbn [length] in H; try lia; [reflexivity|]. cbn [skipn nth]. rewrite IH by lia.
  reflexivity.
Qed.
Lemma firstn_nth m : forall (l : list Z), (m < length l)%nat -> firstn (S m) l = firstn m l ++ [nth m l 0].
Proof.
  induction m as [|m IH]; intros [|v l] H; cbn [length] in H; try lia; [reflexivity|].
  change (firstn (S (S m)) (v :: l)) with (v :: firstn (S m) l). rewrite IH by lia. reflexivity.
Qed.
Lemma nth_skipn p : forall (l : list Z) j, nth j (skipn p l) 0 = nth (p + j) l 0.
Proof. induction p as [|p IH]; intros [|v l] j; cbn [skipn Nat.add nth]; auto. destruct j; reflexivity. Qed.

Ltac evals := repeat (rewrite eval_shift || rewrite eval_add || rewrite eval_mul || rewrite eval_map || rewrite eval_app).

(* The values of a leaf's product: windows of the second factor, times the coefficients of the first one. *)
Fixpoint windows (n : nat) (xs ys : list Z) (x : Z) : Z :=
  match xs with [] => 0 | a :: xs => a * eval (firstn n ys) x + windows n xs (tl ys) x end.
Lemma eval_combined (f g : nat -> Z) a l x : eval (map (fun j => a * f j + g j) l) x = a * eval (map f l) x + eval (map g l) x.
Proof. induction l as [|j l IH]; cbn [map eval]; [ring|]. rewrite IH. ring. Qed.
Lemma map_nth_seq n ys : (n <= length ys)%nat -> map (fun j => nth j ys 0) (seq 0 n) = firstn n ys.
Proof.
  induction n as [|n IH]; intros H; [reflexivity|]. rewrite seq_S, map_app, IH, firstn_nth by lia. reflexivity.
Qed.
Lemma eval_dots n xs x : forall ys, (length xs + n <= length ys + 1)%nat -> (0 < n)%nat ->
  eval (map (fun j => dot xs (skipn j ys)) (seq 0 n)) x = windows n xs ys x.
Proof.
  induction xs as [|a xs IH]; intros ys H Hn; cbn [windows].
  - cbn [dot]. generalize (seq 0 n). intros l. induction l as [|j l IH]; cbn [map eval]; [reflexivity|]. rewrite IH. ring.
  - cbn [length] in H. rewrite (map_ext_in _ (fun j => a * nth j ys 0 + dot xs (skipn j (tl ys)))).
    + rewrite (eval_combined (fun j => nth j ys 0) (fun j => dot xs (skipn j (tl ys)))), map_nth_seq, IH; try lia; try reflexivity.
      destruct ys; cbn [length tl] in *; lia.
    + intros j Hj. apply in_seq in Hj. rewrite skipn_nth by lia. cbn [dot]. destruct ys; [cbn [length] in H; lia|reflexivity].
Qed.

Section Remainders.
Variable P : Z.

(* g is f modulo x^n - z and P. *)
Definition remainder (n : nat) (z : Z) (f g : list Z) :=
  exists h k, forall x, eval f x = eval g x + (x ^ Z.of_nat n - z) * eval h x + P * eval k x.

Lemma same_eval f g : same P f g -> exists k, forall x, eval f x = eval g x + P * eval k x.
Proof.
  induction 1 as [|c e f g [q Hq] H [k IH]]; [exists []; intros; cbn [eval]; ring|].
  exists (q :: k). intros x. cbn [eval]. rewrite IH, Hq. ring.
Qed.
Lemma same_nth r : forall s, length r = length s -> (forall j, (j < length r)%nat -> cong P (nth j r 0) (nth j s 0)) -> same P r s.
Proof.
  induction r as [|c r IH]; intros [|e s] E H; try discriminate; constructor.
  - apply (H 0%nat). cbn [length]. lia.
  - apply IH; [injection E; auto|]. intros j Hj. apply (H (S j)). cbn [length]. lia.
Qed.

Lemma unique n z r s : (0 < n)%nat -> length r = n -> length s = n -> remainder n z r s -> same P r s.
Proof.
  intros Hn Lr Ls (h & k & H).
  set (e := add_poly r (add_poly (map (Z.mul (-1)) s) (add_poly (map (Z.mul (-1)) (repeat 0 n ++ h))
    (add_poly (map (Z.mul z) h) (map (Z.mul (- P)) k))))).
  assert (Zero : forall j, nth j e 0 = 0).
  { apply nth_zeros, zero_poly. intros x _. unfold e. rewrite !eval_add, !eval_map, eval_shift, H. ring. }
  assert (C : forall j, nth j r 0 - nth j s 0 - (if (j <? n)%nat then 0 else nth (j - n) h 0) + z * nth j h 0 - P * nth j k 0 = 0).
  { intros j. specialize (Zero j). unfold e in Zero. rewrite !nth_add, !nth_times, nth_shift in Zero.
    etransitivity; [|exact Zero]. ring. }
  assert (Dh : forall m i, (length h <= i + m)%nat -> cong P (nth i h 0) 0).
  { induction m as [|m IH]; intros i Hi; [rewrite nth_overflow by lia; reflexivity|].
    specialize (C (i + n)%nat). rewrite (nth_overflow r), (nth_overflow s) in C by lia.
    destruct (Nat.ltb_spec (i + n) n); [lia|]. replace (i + n - n)%nat with i in C by lia.
    replace (nth i h 0) with (z * nth (i + n) h 0 - P * nth (i + n) k 0) by lia. rewrite (IH (i + n)%nat) by lia.
    exists (- nth (i + n) k 0). ring. }
  apply same_nth; [lia|]. intros j Hj. specialize (C j). destruct (Nat.ltb_spec j n); [|lia].
  replace (nth j r 0) with (nth j s 0 - z * nth j h 0 + P * nth j k 0) by lia. rewrite (Dh (length h) j) by lia.
  exists (nth j k 0). ring.
Qed.

(* Shifted by i coefficients, b is a window of its wrapped and its plain coefficients. *)
Lemma window z b i : (i < length b)%nat -> exists h, forall x, x ^ Z.of_nat i * eval b x =
  eval (firstn (length b) (skipn (length b - 1 - i) (map (Z.mul z) (tl b) ++ b))) x + (x ^ Z.of_nat (length b) - z) * eval h x.
Proof.
  set (n := length b). set (Y := map (Z.mul z) (tl b) ++ b).
  assert (Lt : length (map (Z.mul z) (tl b)) = (n - 1)%nat) by (rewrite map_length; unfold n; destruct b; cbn [tl length]; lia).
  assert (LY : length Y = (n - 1 + n)%nat) by (unfold Y; rewrite app_length, Lt; reflexivity).
  induction i as [|i IH]; intros Hi.
  - exists []. intros x. rewrite Nat.sub_0_r. unfold Y. rewrite skipn_app, Lt, Nat.sub_diag, skipn_all2, firstn_all2 by
      (rewrite ?app_length; cbn [length app skipn]; fold n; lia). cbn [app skipn eval]. rewrite Z.pow_0_r. ring.
  - destruct (IH ltac:(lia)) as [h H]. set (p := (n - 1 - S i)%nat).
    replace (n - 1 - i)%nat with (S p) in H by lia. set (R := skipn (S p) Y) in *.
    assert (LR : length R = (n - 1 + n - S p)%nat) by (unfold R; rewrite skipn_length, LY; reflexivity).
    rewrite (skipn_nth p Y) by lia. fold R. destruct n as [|m] eqn:En; [lia|]. cbn [firstn].
    rewrite firstn_nth in H by lia.
    set (t := nth (S p) b 0).
    assert (T1 : nth p Y 0 = z * t).
    { unfold Y. rewrite app_nth1 by lia. rewrite nth_times. unfold t. assert (Nb : length b = S m) by exact En.
      destruct b; [discriminate Nb|]. reflexivity. }
    assert (T2 : nth m R 0 = t).
    { unfold R. rewrite nth_skipn. unfold Y. rewrite app_nth2 by lia. rewrite Lt. unfold t. f_equal. lia. }
    rewrite T1. rewrite T2 in H. exists (t :: h). intros x. cbn [eval].
    specialize (H x). rewrite eval_app, firstn_length_le in H by lia. cbn [eval] in H.
    rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. replace (x * x ^ Z.of_nat i * eval b x) with (x * (x ^ Z.of_nat i * eval b x)) by ring.
    rewrite H. rewrite (Nat2Z.inj_succ m), Z.pow_succ_r by lia. ring.
Qed.

Lemma tl_skipn p : forall (l : list Z), tl (skipn p l) = skipn (S p) l.
Proof. induction p as [|p IH]; intros [|v l]; cbn [skipn tl]; auto. specialize (IH l). cbn [skipn] in IH. exact IH. Qed.

(* A leaf's product is the product modulo x^d - z. *)
Lemma leaf_remainder z a b : length a = length b -> (0 < length a)%nat ->
  remainder (length a) z (mul_poly a b) (map (leaf_coefficient z a b) (seq 0 (length a))).
Proof.
  intros E Hn. set (n := length a) in *. set (Y := map (Z.mul z) (tl b) ++ b).
  assert (Part : forall m, (m <= n)%nat -> exists h, forall x, eval (firstn m a) x * eval b x =
    windows n (rev (firstn m a)) (skipn (n - m) Y) x + (x ^ Z.of_nat n - z) * eval h x).
  { induction m as [|m IH]; intros Hm.
    - exists []. intros x. cbn [firstn rev windows eval]. ring.
    - destruct (IH ltac:(lia)) as [h H]. destruct (window z b m ltac:(lia)) as [g G]. rewrite <- E in G. fold n Y in G.
      exists (add_poly h (map (Z.mul (nth m a 0)) g)). intros x. rewrite firstn_nth by (fold n; lia).
      rewrite rev_app_distr. cbn [rev app windows]. rewrite tl_skipn. replace (S (n - S m)) with (n - m)%nat by lia.
      rewrite eval_app, firstn_length_le by (fold n; lia). cbn [eval]. rewrite eval_add, eval_map.
      specialize (H x). specialize (G x). replace (n - 1 - m)%nat with (n - S m)%nat in G by lia.
      transitivity (eval (firstn m a) x * eval b x + nth m a 0 * (x ^ Z.of_nat m * eval b x)); [ring|]. rewrite H, G. ring. }
  destruct (Part n ltac:(lia)) as [h H]. exists h, []. intros x. specialize (H x).
  replace (firstn n a) with a in H by (symmetry; apply firstn_all). rewrite Nat.sub_diag in H. rewrite eval_mul, H. cbn [skipn]. unfold leaf_coefficient. fold Y.
  rewrite eval_dots; [cbn [eval]; ring| |exact Hn]. rewrite rev_length. unfold Y. rewrite app_length, map_length. fold n.
  destruct b; cbn [tl length] in *; lia.
Qed.

(* One level down: a product modulo x^2n - c is one modulo x^n - w if w^2 is c. *)
Lemma descend n w c q al ah bl bh fl fh pa pb pf s : w * w = c + q * P ->
  length al = n -> length bl = n -> length fl = n ->
  (forall x, eval pa x = eval al x + w * eval ah x) -> (forall x, eval pb x = eval bl x + w * eval bh x) ->
  (forall x, eval pf x = eval fl x + w * eval fh x) ->
  remainder (2 * n) c (mul_poly (al ++ ah) (bl ++ bh)) (map (Z.mul s) (fl ++ fh)) ->
  remainder n w (mul_poly pa pb) (map (Z.mul s) pf).
Proof.
  intros Hw La Lb Lf Ha Hb Hf (h & k & H). set (mono := add_poly (repeat 0 n ++ [1]) [w]).
  exists (add_poly (map (Z.mul s) fh) (add_poly (mul_poly mono h) (map (Z.mul (-1)) (add_poly (mul_poly ah (bl ++ bh)) (mul_poly bh pa))))),
    (add_poly k (map (Z.mul q) h)).
  intros x. specialize (H x). rewrite eval_mul, eval_map, !eval_app, La, Lb, Lf in H.
  unfold mono. evals. rewrite Lb. cbn [eval].
  rewrite !Ha, !Hb, !Hf. replace (Z.of_nat (2 * n)) with (Z.of_nat n + Z.of_nat n) in H by lia. rewrite Z.pow_add_r in H by lia.
  set (X := x ^ Z.of_nat n) in *. assert (C : c = w * w - q * P) by lia. rewrite C in H. clear - H.
  set (al' := eval al x) in *. set (ah' := eval ah x) in *. set (bl' := eval bl x) in *. set (bh' := eval bh x) in *.
  set (fl' := eval fl x) in *. set (fh' := eval fh x) in *. set (h' := eval h x) in *. set (k' := eval k x) in *.
  clearbody al' ah' bl' bh' fl' fh' h' k' X.
  assert (I : (al' + w * ah') * (bl' + w * bh') =
    (al' + X * ah') * (bl' + X * bh') - (X - w) * (ah' * (bl' + X * bh') + bh' * (al' + w * ah'))) by ring.
  rewrite I, H. ring.
Qed.

Lemma eval_plus w low : forall high x, length low = length high -> eval (plus w low high) x = eval low x + w * eval high x.
Proof.
  unfold plus. induction low as [|a low IH]; intros [|b high] x E; try discriminate; cbn [zip eval]; [ring|].
  rewrite IH by (injection E; auto). ring.
Qed.
Lemma eval_minus w low : forall high x, length low = length high -> eval (minus w low high) x = eval low x + - w * eval high x.
Proof.
  unfold minus. induction low as [|a low IH]; intros [|b high] x E; try discriminate; cbn [zip eval]; [ring|].
  rewrite IH by (injection E; auto). ring.
Qed.
End Remainders.

(* Modulo x^n - 1. *)
Definition cyclic (n : nat) (f : list Z) := add_poly (firstn n f) (skipn n f).

Section Prime.
Variables P inverse : Z.
Hypothesis HP : 0 < P < 2 ^ NTT_BITS.
Hypothesis Large : 64 <= P.
Hypothesis Odd : rel_prime P D.
Hypothesis Inverse : cong D (inverse * P) 1.
Variable root : nat -> Z.
Variables factor reflected : nat -> ntt_words.factor.
Variable reflected_root : nat -> Z.
Hypothesis Roots : forall node, stands_for P inverse (root node) (factor node).
Hypothesis Back : forall node, stands_for P inverse (reflected_root node) (reflected node).
Variable count : nat.
Hypothesis Reflected : forall node, (node < count)%nat -> cong P (root node * reflected_root node) (-1).
(* What a node splits: its parent's root or the negative of it. *)
Definition split_by (node : nat) := if Nat.odd node then - root (node / 2)%nat else root (node / 2)%nat.
Hypothesis Squares : forall node, (node < count)%nat -> cong P (root node * root node) (split_by node).
Hypothesis First : cong P (root 0%nat) 1.

(* loops.rs: multiply. Leaf by leaf, from leaf [leaf] on. *)
Fixpoint products (levels leaf : nat) (a b : list Z) : list Z :=
  match levels with
  | O => leaf_set P inverse (Nat.odd leaf) (factor (leaf / 2)) a b
  | S levels => let '(a0, a1) := halve a in let '(b0, b1) := halve b in
    products levels (2 * leaf) a0 b0 ++ products levels (2 * leaf + 1) a1 b1
  end.

Lemma split_left node : split_by (2 * node) = root node.
Proof.
  unfold split_by. replace (Nat.odd (2 * node)) with false by (symmetry; rewrite <- Nat.negb_even, Nat.even_mul; reflexivity).
  f_equal. rewrite Nat.mul_comm. apply Nat.div_mul. lia.
Qed.
Lemma split_right node : split_by (2 * node + 1) = - root node.
Proof.
  unfold split_by. replace (Nat.odd (2 * node + 1)) with true by
    (symmetry; rewrite Nat.add_1_r, Nat.odd_succ, Nat.even_mul; reflexivity).
  do 2 f_equal. rewrite Nat.mul_comm, Nat.div_add_l by lia. cbn. lia.
Qed.

Lemma products_correct d levels : (0 < d <= 15)%nat -> forall node ua ub fa fb f, ((node + 1) * 2 ^ levels <= 2 * count)%nat ->
  length fa = (d * 2 ^ levels)%nat -> length fb = (d * 2 ^ levels)%nat -> length f = (d * 2 ^ levels)%nat ->
  below P 12 ua -> below P 12 ub -> same P ua (concat (split root levels node fa)) -> same P ub (concat (split root levels node fb)) ->
  remainder P (d * 2 ^ levels) (split_by node) (mul_poly fa fb) (map (Z.mul D) f) ->
  below P 4 (products levels node ua ub) /\ same P (products levels node ua ub) (concat (split root levels node f)).
Proof.
  intros Hd. induction levels as [|levels IH]; intros node ua ub fa fb f Hc La Lb Lf Ha Hb Sa Sb Rem; cbn [products].
  - cbn [split concat] in *. rewrite app_nil_r in *. rewrite Nat.mul_1_r in *.
    pose proof (Forall2_length Sa) as Lua. pose proof (Forall2_length Sb) as Lub.
    destruct (leaf_correct P inverse HP Large Odd Inverse (Nat.odd node) (root (node / 2)%nat) (factor (node / 2)) ua ub (repeat 0 (length ua))
      (Roots (node / 2)) ltac:(lia) ltac:(lia) (repeat_length _ _) Ha Hb) as (B4 & _ & L & _).
    { apply Forall_forall. intros v Hv. apply repeat_spec in Hv. lia. }
    fold (split_by node) in L. split; [exact B4|].
    set (u := leaf_set P inverse (Nat.odd node) (factor (node / 2)) ua ub) in *. set (z := split_by node) in *.
    assert (Lc : same P (map (leaf_coefficient z ua ub) (seq 0 (length ua))) (map (Z.mul D) f)).
    { apply (unique P d z); [lia|rewrite map_length, seq_length; lia|rewrite map_length; lia|].
      destruct Rem as (h & k & Rem). destruct (leaf_remainder P z ua ub ltac:(lia) ltac:(lia)) as (h2 & k2 & R2).
      replace (length ua) with d in * by lia.
      destruct (same_eval P _ _ Sa) as [ka Ka]. destruct (same_eval P _ _ Sb) as [kb Kb].
      exists (add_poly h (map (Z.mul (-1)) h2)), (add_poly k (add_poly (map (Z.mul (-1)) k2) (add_poly (mul_poly ka ub) (mul_poly fa kb)))).
      intros x. specialize (Rem x). specialize (R2 x). rewrite eval_mul in Rem, R2.
      evals. rewrite eval_map in Rem.
      assert (E : eval (map (leaf_coefficient z ua ub) (seq 0 d)) x =
        eval ua x * eval ub x - (x ^ Z.of_nat d - z) * eval h2 x - P * eval k2 x) by lia.
      rewrite E. rewrite (Ka x), (Kb x).
      transitivity (eval fa x * eval fb x + P * (eval ka x * (eval fb x + P * eval kb x) + eval fa x * eval kb x)
        - (x ^ Z.of_nat d - z) * eval h2 x - P * eval k2 x); [ring|]. rewrite Rem. ring. }
    assert (Du : Forall2 (fun r v => cong P (D * r) v) u (map (leaf_coefficient z ua ub) (seq 0 (length ua)))).
    { clear - L. revert L. generalize (seq 0 (length ua)). generalize u. intros l js L.
      induction L; cbn [map]; constructor; assumption. }
    assert (W : Forall2 (fun r v => cong P (D * r) v) u (map (Z.mul D) f)).
    { apply (Forall2_compose (fun r v => cong P (D * r) v) (cong P) _ _ _
        (fun r v x (E1 : cong P (D * r) v) (E2 : cong P v x) => transitivity E1 E2) Du _ Lc). }
    clear - W Odd. revert W. generalize u. clear u. intros u W. unfold same. remember (map (Z.mul D) f) as g eqn:Eg. revert f Eg.
    induction W as [|r v u g Hr W IH]; intros [|c f] Eg; try discriminate; constructor.
    + injection Eg as -> _. apply cong_cancel with D; [apply rel_prime_sym, Odd|exact Hr].
    + apply IH. injection Eg as _ ->. reflexivity.
  - rewrite pow_S in *. destruct (halves_twice _ fa La) as (al & ah & _ & -> & A1 & A2).
    destruct (halves_twice _ fb Lb) as (bl & bh & _ & -> & B1 & B2). destruct (halves_twice _ f Lf) as (fl & fh & _ & -> & F1 & F2).
    rewrite split_two, concat_app in Sa, Sb by lia. rewrite split_two, concat_app by lia.
    apply same_app_r in Sa as (ua0 & ua1 & Sa0 & Sa1 & ->). apply same_app_r in Sb as (ub0 & ub1 & Sb0 & Sb1 & ->).
    apply Forall_app in Ha as [Ha0 Ha1]. apply Forall_app in Hb as [Hb0 Hb1].
    assert (Lp : forall w x y, length x = (d * 2 ^ levels)%nat -> length y = (d * 2 ^ levels)%nat ->
      length (plus w x y) = (d * 2 ^ levels)%nat /\ length (minus w x y) = (d * 2 ^ levels)%nat).
    { intros w x y Hx Hy. unfold plus, minus. rewrite !zip_length by lia. auto. }
    destruct (Lp (root node) al ah A1 A2) as [P1 M1]. destruct (Lp (root node) bl bh B1 B2) as [P2 M2].
    destruct (Lp (root node) fl fh F1 F2) as [P3 M3].
    rewrite !halve_app by (rewrite ?(Forall2_length Sa0), ?(Forall2_length Sa1), ?(Forall2_length Sb0), ?(Forall2_length Sb1),
      !(split_length root d) by assumption; lia).
    assert (Hn : (node < count)%nat) by (pose proof (Nat.pow_nonzero 2 levels ltac:(lia)); nia).
    destruct (Squares node Hn) as [q Hq].
    pose proof (descend P _ (root node) (split_by node) q al ah bl bh fl fh _ _ _ D Hq A1 B1 F1
      (fun x => eval_plus (root node) al ah x ltac:(lia)) (fun x => eval_plus (root node) bl bh x ltac:(lia))
      (fun x => eval_plus (root node) fl fh x ltac:(lia)) Rem) as R1.
    pose proof (descend P _ (- root node) (split_by node) q al ah bl bh fl fh _ _ _ D ltac:(lia) A1 B1 F1
      (fun x => eval_minus (root node) al ah x ltac:(lia)) (fun x => eval_minus (root node) bl bh x ltac:(lia))
      (fun x => eval_minus (root node) fl fh x ltac:(lia)) Rem) as R2.
    rewrite <- split_left in R1 at 1. rewrite <- split_right in R2 at 1.
    assert (C1 : ((2 * node + 1) * 2 ^ levels <= 2 * count)%nat) by nia.
    assert (C2 : ((2 * node + 1 + 1) * 2 ^ levels <= 2 * count)%nat) by nia.
    destruct (IH (2 * node)%nat ua0 ub0 _ _ _ C1 P1 P2 P3 Ha0 Hb0 Sa0 Sb0 R1) as [I1 I2].
    destruct (IH (2 * node + 1)%nat ua1 ub1 _ _ _ C2 M1 M2 M3 Ha1 Hb1 Sa1 Sb1 R2) as [I3 I4].
    split; [apply Forall_app; auto|]. apply Forall2_app; assumption.
Qed.

Lemma same_refl l : same P l l.
Proof. induction l; constructor; [reflexivity|assumption]. Qed.

(* ntt/transform.rs: product; ntt/engine/loops.rs: multiply. The convolution theorem: what comes out is below 4 p, and 2^52 times
   it is 2^levels times the product of both polynomials modulo x^n - 1. *)
Theorem convolution_correct d s s' a b : (0 < d <= 15)%nat -> depth s' = depth s -> (2 ^ depth s <= 2 * count)%nat ->
  let n := (d * 2 ^ depth s)%nat in length a = n -> length b = n -> below P 12 a -> below P 12 b ->
  let u := backward P reflected s' 0 (products (depth s) 0 (forward P factor s 0 a) (forward P factor s 0 b)) in
  below P 4 u /\ Forall2 (fun r c => cong P (D * r) (2 ^ Z.of_nat (depth s) * c)) u (cyclic n (mul_poly a b)).
Proof.
  intros Hd Es Hc n La Lb Ha Hb u.
  destruct (forward_correct P inverse HP Odd Inverse root factor Roots d s 0 a a La Ha (same_refl a)) as (_ & A1 & A2).
  destruct (forward_correct P inverse HP Odd Inverse root factor Roots d s 0 b b Lb Hb (same_refl b)) as (_ & B1 & B2).
  assert (Hn : (0 < n)%nat) by (unfold n; pose proof (Nat.pow_nonzero 2 (depth s) ltac:(lia)); nia).
  assert (N : a <> []) by (intros ->; cbn [length] in La; lia).
  pose proof (mul_length a b N) as L1. pose proof (mul_most a b) as L2. rewrite Lb in L1. rewrite La, Lb in L2.
  set (c := cyclic n (mul_poly a b)).
  assert (Lc : length c = n) by (unfold c, cyclic; rewrite add_length, firstn_length, skipn_length; lia).
  destruct Inverse as [k Hk]. set (f := map (fun v => - k * v) c).
  assert (Sf : same P (map (Z.mul D) f) c).
  { unfold same, f. clear - Hk. induction c as [|v c IH]; cbn [map]; constructor; [|exact IH]. exists (- inverse * v).
    replace (D * (- k * v)) with (v * (- (k * D))) by ring. replace (k * D) with (inverse * P - 1) by lia. ring. }
  assert (Rem : remainder P n (split_by 0) (mul_poly a b) (map (Z.mul D) f)).
  { destruct (same_eval P _ _ Sf) as [e He]. destruct First as [q Hq].
    exists (skipn n (mul_poly a b)), (add_poly (map (Z.mul q) (skipn n (mul_poly a b))) (map (Z.mul (-1)) e)). intros x.
    rewrite (He x). unfold c, cyclic. rewrite !eval_add, !eval_map. change (split_by 0) with (root 0%nat). rewrite Hq.
    rewrite <- (firstn_skipn n (mul_poly a b)) at 1. rewrite eval_app, firstn_length_le by lia. ring. }
  assert (Hc' : ((0 + 1) * 2 ^ depth s <= 2 * count)%nat) by lia.
  destruct (products_correct d (depth s) Hd 0 _ _ a b f Hc' La Lb ltac:(unfold f; rewrite map_length; exact Lc) A1 B1 A2 B2 Rem)
    as [P1 P2].
  set (v := products (depth s) 0 (forward P factor s 0 a) (forward P factor s 0 b)) in *. rewrite <- Es in P2, Hc'.
  destruct (backward_correct P inverse HP Odd Inverse root reflected reflected_root Back count Reflected d s' 0 _ f Hc'
    ltac:(unfold f; rewrite map_length, Es; exact Lc) P1 P2) as [U1 U2].
  split; [exact U1|]. fold u in U2. rewrite Es in U2. unfold times_of in U2.
  clear - U2 Sf. unfold same in Sf. revert U2 Sf. generalize f. clear f. generalize c. clear c.
  intros c f U2. revert c.
  induction U2 as [|r t w f Hr U2 IH]; intros c Sf; cbn [map] in Sf; inversion Sf as [|? y ? c' Hw Sf']; subst; constructor.
  - rewrite Hr, <- Hw. exists 0. ring.
  - apply IH, Sf'.
Qed.
End Prime.

(* Modulo 97: 33 has order 8, 22 is a square root of -1, so that the table has the roots 1, 22, 33 and 47. *)
Definition roots_97 (node : nat) : Z := nth node [1; 22; 33; 47] 1.
Definition across_97 (node : nat) : Z := nth node [96; 22; 47; 33] 96.
Definition factors_97 (node : nat) := constant 97 i_97 (roots_97 node).
Definition reflections_97 (node : nat) := constant 97 i_97 (across_97 node).
Ltac small_nodes node := do 4 (destruct node as [|node]; [apply cong_by_mod; [discriminate|reflexivity]|]); lia.
Lemma across_97_correct node : (node < 4)%nat -> cong 97 (roots_97 node * across_97 node) (-1).
Proof. intros H. small_nodes node. Qed.
Lemma squares_97 node : (node < 4)%nat -> cong 97 (roots_97 node * roots_97 node) (split_by roots_97 node).
Proof. intros H. small_nodes node. Qed.
(* Eight coefficients, one at a leaf: levels by one and two forward, by two and one back. *)
Example convolution_example : let a := [1163; 0; 1; 96; 5; 6; 7; 8] in let b := [2; 1163; 3; 4; 0; 0; 96; 1] in
  let u := backward 97 reflections_97 (Four (Two Done)) 0
    (products 97 i_97 factors_97 3 0 (forward 97 factors_97 (Two (Four Done)) 0 a) (forward 97 factors_97 (Two (Four Done)) 0 b)) in
  below 97 4 u /\ Forall2 (fun r c => cong 97 (D * r) (2 ^ 3 * c)) u (cyclic 8 (mul_poly a b)).
Proof.
  apply (convolution_correct 97 i_97 prime_97 ltac:(lia) odd_97 inverse_97 roots_97 factors_97 reflections_97 across_97
    (fun node => constant_stands 97 i_97 (roots_97 node) ltac:(lia)) (fun node => constant_stands 97 i_97 (across_97 node) ltac:(lia))
    4 across_97_correct squares_97 ltac:(exists 0; reflexivity) 1 (Two (Four Done)) (Four (Two Done))
    [1163; 0; 1; 96; 5; 6; 7; 8] [2; 1163; 3; 4; 0; 0; 96; 1]); try reflexivity; try lia; try (unfold below; repeat constructor; lia).
Qed.
