(* crates/rns/src/convert/avx2.rs: residues and back in one lane, for every basis of odd moduli of
   up to 30 bits. The steps are translated; the loops over limbs, moduli and pieces are models. *)
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

(* rns/convert/avx2.rs: reduce. Of a sum of TERMS products: below q, and 2^64 times it is the sum
   modulo q. *)
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
    { rewrite cong_mod by lia. destruct C as [c C], Cr as [d Cr]. exists (c + d). rewrite Z.mul_add_distr_r, C, Cr. ring. }
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

(* rns/convert/avx2.rs: residues, sums, new. x mod q for numbers of every length. *)
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

(* avx2.rs: Modulus. For y / q in units of 2^-PART. *)
Definition scale (m : modulus) := (inverse m * 2 ^ SCALE) mod q m.
Definition part_bits (q : Z) := (2 ^ (PART + bits q) - 1) / q.
Definition y_in (n : Z) (m : modulus) (r : Z) := scaled_residue r (q m) n (scale m).

Lemma y_in_correct n m r : narrow_modulus (q m) n -> 0 <= inverse m < q m -> 0 <= r < q m ->
  y_in n m r = (r * inverse m) mod q m.
Proof.
  intros Hn Hi Hr. pose proof Hn as (Hq & _). unfold MODULUS_BITS in Hq. change (2 ^ 30) with 1073741824 in Hq.
  unfold y_in, scaled_residue, scale, SCALE. pose proof (Z.mod_pos_bound (inverse m * 2 ^ 64) (q m) ltac:(lia)) as Rs.
  set (s := (inverse m * 2 ^ 64) mod q m) in *. rewrite mul32_small by lia.
  pose proof (product_range r s 1073741824 1073741824 ltac:(lia) ltac:(lia)).
  destruct (reduce_correct (q m) n (r * s) Hn) as [R C].
  { unfold TERMS, RADIX, MODULUS_BITS. change (2 ^ (28 + 30)) with (E * 1073741824). lia. }
  apply cong_small with (q m); [exact R|apply Z.mod_pos_bound; lia|]. rewrite cong_mod by lia.
  apply cong_cancel with (2 ^ 64); [apply (odd_modulus (q m) n Hn)|]. rewrite Z.mul_comm, C. unfold s. rewrite cong_mod by lia.
  exists 0. ring.
Qed.

Lemma part_step_correct q quotient y : 1 < q < 2 ^ MODULUS_BITS -> 0 <= y < q -> 0 <= quotient < B - 2 ^ PART ->
  let p := part_step quotient y (part_bits q) (bits q) - quotient in
  0 <= p < 2 ^ PART /\ 0 <= y * 2 ^ PART - p * q <= 2 * q.
Proof.
  intros Hq Hy Hs. unfold part_step, part_bits, bits, PART, MODULUS_BITS, add64, shr in *. cbv zeta.
  destruct (Z.log2_spec q ltac:(lia)) as [L1 L2]. set (b := Z.log2 q) in *.
  assert (Hb : 0 <= b) by apply Z.log2_nonneg. unfold Z.succ in L2. rewrite (Z.pow_add_r 2 31) by lia.
  change (2 ^ 31) with 2147483648 in *. change (2 ^ 30) with 1073741824 in *.
  assert (ET : 2 ^ (b + 1) = 2 ^ b * 2) by (rewrite Z.pow_add_r by lia; reflexivity).
  set (T := 2 ^ (b + 1)) in *. set (P := 2 ^ b) in *. clearbody T P. clear Hb. clearbody b.
  pose proof (Z.div_mod (2147483648 * T - 1) q ltac:(lia)) as Dr. pose proof (Z.mod_pos_bound (2147483648 * T - 1) q ltac:(lia)) as M.
  set (rec := (2147483648 * T - 1) / q) in *. set (rest := (2147483648 * T - 1) mod q) in *. clearbody rec rest.
  assert (Hr : 0 <= rec < W).
  { split; [enough (-1 < rec) by lia|]; apply Z.mul_lt_mono_pos_r with q; lia. }
  rewrite mul32_small by lia.
  pose proof (Z.div_mod (y * rec) T ltac:(lia)) as Ey. pose proof (Z.mod_pos_bound (y * rec) T ltac:(lia)) as F.
  set (p := y * rec / T) in *. set (u := (y * rec) mod T) in *. clearbody p u.
  assert (Yr : y * (rest + 1) <= y * q) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (Y0 : 0 <= y * (rest + 1)) by (apply Z.mul_nonneg_nonneg; lia).
  assert (Yq : y * q < T * q) by (apply Z.mul_lt_mono_pos_r; lia).
  assert (I : T * (y * 2147483648 - p * q) = u * q + y * (rest + 1)).
  { replace (rest + 1) with (2147483648 * T - q * rec) by lia.
    replace (y * (2147483648 * T - q * rec)) with (y * T * 2147483648 - y * rec * q) by ring. rewrite Ey. ring. }
  assert (U : 0 <= u * q <= T * q) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_r; lia]).
  assert (K : 0 <= y * 2147483648 - p * q < 2 * q).
  { split; [apply Z.mul_le_mono_pos_l with T; lia|apply Z.mul_lt_mono_pos_l with T; lia]. }
  assert (P1 : p < 2147483648) by (apply Z.mul_lt_mono_pos_r with q; lia).
  assert (P0 : 0 <= p). { enough (-1 < p) by lia. apply Z.mul_lt_mono_pos_l with T; [lia|]. pose proof (Z.mul_nonneg_nonneg y rec). lia. }
  rewrite (Z.mod_small (quotient + p)) by lia. replace (quotient + p - quotient) with p by ring. lia.
