(* crates/arith/src/backend/ifma/blocks.rs: products and squares of any number of blocks, in one lane. All loops are translated: over
   blocks, over five limbs of the multiplier at a time, and over the columns that slide through registers meanwhile. *)
From Arith Require Import words lanes modular unrolled ifma_squares ifma_rows.
From Arith Require ifma.
From Generated Require Import square_blocks ifma_constants.

(* A window of columns in which others stand. *)
Lemma total_window n p w u v : (p + w <= n)%nat -> (forall j, (j < p \/ p + w <= j < n)%nat -> u j = v j) ->
  total n u = total n v + D ^ Z.of_nat p * (total w (part u p) - total w (part v p)).
Proof.
  intros H E. replace n with (p + (w + (n - p - w)))%nat in * by lia. set (r := (n - p - w)%nat) in *. rewrite !total_add.
  rewrite (total_same p u v) by (intros; apply E; lia).
  rewrite (total_same r (fun j => u (p + (w + j))%nat) (fun j => v (p + (w + j))%nat)) by (intros; apply E; lia).
  fold (part u p). fold (part v p). ring.
Qed.
Lemma number_window n k x : number (n + k) x = number n x + D ^ Z.of_nat n * number k (part x n).
Proof. rewrite !number_all, total_add. reflexivity. Qed.
Lemma part_part t p q : forall j, part (part t p) q j = part t (p + q) j.
Proof. intros j. unfold part. f_equal. lia. Qed.
Lemma within_below t p u j : (j < p)%nat -> within t p u j = t j.
Proof. intros H. unfold within. destruct (Nat.ltb_spec j p); [reflexivity|lia]. Qed.
Lemma within_above t p u j : (p <= j)%nat -> within t p u j = u (j - p)%nat.
Proof. intros H. unfold within. destruct (Nat.ltb_spec j p); [lia|reflexivity]. Qed.
Lemma part_within t p u j : part (within t p u) p j = u j.
Proof. unfold part. rewrite within_above by lia. f_equal. lia. Qed.

(* Copies of columns from one place to another, and downwards in the registers. *)
Lemma copied_to n c (f s : nat -> Z) : forall j, fold_left (fun s i => put s (c + i)%nat (f i)) (seq 0 n) s j =
  if ((c <=? j)%nat && (j <? c + n)%nat)%bool then f (j - c)%nat else s j.
Proof.
  induction n as [|n IH]; intros j; [destruct (Nat.leb_spec c j), (Nat.ltb_spec j (c + 0)); cbn; reflexivity || lia|].
  rewrite seq_S, fold_left_app. cbn [fold_left Nat.add]. unfold put at 1. rewrite IH.
  destruct (Nat.eqb_spec j (c + n)), (Nat.leb_spec c j), (Nat.ltb_spec j (c + n)), (Nat.ltb_spec j (c + S n)); subst;
    cbn [andb]; try lia; try reflexivity; try (f_equal; lia).
Qed.
Lemma moved_down n k (s : nat -> Z) : forall j, fold_left (fun s i => put s i (s (i + k)%nat)) (seq 0 n) s j =
  if (j <? n)%nat then s (j + k)%nat else s j.
Proof.
  induction n as [|n IH]; intros j; [reflexivity|]. rewrite seq_S, fold_left_app. cbn [fold_left Nat.add]. unfold put at 1. rewrite !IH.
  destruct (Nat.ltb_spec (n + k) n); [lia|]. destruct (Nat.eqb_spec j n), (Nat.ltb_spec j n), (Nat.ltb_spec j (S n)); subst;
    lia || reflexivity.
Qed.
Lemma steps_five n : steps (5 * n) 5 = map (fun i => 5 * i)%nat (seq 0 n).
Proof.
  unfold steps. replace (5 * n + 5 - 1)%nat with (4 + n * 5)%nat by lia. rewrite Nat.div_add by lia. reflexivity.
Qed.

(* The halves that rows below the n-th put into a column at most: low ones, then high ones. *)
Fixpoint hits (n j : nat) : Z := match n with O => 0 | S n => hits n j + touched n j + touched (S n) j end.
Lemma hits_number n j : hits n j = Z.of_nat (Nat.min n (j + 1) - (j - 9)) + Z.of_nat (Nat.min n j - (j - 10)).
Proof.
  induction n as [|n IH]; cbn [hits]; [lia|]. rewrite IH. unfold touched.
  destruct (Nat.leb_spec n j), (Nat.ltb_spec j (n + 10)), (Nat.leb_spec (S n) j), (Nat.ltb_spec j (S n + 10)); cbn [andb]; lia.
Qed.
Lemma hits_add n k j : hits (n + k) j = hits n j + if (j <? n)%nat then 0 else hits k (j - n).
Proof.
  destruct (Nat.ltb_spec j n) as [H|H]; induction k as [|k IH]; rewrite ?Nat.add_0_r, ?Nat.add_succ_r; cbn [hits]; try lia; rewrite IH;
    unfold touched.
  - destruct (Nat.leb_spec (n + k) j), (Nat.leb_spec (S (n + k)) j); cbn [andb]; lia.
  - replace ((n + k <=? j)%nat) with ((k <=? j - n)%nat) by (destruct (Nat.leb_spec k (j - n)), (Nat.leb_spec (n + k) j);
    lia || reflexivity).
    replace ((S (n + k) <=? j)%nat) with ((S k <=? j - n)%nat) by (destruct (Nat.leb_spec (S k) (j - n)), (Nat.leb_spec (S (n + k)) j);
      lia || reflexivity).
    replace ((j <? n + k + 10)%nat) with ((j - n <? k + 10)%nat) by (destruct (Nat.ltb_spec j (n + k + 10)),
      (Nat.ltb_spec (j - n) (k + 10)); lia || reflexivity).
    replace ((j <? S (n + k) + 10)%nat) with ((j - n <? S k + 10)%nat) by (destruct (Nat.ltb_spec j (S (n + k) + 10)),
      (Nat.ltb_spec (j - n) (S k + 10)); lia || reflexivity).
    lia.
Qed.
Lemma hits_most n j : 0 <= hits n j <= 20.
Proof. rewrite hits_number. lia. Qed.
Lemma hits_far n j : (n + 10 <= j)%nat -> hits n j = 0.
Proof. rewrite hits_number. lia. Qed.

(* Five rows. What is stored after each row stays as it is: later rows do not touch it. *)
Lemma five_rows at_ x y s t nearest cap : between cap s -> cap + 10 * D <= B ->
  let '(s', t') := fold_left (fun '(s, t) J => let s := row J x y s nearest in let t := put t (at_ + J)%nat (s J) in (s,
    t)) (seq 0 5) (s, t) in
  total 15 s' = total 15 s + number 10 x * number 5 y + D ^ 9 * limb (x 9%nat) * (limb nearest - limb (y 0%nat)) /\
  (forall j, s j <= s' j <= s j + D * hits 5 j) /\
  forall j, t' j = if ((at_ <=? j)%nat && (j <? at_ + 5)%nat)%bool then s' (j - at_)%nat else t j.
