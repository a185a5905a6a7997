(* crates/rns/src/convert/avx2.rs: residues and back in one lane, for every basis of odd moduli of up
   to 30 bits. The steps are translated; the loops over limbs, moduli and pieces are models. *)
From Arith Require Import words lanes.
From Arith Require Export residues places.
From Generated Require Export avx2_residues avx2_residue_constants avx2_residue_bounds.

(* 2^28: the base of a number's limbs; 2^32: the base of Montgomery's steps. *)
Notation E := 268435456.
Notation W := 4294967296.

Lemma mul32_small a b : 0 <= a < W -> 0 <= b < W -> mul32 a b = a * b.
Proof. intros. unfold mul32. rewrite !Z.mod_small by lia. reflexivity. Qed.

Lemma product_range a b x y : 0 <= a < x -> 0 <= b < y -> 0 <= a * b <= (x - 1) * (y - 1).
Proof. intros. split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]. Qed.

(* rns/convert/avx2.rs: less. *)
Theorem less_correct x q : 0 < q < 2147483648 -> 0 <= x < 2 * q -> less x q = x mod q.
Proof.
  intros Hq Hx. unfold less, min32s, sub32s, by_halves. rewrite (Z.div_small x W), (Z.div_small q W) by lia.
  rewrite (Z.mod_small x W), (Z.mod_small q W) by lia. change ((0 - 0) mod W) with 0. rewrite Z.mul_0_r, Z.add_0_l.
  pose proof (Z.mod_pos_bound (x - q) W ltac:(lia)). rewrite (Z.div_small ((x - q) mod W)) by lia. rewrite (Z.mod_small ((x - q) mod W)) by lia.
  change (Z.min 0 0) with 0. rewrite Z.mul_0_r, Z.add_0_l. destruct (Z_lt_le_dec x q).
  - rewrite (Z.mod_small x q) by lia. rewrite <- (Z.mod_add _ 1 W) by lia. rewrite Z.mod_small by lia. lia.
  - rewrite (Z.mod_small (x - q) W) by lia.
    assert (M : x mod q = x - q) by (symmetry; apply Z.mod_unique with 1; lia). lia.
Qed.

(* rns/convert/avx2.rs: add. *)
Theorem add_correct a b q : 0 < q < 2147483648 -> 0 <= a < q -> 0 <= b < q -> add a b q = (a + b) mod q.
Proof. intros. unfold add, add64. rewrite (Z.mod_small (a + b) B) by lia. apply less_correct; lia. Qed.

(* avx2.rs: Modulus. *)
Definition narrow_modulus (q neg_inverse : Z) :=
  1 < q < 2 ^ MODULUS_BITS /\ 0 <= neg_inverse < W /\ cong W (neg_inverse * q) (-1).

Lemma step_correct q n x : narrow_modulus q n -> 0 <= x -> x + W * q <= B ->
  exists d, 0 <= d < W /\ W * step q n x = x + d * q.
Proof.
  intros (Hq & Hn & C) H0 Hx. unfold MODULUS_BITS in Hq. change (2 ^ 30) with 1073741824 in Hq.
  exists ((x mod W * n) mod W). pose proof (Z.mod_pos_bound (x mod W * n) W ltac:(lia)) as Rd. split; [exact Rd|].
  unfold step, mul32, add64, shr. cbv zeta. change (2 ^ 32) with W. rewrite (Z.mod_small n), (Z.mod_small q) by lia.
  set (d := (x mod W * n) mod W) in *.
  assert (0 <= d * q <= (W - 1) * q) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_r; lia]).
  rewrite (Z.mod_small (x + d * q) B) by lia.
  assert (Z0 : (x + d * q) mod W = 0).
  { change 0 with (0 mod W). apply cong_mod_eq; [lia|]. unfold d. rewrite cong_mod by lia. rewrite (cong_mod W x) by lia.
    replace (x * n * q) with (x * (n * q)) by ring. rewrite C. exists 0. ring. }
  pose proof (Z.div_mod (x + d * q) W ltac:(lia)). lia.
Qed.