Qed.

(* avx2.rs: scale. [neg] gives each modulus its -q^-1 mod 2^32. *)
Fixpoint scale_loop (neg : Z -> Z) (pairs : list (modulus * Z)) (quotient : Z) : list Z * Z :=
  match pairs with
  | [] => ([], quotient)
  | (m, r) :: pairs => let y := y_in (neg (q m)) m r in
    let '(ys, quotient) := scale_loop neg pairs (part_step quotient y (part_bits (q m)) (bits (q m))) in (y :: ys, quotient)
  end.
Definition factors (neg : Z -> Z) (pairs : list (modulus * Z)) : list Z :=
  let '(ys, quotient) := scale_loop neg pairs 0 in ys ++ [quotient_end quotient].
(* avx2.rs: new. *)
Definition rows (limbs : nat) (Q : Z) (pairs : list (modulus * Z)) : list (list Z) :=
  map (fun p => cut E limbs (val (cofactor (fst p)))) pairs ++ [cut E limbs (- Q)].
Definition odd_member (neg : Z -> Z) (k : nat) (Q : Z) (p : modulus * Z) :=
  member k Q p /\ narrow_modulus (q (fst p)) (neg (q (fst p))).

Lemma scale_loop_correct neg k Q limbs pairs : 0 < Q -> Forall (odd_member neg k Q) pairs -> forall quotient count,
  0 <= quotient <= count * 2 ^ PART -> 0 <= count -> count + Z.of_nat (length pairs) <= MOST_MODULI ->
  let '(ys, quotient') := scale_loop neg pairs quotient in
  let table := map (fun p => cut E limbs (val (cofactor (fst p)))) pairs in
  length ys = length pairs /\ all_below (2 ^ MODULUS_BITS) ys /\
  0 <= quotient' <= (count + Z.of_nat (length pairs)) * 2 ^ PART /\
  cong (E ^ Z.of_nat limbs) (dot E ys table) (terms pairs) /\
  0 <= terms pairs * 2 ^ PART - (quotient' - quotient) * Q <= 2 * Z.of_nat (length pairs) * Q.