Proof.
  intros Hs HB.
  match goal with |- context [fold_left ?f _ _] => set (step := f) end.
  assert (Inv : forall n, (n <= 5)%nat -> let '(s', t') := fold_left step (seq 0 n) (s, t) in
    total 15 s' = total 15 s + number 10 x * number n y + (if (n =? 0)%nat then 0 else D ^ 9 * limb (x 9%nat) * (limb nearest - limb
      (y 0%nat))) /\
    (forall j, s j <= s' j <= s j + D * hits n j) /\
    forall j, t' j = if ((at_ <=? j)%nat && (j <? at_ + n)%nat)%bool then s' (j - at_)%nat else t j).
  { induction n as [|n IH]; intros Hn.
    - cbn [seq fold_left]. change (0 =? 0)%nat with true. cbv iota. rewrite number_0. split; [ring|]. split.
      + intros j. pose proof (hits_most 0 j). lia.
      + intros j. destruct (Nat.leb_spec at_ j), (Nat.ltb_spec j (at_ + 0)); cbn [andb]; reflexivity || lia.
    - specialize (IH ltac:(lia)). rewrite seq_S, fold_left_app. cbn [fold_left Nat.add].
      destruct (fold_left step (seq 0 n) (s, t)) as [s1 t1]. destruct IH as (V & G & C). unfold step. cbv beta iota zeta.
      assert (B1 : between (cap + 8 * D) s1).
      { intros j. specialize (Hs j). specialize (G j). assert (hits n j <= 8) by (rewrite hits_number; lia). pose proof (hits_most n j).
        lia. }
      destruct (row_correct n x y s1 nearest (cap + 8 * D) B1 ltac:(lia) ltac:(lia)) as [V2 G2]. set (s2 := row n x y s1 nearest) in *.
      split; [|split].
      + rewrite V2, V, (number_S n y). change (S n =? 0)%nat with false. cbv iota. destruct (Nat.eqb_spec n 0) as [->|];
        [change (D ^ Z.of_nat 0) with 1|]; ring.
      + intros j. specialize (G j). specialize (G2 j). cbn [hits]. lia.
      + intros j. unfold put. rewrite C. destruct (Nat.eqb_spec j (at_ + n)) as [->|N].
        * destruct (Nat.leb_spec at_ (at_ + n)), (Nat.ltb_spec (at_ + n) (at_ + S n)); cbn [andb]; try lia. f_equal. lia.
        * destruct (Nat.leb_spec at_ j), (Nat.ltb_spec j (at_ + n)), (Nat.ltb_spec j (at_ + S n)); cbn [andb]; try lia; try reflexivity.
          specialize (G2 (j - at_)%nat). unfold touched in G2. destruct (Nat.leb_spec n (j - at_)), (Nat.leb_spec (S n) (j - at_));
            cbn [andb] in G2; lia. }
  exact (Inv 5%nat (le_n _)).
Qed.

(* What columns start from: from valid on, elsewhere. *)
Definition incoming (valid : nat) (t start : nat -> Z) : nat -> Z := fun j => if (j <? valid)%nat then t j else start j.
(* ifma/blocks.rs: multiply_block. The columns grow by the product of a block and all limbs of the multiplier, in which the block's highest
   limb meets the nearest digit first; by at most twenty halves each. *)
Theorem block_correct n v t x y nearest start cap : (1 <= n)%nat -> v <> 1%nat -> let length := (5 * n)%nat in let valid := (5 * v)%nat in
  let old := incoming valid t start in (forall j, (j < length + 10)%nat -> 0 <= old j <= cap) -> cap + 30 * D <= B ->
  let t' := multiply_block length valid t x y nearest start in
  total (length + 10) t' = total (length + 10) old + number 10 x * number length y +
    D ^ 9 * limb (x 9%nat) * (limb nearest - limb (y 0%nat)) /\
  (forall j, (j < length + 10)%nat -> old j <= t' j <= old j + 20 * D) /\ forall j, (length + 10 <= j)%nat -> t' j = t j.
Proof.
  intros Hn Hv length valid old Hold HB. cbv zeta. unfold multiply_block. cbv zeta. pose proof (steps_five n) as Five.
    fold length in Five. rewrite Five. clear Five.
  change (5 - 0)%nat with 5%nat. change (10 - 0)%nat with 10%nat.
  set (first := fold_left _ (seq 0 10) (fun _ => 0)).
  match goal with |- context [fold_left ?f (map _ (seq 0 n)) _] => set (step := f) end.
  assert (First : forall j, first j = if (j <? 10)%nat then old j else 0).
  { intros j. unfold first. rewrite (copied 10). destruct (Nat.ltb_spec j 10); [|reflexivity]. unfold old, incoming.
    destruct (Nat.leb_spec 10 valid), (Nat.ltb_spec j valid); unfold valid in *; try lia; reflexivity. }
  set (N := (length + 10)%nat) in *.
  assert (Inv : forall i, (i <= n)%nat -> let '(s, u) := fold_left step (map (fun i => 5 * i)%nat (seq 0 i)) (first, t) in
    (forall j, (15 <= j)%nat -> s j = 0) /\ (forall j, (5 * i <= j)%nat -> u j = t j) /\
    let V := fun j => if (j <? 5 * i)%nat then u j else if (j <? 5 * i + 10)%nat then s (j - 5 * i)%nat else old j in
    total N V = total N old + number 10 x * number (5 * i) y + (if (i =? 0)%nat then 0 else D ^ 9 * limb (x 9%nat) *
      (limb nearest - limb (y 0%nat))) /\
    forall j, old j <= V j <= old j + D * hits (5 * i) j).
  { induction i as [|i IH]; intros Hi.
    - cbn [seq map fold_left]. split; [intros j Hj; rewrite First; destruct (Nat.ltb_spec j 10); [lia|reflexivity]|]. split; [reflexivity|].
      cbv zeta. change (0 =? 0)%nat with true. cbv iota.
      assert (E : forall j, (if (j <? 5 * 0)%nat then t j else if (j <? 5 * 0 + 10)%nat then first (j - 5 * 0)%nat else old j) = old j).
      { intros j. destruct (Nat.ltb_spec j (5 * 0)); [lia|]. destruct (Nat.ltb_spec j (5 * 0 + 10)); [|reflexivity].
        rewrite First, Nat.sub_0_r. destruct (Nat.ltb_spec j 10); [reflexivity|lia]. }
      split; [rewrite (total_same N _ old) by (intros; apply E); rewrite number_0; ring|].
      intros j. rewrite E. pose proof (hits_most (5 * 0) j). lia.
    - specialize (IH ltac:(lia)). rewrite seq_S, map_app, fold_left_app. cbn [map fold_left Nat.add]. set (at_ := (5 * i)%nat) in *.
      destruct (fold_left step (map _ (seq 0 i)) (first, t)) as [s u]. destruct IH as (I1 & I2 & I3). cbv zeta in I3.
      set (V := fun j => _) in I3. destruct I3 as [IV IG]. unfold step. cbv beta iota zeta.
      set (s0 := fold_left (fun sums J => put sums (10 + J)%nat _) (seq 0 5) s).
      assert (S0 : forall j, s0 j = if (j <? 15)%nat then V (at_ + j)%nat else 0).
      { intros j. unfold s0. rewrite (copied_to 5 10). unfold V.
        destruct (Nat.leb_spec 10 j), (Nat.ltb_spec j (10 + 5)), (Nat.ltb_spec j 15), (Nat.ltb_spec (at_ + j) at_),
          (Nat.ltb_spec (at_ + j) (at_ + 10));
          cbn [andb]; try lia; try (f_equal; lia); try (apply I1; lia).
        unfold part, old, incoming. replace (at_ + 10 + (j - 10))%nat with (at_ + j)%nat by lia.
        destruct (Nat.leb_spec (at_ + 10 + 5) valid), (Nat.ltb_spec (at_ + j) valid); unfold valid, at_ in *; try lia; apply I2; lia. }
      assert (B0 : between (cap + 20 * D) s0).
      { intros j. rewrite S0. destruct (Nat.ltb_spec j 15); [|specialize (Hold 0%nat ltac:(unfold N; lia)); lia].
        specialize (IG (at_ + j)%nat). specialize (Hold (at_ + j)%nat ltac:(unfold N, length, at_; lia)).
          pose proof (hits_most at_ (at_ + j)). lia. }
      match goal with |- context [row _ _ _ _ ?n] => set (near := n) end.
      pose proof (five_rows at_ x (part y at_) s0 u near _ B0 ltac:(lia)) as R.
      destruct (fold_left _ (seq 0 5) (s0, u)) as [s5 u5]. destruct R as (R1 & R2 & R3).
      set (s6 := fold_left _ (seq 0 10) s5).
      assert (S6 : forall j, s6 j = if (j <? 10)%nat then s5 (j + 5)%nat else s5 j) by (intros j; unfold s6; rewrite (moved_down 10);
        reflexivity).
      assert (Above : forall j, (15 <= j)%nat -> s5 j = 0).
      { intros j Hj. specialize (R2 j). rewrite S0, hits_far in R2 by lia. destruct (Nat.ltb_spec j 15); lia. }
      assert (E : forall j, (if (j <? 5 * S i)%nat then u5 j else if (j <? 5 * S i + 10)%nat then s6 (j - 5 * S i)%nat else old j) =
        if ((at_ <=? j)%nat && (j <? at_ + 15)%nat)%bool then s5 (j - at_)%nat else V j).
      { intros j. rewrite R3, S6. replace (5 * S i)%nat with (at_ + 5)%nat by (unfold at_; lia). unfold V.
        replace (at_ + 5 + 10)%nat with (at_ + 15)%nat by lia.
        destruct (Nat.leb_spec at_ j), (Nat.ltb_spec j (at_ + 5)), (Nat.ltb_spec j (at_ + 15)), (Nat.ltb_spec j at_); cbn [andb];
          try lia; try reflexivity.
        - destruct (Nat.ltb_spec (j - (at_ + 5)) 10); [f_equal|]; lia.
        - destruct (Nat.ltb_spec j (at_ + 10)); [lia|reflexivity]. }
      split; [intros j Hj; rewrite S6; destruct (Nat.ltb_spec j 10); [lia|apply Above, Hj]|].
      split; [intros j Hj; rewrite R3; destruct (Nat.leb_spec at_ j), (Nat.ltb_spec j (at_ + 5)); cbn [andb]; unfold at_ in *; try lia;
        apply I2; lia|].
      cbv zeta. split.
      + rewrite (total_same N _ _ (fun j _ => E j)).
        rewrite (total_window N at_ 15 _ V); [|unfold N, length, at_; lia|].
        2:{ intros j Hj. destruct (Nat.leb_spec at_ j), (Nat.ltb_spec j (at_ + 15)); cbn [andb]; lia || reflexivity. }
        rewrite (total_same 15 (part _ at_) s5), (total_same 15 (part V at_) s0).
        2:{ intros j Hj. rewrite S0. destruct (Nat.ltb_spec j 15); [reflexivity|lia]. }
        2:{ intros j Hj. unfold part. destruct (Nat.leb_spec at_ (at_ + j)), (Nat.ltb_spec (at_ + j) (at_ + 15)); cbn [andb]; try lia.
          f_equal. lia. }
        rewrite IV, R1. replace (5 * S i)%nat with (at_ + 5)%nat by (unfold at_; lia). rewrite number_window.
          change (S i =? 0)%nat with false. cbv iota.
        unfold near. destruct (Nat.eqb_spec i 0) as [->|Ni].
        * change at_ with 0%nat. change (0 =? 0)%nat with true. cbv iota. change (D ^ Z.of_nat 0) with 1.
          change (part y 0 0%nat) with (y 0%nat). ring.
        * replace (at_ =? 0)%nat with false by (symmetry; apply Nat.eqb_neq; unfold at_; lia). ring.
      + intros j. rewrite E. replace (5 * S i)%nat with (at_ + 5)%nat by (unfold at_; lia). rewrite hits_add.
        pose proof (hits_most 5 (j - at_)) as H5. specialize (IG j).
        destruct (Nat.leb_spec at_ j), (Nat.ltb_spec j (at_ + 15)), (Nat.ltb_spec j at_); cbn [andb]; try lia.
        specialize (R2 (j - at_)%nat). rewrite S0 in R2. replace (at_ + (j - at_))%nat with j in R2 by lia.
        destruct (Nat.ltb_spec (j - at_) 15); lia. }
  specialize (Inv n (le_n _)). destruct (fold_left step _ (first, t)) as [s u]. destruct Inv as (_ & I2 & I3). cbv zeta in I3.
  fold length in I2, I3. set (V := fun j => _) in I3. destruct I3 as [IV IG].
  replace (n =? 0)%nat with false in IV by (symmetry; apply Nat.eqb_neq; lia).
  assert (E : forall j, (j < N)%nat -> fold_left (fun t I => put t (length + I)%nat (s I)) (seq 0 10) u j = V j).
  { intros j Hj. rewrite (copied_to 10 length). unfold V. fold N. destruct (Nat.leb_spec length j), (Nat.ltb_spec j N),
    (Nat.ltb_spec j length); cbn [andb]; lia || reflexivity. }
  split; [rewrite (total_same N _ V) by exact E; exact IV|]. split.
  - intros j Hj. rewrite E by exact Hj. specialize (IG j). pose proof (hits_most length j). lia.
  - intros j Hj. rewrite (copied_to 10 length). fold N. destruct (Nat.leb_spec length j), (Nat.ltb_spec j N); cbn [andb]; try lia.
    apply I2. unfold N in Hj. lia.
Qed.

(* The same among other columns: V are the columns before, W those after. *)
Definition inside (p w j : nat) : bool := ((p <=? j)%nat && (j <? p + w)%nat)%bool.
Lemma inside_cases p w j : (p <= j < p + w)%nat /\ inside p w j = true \/ (j < p \/ p + w <= j)%nat /\ inside p w j = false.
Proof. unfold inside. destruct (Nat.leb_spec p j), (Nat.ltb_spec j (p + w)); cbn [andb]; (left; split; [lia|reflexivity]) || (right;
  split; [lia|reflexivity]). Qed.
Lemma block_among n p m v u x y nearest start V W cap : (1 <= m)%nat -> v <> 1%nat ->
  let k := (5 * m)%nat in let w := (k + 10)%nat in (p + w <= n)%nat ->
  (forall j, (j < w)%nat -> incoming (5 * v) (part u p) start j = V (p + j)%nat) ->
  (forall j, (p <= j < p + w)%nat -> 0 <= V j <= cap) -> cap + 30 * D <= B ->
  (forall j, (j < n)%nat -> W j = if inside p w j then multiply_block k (5 * v) (part u p) x y nearest start (j - p)%nat else V j) ->
  total n W = total n V + D ^ Z.of_nat p * (number 10 x * number k y + D ^ 9 * limb (x 9%nat) * (limb nearest - limb (y 0%nat))) /\
  forall j, (j < n)%nat -> V j <= W j <= V j + 20 * D.
Proof.
  intros Hm Hv k w Hw Old HV HB HW.
  destruct (block_correct m v (part u p) x y nearest start cap Hm Hv) as (R1 & R2 & _); [|exact HB|].
  { intros j Hj. fold k w in Hj. rewrite Old by exact Hj. apply HV. lia. }
  fold k w in R1, R2. split.
  - rewrite (total_window n p w W V Hw).
    2:{ intros j Hj. rewrite HW by lia. destruct (inside_cases p w j) as [[H _]|[_ ->]]; [lia|reflexivity]. }
    rewrite (total_same w (part V p) _ (fun j Hj => eq_sym (Old j Hj))).
    rewrite (total_same w (part W p) (multiply_block k (5 * v) (part u p) x y nearest start)); [rewrite R1; ring|].
    intros j Hj. unfold part at 1. rewrite HW by lia. destruct (inside_cases p w (p + j)) as [[_ ->]|[H _]]; [f_equal; lia|lia].
  - intros j Hj. rewrite HW by exact Hj. destruct (inside_cases p w j) as [[H ->]|[_ ->]]; [|lia].
    specialize (R2 (j - p)%nat ltac:(lia)). rewrite Old in R2 by lia. replace (p + (j - p))%nat with j in R2 by lia. exact R2.
Qed.

(* The same where all columns of the block are valid. *)
Lemma block_within n p m v u x y nearest start cap : (1 <= m)%nat -> let k := (5 * m)%nat in let w := (k + 10)%nat in
  (p + w <= n)%nat -> (w <= 5 * v)%nat -> (forall j, (p <= j < p + w)%nat -> 0 <= u j <= cap) -> cap + 30 * D <= B ->
  let t := within u p (multiply_block k (5 * v) (part u p) x y nearest start) in
  total n t = total n u + D ^ Z.of_nat p * (number 10 x * number k y + D ^ 9 * limb (x 9%nat) * (limb nearest - limb (y 0%nat))) /\
  forall j, (j < n)%nat -> u j <= t j <= u j + 20 * D.
Proof.
  intros Hm k w Hw Hv Hu HB t.
  assert (Old : forall j, (j < w)%nat -> incoming (5 * v) (part u p) start j = u (p + j)%nat).
  { intros j Hj. unfold incoming, part. destruct (Nat.ltb_spec j (5 * v)); [reflexivity|lia]. }
  apply (block_among n p m v u x y nearest start u t cap Hm ltac:(unfold w, k in *; lia) Hw Old Hu HB).
  intros j Hj. fold k w. unfold t. destruct (inside_cases p w j) as [[H ->]|[H ->]]; [apply within_above; lia|].
  destruct (Nat.ltb_spec j p); [apply within_below; lia|]. rewrite within_above by lia.
  destruct (block_correct m v (part u p) x y nearest start cap Hm ltac:(unfold w, k in *; lia)) as (_ & _ & R); [|exact HB|].
  - fold k w. intros i Hi. rewrite Old by exact Hi. apply Hu. lia.
  - fold k w in R. rewrite R by lia. unfold part. f_equal. lia.
Qed.

(* Blocks of the first factor, one after the other. The columns that no block has reached yet start as start says. *)
Definition reached (k p : nat) := if (p =? 0)%nat then 0%nat else (10 * p + k)%nat.
Lemma multiply_exact m blocks t a b start cap : (2 <= m)%nat -> let k := (5 * m)%nat in let n := (10 * blocks +
  k)%nat in (1 <= blocks)%nat ->
  (forall j, (j < n)%nat -> 0 <= start j <= cap) -> cap + (20 * Z.of_nat blocks + 10) * D <= B ->
  let t' := multiply k blocks t a b start in
  total n t' = total n start + number (10 * blocks) a * number k b /\
  forall j, (j < n)%nat -> start j <= t' j <= start j + 20 * Z.of_nat blocks * D.
Proof.
  intros Hm k n Hb Hs HB. cbv zeta. unfold multiply. cbv zeta. rewrite Nat.sub_0_r.
  match goal with |- context [fold_left ?f _ _] => set (step := f) end.
  assert (Inv : forall p, (p <= blocks)%nat -> let u := fold_left step (seq 0 p) t in let V := incoming (reached k p) u start in
    total n V = total n start + number (10 * p) a * number k b /\
    forall j, (j < n)%nat -> start j <= V j <= start j + 20 * Z.of_nat p * D).
  { induction p as [|p IH]; intros Hp; cbv zeta.
    - cbn [seq fold_left]. rewrite Nat.mul_0_r, number_0. split; [|intros j Hj; change (incoming (reached k 0) t start j) with (start j);
      lia].
      rewrite (total_same n _ start) by reflexivity. ring.
    - specialize (IH ltac:(lia)). cbv zeta in IH. rewrite seq_S, fold_left_app. cbn [fold_left Nat.add].
      set (u := fold_left step (seq 0 p) t) in *.
      set (V := incoming (reached k p) u start) in *. destruct IH as [IV IG]. unfold step. cbv beta zeta.
      replace (p * 10)%nat with (10 * p)%nat by lia. set (at_ := (10 * p)%nat) in *.
      assert (F : exists v, v <> 1%nat /\ (if (p =? 0)%nat then 0 else k)%nat = (5 * v)%nat) by (destruct (p =? 0)%nat;
        [exists 0%nat|exists m]; lia).
      destruct F as (v & Hv & Fv). rewrite Fv.
      destruct (block_among n at_ m v u (part a at_) b (b 0%nat) (part start at_) V
        (incoming (reached k (S p)) (within u at_ (multiply_block k (5 * v) (part u at_) (part a at_) b (b 0%nat) (part start at_))) start)
        (cap + 20 * Z.of_nat p * D)) as [R1 R2]; [lia|exact Hv|unfold n, k, at_; lia|..|].
      + intros j _. rewrite <- Fv. unfold V, incoming, reached, part. fold at_. destruct (Nat.eqb_spec p 0) as [->|]; [reflexivity|].
        destruct (Nat.ltb_spec j k), (Nat.ltb_spec (at_ + j) (at_ + k)); lia || reflexivity.
      + fold k. intros j Hj. specialize (Hs j ltac:(unfold n, at_ in *; lia)). specialize (IG j ltac:(unfold n, at_ in *; lia)). lia.
      + lia.
      + fold k. intros j Hj. unfold incoming at 1, reached. change (S p =? 0)%nat with false. cbv iota.
        replace (10 * S p + k)%nat with (at_ + (k + 10))%nat by (unfold at_; lia).
        destruct (inside_cases at_ (k + 10) j) as [[H ->]|[H ->]].
        * destruct (Nat.ltb_spec j (at_ + (k + 10))); [apply within_above; lia|lia].
        * unfold V, incoming, reached. fold at_. destruct (Nat.ltb_spec j (at_ + (k + 10))); [rewrite within_below by lia|];
            (destruct (Nat.eqb_spec p 0) as [->|]; [unfold at_ in *; try lia; reflexivity|]); destruct (Nat.ltb_spec j (at_ + k));
              lia || reflexivity.
      + fold k in R1. split; [rewrite R1, IV; replace (10 * S p)%nat with (at_ + 10)%nat by (unfold at_; lia); rewrite number_window;
        ring|].
        intros j Hj. specialize (R2 j Hj). specialize (IG j Hj). lia. }
  specialize (Inv blocks (le_n _)). cbv zeta in Inv. destruct Inv as [IV IG].
  assert (E : forall j, (j < n)%nat -> incoming (reached k blocks) (fold_left step (seq 0 blocks) t) start j =
    fold_left step (seq 0 blocks) t j).
  { intros j Hj. unfold incoming, reached. destruct (Nat.eqb_spec blocks 0); [lia|]. fold n.
    destruct (Nat.ltb_spec j n); [reflexivity|lia]. }
  split; [rewrite <- IV; apply total_same; intros; symmetry; apply E; assumption|]. intros j Hj. rewrite <- E by exact Hj. apply IG, Hj.
Qed.

Lemma multiply_add_exact m blocks t a b cap : (2 <= m)%nat -> let k := (5 * m)%nat in let n := (10 * blocks + k)%nat in (1 <= blocks)%nat ->
  (forall j, (j < n)%nat -> 0 <= t j <= cap) -> cap + (20 * Z.of_nat blocks + 10) * D <= B ->
  let t' := multiply_add k blocks n t a b in
  total n t' = total n t + number (10 * blocks) a * number k b /\
  forall j, (j < n)%nat -> t j <= t' j <= t j + 20 * Z.of_nat blocks * D.
Proof.
  intros Hm k n Hb Hs HB. cbv zeta. unfold multiply_add. cbv zeta. rewrite Nat.sub_0_r.
  match goal with |- context [fold_left ?f _ _] => set (step := f) end.
  assert (Inv : forall p, (p <= blocks)%nat -> let u := fold_left step (seq 0 p) t in
    total n u = total n t + number (10 * p) a * number k b /\
    forall j, (j < n)%nat -> t j <= u j <= t j + 20 * Z.of_nat p * D).
  { induction p as [|p IH]; intros Hp; cbv zeta.
    - cbn [seq fold_left]. rewrite Nat.mul_0_r, number_0. split; [ring|intros j Hj; lia].
    - specialize (IH ltac:(lia)). cbv zeta in IH. rewrite seq_S, fold_left_app. cbn [fold_left Nat.add].
      set (u := fold_left step (seq 0 p) t) in *.
      destruct IH as [IV IG]. unfold step. cbv beta zeta. replace (p * 10)%nat with (10 * p)%nat by lia. set (at_ := (10 * p)%nat) in *.
      assert (Fv : n = (5 * (2 * blocks + m))%nat) by (unfold n, k; lia).
      replace (multiply_block k n) with (multiply_block k (5 * (2 * blocks + m))) by (rewrite <- Fv; reflexivity).
      destruct (block_within n at_ m (2 * blocks + m) u (part a at_) b (b 0%nat) (fun _ => 0) (cap + 20 * Z.of_nat p * D)) as [R1 R2];
        [lia|unfold n, k, at_; lia|fold k; lia| |lia|].
      + fold k. intros j Hj. specialize (Hs j ltac:(unfold n, at_ in *; lia)). specialize (IG j ltac:(unfold n, at_ in *; lia)). lia.
      + fold k in R1, R2. split; [rewrite R1, IV; replace (10 * S p)%nat with (at_ + 10)%nat by (unfold at_; lia); rewrite number_window;
        ring|].
        intros j Hj. specialize (R2 j Hj). specialize (IG j Hj). lia. }
  exact (Inv blocks (le_n _)).
Qed.

(* The same for a part of the multiplier that differs from block to block. *)
Lemma slices_added blocks (skipped m : nat -> nat) (f : (nat -> Z) -> nat -> nat -> Z) t a b cap : let k := (10 * blocks)%nat in
  (forall u p, (p < blocks)%nat -> f u p = within u (10 * p + skipped p) (multiply_block (5 * m p) (2 * k) (part u (10 * p + skipped p))
    (part a (10 * p)) (part b (skipped p)) (part b (skipped p) 0%nat) (fun _ => 0))) ->
  (forall p, (p < blocks)%nat -> (1 <= m p /\ skipped p + 5 * m p <= k)%nat) ->
  (forall j, (j < 2 * k)%nat -> 0 <= t j <= cap) -> cap + (20 * Z.of_nat blocks + 10) * D <= B ->
  let t' := fold_left f (seq 0 blocks) t in
  total (2 * k) t' = total (2 * k) t + gather (seq 0 blocks) (fun p => D ^ Z.of_nat (10 * p) *
    (number 10 (part a (10 * p)) * (D ^ Z.of_nat (skipped p) * number (5 * m p) (part b (skipped p))))) /\
  forall j, (j < 2 * k)%nat -> t j <= t' j <= t j + 20 * Z.of_nat blocks * D.
Proof.
  intros k Hf Hm Hs HB. cbv zeta.
  assert (Inv : forall q, (q <= blocks)%nat -> let u := fold_left f (seq 0 q) t in
    total (2 * k) u = total (2 * k) t + gather (seq 0 q) (fun p => D ^ Z.of_nat (10 * p) *
      (number 10 (part a (10 * p)) * (D ^ Z.of_nat (skipped p) * number (5 * m p) (part b (skipped p))))) /\
    forall j, (j < 2 * k)%nat -> t j <= u j <= t j + 20 * Z.of_nat q * D).
  { induction q as [|q IH]; intros Hq; cbv zeta.
    - cbn [seq fold_left gather fold_right]. split; [ring|intros j Hj; lia].
    - specialize (IH ltac:(lia)). cbv zeta in IH. rewrite gather_snoc, seq_S, fold_left_app. cbn [fold_left Nat.add].
      set (u := fold_left f (seq 0 q) t) in *. destruct IH as [IV IG]. rewrite Hf by lia. specialize (Hm q ltac:(lia)).
      destruct (block_within (2 * k) (10 * q + skipped q) (m q) (4 * blocks) u (part a (10 * q)) (part b (skipped q))
        (part b (skipped q) 0%nat) (fun _ => 0) (cap + 20 * Z.of_nat q * D)) as [R1 R2]; [lia|unfold k in *; lia|unfold k in *; lia| |lia|].
      { intros j Hj. specialize (Hs j ltac:(unfold k in *; lia)). specialize (IG j ltac:(unfold k in *; lia)). lia. }
      replace (5 * (4 * blocks))%nat with (2 * k)%nat in R1, R2 by (unfold k; lia). split.
      + rewrite R1, IV, power_add. ring.
      + intros j Hj. specialize (R2 j Hj). specialize (IG j Hj). lia. }
  exact (Inv blocks (le_n _)).
Qed.
Lemma number_range n x : 0 <= number n x < D ^ Z.of_nat n.
Proof.
  induction n as [|n IH]; [rewrite number_0; change (D ^ Z.of_nat 0) with 1; lia|]. rewrite number_S, power_S. pose proof (low_range (x n)).
  fold (limb (x n)) in H. assert (0 <= D ^ Z.of_nat n * limb (x n) <= D ^ Z.of_nat n * (D - 1)); [|lia].
  split; [apply Z.mul_nonneg_nonneg|apply Z.mul_le_mono_nonneg_l]; lia.
Qed.
Lemma number_blocks n a : number (10 * n) a = gather (seq 0 n) (fun p => D ^ Z.of_nat (10 * p) * number 10 (part a (10 * p))).
Proof.
  induction n as [|n IH]; [apply number_0|]. rewrite gather_snoc, <- IH. replace (10 * S n)%nat with (10 * n + 10)%nat by lia.
    apply number_window.
Qed.
Lemma product_blocks n a c : number (10 * n) a * c = gather (seq 0 n) (fun p => D ^ Z.of_nat (10 * p) * (number 10 (part a (10 * p)) * c)).
Proof. rewrite number_blocks, Z.mul_comm, <- gather_scale. apply gather_same. intros. ring. Qed.
Lemma gather_bound l g most : (forall i, In i l -> 0 <= g i <= most) -> 0 <= gather l g <= Z.of_nat (length l) * most.
Proof.
  induction l as [|i l IH]; intros H; cbn [gather fold_right length]; [lia|]. specialize (H i (or_introl eq_refl)) as Hi.
  specialize (IH (fun j Hj => H j (or_intror Hj))). unfold gather in IH. lia.
Qed.

(* The limbs of twice a number, from one on. *)
Lemma far_part a p j : far (part a p) (if (0 <? p)%nat then a (p - 1)%nat else 0) j = far a 0 (p + j).
Proof.
  unfold far, near, part. f_equal. destruct j as [|j]; cbn [carry_in]; [|rewrite Nat.add_succ_r; reflexivity]. rewrite Nat.add_0_r.
  destruct p as [|p]; [reflexivity|]. cbn [Nat.ltb Nat.leb carry_in]. replace (S p - 1)%nat with p by lia. reflexivity.
Qed.
Lemma twice_number a p n w : (1 <= p)%nat -> (1 <= n)%nat -> (forall j, (j < n)%nat -> limb (w j) = far a 0 (p + j)) ->
  number n w = 2 * number n (part a p) + 2 * limb (a (p - 1)%nat) / D - D ^ Z.of_nat n * (2 * limb (a (p + n - 1)%nat) / D).
Proof.
  intros Hp Hn H. rewrite number_all, (total_same n _ (far (part a p) (a (p - 1)%nat))).
  2:{ intros j Hj. rewrite H by exact Hj. rewrite <- far_part. destruct (Nat.ltb_spec 0 p); [reflexivity|lia]. }
  rewrite doubled. cbn [carry_in]. destruct n as [|n]; [lia|]. cbn [carry_in]. unfold part at 2.
    replace (p + S n - 1)%nat with (p + n)%nat by lia. reflexivity.
Qed.

(* A loop whose state counts down. *)
Lemma counted_down {A : Type} (more : A -> bool) (f : A -> A) (I : nat -> A -> Prop) :
  (forall q s, I (S q) s -> more s = true /\ I q (f s)) -> (forall s, I 0%nat s -> more s = false) ->
  forall q turns s, (q <= turns)%nat -> I q s -> I 0%nat (repeated turns more f s).
Proof.
  intros Step End q. induction q as [|q IH]; intros turns s Ht Hs.
  - destruct turns; cbn [repeated]; [exact Hs|]. rewrite End by exact Hs. exact Hs.
  - destruct turns as [|turns]; [lia|]. cbn [repeated]. destruct (Step q s Hs) as [M N]. rewrite M. apply IH; [lia|exact N].
Qed.

(* A square from its highest block down. What the carry of its highest limb would bring is nothing if twice the number fits. *)
Lemma square_exact blocks turns t twice a start cap : (1 <= blocks)%nat -> (blocks <= turns)%nat -> let k := (10 * blocks)%nat in
  between cap start -> cap + (20 * Z.of_nat blocks + 80) * D <= B -> let top := 2 * limb (a (k - 1)%nat) / D in
  let '(t', twice') := square turns k (2 * k) t twice a start in
  total (2 * k) t' = total (2 * k) start + number k a * number k a - D ^ Z.of_nat k * top * number (k - 1) a /\
  (forall j, (j < 2 * k)%nat -> 0 <= t' j <= cap + (20 * Z.of_nat blocks + 40) * D) /\
  number k twice' = 2 * number k a - D ^ Z.of_nat k * top.
