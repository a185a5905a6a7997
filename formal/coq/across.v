(* crates/arith/src/backend/ifma/across.rs: the limbs of one number across lanes. The loops over whole vectors are translated. The
   exact columns, numbers of Z that never wrap, stay in the range of a signed word: so the lanes hold them, and their values follow. *)
From Arith Require Import words lanes modular.
From Arith Require lazy.
From Arith Require Import vectors.
From Generated Require Import across_lanes across_shapes across_steps ifma_constants.

Notation value := lazy.value.
Definition wrap (x : Z) := x mod B.
Definition limb (x : Z) := 0 <= x < D.
Definition within (low high : Z) (t : list Z) := Forall (fun v => low <= v <= high) t.

(* Exact columns. *)
Definition plus := zip_with Z.add.
Definition lows (x : list Z) (d : Z) := map (fun l => (l * d) mod D) x.
Definition highs (x : list Z) (d : Z) := map (fun l => l * d / D) x.
Definition first (c : Z) (x : list Z) := match x with [] => [] | l :: x => l + c :: x end.
Definition exact_reduce (m t : list Z) (q : Z) (p : list Z) :=
  let t := plus t (lows m q) in plus (tl t ++ [0]) (first (hd 0 t / D) (plus p (highs m q))).

Lemma zip_length f : forall a b, length a = length b -> length (zip_with f a b) = length a.
Proof. induction a as [|x a IH]; intros [|y b] H; cbn [zip_with length] in *; try lia. rewrite IH; lia. Qed.
Lemma plus_length a b : length a = length b -> length (plus a b) = length a. Proof. apply zip_length. Qed.
Lemma first_length c x : length (first c x) = length x. Proof. destruct x; reflexivity. Qed.
Lemma lows_length x d : length (lows x d) = length x. Proof. apply map_length. Qed.
Lemma highs_length x d : length (highs x d) = length x. Proof. apply map_length. Qed.
Lemma plus_value : forall a b, length a = length b -> value (plus a b) = value a + value b.
Proof. induction a as [|x a IH]; intros [|y b] H; cbn [plus zip_with value length] in *; try lia. unfold plus in IH. rewrite IH; lia. Qed.
Lemma first_value c x : (0 < length x)%nat -> value (first c x) = value x + c.
Proof. destruct x; cbn [first value length]; lia. Qed.
Lemma products_value x d : value (lows x d) + D * value (highs x d) = value x * d.
Proof.
  induction x as [|l x IH]; cbn [lows highs map value]; [lia|]. unfold lows, highs in IH. pose proof (lanes.halves (l * d)). lia.
Qed.
Lemma app_zero_value x : value (x ++ [0]) = value x.
Proof. induction x as [|l x IH]; cbn [app value]; lia. Qed.
Lemma lows_zero x : value (lows x 0) = 0.
Proof. induction x as [|l x IH]; cbn [lows map value]; [lia|]. unfold lows in IH. rewrite Z.mul_0_r. change (0 mod D) with 0. lia. Qed.
Lemma value_range x : Forall limb x -> 0 <= value x < D ^ Z.of_nat (length x).
Proof.
  induction 1 as [|l x Hl _ IH]; cbn [value length]; [change (D ^ Z.of_nat 0) with 1; lia|].
  rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. unfold limb in Hl. lia.
Qed.

Lemma nth_limb b i : Forall limb b -> limb (nth i b 0).
Proof.
  intros H. destruct (nth_in_or_default i b 0) as [K| ->]; [|unfold limb; lia]. exact (proj1 (Forall_forall _ _) H _ K).
Qed.
Lemma plus_within a b c d x : forall y, within a b x -> within c d y -> within (a + c) (b + d) (plus x y).
Proof.
  induction x as [|l x IH]; intros [|k y] Hx Hy; cbn [plus zip_with]; try constructor.
  - inversion Hx; inversion Hy; subst. lia.
  - inversion Hx; inversion Hy; subst. apply IH; assumption.
Qed.
Lemma within_more a b c d x : c <= a -> b <= d -> within a b x -> within c d x.
Proof. intros H K. apply Forall_impl. lia. Qed.
Lemma lows_within x d : within 0 (D - 1) (lows x d).
Proof. apply Forall_map, Forall_forall. intros l _. pose proof (low_range (l * d)). lia. Qed.
Lemma highs_within x d : Forall limb x -> limb d -> within 0 (D - 1) (highs x d).
Proof. intros Hx Hd. apply Forall_map. revert Hx. apply Forall_impl. intros l Hl. pose proof (high_range l d Hl Hd). lia. Qed.

(* What the lanes hold: the exact columns, modulo 2^64. *)
Lemma zeros_wrap m : zeros m = map wrap (zeros m).
Proof. unfold zeros. rewrite map_map. reflexivity. Qed.
Lemma zeros_within m : within 0 0 (zeros m).
Proof. apply Forall_map, Forall_forall. lia. Qed.
Lemma zeros_plus : forall m x, length m = length x -> plus (zeros m) x = x.
Proof.
  induction m as [|y m IH]; intros [|l x] H; cbn [zeros map plus zip_with length] in *; try lia; [reflexivity|].
  unfold zeros, plus in IH. rewrite IH by lia. f_equal.
Qed.
Lemma add_low_wrap t : forall x d, add_low (map wrap t) x d = map wrap (plus t (lows x d)).
Proof.
  induction t as [|c t IH]; intros [|l x] d; cbn; try reflexivity. f_equal; [|apply IH].
  unfold low_lane, lanes.add_low, wrap. apply Zplus_mod_idemp_l.
Qed.
Lemma add_high_wrap t : forall x d, Forall limb x -> limb d -> add_high (map wrap t) x d = map wrap (plus t (highs x d)).
Proof.
  induction t as [|c t IH]; intros [|l x] d Hx Hd; cbn; try reflexivity. inversion Hx; subst. f_equal; [|apply IH; assumption].
  unfold high_lane, lanes.add_high, wrap. rewrite !(Z.mod_small _ D) by assumption. apply Zplus_mod_idemp_l.
Qed.
Lemma add_columns_wrap t : forall x, add_columns (map wrap t) (map wrap x) = map wrap (plus t x).
Proof.
  induction t as [|c t IH]; intros [|l x]; cbn; try reflexivity. f_equal; [|apply IH].
  unfold columns_lane, add64, wrap. symmetry. apply Zplus_mod.
Qed.
Lemma down_wrap c t : down (map wrap (c :: t)) = map wrap (t ++ [0]).
Proof. unfold down. change (Z.to_nat DOWN) with 1%nat. cbn [map skipn repeat]. rewrite map_app. reflexivity. Qed.
Lemma add_first_wrap t c : add_first (map wrap t) (wrap c) = map wrap (first c t).
Proof. destruct t as [|l t]; cbn; [reflexivity|]. f_equal. unfold add64, wrap. symmetry. apply Zplus_mod. Qed.
Lemma sub_first_wrap t c : sub_first (map wrap t) c = map wrap (first (- c) t).
Proof. destruct t as [|l t]; cbn; [reflexivity|]. f_equal. unfold sub64, wrap. apply Zminus_mod_idemp_l. Qed.
Lemma signed_wrap x : - (B / 2) <= x < B / 2 -> signed (wrap x) = x.
Proof.
  change (B / 2) with 9223372036854775808. intros H. unfold signed, wrap. change (B / 2) with 9223372036854775808.
  destruct (Z_lt_le_dec x 0).
  - replace (x mod B) with (x + B); [|apply Z.mod_unique with (-1); lia]. destruct (Z.ltb_spec (x + B) 9223372036854775808); lia.
  - rewrite Z.mod_small by lia. destruct (Z.ltb_spec x 9223372036854775808); lia.
Qed.
Lemma sra_wrap c t : - (B / 2) <= c < B / 2 -> sra_first (map wrap (c :: t)) 52 = wrap (c / D).
Proof. intros H. unfold sra_first. cbn [map nth]. rewrite signed_wrap by exact H. reflexivity. Qed.
Lemma wrap_small t : within 0 (B - 1) t -> map wrap t = t.
Proof. induction 1 as [|x t Hx _ IH]; cbn [map]; [reflexivity|]. rewrite IH. f_equal. apply Z.mod_small. lia. Qed.