Proof.
  intros HQ. induction 1 as [|[m r] pairs [Hm Hn] Hp IH]; intros quotient count Hs H0 Hc; cbn [scale_loop length map fst] in *.
  - unfold terms. cbn [fold_right dot]. split; [reflexivity|]. split; [constructor|]. split; [lia|]. split; [reflexivity|lia].
  - destruct (y_of_correct k Q m r Hm) as [Ey Ry]. pose proof Hm as (_ & Lc & _ & Vc & Hi & _ & Hr).
    rewrite (y_in_correct _ m r Hn Hi Hr), <- Ey. set (y := y_of m r) in *. pose proof Hn as (Hq & _).
    assert (Room : count * 2 ^ PART <= 512 * 2 ^ PART) by (apply Z.mul_le_mono_nonneg_r; unfold PART, MOST_MODULI in *; lia).
    pose proof (part_step_correct (q m) quotient y Hq Ry) as P. cbv zeta in P.
    specialize (P ltac:(unfold PART in *; change (2 ^ 31) with 2147483648 in *; lia)).
    set (quotient1 := part_step quotient y (part_bits (q m)) (bits (q m))) in *. destruct P as [P1 P2].
    specialize (IH quotient1 (count + 1) ltac:(lia) ltac:(lia) ltac:(lia)).
    destruct (scale_loop neg pairs quotient1) as [ys quotient']. cbv zeta in *. destruct IH as (I1 & I2 & I3 & I4 & I5).
    cbn [dot length]. rewrite I4, (cut_cong E limbs ltac:(lia)). unfold terms in *. cbn [fold_right fst snd]. fold y.
    set (others := fold_right _ 0 pairs) in *. clearbody others.
    split; [lia|]. split; [constructor; [lia|exact I2]|]. split; [lia|]. split; [reflexivity|].
    set (C := val (cofactor m)) in *. assert (C0 : 0 <= C) by apply (val_range _ Lc).
    assert (0 <= C * (y * 2 ^ PART - (quotient1 - quotient) * q m) <= C * (2 * q m)).
    { split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_l; lia]. }
    replace (C * (y * 2 ^ PART - (quotient1 - quotient) * q m)) with (y * C * 2 ^ PART - (quotient1 - quotient) * Q) in * by (rewrite <- Vc; ring).
    replace (C * (2 * q m)) with (2 * Q) in * by (rewrite <- Vc; ring). lia.
Qed.

(* rns/convert/avx2.rs: scale. The factors and rows give the sum over all moduli less k Q, with k
   right or one too small; all is modulo 2^28^limbs. *)
Theorem scale_correct neg k Q limbs pairs : 0 < Q -> Forall (odd_member neg k Q) pairs -> Z.of_nat (length pairs) <= MOST_MODULI ->
  exists z, length (factors neg pairs) = length (rows limbs Q pairs) /\
    Z.of_nat (length (factors neg pairs)) <= MOST_MODULI + 1 /\ all_below (2 ^ MODULUS_BITS) (factors neg pairs) /\
    cong (E ^ Z.of_nat limbs) (dot E (factors neg pairs) (rows limbs Q pairs)) z /\
    cong Q z (terms pairs) /\ 0 <= z < 2 * Q.
Proof.
  intros HQ Hm Hc. set (t := Z.of_nat (length pairs)) in *. assert (T0 : 0 <= t) by lia. unfold MOST_MODULI in *.
  pose proof (scale_loop_correct neg k Q limbs pairs HQ Hm 0 0) as L.
  unfold PART, MOST_MODULI in L. change (2 ^ 31) with 2147483648 in L.
  specialize (L ltac:(lia) ltac:(lia) ltac:(fold t; lia)). unfold factors, rows.
  destruct (scale_loop neg pairs 0) as [ys quotient]. cbv zeta in L. fold t in L.
  destruct L as (L1 & L2 & L3 & L4 & L5). unfold quotient_end, shr. change (2 ^ 31) with 2147483648.
  pose proof (Z.div_mod quotient 2147483648 ltac:(lia)) as Eq. pose proof (Z.mod_pos_bound quotient 2147483648 ltac:(lia)) as M.
  set (n := quotient / 2147483648) in *. set (f := quotient mod 2147483648) in *. clearbody n f.
  exists (terms pairs - n * Q). rewrite !app_length, map_length. cbn [length]. split; [lia|]. split; [lia|].
  assert (0 <= n <= 512) by lia. split; [|split; [|split]].
  - apply Forall_app. split; [exact L2|]. constructor; [unfold MODULUS_BITS; change (2 ^ 30) with 1073741824; lia|constructor].
  - rewrite dot_app by (rewrite map_length; exact L1). cbn [dot].
    rewrite L4, (cut_cong E limbs ltac:(lia)). exists 0. ring.
  - exists (- n). ring.
  - rewrite Z.sub_0_r, Eq in L5.
    assert (0 <= f * Q <= 2147483647 * Q) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_r; lia]).
    assert (t * Q <= 512 * Q) by (apply Z.mul_le_mono_nonneg_r; lia). lia.
Qed.

(* avx2.rs: combine. All columns of a piece side by side, then the halves of their sums; the sums
   are added piece by piece here. *)
Fixpoint row_step (f : Z) (row sums : list Z) : list Z :=
  match row, sums with entry :: row, sum :: sums => sum_step sum f entry :: row_step f row sums | _, _ => [] end.
Fixpoint rows_loop (fs : list Z) (rows : list (list Z)) (sums : list Z) : list Z :=
  match fs, rows with f :: fs, row :: rows => rows_loop fs rows (row_step f row sums) | _, _ => sums end.