Proof.
  intros Hb Ht k Hs HB top. unfold square. cbv zeta.
  match goal with |- context [repeated turns ?m ?f _] => set (more := m); set (step := f) end.
  set (I := fun q '(u, w, above) => (q <= blocks)%nat /\ above = (10 * q)%nat /\ let len := (k - above)%nat in
    total (2 * len) (part u (2 * above)) = total (2 * len) (part start (2 * above)) +
      number len (part a above) * number len (part a above) -
      D ^ Z.of_nat len * top * number (len - 1) (part a above) /\
    (forall j, (2 * above <= j < 2 * k)%nat -> 0 <= u j <= cap + (20 * Z.of_nat (blocks - q) + 40) * D) /\
    forall j, (above <= j < k)%nat -> limb (w j) = far a 0 j).
  assert (End : I 0%nat (repeated turns more step (t, twice, k))).
  { apply (counted_down more step I) with (q := blocks); [|intros [[u w] above] (_ & -> & _); reflexivity|exact Ht|].
    2:{ unfold I. split; [lia|]. split; [reflexivity|]. rewrite Nat.sub_diag. cbv zeta. cbn [Nat.mul Nat.sub Nat.add]. rewrite !number_0.
        split; [rewrite (total_same 0 _ (part start (k + (k + 0)))) by lia; ring|]. split; intros j Hj; lia. }
    intros q [[u w] above] (Hq & -> & I1 & I2 & I3). split; [reflexivity|].
    unfold step. cbv beta iota zeta. replace (10 * S q - 10)%nat with (10 * q)%nat by lia. set (first := (10 * q)%nat).
    replace (10 * S q)%nat with (first + 10)%nat in * by (unfold first; lia). set (above := (first + 10)%nat) in *.
    match goal with |- context [triangle _ _ ?x' ?b ?s] => set (x := x'); set (below := b);
      pose proof (triangle_exact (part u (2 * first)) (part w first) x below s cap ltac:(intros j; apply Hs) ltac:(lia)) as T end.
    destruct (triangle _ _ x below _) as [sq db]. destruct T as (T1 & T2 & T3 & T4 & T5).
    set (u1 := within u (2 * first) sq). set (w1 := within w first db). set (len := (k - above)%nat) in *. cbv zeta in I1.
    assert (Len : (k - first = 10 + len)%nat) by (unfold len, above, k, first in *; lia).
    assert (W1 : forall j, (first <= j < k)%nat -> limb (w1 j) = far a 0 j).
    { intros j Hj. unfold w1. rewrite within_above by lia. destruct (Nat.ltb_spec (j - first) 10).
      - rewrite T4 by lia. unfold x, below. rewrite far_part. f_equal. lia.
      - rewrite T5 by lia. unfold part. rewrite <- I3 by lia. do 2 f_equal. lia. }
    assert (U1 : forall j, (2 * first <= j < 2 * k)%nat -> 0 <= u1 j <= cap + (20 * Z.of_nat (blocks - S q) + 40) * D \/
      (j < 2 * above)%nat /\ 0 <= u1 j <= cap + 60 * D).
    { intros j Hj. unfold u1. rewrite within_above by lia. destruct (Nat.ltb_spec (j - 2 * first) 20); [right; split; [lia|apply T2; lia]|].
      rewrite T3 by lia. unfold part. replace (2 * first + (j - 2 * first))%nat with j by lia. left. apply I2. lia. }
    set (c := 2 * limb (a (above - 1)%nat) / D).
    assert (X9 : x 9%nat = a (above - 1)%nat) by (unfold x, part, above; f_equal; lia).
    assert (V1 : total (2 * (k - first)) (part u1 (2 * first)) = total (2 * (k - first)) (part start (2 * first)) +
      (number 10 x * number 10 x - D ^ 10 * c * number 9 x) +
      D ^ 20 * (number len (part a above) * number len (part a above) - D ^ Z.of_nat len * top * number (len - 1) (part a above))).
    { rewrite Len. replace (2 * (10 + len))%nat with (20 + 2 * len)%nat by lia. rewrite !total_add.
      rewrite (total_same 20 (part u1 (2 * first)) sq) by (intros; apply part_within).
      rewrite (total_same (2 * len) (fun j => part u1 (2 * first) (20 + j)%nat) (part u (2 * above))).
      2:{ intros j Hj. unfold u1. rewrite part_within, T3 by lia. unfold part, above. f_equal. lia. }
      rewrite (total_same (2 * len) (fun j => part start (2 * first) (20 + j)%nat) (part start (2 * above))).
      2:{ intros j Hj. unfold part, above. f_equal. lia. }
      rewrite T1, I1. unfold squared. change (10 - 1)%nat with 9%nat. cbn [carry_in]. rewrite X9. fold c. change (Z.of_nat 10) with 10.
        change (Z.of_nat 20) with 20. ring. }
    assert (Number : forall r, number (10 + r) x = number 10 x + D ^ 10 * number r (part a above)).
    { intros r. rewrite number_window. change (Z.of_nat 10) with 10. f_equal. f_equal. rewrite !number_all. apply total_same. intros j _.
      f_equal. apply part_part. }
    split; [lia|]. split; [reflexivity|]. rewrite Len. fold x. rewrite Len in V1.
    destruct (Nat.ltb_spec above k) as [Inner|Outer].
    + match goal with |- context [multiply_block _ _ _ _ _ ?n _] => set (nearest := n) end.
      destruct (block_within (2 * k) (2 * first + 10) (2 * (blocks - S q)) (4 * blocks) u1 x (part w1 above) nearest (fun _ => 0)
        (cap + (20 * Z.of_nat (blocks - S q) + 40) * D)) as [R1 R2];
        [unfold k, above, first in *; lia|unfold k, above, first in *; lia|unfold k, above, first in *;
          lia| |unfold k, above, first in *; lia|].
      { intros j Hj. destruct (U1 j); [unfold k, above, first in *; lia|lia|]. unfold k, above, first in *. lia. }
      replace (5 * (2 * (blocks - S q)))%nat with len in R1, R2 by (unfold len, k, above, first; lia).
      replace (5 * (4 * blocks))%nat with (2 * k)%nat in R1, R2 by (unfold k; lia).
      set (u2 := within u1 (2 * first + 10) _) in *.
      assert (Y : number len (part w1 above) = 2 * number len (part a above) + c - D ^ Z.of_nat len * top).
      { rewrite (twice_number a above len); [|unfold above; lia|unfold len; lia|].
        - unfold top. replace (above + len - 1)%nat with (k - 1)%nat by (unfold len; lia). reflexivity.
        - intros j Hj. unfold part. apply W1. unfold len, above in *. lia. }
      assert (Z1 : limb nearest - limb (part w1 above 0%nat) = - c).
      { unfold part. rewrite Nat.add_0_r, W1 by (unfold above in *; lia). unfold nearest. rewrite near_limb. unfold far, near.
        unfold c. unfold above. replace (first + 10)%nat with (S (first + 9)) by lia. cbn [carry_in].
          replace (S (first + 9) - 1)%nat with (first + 9)%nat by lia. ring. }
      assert (V2 : total (2 * (10 + len)) (part u2 (2 * first)) = total (2 * (10 + len)) (part u1 (2 * first)) +
        D ^ 10 * (number 10 x * (2 * number len (part a above) + c - D ^ Z.of_nat len * top) - D ^ 9 * limb (x 9%nat) * c)).
      { rewrite Y, Z1 in R1. replace (2 * k)%nat with (2 * first + 2 * (10 + len))%nat in R1 by lia. rewrite !total_add in R1.
        rewrite (total_same (2 * first) u2 u1) in R1 by (intros; unfold u2; apply within_below; lia). rewrite power_add in R1.
        fold (part u2 (2 * first)) in R1. fold (part u1 (2 * first)) in R1. change (Z.of_nat 10) with 10 in R1.
        apply (Z.mul_cancel_l _ _ (D ^ Z.of_nat (2 * first))); [apply Z.pow_nonzero; lia|]. lia. }
      split; [|split; [|intros j Hj; apply W1; lia]].
      * rewrite V2, V1. replace (10 + len - 1)%nat with (10 + (len - 1))%nat by (unfold len; lia). rewrite !Number.
        rewrite power_add. change (Z.of_nat 10) with 10. change (D ^ 20) with (D ^ 10 * D ^ 10).
        pose proof (number_S 9 x) as N. change (Z.of_nat 9) with 9 in N. replace (D ^ 9 * limb (x 9%nat)) with
          (number 10 x - number 9 x) by lia. ring.
      * intros j Hj. specialize (R2 j ltac:(lia)). destruct (U1 j); [lia|..]; unfold k, above, first in *; lia.
    + assert (E : len = 0%nat) by (unfold len; lia). rewrite E in *. split; [|split; [|intros j Hj; apply W1; lia]].
      * rewrite V1, !number_0. change (10 + 0)%nat with 10%nat. change (10 - 1)%nat with 9%nat. change (Z.of_nat 10) with 10.
        assert (K : above = k) by (unfold k, above, first in *; lia). unfold c. rewrite K. fold top. ring.
      * intros j Hj. destruct (U1 j); [lia|..]; unfold k, above, first in *; lia. }
  destruct (repeated turns more step (t, twice, k)) as [[u w] above]. destruct End as (_ & -> & I1 & I2 & I3).
  cbn [Nat.mul] in I1, I2, I3. rewrite !Nat.sub_0_r in *. split; [|split].
  - exact I1.
  - intros j Hj. apply I2. lia.
  - assert (Far : forall j, far (part a 0) 0 j = far a 0 j) by (intros j; apply (far_part a 0)).
    rewrite number_all, (total_same k _ (far (part a 0) 0)) by (intros j Hj; rewrite Far; apply I3; lia). rewrite doubled.
    destruct k as [|k'] eqn:K; [unfold k in K; lia|]. cbn [carry_in]. unfold top. replace (S k' - 1)%nat with k' by lia.
      change (part a 0 k') with (a k').
    change (2 * limb 0 / D) with 0. rewrite Z.add_0_r. reflexivity.