Section Reduction.
Variables inverse m0 : Z.
Variable above : list Z.
Let m := m0 :: above.
Let n := length m.
Hypothesis Hm : Forall limb m.
Hypothesis Hinv : cong D (inverse * m0) (-1).

Definition quotient (t : list Z) := (hd 0 t * inverse) mod D.
(* The columns above the lowest are at most [high]; the lowest may hold a carry, too, and be as low as - e. *)
Definition fits (e high : Z) (t : list Z) :=
  length t = n /\ - e <= hd 0 t <= high + 2048 /\ within 0 high (tl t).

Lemma digit_wrap t : digit_of (map wrap t) inverse = quotient t.
Proof.
  unfold digit_of, digit_lane, lanes.add_low, quotient.
  assert (E : nth 0 (map wrap t) 0 = wrap (hd 0 t)) by (destruct t; reflexivity). rewrite E.
  pose proof (low_range (wrap (hd 0 t) * inverse)). rewrite Z.add_0_l, Z.mod_small by lia.
  unfold wrap. apply cong_mod_eq; [lia|].
  assert (C : cong D (hd 0 t mod B) (hd 0 t)); [|rewrite C; reflexivity].
  exists (- (4096 * (hd 0 t / B))). pose proof (Z.div_mod (hd 0 t) B ltac:(lia)). lia.
Qed.

Lemma lowest_zero t : (hd 0 t + (m0 * quotient t) mod D) mod D = 0.
Proof.
  change 0 with (0 mod D) at 2. apply cong_mod_eq; [lia|]. rewrite cong_mod by lia. unfold quotient.
  assert (Q : cong D ((hd 0 t * inverse) mod D) (hd 0 t * inverse)) by (apply cong_mod; lia). rewrite Q.
  replace (m0 * (hd 0 t * inverse)) with (hd 0 t * (inverse * m0)) by ring. rewrite Hinv. exists 0. ring.
Qed.

(* Modulus::reduce: exact, if the columns leave room for it. *)
Lemma reduction e high more t p : 0 <= e <= 1 -> 0 <= high -> 0 <= more -> length t = n -> length p = n ->
  - (e * D) <= hd 0 t <= high + 2048 -> within 0 high (tl t) -> within 0 more p -> high + more + 2 * D + 4096 <= B / 2 ->
  let q := quotient t in let r := exact_reduce m t q p in
  limb q /\ reduce m (map wrap t) q (map wrap p) = map wrap r /\ fits e (high + more + 2 * (D - 1)) r /\
  D * value r = value t + q * value m + D * value p.