Fixpoint carry_columns (sums : list Z) (x : Z) (xs : list Z) : list Z :=
  match sums, xs with
  | sum :: sums, next :: xs => let '(x, next) := combine_step x next sum in x :: carry_columns sums next xs
  | _, _ => [x]
  end.
Fixpoint pieces_loop (limbs : nat) (pieces : list (list Z * list (list Z))) (x : list Z) : list Z :=
  match pieces with
  | [] => x
  | (fs, rows) :: pieces => pieces_loop limbs pieces (carry_columns (rows_loop fs rows (repeat 0 limbs)) (hd 0 x) (tl x))
  end.
Definition combine (limbs : nat) (fs : list Z) (rows : list (list Z)) : list Z :=
  firstn limbs (pieces_loop limbs (cuts (length fs) (Z.to_nat TERMS) fs rows) (repeat 0 (S limbs))).

Definition shape (limbs : nat) (rows : list (list Z)) := Forall (fun row => length row = limbs /\ all_below E row) rows.

Lemma row_step_correct f most : 0 <= f < 1073741824 -> 0 <= most -> most + E * 1073741824 <= B -> forall row sums,
  all_below E row -> length row = length sums -> Forall (fun s => 0 <= s <= most) sums ->
  length (row_step f row sums) = length sums /\ Forall (fun s => 0 <= s <= most + E * 1073741824) (row_step f row sums) /\
  in_base E (row_step f row sums) = in_base E sums + f * in_base E row.
Proof.
  intros Hf H0 Hs. induction row as [|e row IH]; intros [|s sums] Hrow El H; try discriminate; cbn [row_step length in_base].
  - split; [reflexivity|]. split; [constructor|lia].
  - inversion Hrow as [|? ? He Hrow']; subst. inversion H as [|? ? Hs' H']; subst. cbn [length] in El.
    destruct (IH sums Hrow' ltac:(lia) H') as (I1 & I2 & I3).
    destruct (sum_step_correct 1073741824 E s f e Hf He ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)) as [-> R].
    split; [rewrite I1; reflexivity|]. split; [constructor; [lia|exact I2]|]. rewrite I3. ring.
Qed.

Lemma rows_loop_correct limbs fs : forall rows sums most, all_below (2 ^ MODULUS_BITS) fs -> length fs = length rows -> shape limbs rows ->
  0 <= most -> most + Z.of_nat (length fs) * (E * 1073741824) < B -> length sums = limbs -> Forall (fun s => 0 <= s <= most) sums ->
  let s := rows_loop fs rows sums in
  length s = limbs /\ Forall (fun s => 0 <= s < B) s /\ in_base E s = in_base E sums + dot E fs rows.
Proof.
  unfold MODULUS_BITS. change (2 ^ 30) with 1073741824.
  induction fs as [|f fs IH]; intros [|row rows] sums most Hf El Hr H0 Hs Ls H; try discriminate; cbv zeta; cbn [rows_loop dot length] in *.
  - split; [exact Ls|]. split; [|lia]. eapply Forall_impl; [|exact H]. cbn beta. intros s R. lia.
  - inversion Hf as [|? ? Hf0 Hf']; subst. inversion Hr as [|? ? [Lr Hrow] Hr']; subst. rewrite Nat2Z.inj_succ, Z.mul_succ_l in Hs.
    assert (0 <= Z.of_nat (length fs) * (E * 1073741824)) by lia.
    destruct (row_step_correct f most Hf0 H0 ltac:(lia) row sums Hrow ltac:(lia) H) as (R1 & R2 & R3).
    destruct (IH rows (row_step f row sums) (most + E * 1073741824) Hf' ltac:(lia) Hr' ltac:(lia) ltac:(lia) ltac:(lia) R2) as (I1 & I2 & I3).
    split; [lia|]. split; [exact I2|]. rewrite I3, R3. ring.
Qed.

(* What a piece adds to a column at most. *)
Notation HALVES := 68987912192.
Lemma carry_columns_correct most : 0 <= most -> most + HALVES < B -> forall sums x xs, Forall (fun s => 0 <= s < B) sums ->
  length xs = length sums -> 0 <= x <= most + 68719476736 -> Forall (fun s => 0 <= s <= most) xs ->
  let c := carry_columns sums x xs in
  length c = S (length sums) /\ Forall (fun s => 0 <= s <= most + HALVES) c /\
  in_base E c = in_base E (x :: xs) + in_base E sums.