Qed.

(* Numbers of limbs that moduli of the largest size take. *)
Definition allowed (blocks : nat) := (1 <= blocks)%nat /\ Z.of_nat (10 * blocks) <= ifma.limbs MOST_BITS.
Lemma few_blocks blocks : allowed blocks -> (1 <= blocks <= 32)%nat.
Proof. intros [H1 H2]. destruct ifma.most_limbs as [H _]. lia. Qed.

(* ifma/blocks.rs: multiply. The start and the product; by at most 2 k halves a column. *)
Theorem multiply_correct blocks t a b start : allowed blocks -> let k := (10 * blocks)%nat in
  (forall j, (j < 2 * k)%nat -> 0 <= start j < 2 * D) -> let t' := multiply k blocks t a b start in
  total (2 * k) t' = total (2 * k) start + number k a * number k b /\
  forall j, (j < 2 * k)%nat -> start j <= t' j <= start j + 2 * Z.of_nat k * D.
Proof.
  intros Ha k Hs. apply few_blocks in Ha. pose proof (multiply_exact (2 * blocks) blocks t a b start (2 * D) ltac:(lia)) as H.
    cbv zeta in H.
  replace (5 * (2 * blocks))%nat with k in H by (unfold k; lia). replace (10 * blocks + k)%nat with (2 * k)%nat in H by (unfold k; lia).
  specialize (H ltac:(lia) ltac:(intros j Hj; specialize (Hs j Hj); lia) ltac:(lia)). destruct H as [H1 H2]. split; [exact H1|].
  intros j Hj. specialize (H2 j Hj). replace (2 * Z.of_nat k) with (20 * Z.of_nat blocks) by (unfold k; lia). exact H2.