Lemma odd_modulus q n : narrow_modulus q n -> rel_prime (2 ^ 64) q.
Proof.
  intros (_ & _ & [t C]). change (2 ^ 64) with (W * W). apply rel_prime_sym, rel_prime_mult;
    (apply bezout_rel_prime; apply Bezout_intro with (- n) t; lia).
Qed.

(* rns/convert/avx2.rs: reduce. Of a sum of TERMS products: below q, and 2^64 times it is the sum. *)
Theorem reduce_correct q n sum : narrow_modulus q n -> 0 <= sum <= TERMS * 2 ^ (RADIX + MODULUS_BITS) ->
  0 <= reduce q n sum < q /\ cong q (reduce q n sum * 2 ^ 64) sum.
Proof.
  intros Hn Hs. pose proof Hn as (Hq & _). unfold TERMS, RADIX, MODULUS_BITS in *. change (2 ^ 30) with 1073741824 in Hq.
  change (2 ^ (28 + 30)) with 288230376151711744 in Hs. unfold reduce.
  destruct (step_correct q n sum Hn ltac:(lia) ltac:(lia)) as (d1 & R1 & E1). set (y := step q n sum) in *.
  assert (0 <= d1 * q <= (W - 1) * q) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_r; lia]).
  assert (Ry : 0 <= y < W) by lia.
  destruct (step_correct q n y Hn ltac:(lia) ltac:(lia)) as (d2 & R2 & E2). set (z := step q n y) in *.
  assert (0 <= d2 * q <= (W - 1) * q) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_r; lia]).
  rewrite less_correct by lia. split; [apply Z.mod_pos_bound; lia|]. rewrite cong_mod by lia.
  exists (d1 + W * d2). change (2 ^ 64) with (W * W). replace (z * (W * W)) with (W * (W * z)) by ring. rewrite E2.
  replace (W * (y + d2 * q)) with (W * y + W * d2 * q) by ring. rewrite E1. ring.
Qed.

(* avx2.rs: sums. One column of a table. *)
Fixpoint sum_loop (xs entries : list Z) (sum : Z) : Z :=
  match xs, entries with x :: xs, entry :: entries => sum_loop xs entries (sum_step sum x entry) | _, _ => sum end.

Lemma sum_step_correct x y sum a b : 0 <= a < x -> 0 <= b < y -> x <= W -> y <= W -> 0 <= sum -> sum + x * y <= B ->
  sum_step sum a b = sum + a * b /\ 0 <= a * b <= x * y.
Proof.
  intros Ha Hb Hx Hy H0 Hs. unfold sum_step, add64. cbv zeta. rewrite mul32_small by lia.
  pose proof (product_range a b x y Ha Hb). rewrite Z.mod_small by lia. lia.
Qed.

(* Pieces of a list and of another beside it. *)
Fixpoint cuts {A} (fuel n : nat) (xs : list Z) (rows : list A) : list (list Z * list A) :=
  match fuel, xs with
  | O, _ | _, [] => []
  | S fuel, _ => (firstn n xs, firstn n rows) :: cuts fuel n (skipn n xs) (skipn n rows)
  end.

(* avx2.rs: residues. *)
Fixpoint later (q n : Z) (pieces : list (list Z * list Z)) (found : Z) : Z :=
  match pieces with
  | [] => found
  | (xs, entries) :: pieces => later q n pieces (add found (reduce q n (sum_loop xs entries 0)) q)
  end.
Definition to_residue (q n : Z) (x powers : list Z) : Z :=
  match cuts (length x) (Z.to_nat TERMS) x powers with
  | [] => 0
  | (xs, entries) :: pieces => later q n pieces (reduce q n (sum_loop xs entries 0))
  end.