Proof.
  intros H0 Hm. induction sums as [|s sums IH]; intros x [|next xs] Hs El Hx Hxs; try discriminate; cbv zeta; cbn [carry_columns length in_base].
  - split; [reflexivity|]. split; [constructor; [lia|constructor]|lia].
  - inversion Hs as [|? ? Hs0 Hs']; subst. inversion Hxs as [|? ? Hn Hxs']; subst. cbn [length] in El.
    unfold combine_step, add64, shr. cbv zeta. rewrite land_limb. change (2 ^ 28) with E.
    pose proof (Z.div_mod s E ltac:(lia)). pose proof (Z.mod_pos_bound s E ltac:(lia)).
    assert (0 <= s / E < 68719476736) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
    rewrite (Z.mod_small (x + _)), (Z.mod_small (next + _)) by lia.
    destruct (IH (next + s / E) xs Hs' ltac:(lia) ltac:(lia) Hxs') as (I1 & I2 & I3).
    cbn [length in_base]. split; [rewrite I1; reflexivity|]. split; [constructor; [lia|exact I2]|]. rewrite I3. cbn [in_base]. lia.
Qed.

Lemma pieces_loop_correct limbs : forall fuel fs rows x count, all_below (2 ^ MODULUS_BITS) fs -> length fs = length rows ->
  shape limbs rows -> (length fs <= fuel)%nat -> 0 <= count -> count + Z.of_nat (length fs) <= MOST_MODULI + 1 -> length x = S limbs ->
  Forall (fun s => 0 <= s <= count * HALVES) x ->
  let c := pieces_loop limbs (cuts fuel (Z.to_nat TERMS) fs rows) x in
  length c = S limbs /\ Forall (fun s => 0 <= s <= (MOST_MODULI + 1) * HALVES) c /\ in_base E c = in_base E x + dot E fs rows.