Qed.

(* ifma/blocks.rs: multiply_add. What the columns hold, 2 k halves at most beside their start, and the product. *)
Theorem multiply_add_correct blocks t a b : allowed blocks -> let k := (10 * blocks)%nat in
  (forall j, (j < 2 * k)%nat -> 0 <= t j < (2 * Z.of_nat k + 2) * D) -> let t' := multiply_add k blocks (2 * k) t a b in
  total (2 * k) t' = total (2 * k) t + number k a * number k b /\
  forall j, (j < 2 * k)%nat -> t j <= t' j <= t j + 2 * Z.of_nat k * D.
Proof.
  intros Ha k Hs. apply few_blocks in Ha. pose proof (multiply_add_exact (2 * blocks) blocks t a b ((2 * Z.of_nat k +
    2) * D) ltac:(lia)) as H. cbv zeta in H.
  replace (5 * (2 * blocks))%nat with k in H by (unfold k; lia). replace (10 * blocks + k)%nat with (2 * k)%nat in H by (unfold k; lia).
  specialize (H ltac:(lia) ltac:(intros j Hj; specialize (Hs j Hj); lia) ltac:(unfold k; lia)). destruct H as [H1 H2]. split; [exact H1|].
  intros j Hj. specialize (H2 j Hj). replace (2 * Z.of_nat k) with (20 * Z.of_nat blocks) by (unfold k; lia). exact H2.