(* avx2.rs: new. The table's columns. *)
Definition power (q : Z) (limb : nat) : Z :=
  Nat.iter (Z.to_nat RADIX * limb + Z.to_nat WEIGHT) (fun power => (2 * power) mod q) (1 mod q).
Definition powers (q : Z) (limbs : nat) : list Z := map (power q) (seq 0 limbs).

Fixpoint weights (q p : Z) (l : list Z) : Prop :=
  match l with [] => True | x :: l => 0 <= x < q /\ cong q x p /\ weights q (p * E) l end.

Lemma powers_weights q limbs : 1 < q -> weights q (2 ^ WEIGHT) (powers q limbs).
Proof.
  intros Hq. assert (I : forall n, Nat.iter n (fun power => (2 * power) mod q) (1 mod q) = 2 ^ Z.of_nat n mod q).
  { induction n as [|n IH]; [reflexivity|]. cbn [Nat.iter nat_rect]. change (nat_rect _ _ _ n) with (Nat.iter n (fun power => (2 * power) mod q) (1 mod q)).
    rewrite IH, Z.mul_mod_idemp_r by lia. rewrite pow_S. reflexivity. }
  assert (G : forall n s, weights q (2 ^ (28 * Z.of_nat s + WEIGHT)) (map (power q) (seq s n))).
  { induction n as [|n IH]; intros s; cbn [seq map weights]; [exact Logic.I|]. unfold power. rewrite I.
    split; [apply Z.mod_pos_bound; lia|]. unfold RADIX, WEIGHT in *. split.
    - rewrite cong_mod by lia. replace (Z.of_nat _) with (28 * Z.of_nat s + 64) by lia. reflexivity.
    - specialize (IH (S s)). replace (28 * Z.of_nat (S s) + 64) with (28 * Z.of_nat s + 64 + 28) in IH by lia.
      rewrite Z.pow_add_r in IH by lia. exact IH. }
  apply (G limbs 0%nat).
Qed.

Lemma weights_skipn q n : forall p l, weights q p l -> (n <= length l)%nat -> weights q (p * E ^ Z.of_nat n) (skipn n l).
Proof.
  induction n as [|n IH]; intros p l H Hn; cbn [skipn]; [rewrite Z.pow_0_r, Z.mul_1_r; exact H|].
  destruct l as [|x l]; cbn [length] in Hn; [lia|]. destruct H as (_ & _ & H). rewrite pow_S.
  replace (p * (E * E ^ Z.of_nat n)) with (p * E * E ^ Z.of_nat n) by ring. apply IH; [exact H|lia].
Qed.

Lemma sum_loop_weights q xs : 1 < q <= W -> forall l p sum, all_below E xs -> weights q p l -> (length xs <= length l)%nat ->
  0 <= sum -> sum + Z.of_nat (length xs) * (E * q) <= B ->
  sum <= sum_loop xs l sum <= sum + Z.of_nat (length xs) * (E * q) /\ cong q (sum_loop xs l sum) (sum + p * in_base E xs).
Proof.
  intros Hq. induction xs as [|x xs IH]; intros [|y l] p sum Hx Hl Hlen H0 Hs; cbn [length] in *; try lia; cbn [sum_loop in_base].
  - split; [lia|exists 0; ring].
  - split; [lia|exists 0; ring].
  - inversion Hx; subst. destruct Hl as (Ry & Cy & Hl). rewrite Nat2Z.inj_succ, Z.mul_succ_l in *.
    assert (0 <= Z.of_nat (length xs) * (E * q)) by (apply Z.mul_nonneg_nonneg; lia).
    destruct (sum_step_correct E q sum x y ltac:(assumption) Ry ltac:(lia) ltac:(lia) H0 ltac:(lia)) as [-> R].
    destruct (IH l (p * E) (sum + x * y) ltac:(assumption) Hl ltac:(lia) ltac:(lia) ltac:(lia)) as [I1 I2].
    split; [lia|]. rewrite I2, Cy. exists 0. ring.
Qed.

Lemma weights_firstn q n : forall p l, weights q p l -> weights q p (firstn n l).
Proof. induction n as [|n IH]; intros p [|x l] H; cbn [firstn weights] in *; auto. destruct H as (A & C & H). auto. Qed.

Lemma below_firstn b n l : all_below b l -> all_below b (firstn n l).
Proof. intros H. rewrite <- (firstn_skipn n l) in H. apply Forall_app in H as [H _]. exact H. Qed.
Lemma below_skipn b n l : all_below b l -> all_below b (skipn n l).
Proof. intros H. rewrite <- (firstn_skipn n l) in H. apply Forall_app in H as [_ H]. exact H. Qed.

(* One piece of at most TERMS limbs. *)
Lemma piece_correct q n xs l p : narrow_modulus q n -> all_below E xs -> weights q p l -> (length xs <= length l)%nat ->
  Z.of_nat (length xs) <= TERMS -> let r := reduce q n (sum_loop xs l 0) in 0 <= r < q /\ cong q (r * 2 ^ 64) (p * in_base E xs).
Proof.
  intros Hn Hx Hl E1 Hc. pose proof Hn as (Hq & _). unfold MODULUS_BITS, TERMS in *. change (2 ^ 30) with 1073741824 in Hq.
  assert (M : Z.of_nat (length xs) * (E * q) <= 40 * (E * 1073741824)) by (apply Z.mul_le_mono_nonneg; lia).
  destruct (sum_loop_weights q xs ltac:(lia) l p 0 Hx Hl E1 ltac:(lia) ltac:(lia)) as [R C].
  destruct (reduce_correct q n (sum_loop xs l 0) Hn) as [R1 C1].
  { unfold TERMS, RADIX, MODULUS_BITS. change (2 ^ (28 + 30)) with (E * 1073741824). lia. }
  cbv zeta. split; [exact R1|]. rewrite C1, C. exists 0. ring.
Qed.

Lemma later_correct q n : narrow_modulus q n -> forall fuel x l p found before, all_below E x -> weights q p l ->
  (length x <= length l)%nat -> (length x <= fuel)%nat -> 0 <= found < q -> cong q (found * 2 ^ 64) before ->
  let r := later q n (cuts fuel (Z.to_nat TERMS) x l) found in 0 <= r < q /\ cong q (r * 2 ^ 64) (before + p * in_base E x).
Proof.
  intros Hn. pose proof Hn as (Hq & _). unfold MODULUS_BITS in Hq. change (2 ^ 30) with 1073741824 in Hq.
  set (k := Z.to_nat TERMS). assert (Hk : (0 < k)%nat /\ Z.of_nat k <= TERMS) by (unfold k, TERMS; lia). clearbody k.
  induction fuel as [|fuel IH]; intros x l p found before Hx Hl E1 E2 Hf C; cbv zeta.
  - destruct x; [|cbn [length] in E2; lia]. cbn [cuts later in_base]. split; [exact Hf|]. rewrite C. exists 0. ring.
  - destruct x as [|x0 x']; [cbn [cuts later in_base]; split; [exact Hf|]; rewrite C; exists 0; ring|].
    set (x := x0 :: x') in *. assert (L : (1 <= length x)%nat) by (unfold x; cbn [length]; lia).
    assert (Ec : cuts (S fuel) k x l = (firstn k x, firstn k l) :: cuts fuel k (skipn k x) (skipn k l)) by reflexivity.
    rewrite Ec. cbn [later]. clear Ec. clearbody x. clear x0 x'.
    pose proof (firstn_length k x). pose proof (firstn_length k l). pose proof (skipn_length k x). pose proof (skipn_length k l).
    pose proof (piece_correct q n (firstn k x) (firstn k l) p Hn (below_firstn E k x Hx) (weights_firstn q k p l Hl) ltac:(lia) ltac:(lia)) as P.
    cbv zeta in P. set (r := reduce q n _) in *. destruct P as [Rr Cr].
    rewrite add_correct by lia.
    assert (C' : cong q ((found + r) mod q * 2 ^ 64) (before + p * in_base E (firstn k x))).
    { rewrite cong_mod by lia. replace ((found + r) * 2 ^ 64) with (found * 2 ^ 64 + r * 2 ^ 64) by ring. rewrite C, Cr. reflexivity. }
    pose proof (Z.mod_pos_bound (found + r) q ltac:(lia)) as R'.
    assert (V : in_base E x = in_base E (firstn k x) + E ^ Z.of_nat (length (firstn k x)) * in_base E (skipn k x)).
    { rewrite <- in_base_app, firstn_skipn. reflexivity. }
    destruct (Nat.le_gt_cases (length x) k) as [Short|Long].
    + rewrite (skipn_all2 x) in * by lia. cbn [in_base] in V. destruct fuel; cbn [cuts later]; (split; [exact R'|]); rewrite C', V; exists 0; ring.
    + specialize (IH (skipn k x) (skipn k l) (p * E ^ Z.of_nat k) ((found + r) mod q) (before + p * in_base E (firstn k x))
        (below_skipn E k x Hx) (weights_skipn q k p l Hl ltac:(lia)) ltac:(lia) ltac:(lia) R' C').
      cbv zeta in IH. destruct IH as [I1 I2]. split; [exact I1|]. rewrite I2, V.
      replace (length (firstn k x)) with k by lia. exists 0. ring.
Qed.

(* rns/convert/avx2.rs: residues, sums. x mod q for numbers of every length. *)
Theorem residues_correct q n x : narrow_modulus q n -> all_below E x ->
  to_residue q n x (powers q (length x)) = in_base E x mod q.
Proof.
  intros Hn Hx. pose proof Hn as (Hq & _). unfold MODULUS_BITS in Hq. change (2 ^ 30) with 1073741824 in Hq.
  pose proof (powers_weights q (length x) ltac:(lia)) as Hw.
  assert (Lp : length (powers q (length x)) = length x) by (unfold powers; rewrite map_length, seq_length; reflexivity).
  set (l := powers q (length x)) in *. clearbody l.
  assert (Z0 : 0 <= to_residue q n x l < q /\ cong q (to_residue q n x l * 2 ^ 64) (2 ^ WEIGHT * in_base E x)).
  { unfold to_residue. destruct x as [|x0 x']; [cbn [length cuts in_base]; split; [lia|exists 0; ring]|].
    set (x := x0 :: x') in *. set (k := Z.to_nat TERMS). assert (Hk : (0 < k)%nat /\ Z.of_nat k <= TERMS) by (unfold k, TERMS; lia).
    assert (Ec : cuts (length x) k x l = (firstn k x, firstn k l) :: cuts (length x') k (skipn k x) (skipn k l)) by reflexivity.
    rewrite Ec. clear Ec. assert (L : length x = S (length x')) by reflexivity. clearbody x.
    pose proof (firstn_length k x). pose proof (firstn_length k l). pose proof (skipn_length k x). pose proof (skipn_length k l).
    pose proof (piece_correct q n (firstn k x) (firstn k l) _ Hn (below_firstn E k x Hx) (weights_firstn q k _ l Hw) ltac:(lia) ltac:(lia)) as P.
    cbv zeta in P. set (r := reduce q n _) in *. destruct P as [Rr Cr].
    assert (V : in_base E x = in_base E (firstn k x) + E ^ Z.of_nat (length (firstn k x)) * in_base E (skipn k x)).
    { rewrite <- in_base_app, firstn_skipn. reflexivity. }
    destruct (Nat.le_gt_cases (length x) k) as [Short|Long].
    - rewrite (skipn_all2 x) in * by lia. cbn [in_base] in V. destruct (length x'); cbn [cuts later]; (split; [exact Rr|]); rewrite Cr, V; exists 0; ring.
    - destruct (later_correct q n Hn (length x') (skipn k x) (skipn k l) (2 ^ WEIGHT * E ^ Z.of_nat k) r _
        (below_skipn E k x Hx) (weights_skipn q k _ l Hw ltac:(lia)) ltac:(lia) ltac:(lia) Rr Cr) as [I1 I2].
      fold k in I1, I2. split; [exact I1|]. rewrite I2, V. replace (length (firstn k x)) with k by lia. exists 0. ring. }
  destruct Z0 as [R C]. apply cong_small with q; [exact R|apply Z.mod_pos_bound; lia|]. rewrite cong_mod by lia.
  apply cong_cancel with (2 ^ 64); [apply (odd_modulus q n Hn)|]. rewrite Z.mul_comm. exact C.
Qed.