Proof.
  set (k := Z.to_nat TERMS). assert (Hk : (0 < k)%nat /\ Z.of_nat k <= 40) by (unfold k, TERMS; lia). clearbody k.
  unfold MOST_MODULI.
  induction fuel as [|fuel IH]; intros fs rows x count Hf El Hr Hfuel H0 Hc Lx Hx; cbv zeta.
  - destruct fs; [|cbn [length] in Hfuel; lia]. cbn [cuts pieces_loop dot length] in *. split; [exact Lx|]. split; [|lia].
    eapply Forall_impl; [|exact Hx]. cbn beta. intros s R. assert (count * HALVES <= (512 + 1) * HALVES) by (apply Z.mul_le_mono_nonneg_r; lia). lia.
  - destruct fs as [|f0 fs'].
    { cbn [cuts pieces_loop dot length] in *. split; [exact Lx|]. split; [|lia].
      eapply Forall_impl; [|exact Hx]. cbn beta. intros s R. assert (count * HALVES <= (512 + 1) * HALVES) by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
    set (fs := f0 :: fs') in *. assert (L : (1 <= length fs)%nat) by (unfold fs; cbn [length]; lia).
    assert (Ec : cuts (S fuel) k fs rows = (firstn k fs, firstn k rows) :: cuts fuel k (skipn k fs) (skipn k rows)) by reflexivity.
    rewrite Ec. cbn [pieces_loop]. clear Ec. clearbody fs. clear f0 fs'.
    pose proof (firstn_length k fs). pose proof (firstn_length k rows). pose proof (skipn_length k fs). pose proof (skipn_length k rows).
    assert (Hr1 : shape limbs (firstn k rows) /\ shape limbs (skipn k rows)).
    { unfold shape in *. rewrite <- (firstn_skipn k rows) in Hr. apply Forall_app in Hr. exact Hr. }
    destruct Hr1 as [Hr1 Hr2].
    assert (M : Z.of_nat (length (firstn k fs)) * (E * 1073741824) <= 40 * (E * 1073741824)) by (apply Z.mul_le_mono_nonneg_r; lia).
    assert (Z0 : Forall (fun s => 0 <= s <= 0) (repeat 0 limbs)) by (apply Forall_forall; intros s Hs; apply repeat_spec in Hs; lia).
    destruct (rows_loop_correct limbs (firstn k fs) (firstn k rows) (repeat 0 limbs) 0 (below_firstn _ k fs Hf) ltac:(lia) Hr1
      ltac:(lia) ltac:(lia) (repeat_length _ _) Z0) as (S1 & S2 & S3).
    set (sums := rows_loop _ _ _) in *. rewrite in_base_zeros, Z.add_0_l in S3.
    destruct x as [|x0 xs]; [discriminate|]. cbn [hd tl]. pose proof (Forall_inv Hx) as Hx0. pose proof (Forall_inv_tail Hx) as Hxs. cbn beta in Hx0. cbn [length] in Lx.
    assert (count * HALVES <= 512 * HALVES) by (apply Z.mul_le_mono_nonneg_r; lia).
    destruct (carry_columns_correct (count * HALVES) ltac:(lia) ltac:(lia) sums x0 xs S2 ltac:(lia) ltac:(lia) Hxs) as (C1 & C2 & C3).
    set (c := carry_columns sums x0 xs) in *.
    replace (count * HALVES + HALVES) with ((count + 1) * HALVES) in C2 by ring.
    destruct (IH (skipn k fs) (skipn k rows) c (count + 1) (below_skipn _ k fs Hf) ltac:(lia) Hr2 ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) C2) as (I1 & I2 & I3).
    split; [lia|]. split; [exact I2|]. rewrite I3, C3, S3. rewrite <- (firstn_skipn k fs) at 3. rewrite <- (firstn_skipn k rows) at 3.
    rewrite dot_app by lia. cbn [in_base]. lia.
Qed.

(* rns/convert/avx2.rs: combine, sums. No sum leaves its lane, also with carries; the columns are
   worth the sum of all factors times their rows, modulo 2^28^limbs. *)
Theorem combine_correct limbs fs rows : all_below (2 ^ MODULUS_BITS) fs -> length fs = length rows ->
  Z.of_nat (length fs) <= MOST_MODULI + 1 -> shape limbs rows ->
  let x := combine limbs fs rows in
  length x = limbs /\ all_below (2 ^ 46) x /\ cong (E ^ Z.of_nat limbs) (in_base E x) (dot E fs rows).
Proof.
  intros Hf El Hc Hr. cbv zeta. unfold combine.
  assert (Z0 : Forall (fun s => 0 <= s <= 0 * HALVES) (repeat 0 (S limbs))) by (apply Forall_forall; intros s Hs; apply repeat_spec in Hs; lia).
  destruct (pieces_loop_correct limbs (length fs) fs rows (repeat 0 (S limbs)) 0 Hf El Hr ltac:(lia) ltac:(lia) ltac:(lia) (repeat_length _ _) Z0) as (L & R & V).
  rewrite in_base_zeros, Z.add_0_l in V. set (c := pieces_loop _ _ _) in *. clearbody c.
  assert (Lf : length (firstn limbs c) = limbs) by (rewrite firstn_length; lia).
  split; [exact Lf|]. split.
  - apply below_firstn. unfold all_below. eapply Forall_impl; [|exact R]. cbn beta. intros s H. unfold MOST_MODULI in H.
    change (2 ^ 46) with 70368744177664. lia.
  - rewrite <- V. rewrite <- (firstn_skipn limbs c) at 2. rewrite in_base_app, Lf.
    exists (- in_base E (skipn limbs c)). ring.
Qed.

(* avx2.rs: settle. *)
Fixpoint settle_loop (l product : list Z) (carry borrow : Z) : list Z * Z :=
  match l, product with
  | limb :: l, x :: product => let '(carry, limb, borrow) := settled limb x carry borrow in
    let '(l, borrow) := settle_loop l product carry borrow in (limb :: l, borrow)
  | _, _ => ([], borrow)
  end.
Fixpoint subtract_loop (fits : Z) (l product : list Z) (borrow : Z) : list Z :=
  match l, product with
  | limb :: l, x :: product => let '(borrow, limb) := subtracted fits limb x borrow in limb :: subtract_loop fits l product borrow
  | _, _ => []
  end.
Definition settle (l product : list Z) : list Z :=
  let '(l, borrow) := settle_loop l product 0 0 in subtract_loop (fits borrow) l product 0.

Lemma settle_loop_correct l : forall product carry borrow, all_below (2 ^ 46) l -> all_below E product -> length product = length l ->
  0 <= carry < 2 ^ 36 -> 0 <= borrow <= 1 -> let '(s, borrow') := settle_loop l product carry borrow in
  length s = length l /\ all_below E s /\ 0 <= borrow' <= 1 /\
  (exists h, in_base E s + E ^ Z.of_nat (length l) * h = in_base E l + carry) /\
  exists rest, 0 <= rest < E ^ Z.of_nat (length l) /\
    in_base E s - in_base E product - borrow = rest - E ^ Z.of_nat (length l) * borrow'.
Proof.
  change (2 ^ 46) with 70368744177664. change (2 ^ 36) with 68719476736.
  induction l as [|limb l IH]; intros [|x product] carry borrow Hl Hp El Hc Hb; try discriminate; cbn [settle_loop in_base length].
  - rewrite Z.pow_0_r. repeat split; try lia; [constructor|exists carry; lia|exists 0; lia].
  - inversion Hl as [|? ? Hl0 Hl']; subst. inversion Hp as [|? ? Hx Hp']; subst. cbn [length] in El.
    unfold settled, add64. cbv zeta. rewrite (Z.mod_small (limb + carry)) by lia. rewrite (land_limb (limb + carry)).
    pose proof (Z.div_mod (limb + carry) E ltac:(lia)) as P. pose proof (Z.mod_pos_bound (limb + carry) E ltac:(lia)) as R.
    pose proof (difference_correct ((limb + carry) mod E) x borrow R Hx Hb) as A. cbv zeta in A.
    set (next := shr (sub64 _ borrow) 63) in *. set (digit := Z.land _ 268435455) in A. destruct A as (A1 & A2 & A3).
    unfold shr. change (2 ^ 28) with E.
    assert (Rc : 0 <= (limb + carry) / E < 68719476736) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
    specialize (IH product ((limb + carry) / E) next Hl' Hp' ltac:(lia) Rc A1).
    destruct (settle_loop l product ((limb + carry) / E) next) as [s borrow']. destruct IH as (I1 & I2 & I3 & (h & I4) & rest & I5 & I6).
    cbn [length in_base]. rewrite pow_S. set (P0 := E ^ Z.of_nat (length l)) in *.
    split; [rewrite I1; reflexivity|]. split; [constructor; [exact R|exact I2]|]. split; [exact I3|]. split.
    + exists h. lia.
    + exists (digit + E * rest). split; lia.
Qed.

Lemma subtract_loop_correct l : forall product borrow, all_below E l -> all_below E product -> length product = length l ->
  0 <= borrow <= 1 -> subtract_loop 0 l product borrow = l /\
  let s := subtract_loop (B - 1) l product borrow in all_below E s /\
  exists h, in_base E s - E ^ Z.of_nat (length l) * h = in_base E l - in_base E product - borrow /\ length s = length l.
Proof.
  induction l as [|limb l IH]; intros [|x product] borrow Hl Hp El Hb; try discriminate; cbv zeta; cbn [subtract_loop in_base length].
  - split; [reflexivity|]. split; [constructor|]. exists borrow. rewrite Z.pow_0_r. split; [lia|reflexivity].
  - inversion Hl as [|? ? Hl0 Hl']; subst. inversion Hp as [|? ? Hx Hp']; subst. cbn [length] in El.
    unfold subtracted. cbv zeta. pose proof (difference_correct limb x borrow Hl0 Hx Hb) as A. cbv zeta in A.
    set (next := shr (sub64 _ borrow) 63) in *. set (digit := Z.land _ 268435455) in *. destruct A as (A1 & A2 & A3).
    destruct (IH product next Hl' Hp' ltac:(lia) A1) as (I0 & I1 & h & I2 & I3).
    change (blend limb digit 0) with limb. change (blend limb digit (B - 1)) with digit.
    split; [rewrite I0; reflexivity|]. split; [constructor; [exact A2|exact I1]|]. exists h. cbn [in_base length].
    rewrite pow_S. split; [lia|rewrite I3; reflexivity].
Qed.

(* rns/convert/avx2.rs: settle. What is below 2 Q becomes its residue modulo Q, in limbs below
   2^28. *)
Theorem settle_correct limbs l Q z : length l = limbs -> all_below (2 ^ 46) l -> 0 < Q -> 2 * Q <= E ^ Z.of_nat limbs ->
  cong (E ^ Z.of_nat limbs) (in_base E l) z -> 0 <= z < 2 * Q ->
  let s := settle l (cut E limbs Q) in all_below E s /\ in_base E s = z mod Q.
Proof.
  intros Ll Hl HQ Room C Hz. cbv zeta. unfold settle. pose proof (cut_length E limbs Q) as Lq. pose proof (cut_below E limbs ltac:(lia) Q) as Bq.
  pose proof (settle_loop_correct l (cut E limbs Q) 0 0 Hl Bq ltac:(lia) ltac:(lia) ltac:(lia)) as S.
  destruct (settle_loop l (cut E limbs Q) 0 0) as [s borrow]. destruct S as (S1 & S2 & S3 & (h & S4) & rest & S5 & S6).
  rewrite Ll in *. rewrite (cut_value E limbs Q) in S6 by lia.
  pose proof (in_base_range E s ltac:(lia) S2) as R. rewrite S1 in R. set (P := E ^ Z.of_nat limbs) in *.
  assert (T : in_base E s = z).
  { apply cong_small with P; [exact R|lia|]. transitivity (in_base E l); [exists (- h); lia|exact C]. }
  destruct (subtract_loop_correct s (cut E limbs Q) 0 S2 Bq ltac:(lia) ltac:(lia)) as (F0 & F1 & g & F2 & F3).
  rewrite (cut_value E limbs Q), S1 in F2 by (fold P; lia). fold P in F2.
  destruct (Z.eq_dec borrow 1) as [B1|B1].
  - subst borrow. change (fits 1) with 0. rewrite F0. split; [exact S2|]. rewrite T. symmetry. apply Z.mod_small. lia.
  - assert (borrow = 0) by lia. subst borrow. change (fits 0) with (B - 1). split; [exact F1|].
    pose proof (in_base_range E _ ltac:(lia) F1) as RF. rewrite F3, S1 in RF. fold P in RF.
    set (x := in_base E (subtract_loop _ _ _ _)) in *. clearbody x.
    assert (V : x = z - Q) by (apply cong_small with P; [lia|lia|exists g; lia]).
    rewrite V. apply Z.mod_unique with 1; lia.
Qed.

(* avx2.rs: numbers, new. *)
Definition back (neg : Z -> Z) (limbs : nat) (Q : Z) (pairs : list (modulus * Z)) : list Z :=
  settle (combine limbs (factors neg pairs) (rows limbs Q pairs)) (cut E limbs Q).

(* rns/convert/avx2.rs: numbers, new. For every basis and every number below Q: its residues give it
   back. *)
Theorem back_correct neg bits limbs k Q pairs X : 0 < Q < 2 ^ bits -> bits + TWICE <= RADIX * Z.of_nat limbs ->
  whole pairs = Q -> Z.of_nat (length pairs) <= MOST_MODULI -> Forall (odd_member neg k Q) pairs -> 0 <= X < Q ->
  (forall m r, In (m, r) pairs -> cong (q m) X r) ->
  all_below E (back neg limbs Q pairs) /\ in_base E (back neg limbs Q pairs) = X.
Proof.
  intros HQ Hb Wh Hc Hm HX Hr. unfold TWICE, RADIX in Hb.
  assert (Room : 2 * Q <= E ^ Z.of_nat limbs).
  { change E with (2 ^ 28). rewrite <- Z.pow_mul_r by lia.
    assert (0 <= bits) by (destruct (Z_lt_le_dec bits 0) as [N|N]; [rewrite Z.pow_neg_r in HQ by lia; lia|exact N]).
    assert (P : 2 ^ (bits + 1) <= 2 ^ (28 * Z.of_nat limbs)) by (apply Z.pow_le_mono_r; lia).
    rewrite Z.pow_add_r in P by lia. change (2 ^ 1) with 2 in P. lia. }
  assert (Hs : shape limbs (rows limbs Q pairs)).
  { assert (C : forall x, length (cut E limbs x) = limbs /\ all_below E (cut E limbs x)).
    { intros x. split; [apply cut_length|apply cut_below; lia]. }
    unfold rows, shape. apply Forall_app. split; [|constructor; [apply C|constructor]].
    apply Forall_forall. intros row H. apply in_map_iff in H as (p & <- & _). apply C. }
  destruct (scale_correct neg k Q limbs pairs ltac:(lia) Hm Hc) as (z & L1 & L2 & L3 & C & Cz & Rz).
  destruct (combine_correct limbs (factors neg pairs) (rows limbs Q pairs) L3 L1 L2 Hs) as (S1 & S2 & S3).
  rewrite C in S3. unfold back.
  destruct (settle_correct limbs (combine limbs (factors neg pairs) (rows limbs Q pairs)) Q z S1 S2 ltac:(lia) Room S3 Rz) as [R V].
  split; [exact R|]. rewrite V. rewrite <- (Z.mod_small X Q) by lia. apply cong_mod_eq; [lia|].
  rewrite Cz. symmetry. apply (terms_number k Q pairs X); [|exact Wh|exact Hr].
  eapply Forall_impl; [|exact Hm]. intros p [H _]. exact H.
Qed.