Qed.

(* ifma/blocks.rs: multiply_below. What the columns hold and the product, but for a multiple of 2^(52 k). *)
Theorem multiply_below_correct blocks t a b : allowed blocks -> let k := (10 * blocks)%nat in
  (forall j, (j < 2 * k)%nat -> 0 <= t j < 2 * D) -> let t' := multiply_below k blocks (2 * k) t a b in
  (exists dropped, 0 <= dropped /\ total (2 * k) t' + D ^ Z.of_nat k * dropped = total (2 * k) t + number k a * number k b) /\
  forall j, (j < 2 * k)%nat -> t j <= t' j <= t j + 2 * Z.of_nat k * D.
Proof.
  intros Ha k Hs. apply few_blocks in Ha. unfold multiply_below. cbv zeta. rewrite Nat.sub_0_r.
  match goal with |- context [fold_left ?f _ _] => set (step := f) end.
  destruct (slices_added blocks (fun _ => 0%nat) (fun p => 2 * (blocks - p))%nat step t a b (2 * D)) as [V G].
  { intros u p Hp. unfold step. replace (p * 10)%nat with (10 * p + 0)%nat by lia. fold k.
    replace (k - (10 * p + 0))%nat with (5 * (2 * (blocks - p)))%nat by (unfold k; lia). rewrite !Nat.add_0_r. reflexivity. }
  { intros p Hp. lia. }
  { fold k. intros j Hj. specialize (Hs j Hj). lia. }
  { lia. }
  fold k in V, G. split; [|intros j Hj; specialize (G j Hj); unfold k; lia].
  exists (gather (seq 0 blocks) (fun p => number 10 (part a (10 * p)) * number (10 * p) (part b (k - 10 * p)))). split.
  - apply (gather_bound _ _ (D ^ 10 * D ^ Z.of_nat k)). intros p Hp. apply in_seq in Hp.
    pose proof (number_range 10 (part a (10 * p))) as R1.
    pose proof (number_range (10 * p) (part b (k - 10 * p))) as R2. change (Z.of_nat 10) with 10 in R1.
    assert (D ^ Z.of_nat (10 * p) <= D ^ Z.of_nat k) by (apply Z.pow_le_mono_r; unfold k; lia).
    split; [apply Z.mul_nonneg_nonneg|apply Z.mul_le_mono_nonneg]; lia.
  - rewrite V, <- gather_scale, <- Z.add_assoc, <- gather_add. change (number k a) with (number (10 * blocks) a).
    rewrite product_blocks. f_equal. apply gather_same.
    intros p Hp. apply in_seq in Hp. change (D ^ Z.of_nat 0) with 1. change (part b 0) with b.
    replace (5 * (2 * (blocks - p)))%nat with (k - 10 * p)%nat by (unfold k; lia).
    assert (Nb : number k b = number (k - 10 * p) b + D ^ Z.of_nat (k - 10 * p) * number (10 * p) (part b (k - 10 * p))).
    { rewrite <- number_window. f_equal. unfold k. lia. }
    assert (Dk : D ^ Z.of_nat k = D ^ Z.of_nat (k - 10 * p) * D ^ Z.of_nat (10 * p)) by (rewrite <- power_add; do 2 f_equal; unfold k; lia).
    rewrite Nb, Dk. ring.
Qed.

(* ifma/blocks.rs: multiply_from. What the columns hold and the product, less products of limbs below a column: what barrett.v allows
   to be left out. *)
Theorem multiply_from_correct blocks t a b from : allowed blocks -> let k := (10 * blocks)%nat in (from <= k)%nat ->
  (forall j, (j < 2 * k)%nat -> 0 <= t j < 2 * D) -> let t' := multiply_from k blocks (2 * k) t a b from in
  (exists dropped, 0 <= dropped <= Z.of_nat blocks * D ^ Z.of_nat (from + 1) /\
    total (2 * k) t' + dropped = total (2 * k) t + number k a * number k b) /\
  forall j, (j < 2 * k)%nat -> t j <= t' j <= t j + 2 * Z.of_nat k * D.
Proof.
  intros Ha k Hfrom Hs. apply few_blocks in Ha. unfold multiply_from. cbv zeta. rewrite Nat.sub_0_r.
  match goal with |- context [fold_left ?f _ _] => set (step := f) end.
  set (e := fun p => ((from - (10 * p + 9)) / 5)%nat).
  assert (He : forall p, (5 * e p <= from - (10 * p + 9))%nat) by (intros p; apply Nat.mul_div_le; lia).
  destruct (slices_added blocks (fun p => 5 * e p)%nat (fun p => 2 * blocks - e p)%nat step t a b (2 * D)) as [V G].
  { intros u p Hp. unfold step. replace (p * 10)%nat with (10 * p)%nat by lia. replace (10 * p + 10 - 1)%nat with (10 * p + 9)%nat by lia.
    fold (e p). replace (e p * 5)%nat with (5 * e p)%nat by lia. specialize (He p).
    replace (k - 5 * e p)%nat with (5 * (2 * blocks - e p))%nat by (unfold k; lia).
    replace (10 * p + k - 5 * (2 * blocks - e p))%nat with (10 * p + 5 * e p)%nat by (unfold k in *; lia). reflexivity. }
  { intros p Hp. specialize (He p). unfold k in *. lia. }
  { fold k. intros j Hj. specialize (Hs j Hj). lia. }
  { lia. }
  fold k in V, G. split; [|intros j Hj; specialize (G j Hj); unfold k; lia].
  exists (gather (seq 0 blocks) (fun p => D ^ Z.of_nat (10 * p) * (number 10 (part a (10 * p)) * number (5 * e p) b))). split.
  - replace (Z.of_nat blocks) with (Z.of_nat (length (seq 0 blocks))) by (rewrite seq_length; reflexivity). apply gather_bound.
    intros p Hp. apply in_seq in Hp. pose proof (number_range 10 (part a (10 * p))) as R1.
    pose proof (number_range (5 * e p) b) as R2. change (Z.of_nat 10) with 10 in R1.
      assert (P : 0 <= D ^ Z.of_nat (10 * p)) by (apply Z.pow_nonneg; lia).
    split; [repeat apply Z.mul_nonneg_nonneg; lia|]. specialize (He p). destruct (Nat.eq_dec (e p) 0) as [->|N].
    + rewrite Nat.mul_0_r, number_0, !Z.mul_0_r. apply Z.pow_nonneg. lia.
    + transitivity (D ^ Z.of_nat (10 * p) * (D ^ 10 * D ^ Z.of_nat (5 * e p))).
      * apply Z.mul_le_mono_nonneg_l; [exact P|]. apply Z.mul_le_mono_nonneg; lia.
      * change (D ^ 10) with (D ^ Z.of_nat 10). rewrite <- !power_add. apply Z.pow_le_mono_r; lia.
  - rewrite V, <- Z.add_assoc, <- gather_add. change (number k a) with (number (10 * blocks) a). rewrite product_blocks. f_equal.
    apply gather_same.
    intros p Hp. apply in_seq in Hp. specialize (He p). replace (5 * (2 * blocks - e p))%nat with (k - 5 * e p)%nat by (unfold k; lia).
    assert (Nb : number k b = number (5 * e p) b + D ^ Z.of_nat (5 * e p) * number (k - 5 * e p) (part b (5 * e p))).
    { rewrite <- number_window. f_equal. unfold k in *. lia. }
    rewrite Nb. ring.
Qed.

(* ifma/blocks.rs: square. The start and the square, and the limbs of twice the number; no column wraps, nor does it when a reduction
   adds 2 k halves and a carry. *)
Theorem square_correct blocks turns t twice a start : allowed blocks -> (blocks <= turns)%nat -> let k := (10 * blocks)%nat in
  between (2 * D) start -> 2 * number k a < D ^ Z.of_nat k -> let '(t', twice') := square turns k (2 * k) t twice a start in
  total (2 * k) t' = total (2 * k) start + number k a * number k a /\
  (forall j, (j < 2 * k)%nat -> 0 <= t' j /\ t' j + (2 * Z.of_nat k + 1) * D < 2 ^ 63) /\
  number k twice' = 2 * number k a.
Proof.
  intros Ha Ht k Hs Most. apply few_blocks in Ha. pose proof (square_exact blocks turns t twice a start
    (2 * D) ltac:(lia) Ht Hs ltac:(lia)) as H.
  cbv zeta in H. fold k in H. assert (Top : 2 * limb (a (k - 1)%nat) / D = 0).
  { replace k with (S (k - 1)) in Most by (unfold k; lia). rewrite number_S, power_S in Most. apply Z.div_small.
    pose proof (low_range (a (k - 1)%nat)) as L.
    fold (limb (a (k - 1)%nat)) in L. split; [lia|]. assert (P : 0 < D ^ Z.of_nat (k - 1)) by (apply Z.pow_pos_nonneg; lia).
    assert (0 <= number (k - 1) a).
    { clear. induction (k - 1)%nat as [|n IH]; [rewrite number_0; lia|]. rewrite number_S. pose proof (low_range (a n)).
      fold (limb (a n)) in H.
      assert (0 <= D ^ Z.of_nat n) by (apply Z.pow_nonneg; lia). assert (0 <= D ^ Z.of_nat n * limb (a n)) by (apply Z.mul_nonneg_nonneg;
        lia). lia. }
    apply (Z.mul_lt_mono_pos_l (D ^ Z.of_nat (k - 1))); [exact P|]. lia. }
  rewrite Top in H. destruct (square turns k (2 * k) t twice a start) as [t' twice']. destruct H as (H1 & H2 & H3). split; [lia|].
    split; [|lia].
  intros j Hj. specialize (H2 j Hj). split; [lia|]. change (2 ^ 63) with (2048 * D). unfold k in *. lia.
Qed.

(* Two blocks: the largest number whose double fits. *)
Lemma two_blocks : allowed 2. Proof. split; [lia|vm_compute; discriminate]. Qed.
Definition most (j : nat) := if (j =? 19)%nat then D / 2 - 1 else D - 1.
Example square_example : let '(t, twice) := square 20 20 40 (fun _ => 7) (fun _ => 7) most (fun _ => 2 * D - 1) in
  total 40 t = total 40 (fun _ => 2 * D - 1) + number 20 most * number 20 most /\
  (forall j, (j < 40)%nat -> 0 <= t j /\ t j + 41 * D < 2 ^ 63) /\ number 20 twice = 2 * number 20 most.
Proof.
  apply (square_correct 2 20 (fun _ => 7) (fun _ => 7) most (fun _ => 2 * D - 1) two_blocks); [lia|intros j; lia|vm_compute; reflexivity].
Qed.
Example products_example : let t := multiply 20 2 (fun _ => 7) most most (fun _ => 2 * D - 1) in
  total 40 (multiply_add 20 2 40 t most most) = total 40 (fun _ => 2 * D - 1) + 2 * (number 20 most * number 20 most).
Proof.
  destruct (multiply_correct 2 (fun _ => 7) most most (fun _ => 2 * D - 1) two_blocks ltac:(intros; lia)) as [M1 M2].
  destruct (multiply_add_correct 2 (multiply 20 2 (fun _ => 7) most most (fun _ => 2 * D - 1)) most most two_blocks) as [A1 _].
  { intros j Hj. specialize (M2 j Hj). change (10 * 2)%nat with 20%nat in *. lia. }
  cbv zeta. change (2 * (10 * 2))%nat with 40%nat in *. change (10 * 2)%nat with 20%nat in *. rewrite A1, M1. ring.
Qed.
Example below_example : let t := multiply_below 20 2 40 (fun _ => 0) most most in
  exists dropped, 0 <= dropped /\ total 40 t + D ^ 20 * dropped = total 40 (fun _ => 0) + number 20 most * number 20 most.
Proof. apply (multiply_below_correct 2 (fun _ => 0) most most two_blocks). intros; lia. Qed.
Example from_example : let t := multiply_from 20 2 40 (fun _ => 0) most most 18 in
  exists dropped, 0 <= dropped <= 2 * D ^ 19 /\ total 40 t + dropped = total 40 (fun _ => 0) + number 20 most * number 20 most.
Proof. apply (multiply_from_correct 2 (fun _ => 0) most most 18 two_blocks); [lia|intros; lia]. Qed.