Proof.
  change (B / 2) with 9223372036854775808. intros He Hh Hmore Lt Lp H0 Ht Hp Room q r.
  assert (Hq : limb q) by (apply Z.mod_pos_bound; lia). split; [exact Hq|].
  pose proof (lowest_zero t) as Zero. fold q in Zero.
  destruct t as [|c t]; [unfold n, m in Lt; cbn [length] in Lt; lia|]. cbn [hd tl] in *.
  pose proof (low_range (m0 * q)) as Low. set (c0 := c + (m0 * q) mod D) in *.
  set (t1 := plus t (lows above q)). set (p1 := plus p (highs m q)).
  assert (La : length t = length above) by (unfold n, m in Lt; cbn [length] in Lt; lia).
  assert (Er : r = plus (t1 ++ [0]) (first (c0 / D) p1)) by reflexivity.
  assert (Carry : - e <= c0 / D <= 2048).
  { split; [apply Z.div_le_lower_bound; lia|]. apply Z.div_le_upper_bound; lia. }
  assert (Exact : c0 = D * (c0 / D)) by (pose proof (Z.div_mod c0 D ltac:(lia)); lia).
  assert (Lt1 : length t1 = length above) by (unfold t1; rewrite plus_length; rewrite ?lows_length; lia).
  assert (Lp1 : length p1 = n) by (unfold p1; rewrite plus_length; rewrite ?highs_length; fold n; lia).
  split; [|split].
  - unfold reduce. rewrite add_low_wrap, add_high_wrap by assumption.
    change (plus (c :: t) (lows m q)) with (c0 :: t1). change (plus p (highs m q)) with p1.
    rewrite sra_wrap by (change (B / 2) with 9223372036854775808; lia).
    rewrite down_wrap, add_first_wrap, add_columns_wrap, Er. reflexivity.
  - assert (W1 : within 0 (high + (D - 1)) (t1 ++ [0])).
    { apply Forall_app. split; [apply (plus_within 0 high 0 (D - 1)); [exact Ht|apply lows_within]|].
      constructor; [lia|constructor]. }
    assert (W2 : within 0 (more + (D - 1)) p1) by (apply (plus_within 0 more 0 (D - 1)); [exact Hp|apply highs_within; assumption]).
    assert (L1 : length (t1 ++ [0]) = n) by (rewrite app_length, Lt1; unfold n, m; cbn [length]; lia).
    rewrite Er. clearbody t1 p1. destruct (t1 ++ [0]) as [|w w1]; [unfold n, m in L1; cbn [length] in L1; lia|].
    destruct p1 as [|w' w2]; [unfold n, m in Lp1; cbn [length] in Lp1; lia|].
    apply Forall_cons_iff in W1 as [H1 W1]. apply Forall_cons_iff in W2 as [H2 W2]. unfold fits. cbn [first plus zip_with hd tl length] in *. split; [|split].
    + rewrite plus_length by lia. lia.
    + lia.
    + eapply within_more; [| |apply (plus_within 0 (high + (D - 1)) 0 (more + (D - 1)) w1 w2); assumption]; lia.
  - rewrite Er, plus_value by (rewrite first_length, app_length, Lt1, Lp1; unfold n, m; cbn [length]; lia).
    rewrite app_zero_value, first_value by (rewrite Lp1; unfold n, m; cbn [length]; lia).
    unfold t1, p1. rewrite !plus_value by (rewrite ?lows_length, ?highs_length; fold n; lia).
    pose proof (products_value m q) as P. unfold m in P at 1. cbn [lows map value] in P. fold (lows above q) in P.
    cbn [value]. lia.
Qed.

(* product *)
Definition product_step (a : list Z) (t : list Z) '((digit, next) : Z * Z) :=
  reduce m t (digit_of t inverse) (add_low (add_high (zeros m) a digit) a next).
Definition exact_step (a : list Z) (t : list Z) '((digit, next) : Z * Z) :=
  exact_reduce m t (quotient t) (plus (highs a digit) (lows a next)).
Definition limb_pair (p : Z * Z) := limb (fst p) /\ limb (snd p).

Lemma step_exact a high t p : 0 <= high -> high + 4 * D + 4096 <= B / 2 -> Forall limb a -> length a = n -> limb_pair p ->
  fits 0 high t -> product_step a (map wrap t) p = map wrap (exact_step a t p) /\ fits 0 (high + 4 * (D - 1)) (exact_step a t p) /\
  limb (quotient t) /\
  D * value (exact_step a t p) = value t + quotient t * value m + D * (value (highs a (fst p)) + value (lows a (snd p))).
Proof.
  intros Hh Room Ha La [Hd Hx] (Lt & H0 & Ht). destruct p as [d x]. cbn [fst snd] in *. unfold product_step, exact_step.
  assert (Lp : length (plus (highs a d) (lows a x)) = n) by (rewrite plus_length; rewrite ?highs_length, ?lows_length; lia).
  assert (Wp : within 0 (2 * (D - 1)) (plus (highs a d) (lows a x))).
  { apply (plus_within 0 (D - 1) 0 (D - 1)); [apply highs_within; assumption|apply lows_within]. }
  assert (Ep : add_low (add_high (zeros m) a d) a x = map wrap (plus (highs a d) (lows a x))).
  { rewrite zeros_wrap, add_high_wrap, add_low_wrap, zeros_plus by (rewrite ?highs_length; fold n; auto). reflexivity. }
  destruct (reduction 0 high (2 * (D - 1)) t _ ltac:(lia) Hh ltac:(lia) Lt Lp ltac:(lia) Ht Wp ltac:(lia)) as (Q & E & F & V).
  rewrite Ep, digit_wrap. split; [exact E|]. split; [|split; [exact Q|]].
  - destruct F as (F1 & F2 & F3). split; [exact F1|]. split; [lia|]. eapply within_more; [| |exact F3]; lia.
  - rewrite V, plus_value by (rewrite highs_length, lows_length; reflexivity). reflexivity.
Qed.

Lemma steps_exact a : Forall limb a -> length a = n -> forall l c t, Forall limb_pair l -> 0 <= c ->
  (c + 4 * Z.of_nat (length l)) * (D - 1) + 4 * D + 4096 <= B / 2 -> fits 0 (c * (D - 1)) t ->
  fold_left (product_step a) l (map wrap t) = map wrap (fold_left (exact_step a) l t) /\
  fits 0 ((c + 4 * Z.of_nat (length l)) * (D - 1)) (fold_left (exact_step a) l t).
Proof.
  intros Ha La. induction l as [|p l IH]; intros c t Hl Hc Room F; cbn [fold_left length].
  - split; [reflexivity|]. change (Z.of_nat 0) with 0. rewrite Z.mul_0_r, Z.add_0_r. exact F.
  - cbn [length] in Room. rewrite Nat2Z.inj_succ in *. apply Forall_cons_iff in Hl as [Hp Hl].
    assert (0 <= c * (D - 1)) by (apply Z.mul_nonneg_nonneg; lia).
    destruct (step_exact a (c * (D - 1)) t p ltac:(lia) ltac:(lia) Ha La Hp F) as (E & F' & _ & _). rewrite E.
    replace (c * (D - 1) + 4 * (D - 1)) with ((c + 4) * (D - 1)) in F' by ring.
    replace (c + 4 * Z.succ (Z.of_nat (length l))) with (c + 4 + 4 * Z.of_nat (length l)) in * by lia.
    apply IH; [exact Hl|lia|exact Room|exact F'].
Qed.

(* Digits in turn. *)
Lemma digits_one d : digits [d] = [(d, 0)]. Proof. reflexivity. Qed.
Lemma digits_cons d x b : digits (d :: x :: b) = (d, x) :: digits (x :: b). Proof. reflexivity. Qed.
Lemma digits_length b : length (digits b) = length b.
Proof. induction b as [|d [|x b] IH]; [reflexivity..|]. rewrite digits_cons. cbn [length] in *. rewrite IH. reflexivity. Qed.
Lemma digits_limbs b : Forall limb b -> Forall limb_pair (digits b).
Proof.
  induction b as [|d [|x b] IH]; intros H; [constructor| |].
  - rewrite digits_one. apply Forall_cons_iff in H as [H _]. repeat constructor; cbn; unfold limb in *; lia.
  - rewrite digits_cons. apply Forall_cons_iff in H as [H H']. constructor; [|apply IH, H'].
    apply Forall_cons_iff in H' as [H' _]. split; assumption.
Qed.

Lemma steps_value a : Forall limb a -> length a = n -> forall b c t x, b <> [] -> Forall limb b -> 0 <= c ->
  (c + 4 * Z.of_nat (length b)) * (D - 1) + 4 * D + 4096 <= B / 2 -> fits 0 (c * (D - 1)) t ->
  value t = x + value (lows a (hd 0 b)) ->
  exists q, 0 <= q < D ^ Z.of_nat (length b) /\
  D ^ Z.of_nat (length b) * value (fold_left (exact_step a) (digits b) t) = x + value a * value b + q * value m.
Proof.
  intros Ha La. induction b as [|d b IH]; intros c t x Hb Lb Hc Room F V; [contradiction|]. cbn [hd] in V.
  cbn [length] in *. rewrite Nat2Z.inj_succ in *. rewrite Z.pow_succ_r by lia.
  apply Forall_cons_iff in Lb as [Hd Lb]. assert (0 <= c * (D - 1)) by (apply Z.mul_nonneg_nonneg; lia).
  pose proof (products_value a d) as Pd.
  destruct b as [|x' b].
  - rewrite digits_one. cbn [fold_left value length].
    destruct (step_exact a (c * (D - 1)) t (d, 0) ltac:(lia) ltac:(lia) Ha La ltac:(split; [exact Hd|unfold limb; cbn; lia]) F) as (_ & _ & Q & E).
    cbn [fst snd] in E. rewrite lows_zero in E. exists (quotient t). change (D ^ Z.of_nat 0) with 1. unfold limb in Q. split; [lia|].
    rewrite Z.mul_1_r. rewrite E. lia.
  - rewrite digits_cons. cbn [fold_left]. pose proof Lb as Lb'. apply Forall_cons_iff in Lb' as [Hx _].
    destruct (step_exact a (c * (D - 1)) t (d, x') ltac:(lia) ltac:(lia) Ha La ltac:(split; assumption) F) as (_ & F' & Q & E).
    cbn [fst snd] in E. set (t' := exact_step a t (d, x')) in *.
    replace (c * (D - 1) + 4 * (D - 1)) with ((c + 4) * (D - 1)) in F' by ring.
    destruct (IH (c + 4) t' (value t' - value (lows a x')) ltac:(discriminate) Lb ltac:(lia) ltac:(lia) F' ltac:(cbn [hd]; lia)) as (q & Hq & Eq).
    exists (quotient t + D * q). unfold limb in Q. split; [lia|]. rewrite <- Z.mul_assoc, Eq. cbn [value] in *. lia.
Qed.

Lemma start_fits a d : Forall limb a -> length a = n -> add_low (zeros m) a d = map wrap (lows a d) /\ fits 0 (1 * (D - 1)) (lows a d).
Proof.
  intros Ha La. split.
  - rewrite zeros_wrap, add_low_wrap, zeros_plus by (rewrite lows_length; fold n; auto). reflexivity.
  - pose proof (lows_within a d) as W. unfold fits. rewrite lows_length. split; [exact La|].
    destruct (lows a d) as [|l x] eqn:E; [apply (f_equal (@length Z)) in E; rewrite lows_length in E; unfold n, m in La; cbn [length] in *; lia|].
    apply Forall_cons_iff in W as [H W]. cbn [hd tl]. split; [lia|]. eapply within_more; [| |exact W]; lia.
Qed.
Lemma fits_word e high t : 0 <= e -> high + 2048 < B / 2 -> fits e high t -> within (- e) (B / 2 - 1) t.
Proof.
  intros He H (Lt & H0 & Ht). destruct t as [|c t]; [constructor|]. cbn [hd tl] in *. constructor; [lia|].
  eapply within_more; [| |exact Ht]; lia.
Qed.

Lemma Forall_first {A} (P : A -> Prop) i l : Forall P l -> Forall P (firstn i l).
Proof. intros H. rewrite <- (firstn_skipn i l) in H. apply Forall_app in H. apply H. Qed.

Definition product_start (a b : list Z) := lows a (nth 0 b 0).
Lemma product_loop a b : product m inverse a b = fold_left (product_step a) (digits b) (add_low (zeros m) a (nth 0 b 0)).
Proof. unfold product. f_equal. Qed.

(* ifma/across.rs: product *)
Theorem product_columns_fit a b i : Forall limb a -> length a = n -> Forall limb b -> Z.of_nat (length b) <= 8 * MOST_REGISTERS ->
  let t := fold_left (exact_step a) (firstn i (digits b)) (product_start a b) in
  fold_left (product_step a) (firstn i (digits b)) (add_low (zeros m) a (nth 0 b 0)) = map wrap t /\ within 0 (2 ^ 63 - 1) t.
Proof.
  intros Ha La Lb Hb. cbv zeta. destruct (start_fits a (nth 0 b 0) Ha La) as [E F]. rewrite E. unfold product_start.
  assert (L : (length (firstn i (digits b)) <= length b)%nat) by (rewrite firstn_length, digits_length; lia).
  assert (Hl : Forall limb_pair (firstn i (digits b))) by (apply Forall_first, digits_limbs, Lb).
  unfold MOST_REGISTERS in Hb.
  destruct (steps_exact a Ha La (firstn i (digits b)) 1 (lows a (nth 0 b 0)) Hl ltac:(lia)) as [E' F'].
  { change (B / 2) with 9223372036854775808. lia. } { exact F. }
  rewrite E'. split; [reflexivity|]. apply (fits_word 0 _ _ ltac:(lia)) in F'; [exact F'|].
  change (B / 2) with 9223372036854775808. lia.
Qed.

(* ifma/across.rs: product. The columns hold [a b + q m] over R, before carry_up. *)
Theorem product_correct a b : Forall limb a -> length a = n -> Forall limb b -> b <> [] ->
  Z.of_nat (length b) <= 8 * MOST_REGISTERS ->
  let t := product m inverse a b in length t = n /\ within 0 (2 ^ 63 - 1) t /\
  exists q, 0 <= q < D ^ Z.of_nat (length b) /\ D ^ Z.of_nat (length b) * value t = value a * value b + q * value m.
Proof.
  intros Ha La Lb Nb Hb. cbv zeta. rewrite product_loop. pose proof (product_columns_fit a b (length b) Ha La Lb Hb) as [E W].
  rewrite firstn_all2 in E, W by (rewrite digits_length; lia). rewrite E, wrap_small by (eapply within_more; [| |exact W]; lia).
  destruct (start_fits a (nth 0 b 0) Ha La) as [_ F]. unfold MOST_REGISTERS in Hb.
  assert (Room : (1 + 4 * Z.of_nat (length b)) * (D - 1) + 4 * D + 4096 <= B / 2).
  { change (B / 2) with 9223372036854775808. lia. }
  split; [|split; [exact W|]].
  - destruct (steps_exact a Ha La (digits b) 1 _ (digits_limbs b Lb) ltac:(lia) ltac:(rewrite digits_length; exact Room) F) as [_ [L _]].
    exact L.
  - destruct (steps_value a Ha La b 1 (product_start a b) 0 Nb Lb ltac:(lia) Room F) as (q & Hq & Eq).
    { unfold product_start. destruct b; [contradiction|]. cbn [nth hd]. lia. }
    exists q. split; [exact Hq|]. rewrite Eq. lia.
Qed.

(* dual_product *)
Definition dual_step (al ah : list Z) (second : nat -> Z) '((t, u) : list Z * list Z) '((place, (digit, next)) : nat * (Z * Z)) :=
  let t' := product_step al t (digit, next) in
  let u := sub_first u (digit_of t inverse) in
  let p := add_low (add_high (add_low (add_high (zeros m) ah digit) ah next) al (second place)) al (second (place + 1)%nat) in
  (t', reduce m u (digit_of u inverse) p).
Definition exact_dual_step (al ah : list Z) (second : nat -> Z) '((t, u) : list Z * list Z) '((place, (digit, next)) : nat * (Z * Z)) :=
  let u := first (- quotient t) u in
  let p := plus (plus (plus (highs ah digit) (lows ah next)) (highs al (second place))) (lows al (second (place + 1)%nat)) in
  (exact_step al t (digit, next), exact_reduce m u (quotient u) p).
Definition wrap_both (s : list Z * list Z) := (map wrap (fst s), map wrap (snd s)).
Definition both_fit (low high : Z) (s : list Z * list Z) := fits 0 low (fst s) /\ fits 1 high (snd s).

Lemma dual_step_exact al ah second low high s place p : 0 <= low -> 0 <= high -> low + 4 * D + 4096 <= B / 2 ->
  high + 6 * D + 4096 <= B / 2 -> Forall limb al -> length al = n -> Forall limb ah -> length ah = n ->
  (forall i, limb (second i)) -> limb_pair p -> both_fit low high s ->
  let r := exact_dual_step al ah second s (place, p) in
  dual_step al ah second (wrap_both s) (place, p) = wrap_both r /\ both_fit (low + 4 * (D - 1)) (high + 6 * (D - 1)) r /\
  fst r = exact_step al (fst s) p /\ limb (quotient (fst s)) /\
  exists q, limb q /\ D * value (snd r) = value (snd s) - quotient (fst s) + q * value m + D * (value (highs ah (fst p)) +
    value (lows ah (snd p)) + value (highs al (second place)) + value (lows al (second (place + 1)%nat))).
Proof.
  intros Hlow Hhigh Room1 Room2 Hal Lal Hah Lah Hs Hp [F1 F2]. cbv zeta. destruct s as [t u]. cbn [fst snd] in *.
  destruct (step_exact al low t p Hlow Room1 Hal Lal Hp F1) as (E & F & Q & _). destruct p as [d x]. destruct Hp as [Hd Hx].
  cbn [fst snd] in *. unfold dual_step, exact_dual_step, wrap_both. cbn [fst snd].
  rewrite E, digit_wrap, sub_first_wrap, digit_wrap. destruct F2 as (Lu & H0 & Hu).
  set (v := first (- quotient t) u). set (p := plus (plus (plus (highs ah d) (lows ah x)) (highs al (second place))) (lows al (second (place + 1)%nat))).
  assert (L1 : length (plus (highs ah d) (lows ah x)) = n) by (rewrite plus_length; rewrite ?highs_length, ?lows_length; lia).
  assert (L2 : length (plus (plus (highs ah d) (lows ah x)) (highs al (second place))) = n) by
    (rewrite plus_length; rewrite ?highs_length; lia).
  assert (Lp : length p = n) by (unfold p; rewrite plus_length; rewrite ?lows_length; lia).
  assert (Wp : within 0 (4 * (D - 1)) p).
  { eapply within_more; [| |apply (plus_within 0 (D - 1 + (D - 1) + (D - 1)) 0 (D - 1)); [|apply lows_within]]; [lia|lia|].
    apply (plus_within 0 (D - 1 + (D - 1)) 0 (D - 1)); [|apply highs_within; auto].
    apply (plus_within 0 (D - 1) 0 (D - 1)); [apply highs_within; auto|apply lows_within]. }
  assert (Ep : add_low (add_high (add_low (add_high (zeros m) ah d) ah x) al (second place)) al (second (place + 1)%nat) = map wrap p).
  { rewrite zeros_wrap, add_high_wrap, add_low_wrap, zeros_plus by (rewrite ?highs_length; fold n; auto).
    rewrite add_high_wrap, add_low_wrap by auto. reflexivity. }
  assert (Lv : length v = n) by (unfold v; rewrite first_length; exact Lu).
  assert (Hv : - (1 * D) <= hd 0 v <= high + 2048 /\ within 0 high (tl v)).
  { unfold limb in Q. unfold v. destruct u as [|c u]; [unfold n, m in Lu; cbn [length] in Lu; lia|]. cbn [first hd tl] in *.
    split; [lia|exact Hu]. }
  destruct Hv as [Hv0 Hv].
  destruct (reduction 1 high (4 * (D - 1)) v p ltac:(lia) Hhigh ltac:(lia) Lv Lp Hv0 Hv Wp ltac:(lia)) as (Q' & E' & F' & V').
  rewrite Ep, E'. split; [reflexivity|]. split; [split|split; [reflexivity|split; [exact Q|]]].
  - exact F.
  - cbn [snd]. replace (high + 6 * (D - 1)) with (high + 4 * (D - 1) + 2 * (D - 1)) by ring. exact F'.
  - exists (quotient v). split; [exact Q'|]. rewrite V'. unfold v.
    rewrite first_value by (unfold n, m in Lu; cbn [length] in Lu; lia).
    unfold p. rewrite !plus_value by (rewrite ?L2, ?L1, ?highs_length, ?lows_length; lia). lia.
Qed.

Lemma dual_steps_exact al ah second : Forall limb al -> length al = n -> Forall limb ah -> length ah = n ->
  (forall i, limb (second i)) -> forall l c e s, Forall (fun p => limb_pair (snd p)) l -> 0 <= c -> 0 <= e ->
  (c + 4 * Z.of_nat (length l)) * (D - 1) + 4 * D + 4096 <= B / 2 ->
  (e + 6 * Z.of_nat (length l)) * (D - 1) + 6 * D + 4096 <= B / 2 -> both_fit (c * (D - 1)) (e * (D - 1)) s ->
  let r := fold_left (exact_dual_step al ah second) l s in
  fold_left (dual_step al ah second) l (wrap_both s) = wrap_both r /\
  both_fit ((c + 4 * Z.of_nat (length l)) * (D - 1)) ((e + 6 * Z.of_nat (length l)) * (D - 1)) r.
Proof.
  intros Hal Lal Hah Lah Hs. cbv zeta. induction l as [|p l IH]; intros c e s Hl Hc He Room1 Room2 F; cbn [fold_left length].
  - split; [reflexivity|]. change (Z.of_nat 0) with 0. rewrite !Z.mul_0_r, !Z.add_0_r. exact F.
  - cbn [length] in Room1, Room2. rewrite Nat2Z.inj_succ in *. apply Forall_cons_iff in Hl as [Hp Hl]. destruct p as [place p].
    assert (0 <= c * (D - 1)) by (apply Z.mul_nonneg_nonneg; lia). assert (0 <= e * (D - 1)) by (apply Z.mul_nonneg_nonneg; lia).
    destruct (dual_step_exact al ah second (c * (D - 1)) (e * (D - 1)) s place p ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)
      Hal Lal Hah Lah Hs Hp F) as (E & F' & _).
    rewrite E. replace (c * (D - 1) + 4 * (D - 1)) with ((c + 4) * (D - 1)) in F' by ring.
    replace (e * (D - 1) + 6 * (D - 1)) with ((e + 6) * (D - 1)) in F' by ring.
    replace (c + 4 * Z.succ (Z.of_nat (length l))) with (c + 4 + 4 * Z.of_nat (length l)) in * by lia.
    replace (e + 6 * Z.succ (Z.of_nat (length l))) with (e + 6 + 6 * Z.of_nat (length l)) in * by lia.
    apply IH; [exact Hl|lia|lia|exact Room1|exact Room2|exact F'].
Qed.

Definition seconds (second : nat -> Z) (s k : nat) := value (map second (seq s k)).
Definition placed (s : nat) (b : list Z) := combine (seq s (length b)) (digits b).
Lemma placed_cons s d x b : placed s (d :: x :: b) = (s, (d, x)) :: placed (S s) (x :: b).
Proof. unfold placed. rewrite digits_cons. reflexivity. Qed.
Lemma placed_limbs b : Forall limb b -> forall s, Forall (fun p => limb_pair (snd p)) (placed s b).
Proof.
  intros H s. apply digits_limbs in H. unfold placed. generalize (length b). revert s.
  induction H as [|p l Hp _ IH]; intros s [|k]; cbn [seq combine]; constructor; [exact Hp|apply IH].
Qed.
Lemma placed_length s b : length (placed s b) = length b.
Proof. unfold placed. rewrite combine_length, seq_length, digits_length. apply Nat.min_id. Qed.

Lemma dual_steps_value al ah second : Forall limb al -> length al = n -> Forall limb ah -> length ah = n ->
  (forall i, limb (second i)) -> forall b s c e t u x y, b <> [] -> Forall limb b -> 0 <= c -> 0 <= e ->
  (c + 4 * Z.of_nat (length b)) * (D - 1) + 4 * D + 4096 <= B / 2 ->
  (e + 6 * Z.of_nat (length b)) * (D - 1) + 6 * D + 4096 <= B / 2 -> both_fit (c * (D - 1)) (e * (D - 1)) (t, u) ->
  value t = x + value (lows al (hd 0 b)) -> value u = y + value (lows ah (hd 0 b)) + value (lows al (second s)) ->
  second (s + length b)%nat = 0 ->
  let '(t', u') := fold_left (exact_dual_step al ah second) (placed s b) (t, u) in
  exists Q q, 0 <= Q < D ^ Z.of_nat (length b) /\ 0 <= q < D ^ Z.of_nat (length b) /\
  D ^ Z.of_nat (length b) * value t' = x + value al * value b + Q * value m /\
  D ^ Z.of_nat (length b) * value u' = y + value ah * value b + value al * seconds second s (length b) - Q + q * value m.
Proof.
  intros Hal Lal Hah Lah Hs. induction b as [|d b IH]; intros s c e t u x y Hb Lb Hc He Room1 Room2 F Vt Vu Last; [contradiction|].
  cbn [hd] in Vt, Vu. pose proof (products_value al d) as P1. pose proof (products_value ah d) as P2.
  pose proof (products_value al (second s)) as P3.
  apply Forall_cons_iff in Lb as [Hd Lb].
  assert (0 <= c * (D - 1)) by (apply Z.mul_nonneg_nonneg; lia). assert (0 <= e * (D - 1)) by (apply Z.mul_nonneg_nonneg; lia).
  destruct b as [|x' b].
  - cbn [length] in *. change (placed s [d]) with [(s, (d, 0))]. cbn [fold_left].
    assert (Hp : limb_pair (d, 0)) by (split; [exact Hd|unfold limb; cbn; lia]).
    destruct (dual_step_exact al ah second (c * (D - 1)) (e * (D - 1)) (t, u) s (d, 0) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)
      Hal Lal Hah Lah Hs Hp F) as (_ & _ & Et & Q & q & Hq & Eu).
    destruct (step_exact al (c * (D - 1)) t (d, 0) ltac:(lia) ltac:(lia) Hal Lal Hp (proj1 F)) as (_ & _ & _ & E).
    destruct (exact_dual_step al ah second (t, u) (s, (d, 0))) as [t' u']. cbn [fst snd] in *. subst t'.
    exists (quotient t), q. change (D ^ Z.of_nat 1) with D. unfold limb in *. split; [lia|]. split; [lia|].
    rewrite Last in Eu. rewrite !lows_zero in *. unfold seconds. cbn [seq map value]. split; [rewrite E; lia|]. rewrite Eu. lia.
  - rewrite placed_cons. cbn [fold_left]. pose proof Lb as Lb'. apply Forall_cons_iff in Lb' as [Hx _].
    set (k := length (x' :: b)) in *. change (length (d :: x' :: b)) with (S k) in *. rewrite Nat2Z.inj_succ in *.
    assert (Hp : limb_pair (d, x')) by (split; assumption).
    destruct (dual_step_exact al ah second (c * (D - 1)) (e * (D - 1)) (t, u) s (d, x') ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)
      Hal Lal Hah Lah Hs Hp F) as (_ & F' & Et & Q & q & Hq & Eu).
    destruct (step_exact al (c * (D - 1)) t (d, x') ltac:(lia) ltac:(lia) Hal Lal Hp (proj1 F)) as (_ & _ & _ & E).
    destruct (exact_dual_step al ah second (t, u) (s, (d, x'))) as [t1 u1]. cbn [fst snd] in *. subst t1.
    set (t1 := exact_step al t (d, x')) in *.
    replace (c * (D - 1) + 4 * (D - 1)) with ((c + 4) * (D - 1)) in F' by ring.
    replace (e * (D - 1) + 6 * (D - 1)) with ((e + 6) * (D - 1)) in F' by ring.
    specialize (IH (S s) (c + 4) (e + 6) t1 u1 (value t1 - value (lows al x'))
      (value u1 - value (lows ah x') - value (lows al (second (S s)))) ltac:(discriminate) Lb ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) F'
      ltac:(cbn [hd]; lia) ltac:(cbn [hd]; lia)).
    rewrite Nat.add_succ_comm in IH. specialize (IH Last).
    destruct (fold_left (exact_dual_step al ah second) (placed (S s) (x' :: b)) (t1, u1)) as [t' u'].
    destruct IH as (Q2 & q2 & HQ2 & Hq2 & E1 & E2). rewrite Z.pow_succ_r by lia. unfold limb in *.
    exists (quotient t + D * Q2), (q + D * q2). split; [lia|]. split; [lia|]. rewrite Nat.add_1_r in Eu.
    rewrite <- !Z.mul_assoc, E1, E2. unfold seconds. change (seq s (S k)) with (s :: seq (S s) k). cbn [map].
    fold k in E2. unfold seconds in E2 |- *. change (value (d :: x' :: b)) with (d + D * value (x' :: b)).
    cbn [value]. set (Sv := lazy.value (map second (seq (S s) k))) in *. clearbody Sv. split; lia.
Qed.

Lemma seconds_nth b : seconds (fun i => nth i b 0) 0 (length b) = value b.
Proof.
  unfold seconds. f_equal. induction b as [|x b IH]; cbn [length seq map nth]; [reflexivity|].
  rewrite <- seq_shift, map_map. cbn [nth]. rewrite IH. reflexivity.
Qed.
Lemma seconds_zero s k : seconds (fun _ => 0) s k = 0.
Proof. unfold seconds. revert s. induction k as [|k IH]; intros s; cbn [seq map value]; [reflexivity|]. rewrite IH. lia. Qed.
Lemma m_wrap : map wrap m = m.
Proof. apply wrap_small. revert Hm. apply Forall_impl. unfold limb. lia. Qed.
Lemma m0_positive : 1 <= m0.
Proof.
  pose proof Hm as H. apply Forall_cons_iff in H as [H _]. unfold limb in H. destruct (Z.eq_dec m0 0) as [E|E]; [|lia].
  rewrite E, Z.mul_0_r in Hinv. destruct Hinv as [j Hj]. lia.
Qed.

Definition dual_start (al ah b : list Z) (second : nat -> Z) :=
  (lows al (nth 0 b 0), plus (lows ah (nth 0 b 0)) (lows al (second 0%nat))).
Lemma dual_start_exact al ah b second : Forall limb al -> length al = n -> Forall limb ah -> length ah = n ->
  (add_low (zeros m) al (nth 0 b 0), add_low (add_low (zeros m) ah (nth 0 b 0)) al (second 0%nat)) =
    wrap_both (dual_start al ah b second) /\ both_fit (1 * (D - 1)) (2 * (D - 1)) (dual_start al ah b second).
Proof.
  intros Hal Lal Hah Lah. destruct (start_fits al (nth 0 b 0) Hal Lal) as [E1 F1]. destruct (start_fits ah (nth 0 b 0) Hah Lah) as [E2 F2].
  rewrite E1, E2, add_low_wrap. split; [reflexivity|]. split; [exact F1|]. cbn [dual_start snd].
  destruct (start_fits al (second 0%nat) Hal Lal) as [_ (L3 & H3 & W3)]. destruct F2 as (L2 & H2 & W2).
  destruct (lows ah (nth 0 b 0)) as [|x1 y1]; [unfold n, m in L2; cbn [length] in L2; lia|].
  destruct (lows al (second 0%nat)) as [|x2 y2] eqn:E; [unfold n, m in L3; cbn [length] in L3; lia|].
  pose proof (lows_within al (second 0%nat)) as W. rewrite E in W. apply Forall_cons_iff in W as [W _].
  unfold fits. cbn [plus zip_with hd tl length] in *. split; [|split].
  - fold (plus y1 y2). rewrite plus_length by lia. exact L2.
  - lia.
  - eapply within_more; [| |apply (plus_within 0 (1 * (D - 1)) 0 (1 * (D - 1)) y1 y2); assumption]; lia.
Qed.

(* ifma/across.rs: dual_product *)
Theorem dual_columns_fit al ah b second i : Forall limb al -> length al = n -> Forall limb ah -> length ah = n -> Forall limb b ->
  (forall j, limb (second j)) -> Z.of_nat (length b) <= 8 * MOST_REGISTERS ->
  let s := fold_left (exact_dual_step al ah second) (firstn i (placed 0 b)) (dual_start al ah b second) in
  fold_left (dual_step al ah second) (firstn i (placed 0 b)) (wrap_both (dual_start al ah b second)) = wrap_both s /\
  within 0 (2 ^ 63 - 1) (fst s) /\ within (-1) (2 ^ 63 - 1 - D) (snd s).
Proof.
  intros Hal Lal Hah Lah Lb Hs Hb. cbv zeta. destruct (dual_start_exact al ah b second Hal Lal Hah Lah) as [_ F].
  assert (L : (length (firstn i (placed 0 b)) <= length b)%nat) by (rewrite firstn_length, placed_length; lia).
  unfold MOST_REGISTERS in Hb.
  destruct (dual_steps_exact al ah second Hal Lal Hah Lah Hs (firstn i (placed 0 b)) 1 2 _ (Forall_first _ _ _ (placed_limbs b Lb 0))
    ltac:(lia) ltac:(lia) ltac:(change (B / 2) with 9223372036854775808; lia) ltac:(change (B / 2) with 9223372036854775808; lia) F)
    as [E [F1 F2]].
  split; [exact E|]. split.
  - apply (fits_word 0 _ _ ltac:(lia)) in F1; [exact F1|]. change (B / 2) with 9223372036854775808. lia.
  - destruct F2 as (L2 & H2 & W2). set (u := snd _) in *. clearbody u. destruct u as [|x u]; [constructor|]. cbn [hd tl] in *.
    change (2 ^ 63) with 9223372036854775808. constructor; [lia|]. eapply within_more; [| |exact W2]; lia.
Qed.

(* What follows the loop: the modulus is added to the high part, whose columns are not negative then. *)
Lemma dual_end al ah b second : Forall limb al -> length al = n -> Forall limb ah -> length ah = n -> Forall limb b -> b <> [] ->
  (forall j, limb (second j)) -> second (length b) = 0 -> Z.of_nat (length b) <= 8 * MOST_REGISTERS ->
  let '(t, u) := fold_left (dual_step al ah second) (placed 0 b) (wrap_both (dual_start al ah b second)) in
  let u := add_columns u m in
  length t = n /\ length u = n /\ within 0 (2 ^ 63 - 1) t /\ within 0 (2 ^ 63 - 1) u /\
  exists Q q, 0 <= Q < D ^ Z.of_nat (length b) /\ 0 <= q < D ^ Z.of_nat (length b) /\
  D ^ Z.of_nat (length b) * value t = value al * value b + Q * value m /\
  D ^ Z.of_nat (length b) * value u = D ^ Z.of_nat (length b) * value m +
    (value ah * value b + value al * seconds second 0 (length b)) - Q + q * value m.
Proof.
  intros Hal Lal Hah Lah Lb Nb Hs Last Hb.
  pose proof (dual_columns_fit al ah b second (length b) Hal Lal Hah Lah Lb Hs Hb) as (E & W1 & W2).
  rewrite firstn_all2 in E, W1, W2 by (rewrite placed_length; lia). rewrite E. clear E.
  destruct (dual_start_exact al ah b second Hal Lal Hah Lah) as [_ F]. unfold MOST_REGISTERS in Hb.
  pose proof (dual_steps_exact al ah second Hal Lal Hah Lah Hs (placed 0 b) 1 2 (dual_start al ah b second) (placed_limbs b Lb 0)
    ltac:(lia) ltac:(lia)) as X. rewrite placed_length in X.
  specialize (X ltac:(change (B / 2) with 9223372036854775808; lia) ltac:(change (B / 2) with 9223372036854775808; lia) F).
  destruct X as [_ [(L1 & H1 & _) (L2 & H2 & W2')]].
  pose proof (dual_steps_value al ah second Hal Lal Hah Lah Hs b 0%nat 1 2 (lows al (nth 0 b 0))
    (plus (lows ah (nth 0 b 0)) (lows al (second 0%nat))) 0 0 Nb Lb ltac:(lia) ltac:(lia)
    ltac:(change (B / 2) with 9223372036854775808; lia) ltac:(change (B / 2) with 9223372036854775808; lia) F) as V.
  fold (dual_start al ah b second) in V. destruct (fold_left (exact_dual_step al ah second) (placed 0 b) (dual_start al ah b second)) as [t u].
  assert (E0 : nth 0 b 0 = hd 0 b) by (destruct b; reflexivity). rewrite E0 in V.
  destruct (V ltac:(lia)) as (Q & q & HQ & Hq & E1 & E2).
  { rewrite plus_value by (rewrite !lows_length; lia). lia. } { exact Last. }
  unfold wrap_both. cbn [fst snd] in *. rewrite wrap_small by (eapply within_more; [| |exact W1]; lia).
  assert (Em : add_columns (map wrap u) m = map wrap (plus u m)) by (rewrite <- m_wrap at 1; apply add_columns_wrap).
  assert (Wm : within 0 (D - 1) m) by (revert Hm; apply Forall_impl; unfold limb; lia).
  assert (Wu : within 0 (2 ^ 63 - 1) (plus u m)).
  { pose proof m0_positive as M0. destruct u as [|x u]; [constructor|]. unfold m in *. cbn [plus zip_with hd tl] in *.
    apply Forall_cons_iff in W2 as [Wx W2]. apply Forall_cons_iff in Wm as [W0 Wm].
    constructor; [lia|].
    assert (K : within 0 (2 ^ 63 - 1 - D) u).
    { apply Forall_forall. intros z Hz. pose proof (proj1 (Forall_forall _ _) W2 z Hz). pose proof (proj1 (Forall_forall _ _) W2' z Hz).
      cbn beta in *. lia. }
    eapply within_more; [| |apply (plus_within 0 _ 0 (D - 1) u above K Wm)]; lia. }
  cbv zeta. rewrite Em, wrap_small by (eapply within_more; [| |exact Wu]; lia).
  split; [exact L1|]. split; [rewrite plus_length by (fold n; lia); exact L2|]. split; [exact W1|]. split; [exact Wu|].
  exists Q, q. split; [exact HQ|]. split; [exact Hq|]. split; [lia|].
  rewrite plus_value by (fold n; lia). rewrite Z.mul_add_distr_l, E2. lia.
Qed.

Definition nth_of (b : list Z) (i : nat) := nth i b 0.
(* ifma/across.rs: dual_product. Both halves, before carry_up. *)
Theorem dual_product_correct al ah b bh : Forall limb al -> length al = n -> Forall limb ah -> length ah = n ->
  Forall limb b -> b <> [] -> Forall limb bh -> length bh = length b -> Z.of_nat (length b) <= 8 * MOST_REGISTERS ->
  let '(t, u) := dual_product m inverse al ah b bh in
  length t = n /\ length u = n /\ within 0 (2 ^ 63 - 1) t /\ within 0 (2 ^ 63 - 1) u /\
  exists Q q, 0 <= Q < D ^ Z.of_nat (length b) /\ 0 <= q < D ^ Z.of_nat (length b) /\
  D ^ Z.of_nat (length b) * value t = value al * value b + Q * value m /\
  D ^ Z.of_nat (length b) * value u = D ^ Z.of_nat (length b) * value m +
    (value ah * value b + value al * value bh) - Q + q * value m.
Proof.
  intros Hal Lal Hah Lah Lb Nb Lbh Eb Hb.
  pose proof (dual_end al ah b (nth_of bh) Hal Lal Hah Lah Lb Nb (fun j => nth_limb bh j Lbh)
    ltac:(unfold nth_of; rewrite nth_overflow; [reflexivity|lia]) Hb) as E.
  rewrite <- (proj1 (dual_start_exact al ah b (nth_of bh) Hal Lal Hah Lah)) in E.
  replace (seconds (nth_of bh) 0 (length b)) with (value bh) in E by (rewrite <- Eb; symmetry; apply seconds_nth).
  unfold dual_product, enumerate. rewrite digits_length. fold (placed 0 b).
  change (fold_left _ (placed 0 b) _) with (fold_left (dual_step al ah (fun i => nth i bh 0)) (placed 0 b)
    (add_low (zeros m) al (nth 0 b 0), add_low (add_low (zeros m) ah (nth 0 b 0)) al (nth 0 bh 0))).
  destruct (fold_left _ (placed 0 b) _) as [t u]. exact E.
Qed.

(* double *)
Lemma double_parts l : limb l -> double_lane ones l = (2 * l / D, (2 * l) mod D).
Proof.
  unfold limb. intros H. unfold double_lane, shr, shl64. f_equal.
  - change (2 ^ (52 - 1)) with 2251799813685248. change D with (2 * 2251799813685248). rewrite Z.div_mul_cancel_l by lia. reflexivity.
  - change ones with (Z.ones 52). rewrite Z.land_ones by lia. change (2 ^ 52) with D. change (2 ^ 1) with 2.
    rewrite (Z.mod_small (l * 2) B) by lia. f_equal. lia.
Qed.
Lemma doubled_limbs x : Forall limb x -> forall c, 0 <= c <= 1 ->
  Forall limb (add_columns (map (fun l => (2 * l) mod D) x) (c :: firstn (length x - 1) (map (fun l => 2 * l / D) x))) /\
  (2 * value x + c < D ^ Z.of_nat (length x) ->
   value (add_columns (map (fun l => (2 * l) mod D) x) (c :: firstn (length x - 1) (map (fun l => 2 * l / D) x))) = 2 * value x + c).
Proof.
  intros H. induction H as [|l x Hl Hx IH]; intros c Hc.
  - cbn. split; [constructor|]. change (D ^ 0) with 1. lia.
  - unfold limb in Hl. pose proof (Z.div_mod (2 * l) D ltac:(lia)) as DM. pose proof (Z.mod_pos_bound (2 * l) D ltac:(lia)) as MB.
    assert (Hq : 0 <= 2 * l / D <= 1) by lia.
    assert (Hs : (2 * l) mod D + c < D) by lia.
    specialize (IH (2 * l / D) Hq).
    assert (E : add_columns (map (fun l => (2 * l) mod D) (l :: x)) (c :: firstn (length (l :: x) - 1) (map (fun l => 2 * l / D) (l :: x))) =
      (2 * l) mod D + c :: add_columns (map (fun l => (2 * l) mod D) x) (2 * l / D :: firstn (length x - 1) (map (fun l => 2 * l / D) x))).
    { cbn [map add_columns zip_with length]. f_equal; [unfold columns_lane, add64; apply Z.mod_small; lia|].
      rewrite Nat.sub_1_r. cbn [Nat.pred]. destruct x as [|l' x]; [reflexivity|].
      change (length (l' :: x)) with (S (length x)). cbn [map firstn]. rewrite Nat.sub_1_r. reflexivity. }
    rewrite E. destruct IH as [I1 I2]. split; [constructor; [unfold limb; lia|exact I1]|].
    cbn [value length]. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. intros Hv. rewrite I2; lia.
Qed.
Lemma double_limbs x : Forall limb x -> x <> [] -> 2 * value x < D ^ Z.of_nat (length x) ->
  Forall limb (double x) /\ length (double x) = length x /\ value (double x) = 2 * value x.
Proof.
  intros Hx Nx Hv.
  assert (E : double x = add_columns (map (fun l => (2 * l) mod D) x) (0 :: firstn (length x - 1) (map (fun l => 2 * l / D) x))).
  { unfold double, up. change (Z.to_nat (8 - UP)) with 1%nat. rewrite map_length. change (repeat 0 1) with [0]. cbn [app].
    f_equal; [|f_equal; f_equal]; apply map_ext_in; intros l Hl; rewrite double_parts; try reflexivity;
      exact (proj1 (Forall_forall _ _) Hx l Hl). }
  destruct (doubled_limbs x Hx 0 ltac:(lia)) as [D1 D2]. rewrite E. split; [exact D1|]. split; [|rewrite D2; lia].
  unfold add_columns. rewrite zip_length; rewrite map_length; [reflexivity|]. cbn [length]. rewrite firstn_length, map_length.
  destruct x; [contradiction|]. cbn [length]. lia.
Qed.

Lemma add_low_zero t : forall x, (length t <= length x)%nat -> add_low (map wrap t) x 0 = map wrap t.
Proof.
  induction t as [|c t IH]; intros [|l x] H; cbn in *; try lia; try reflexivity. f_equal; [|apply IH; lia].
  unfold low_lane, lanes.add_low. rewrite Z.mul_0_r. change (0 mod D) with 0. rewrite Z.add_0_r. apply Zmod_mod.
Qed.
Lemma add_high_zero t : forall x, (length t <= length x)%nat -> add_high (map wrap t) x 0 = map wrap t.
Proof.
  induction t as [|c t IH]; intros [|l x] H; cbn in *; try lia; try reflexivity. f_equal; [|apply IH; lia].
  unfold high_lane, lanes.add_high. change (0 mod D) with 0. rewrite Z.mul_0_r. change (0 / D) with 0. rewrite Z.add_0_r. apply Zmod_mod.
Qed.
Definition square_step (al ah : list Z) '((t, u) : list Z * list Z) '((place, (digit, next)) : nat * (Z * Z)) :=
  let t' := product_step al t (digit, next) in
  let u := sub_first u (digit_of t inverse) in
  (t', reduce m u (digit_of u inverse) (add_low (add_high (zeros m) ah digit) ah next)).
Lemma square_like_dual al ah : length al = n -> Forall limb ah -> length ah = n -> forall l, Forall (fun p => limb_pair (snd p)) l ->
  forall s, fold_left (square_step al ah) l s = fold_left (dual_step al ah (fun _ => 0)) l s.
Proof.
  intros Lal Hah Lah l H. induction H as [|[place [d x]] l [Hd Hx] _ IH]; intros s; cbn [fold_left]; [reflexivity|].
  rewrite <- IH. f_equal. destruct s as [t u]. unfold square_step, dual_step. cbn [fst snd] in *.
  assert (L : length (plus (highs ah d) (lows ah x)) = n) by (rewrite plus_length; rewrite ?highs_length, ?lows_length; lia).
  rewrite zeros_wrap, add_high_wrap, add_low_wrap, zeros_plus by (rewrite ?highs_length; fold n; auto).
  rewrite add_high_zero, add_low_zero by lia. reflexivity.
Qed.

(* ifma/across.rs: dual_product, double. A square: the high part is doubled, and the low part is its own factor. *)
Theorem dual_square_correct al ah b : Forall limb al -> length al = n -> Forall limb ah -> length ah = n ->
  2 * value ah < D ^ Z.of_nat n -> Forall limb b -> b <> [] -> Z.of_nat (length b) <= 8 * MOST_REGISTERS ->
  let '(t, u) := dual_square m inverse al ah b in
  length t = n /\ length u = n /\ within 0 (2 ^ 63 - 1) t /\ within 0 (2 ^ 63 - 1) u /\
  exists Q q, 0 <= Q < D ^ Z.of_nat (length b) /\ 0 <= q < D ^ Z.of_nat (length b) /\
  D ^ Z.of_nat (length b) * value t = value al * value b + Q * value m /\
  D ^ Z.of_nat (length b) * value u = D ^ Z.of_nat (length b) * value m + 2 * value ah * value b - Q + q * value m.
Proof.
  intros Hal Lal Hah Lah Hv Lb Nb Hb.
  destruct (double_limbs ah Hah ltac:(destruct ah; [discriminate Lah|discriminate]) ltac:(rewrite Lah; exact Hv)) as (D1 & D2 & D3).
  rewrite Lah in D2.
  pose proof (dual_end al (double ah) b (fun _ => 0) Hal Lal D1 D2 Lb Nb ltac:(unfold limb; lia) eq_refl Hb) as E.
  rewrite <- (proj1 (dual_start_exact al (double ah) b (fun _ => 0) Hal Lal D1 D2)) in E.
  rewrite seconds_zero, D3, Z.mul_0_r, Z.add_0_r in E.
  rewrite <- (square_like_dual al (double ah) Lal D1 D2 _ (placed_limbs b Lb 0)) in E.
  unfold dual_square, enumerate. rewrite digits_length. fold (placed 0 b).
  change (fold_left _ (placed 0 b) _) with (fold_left (square_step al (double ah)) (placed 0 b)
    (add_low (zeros m) al (nth 0 b 0), add_low (zeros m) (double ah) (nth 0 b 0))).
  rewrite (proj1 (start_fits (double ah) (nth 0 b 0) D1 D2)) in E |- *. rewrite add_low_zero in E by (rewrite lows_length; lia).
  destruct (fold_left _ (placed 0 b) _) as [t u]. exact E.
Qed.
End Reduction.

(* The modulus 2^52 + 5 in three lanes. *)
Ltac computed := first [reflexivity | discriminate | repeat constructor; vm_compute; intuition discriminate | (vm_compute; intuition discriminate)].
Example columns_fit_example :
  let t := fold_left (exact_step lazy.inverse_5 5 [1; 0] [3; 1; 0]) (firstn 1 (digits [3; 1])) (product_start [3; 1; 0] [3; 1]) in
  fold_left (product_step lazy.inverse_5 5 [1; 0] [3; 1; 0]) (firstn 1 (digits [3; 1]))
    (add_low (zeros [5; 1; 0]) [3; 1; 0] (nth 0 [3; 1] 0)) = map wrap t /\ within 0 (2 ^ 63 - 1) t.
Proof. apply (product_columns_fit lazy.inverse_5 5 [1; 0] ltac:(computed) lazy.inverse_5_correct); computed. Qed.
Example product_example : let t := product [5; 1; 0] lazy.inverse_5 [3; 1; 0] [3; 1] in length t = 3%nat /\ within 0 (2 ^ 63 - 1) t /\
  exists q, 0 <= q < D ^ Z.of_nat 2 /\ D ^ Z.of_nat 2 * value t = value [3; 1; 0] * value [3; 1] + q * value [5; 1; 0].
Proof. apply (product_correct lazy.inverse_5 5 [1; 0] ltac:(computed) lazy.inverse_5_correct); computed. Qed.
Lemma factor_limbs : Forall limb [2; 1]. Proof. computed. Qed.
Example dual_columns_fit_example :
  let start := dual_start [3; 1; 0] [4; 1; 0] [3; 1] (fun i => nth i [2; 1] 0) in
  let s := fold_left (exact_dual_step lazy.inverse_5 5 [1; 0] [3; 1; 0] [4; 1; 0] (fun i => nth i [2; 1] 0)) (firstn 1 (placed 0 [3; 1])) start in
  fold_left (dual_step lazy.inverse_5 5 [1; 0] [3; 1; 0] [4; 1; 0] (fun i => nth i [2; 1] 0)) (firstn 1 (placed 0 [3; 1])) (wrap_both start) =
    wrap_both s /\ within 0 (2 ^ 63 - 1) (fst s) /\ within (-1) (2 ^ 63 - 1 - D) (snd s).
Proof.
  refine (dual_columns_fit lazy.inverse_5 5 [1; 0] ltac:(computed) lazy.inverse_5_correct [3; 1; 0] [4; 1; 0] [3; 1] _ 1
    _ _ _ _ _ (fun j => nth_limb [2; 1] j factor_limbs) _); computed.
Qed.
Example dual_product_example : let '(t, u) := dual_product [5; 1; 0] lazy.inverse_5 [3; 1; 0] [4; 1; 0] [3; 1] [2; 1] in
  length t = 3%nat /\ length u = 3%nat /\ within 0 (2 ^ 63 - 1) t /\ within 0 (2 ^ 63 - 1) u /\
  exists Q q, 0 <= Q < D ^ Z.of_nat 2 /\ 0 <= q < D ^ Z.of_nat 2 /\
  D ^ Z.of_nat 2 * value t = value [3; 1; 0] * value [3; 1] + Q * value [5; 1; 0] /\
  D ^ Z.of_nat 2 * value u = D ^ Z.of_nat 2 * value [5; 1; 0] +
    (value [4; 1; 0] * value [3; 1] + value [3; 1; 0] * value [2; 1]) - Q + q * value [5; 1; 0].
Proof. apply (dual_product_correct lazy.inverse_5 5 [1; 0] ltac:(computed) lazy.inverse_5_correct); computed. Qed.
Example dual_square_example : let '(t, u) := dual_square [5; 1; 0] lazy.inverse_5 [3; 1; 0] [4; 1; 0] [3; 1] in
  length t = 3%nat /\ length u = 3%nat /\ within 0 (2 ^ 63 - 1) t /\ within 0 (2 ^ 63 - 1) u /\
  exists Q q, 0 <= Q < D ^ Z.of_nat 2 /\ 0 <= q < D ^ Z.of_nat 2 /\
  D ^ Z.of_nat 2 * value t = value [3; 1; 0] * value [3; 1] + Q * value [5; 1; 0] /\
  D ^ Z.of_nat 2 * value u = D ^ Z.of_nat 2 * value [5; 1; 0] + 2 * value [4; 1; 0] * value [3; 1] - Q + q * value [5; 1; 0].
Proof. apply (dual_square_correct lazy.inverse_5 5 [1; 0] ltac:(computed) lazy.inverse_5_correct); computed. Qed.
