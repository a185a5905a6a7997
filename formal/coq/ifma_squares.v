(* crates/arith/src/backend/ifma/blocks.rs: the square of one block of limbs, in one lane. The unrolled loops over its columns are
   translated. A limb is the lower 52 bits of its word. *)
From Arith Require Import words lanes modular unrolled.
From Generated Require Import square_blocks ifma_constants.

Definition limb (w : Z) := w mod D.
(* The value of columns below n, and of the limbs of words. *)
Fixpoint total (n : nat) (t : nat -> Z) : Z := match n with O => 0 | S n => total n t + D ^ Z.of_nat n * t n end.
Definition number (n : nat) (x : nat -> Z) := total n (fun j => limb (x j)).
(* The sum of g over indexes. *)
Definition gather (l : list nat) (g : nat -> Z) := fold_right (fun i v => g i + v) 0 l.

Lemma power_S n : D ^ Z.of_nat (S n) = D * D ^ Z.of_nat n.
Proof. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. reflexivity. Qed.
Lemma power_add n k : D ^ Z.of_nat (n + k) = D ^ Z.of_nat n * D ^ Z.of_nat k.
Proof. rewrite Nat2Z.inj_add, Z.pow_add_r by lia. reflexivity. Qed.
Lemma total_same n s t : (forall j, (j < n)%nat -> s j = t j) -> total n s = total n t.
Proof. induction n as [|n IH]; intros H; cbn [total]; [reflexivity|]. rewrite IH, H by (lia || intros; apply H; lia). reflexivity. Qed.
Lemma total_put n t c v : (c < n)%nat -> total n (put t c v) = total n t + D ^ Z.of_nat c * (v - t c).
Proof.
  induction n as [|n IH]; intros H; [lia|]. cbn [total]. destruct (Nat.eq_dec c n) as [->|E].
  - rewrite (total_same n (put t n v) t). { unfold put. rewrite Nat.eqb_refl. ring. }
    intros j Hj. unfold put. destruct (Nat.eqb_spec j n); [lia|reflexivity].
  - rewrite IH by lia. unfold put. destruct (Nat.eqb_spec n c); [lia|]. ring.
Qed.
Lemma total_add n k t : total (n + k) t = total n t + D ^ Z.of_nat n * total k (fun j => t (n + j)%nat).
Proof.
  induction k as [|k IH]; [rewrite Nat.add_0_r; cbn [total]; ring|]. rewrite Nat.add_succ_r. cbn [total]. rewrite IH, power_add. ring.
Qed.
Lemma gather_same l g h : (forall i, In i l -> g i = h i) -> gather l g = gather l h.
Proof. induction l as [|i l IH]; intros H; cbn; [reflexivity|]. rewrite H by (left; reflexivity). f_equal. apply IH. intros j Hj. apply H. right. exact Hj. Qed.
Lemma gather_add l g h : gather l (fun i => g i + h i) = gather l g + gather l h.
Proof. induction l as [|i l IH]; cbn; [reflexivity|]. unfold gather in IH. rewrite IH. ring. Qed.
Lemma gather_scale l g c : gather l (fun i => c * g i) = c * gather l g.
Proof. induction l as [|i l IH]; cbn; [ring|]. unfold gather in IH. rewrite IH. ring. Qed.

(* An addition of half of a product: what it adds is below 2^52. *)
Definition half (h : Z -> Z -> Z) (op : Z -> Z -> Z -> Z) := forall s a b, 0 <= h a b < D /\ (0 <= s -> s + D <= B -> op s a b = s + h a b).
Definition lower (a b : Z) := (limb a * limb b) mod D.
Definition upper (a b : Z) := limb a * limb b / D.
Lemma lower_half : half lower add_low.
Proof.
  intros s a b. unfold lower, limb, add_low. rewrite <- Zmult_mod. pose proof (low_range (a * b)). split; [lia|].
  intros. apply Z.mod_small. lia.
Qed.
Lemma upper_half : half upper add_high.
Proof.
  intros s a b. unfold upper, limb, add_high. pose proof (high_range (a mod D) (b mod D) (low_range a) (low_range b)). split; [lia|].
  intros. apply Z.mod_small. lia.
Qed.
Lemma both_halves a b : lower a b + D * upper a b = limb a * limb b.
Proof. unfold lower, upper. pose proof (halves (limb a * limb b)). lia. Qed.

(* Columns below a bound; columns that may hold so many halves more. *)
Definition between (cap : Z) (t : nat -> Z) := forall j, 0 <= t j <= cap.
Definition grown (most : Z) (s t : nat -> Z) := forall j, s j <= t j <= s j + most.
Lemma grown_between cap most s t : between cap s -> grown most s t -> between (cap + most) t.
Proof. intros H G j. specialize (H j). specialize (G j). lia. Qed.

(* A row: some limbs meet a digit each, in a column of their own. *)
Lemma row_adds h op n (cond : nat -> bool) (place : nat -> nat) (u d : nat -> Z) l : half h op -> NoDup l ->
  (forall i, In i l -> cond i = true -> (place i < n)%nat) -> (forall i j, place i = place j -> i = j) -> forall cap s,
  (forall j, 0 <= s j <= cap) -> cap + D <= B ->
  let t := fold_left (fun s i => if cond i then put s (place i) (op (s (place i)) (u i) (d i)) else s) l s in
  total n t = total n s + gather l (fun i => if cond i then D ^ Z.of_nat (place i) * h (u i) (d i) else 0) /\
  grown D s t /\ forall j, (forall i, In i l -> cond i = true -> j <> place i) -> t j = s j.
Proof.
  intros H Hl P Inj cap s0 Hs HB.
  assert (G : forall s, (forall i, In i l -> 0 <= s (place i) <= cap) ->
    let t := fold_left (fun s i => if cond i then put s (place i) (op (s (place i)) (u i) (d i)) else s) l s in
    total n t = total n s + gather l (fun i => if cond i then D ^ Z.of_nat (place i) * h (u i) (d i) else 0) /\
    forall j, t j = s j \/ exists i, In i l /\ cond i = true /\ j = place i /\ t j = s j + h (u i) (d i)).
  { clear s0 Hs. cbv zeta. induction l as [|i l IH]; intros s Hs; cbn [fold_left gather fold_right]; [split; [lia|auto]|].
    inversion Hl as [|i' l' Hi Hl']; subst. specialize (IH Hl' (fun k Hk => P k (or_intror Hk))). destruct (cond i) eqn:E.
    - specialize (P i (or_introl eq_refl) E) as Hp. destruct (H (s (place i)) (u i) (d i)) as [Hh He].
      specialize (Hs i (or_introl eq_refl)) as Hsi. specialize (He ltac:(lia) ltac:(lia)).
      destruct (IH (put s (place i) (op (s (place i)) (u i) (d i)))) as [V U].
      { intros k Hk. unfold put. destruct (Nat.eqb_spec (place k) (place i)) as [C|C]; [apply Inj in C; subst; contradiction|].
        apply Hs. right. exact Hk. }
      split; [rewrite V, total_put, He by exact Hp; unfold gather; ring|]. intros j.
      assert (K : put s (place i) (op (s (place i)) (u i) (d i)) j = if (j =? place i)%nat then s j + h (u i) (d i) else s j).
      { unfold put. destruct (Nat.eqb_spec j (place i)); [subst; lia|reflexivity]. }
      destruct (U j) as [V'|(k & K1 & K2 & K3 & K4)]; rewrite K in *.
      + destruct (Nat.eqb_spec j (place i)); [|left; exact V']. right. exists i. repeat split; auto. left. reflexivity.
      + destruct (Nat.eqb_spec j (place i)) as [C|C]; [rewrite K3 in C; apply Inj in C; subst; contradiction|].
        right. exists k. repeat split; auto. right. exact K1.
    - destruct (IH s (fun k Hk => Hs k (or_intror Hk))) as [V U]. split; [rewrite V; unfold gather; lia|]. intros j.
      destruct (U j) as [V'|(k & K1 & K2 & K3 & K4)]; [left; exact V'|]. right. exists k. repeat split; auto. right. exact K1. }
  destruct (G s0 (fun i _ => Hs (place i))) as [V U]. split; [exact V|]. split.
  - intros j. destruct (U j) as [->|(i & _ & _ & _ & ->)]; [lia|]. destruct (H 0 (u i) (d i)). lia.
  - intros j Hj. destruct (U j) as [->|(i & I1 & I2 & I3 & _)]; [reflexivity|]. exfalso. exact (Hj i I1 I2 I3).
Qed.
(* One addition. *)
Lemma put_adds h op n cap s c a b : half h op -> between cap s -> cap + D <= B -> (c < n)%nat ->
  let t := put s c (op (s c) a b) in
  total n t = total n s + D ^ Z.of_nat c * h a b /\ grown D s t /\ forall j, j <> c -> t j = s j.
Proof.
  intros H Hs HB Hc. cbv zeta. destruct (H (s c) a b) as [Hh He]. specialize (Hs c) as Hsc. rewrite He by lia. split; [|split].
  - rewrite total_put by exact Hc. ring.
  - intros j. unfold put. destruct (Nat.eqb_spec j c); subst; lia.
  - intros j Hj. unfold put. destruct (Nat.eqb_spec j c); [lia|reflexivity].
Qed.

Lemma gather_snoc n g : gather (seq 0 (S n)) g = gather (seq 0 n) g + g n.
Proof.
  rewrite seq_S. unfold gather. rewrite fold_right_app. cbn [fold_right Nat.add].
  generalize (seq 0 n). induction l as [|i l IH]; cbn [fold_right]; lia.
Qed.
Lemma total_gather n t : total n t = gather (seq 0 n) (fun j => D ^ Z.of_nat j * t j).
Proof. induction n as [|n IH]; [reflexivity|]. rewrite gather_snoc. cbn [total]. rewrite IH. reflexivity. Qed.
Lemma gather_below g p n : (p <= n)%nat -> gather (seq 0 n) (fun i => if (i <? p)%nat then g i else 0) = gather (seq 0 p) g.
Proof.
  intros H. induction H as [|n H IH].
  - apply gather_same. intros i Hi. apply in_seq in Hi. destruct (Nat.ltb_spec i p); [reflexivity|lia].
  - rewrite gather_snoc, IH. destruct (Nat.ltb_spec n p); lia.
Qed.
Lemma gather_one g p n : (p < n)%nat -> gather (seq 0 n) (fun i => if (i =? p)%nat then g i else 0) = g p.
Proof.
  intros H. assert (Z0 : forall m, (m <= p)%nat -> gather (seq 0 m) (fun i => if (i =? p)%nat then g i else 0) = 0).
  { induction m as [|m IH]; intros Hm; [reflexivity|]. rewrite gather_snoc, IH by lia. destruct (Nat.eqb_spec m p); lia. }
  induction H as [|n H IH]; rewrite gather_snoc.
  - rewrite Z0, Nat.eqb_refl by lia. ring.
  - rewrite IH. destruct (Nat.eqb_spec n p); lia.
Qed.
(* The columns as a copy leaves them. *)
Lemma copied n (s t : nat -> Z) : forall j, fold_left (fun t i => put t i (s i)) (seq 0 n) t j = if (j <? n)%nat then s j else t j.
Proof.
  induction n as [|n IH]; intros j; [reflexivity|]. rewrite seq_S, fold_left_app. cbn [fold_left Nat.add]. unfold put at 1. rewrite IH.
  destruct (Nat.eqb_spec j n), (Nat.ltb_spec j n), (Nat.ltb_spec j (S n)); subst; try lia; reflexivity.
Qed.

(* The limbs of twice a number, below being the word under its lowest: with and without the bit that comes from there. *)
Definition carry_in (x : nat -> Z) (below : Z) (j : nat) := match j with O => 2 * limb below / D | S i => 2 * limb (x i) / D end.
Definition near (x : nat -> Z) (j : nat) := (2 * limb (x j)) mod D.
Definition far (x : nat -> Z) (below : Z) (j : nat) := near x j + carry_in x below j.
Lemma carry_bit w : 0 <= 2 * limb w / D <= 1.
Proof.
  pose proof (low_range w). unfold limb. split; [apply Z.div_pos; lia|]. assert (2 * (w mod D) / D < 2); [|lia]. apply Z.div_lt_upper_bound; lia.
Qed.
Lemma carry_in_bit x below j : 0 <= carry_in x below j <= 1.
Proof. destruct j; apply carry_bit. Qed.
Lemma near_limb w : limb (add64 w w) = (2 * limb w) mod D.
Proof.
  unfold limb, add64. rewrite Zmult_mod_idemp_r. apply cong_mod_eq; [lia|]. exists (- (4096 * ((w + w) / B))).
  pose proof (Z.div_mod (w + w) B ltac:(lia)). lia.
Qed.
Lemma far_limb w v : limb (add_high (add64 w w) v 2) = (2 * limb w) mod D + 2 * limb v / D.
Proof.
  unfold add_high. change (2 mod D) with 2. rewrite (Z.mul_comm (v mod D)). fold (limb v). pose proof (carry_bit v) as C.
  set (c := 2 * limb v / D) in *. rewrite <- near_limb. unfold limb at 1 2.
  transitivity ((add64 w w mod D + c) mod D).
  - rewrite Zplus_mod_idemp_l. apply cong_mod_eq; [lia|]. exists (- (4096 * ((add64 w w + c) / B))).
    pose proof (Z.div_mod (add64 w w + c) B ltac:(lia)). lia.
  - apply Z.mod_small. fold (limb (add64 w w)). rewrite near_limb. pose proof (low_range w). unfold limb.
    set (l := w mod D) in *. pose proof (Z.div_mod (2 * l) D ltac:(lia)). pose proof (low_range (2 * l)).
    assert (2 * l / D = 0 \/ 2 * l / D = 1) by (fold (limb w) in l; pose proof (carry_bit w); unfold limb in *; fold l in H1; lia). lia.
Qed.

(* What the first n limbs add up to: the square, without what their carry would bring. *)
Definition squared (x : nat -> Z) (below : Z) (n : nat) :=
  number n x * number n x - D ^ Z.of_nat n * carry_in x below n * number (n - 1) x.
Lemma squared_step x below n : (n <= 9)%nat ->
  squared x below (S n) = squared x below n + D ^ Z.of_nat (2 * n) * (limb (x n) * limb (x n)) +
    gather (seq 0 9) (fun i => if (i + 1 <? n)%nat then D ^ Z.of_nat (i + n) * (limb (x i) * far x below n) else 0) +
    gather (seq 0 9) (fun i => if (i + 1 =? n)%nat then D ^ Z.of_nat (i + n) * (limb (x i) * near x n) else 0).
Proof.
  intros H. pose proof (Z.div_mod (2 * limb (x n)) D ltac:(lia)) as E. fold (near x n) in E.
  replace (2 * n)%nat with (n + n)%nat by lia. rewrite power_add. destruct n as [|n].
  - change (gather _ _) with 0 at 1. change (gather _ _) with 0. unfold squared, number. cbn [total Nat.sub carry_in].
    change (D ^ Z.of_nat 0) with 1. ring.
  - rewrite (gather_same _ _ (fun i => if (i <? n)%nat then D ^ Z.of_nat (S n) * far x below (S n) * (D ^ Z.of_nat i * limb (x i)) else 0)).
    2:{ intros i _. rewrite power_add. destruct (Nat.ltb_spec (i + 1) (S n)), (Nat.ltb_spec i n); try lia; ring. }
    rewrite gather_below, gather_scale, <- (total_gather n (fun i => limb (x i))) by lia. fold (number n x).
    rewrite (gather_same _ (fun i => if (i + 1 =? S n)%nat then _ else _) (fun i => if (i =? n)%nat then D ^ Z.of_nat (i + S n) * (limb (x i) * near x (S n)) else 0)).
    2:{ intros i _. destruct (Nat.eqb_spec (i + 1) (S n)), (Nat.eqb_spec i n); try lia; reflexivity. }
    rewrite gather_one by lia. unfold squared. replace (S n - 1)%nat with n by lia. replace (S (S n) - 1)%nat with (S n) by lia.
    unfold far. cbn [carry_in]. set (c := 2 * limb (x n) / D). unfold number. cbn [total].
    change (total n (fun j => limb (x j))) with (number n x). rewrite !(power_S (S n)), power_add.
    set (a := limb (x (S n))) in *. set (P := D ^ Z.of_nat (S n)). set (e := limb (x n)). set (p := D ^ Z.of_nat n).
    set (N := number n x). set (v := near x (S n)) in *. replace (D * P * (2 * a / D)) with (P * (2 * a) - P * v) by lia.
    set (q := 2 * a / D) in *. replace (D * P * q * (N + p * e)) with ((P * (2 * a) - P * v) * (N + p * e)) by (rewrite E; ring).
    ring.
Qed.

(* A block's triangle: each limb meets itself once and twice what lies below it. What the carry of the block's highest limb would
   bring is left to the block above. *)
Lemma triangle_exact t twice x below start cap : between cap start -> cap + 60 * D <= B ->
  let '(t', twice') := triangle t twice x below start in
  total 20 t' = total 20 start + squared x below 10 /\ (forall j, (j < 20)%nat -> 0 <= t' j <= cap + 60 * D) /\
  (forall j, (20 <= j)%nat -> t' j = t j) /\
  (forall j, (j < 10)%nat -> limb (twice' j) = far x below j) /\ forall j, (10 <= j)%nat -> twice' j = twice j.
Proof.
  intros Hs HB. unfold triangle. cbv zeta. set (zero := fun _ : nat => 0). set (below_all := fun _ : nat => below).
  match goal with |- context [fold_left ?f (seq 0 (10 - 0))] => set (step := f) end.
  assert (Inv : forall n, (n <= 10)%nat -> let '(limbs, twice', sums) := fold_left step (seq 0 n) (below_all, twice, zero) in
    limbs 0%nat = below /\ (forall i, (i < n)%nat -> limbs (i + 1)%nat = x i) /\
    (forall i, (i < n)%nat -> limb (twice' i) = far x below i) /\ (forall i, (n <= i)%nat -> twice' i = twice i) /\
    total 20 sums = total (2 * n) start + squared x below n /\ between (cap + Z.of_nat n * (6 * D)) sums /\
    forall j, (2 * n <= j)%nat -> sums j = 0).
  { induction n as [|n IH]; intros Hn.
    - cbn [seq fold_left]. split; [reflexivity|]. split; [lia|]. split; [lia|]. split; [reflexivity|]. split; [|split].
      + assert (Z0 : forall m, total m zero = 0) by (induction m; cbn [total]; unfold zero in *; lia). rewrite Z0.
        unfold squared, number. cbn [total Nat.sub Nat.mul]. change (total (0 + (0 + 0)) start) with 0. ring.
      + intros j. unfold zero. specialize (Hs j). lia.
      + reflexivity.
    - specialize (IH ltac:(lia)). rewrite seq_S, fold_left_app. cbn [fold_left Nat.add].
      destruct (fold_left step (seq 0 n) (below_all, twice, zero)) as [[limbs twice1] s0].
      destruct IH as (I1 & I2 & I3 & I4 & I5 & I6 & I7). unfold step. cbv beta iota zeta.
      set (limbs1 := put limbs (n + 1)%nat (x n)).
      assert (L0 : limbs1 0%nat = below) by (unfold limbs1, put; destruct (Nat.eqb_spec 0 (n + 1)); [lia|exact I1]).
      assert (L1 : limbs1 (n + 1)%nat = x n) by (unfold limbs1, put; rewrite Nat.eqb_refl; reflexivity).
      assert (L2 : forall i, (i < S n)%nat -> limbs1 (i + 1)%nat = x i).
      { intros i Hi. unfold limbs1, put. destruct (Nat.eqb_spec (i + 1) (n + 1)); [f_equal; lia|apply I2; lia]. }
      assert (L3 : 2 * limb (limbs1 n) / D = carry_in x below n).
      { destruct n as [|n']; [rewrite L0; reflexivity|]. replace (S n') with (n' + 1)%nat at 1 by lia. rewrite L2 by lia. reflexivity. }
      rewrite !L1. set (fw := add_high (add64 (x n) (x n)) (limbs1 n) 2). set (nw := add64 (x n) (x n)).
      assert (Hf : limb fw = far x below n) by (unfold fw; rewrite far_limb, L3; reflexivity).
      assert (Hnw : limb nw = near x n) by apply near_limb.
      set (c0 := (2 * n)%nat). set (s1 := put (put s0 c0 (start c0)) (c0 + 1)%nat (start (c0 + 1)%nat)).
      assert (T1 : total 20 s1 = total (2 * S n) start + squared x below n).
      { unfold s1. rewrite !total_put by (unfold c0; lia). unfold put at 1. destruct (Nat.eqb_spec (c0 + 1) c0); [lia|].
        rewrite !I7 by (unfold c0; lia). rewrite I5. replace (2 * S n)%nat with (S (S (2 * n))) by lia. cbn [total]. fold c0.
        replace (c0 + 1)%nat with (S c0) by lia. ring. }
      set (W := cap + Z.of_nat n * (6 * D)) in *. assert (HW : W + 6 * D <= cap + 60 * D) by (unfold W; lia).
      assert (B1 : between W s1).
      { intros j. unfold s1, put. specialize (I6 j). pose proof (Hs c0). pose proof (Hs (c0 + 1)%nat).
        destruct (Nat.eqb_spec j (c0 + 1)), (Nat.eqb_spec j c0); unfold W in *; lia. }
      assert (Z1 : forall j, (2 * S n <= j)%nat -> s1 j = 0).
      { intros j Hj. unfold s1, put. destruct (Nat.eqb_spec j (c0 + 1)), (Nat.eqb_spec j c0); try (unfold c0 in *; lia). apply I7. lia. }
      assert (P : forall i, In i (seq 0 (9 - 0)) -> (i < 9)%nat) by (intros i Hi; apply in_seq in Hi; lia).
      destruct (row_adds lower add_low 20 (fun i => (i + 1 <? n)%nat) (fun i => (i + n)%nat) (fun i => limbs1 (i + 1)%nat) (fun _ => fw) (seq 0 (9 - 0)) lower_half (seq_NoDup _ _)
        ltac:(intros i Hi _; apply P in Hi; cbv beta; lia) ltac:(cbv beta; lia) _ s1 B1 ltac:(lia)) as (V2 & B2 & U2).
      cbv beta in V2, B2, U2. match type of V2 with total _ ?t = _ => set (s2 := t) in * end. apply (grown_between _ _ _ _ B1) in B2.
      destruct (row_adds lower add_low 20 (fun i => (i + 1 =? n)%nat) (fun i => (i + n)%nat) (fun i => limbs1 (i + 1)%nat) (fun _ => nw) (seq 0 (9 - 0)) lower_half (seq_NoDup _ _)
        ltac:(intros i Hi _; apply P in Hi; cbv beta; lia) ltac:(cbv beta; lia) _ s2 B2 ltac:(lia)) as (V3 & B3 & U3).
      cbv beta in V3, B3, U3. match type of V3 with total _ ?t = _ => set (s3 := t) in * end. apply (grown_between _ _ _ _ B2) in B3.
      destruct (put_adds lower add_low 20 _ s3 c0 (x n) (x n) lower_half B3 ltac:(lia) ltac:(unfold c0; lia)) as (V4 & B4 & U4).
      set (s4 := put s3 c0 _) in *. apply (grown_between _ _ _ _ B3) in B4.
      destruct (row_adds upper add_high 20 (fun i => (i + 1 <? n)%nat) (fun i => (i + n + 1)%nat) (fun i => limbs1 (i + 1)%nat) (fun _ => fw) (seq 0 (9 - 0)) upper_half (seq_NoDup _ _)
        ltac:(intros i Hi _; apply P in Hi; cbv beta; lia) ltac:(cbv beta; lia) _ s4 B4 ltac:(lia)) as (V5 & B5 & U5).
      cbv beta in V5, B5, U5. match type of V5 with total _ ?t = _ => set (s5 := t) in * end. apply (grown_between _ _ _ _ B4) in B5.
      destruct (row_adds upper add_high 20 (fun i => (i + 1 =? n)%nat) (fun i => (i + n + 1)%nat) (fun i => limbs1 (i + 1)%nat) (fun _ => nw) (seq 0 (9 - 0)) upper_half (seq_NoDup _ _)
        ltac:(intros i Hi _; apply P in Hi; cbv beta; lia) ltac:(cbv beta; lia) _ s5 B5 ltac:(lia)) as (V6 & B6 & U6).
      cbv beta in V6, B6, U6. match type of V6 with total _ ?t = _ => set (s6 := t) in * end. apply (grown_between _ _ _ _ B5) in B6.
      destruct (put_adds upper add_high 20 _ s6 (c0 + 1) (x n) (x n) upper_half B6 ltac:(lia) ltac:(unfold c0; lia)) as (V7 & B7 & U7).
      set (s7 := put s6 (c0 + 1)%nat _) in *. apply (grown_between _ _ _ _ B6) in B7.
      split; [exact L0|]. split; [exact L2|]. split; [|split; [|split; [|split]]].
      + intros i Hi. unfold put. destruct (Nat.eqb_spec i n) as [->|]; [exact Hf|apply I3; lia].
      + intros i Hi. unfold put. destruct (Nat.eqb_spec i n); [lia|apply I4; lia].
      + rewrite squared_step by lia. rewrite V7, V6, V5, V4, V3, V2, T1.
        assert (Row : forall (cond : nat -> bool) w v, limb w = v -> (forall i, cond i = true -> (i < S n)%nat) ->
          gather (seq 0 (9 - 0)) (fun i => if cond i then D ^ Z.of_nat (i + n) * lower (limbs1 (i + 1)%nat) w else 0) +
          gather (seq 0 (9 - 0)) (fun i => if cond i then D ^ Z.of_nat (i + n + 1) * upper (limbs1 (i + 1)%nat) w else 0) =
          gather (seq 0 9) (fun i => if cond i then D ^ Z.of_nat (i + n) * (limb (x i) * v) else 0)).
        { intros cond w v <- Hc. rewrite <- gather_add. apply gather_same. intros i _. specialize (Hc i). destruct (cond i); [|ring].
          rewrite L2, <- both_halves, Nat.add_1_r, power_S by auto. ring. }
        rewrite <- (Row (fun i => (i + 1 <? n)%nat) fw _ Hf), <- (Row (fun i => (i + 1 =? n)%nat) nw _ Hnw);
          [|intros i Hi; apply Nat.eqb_eq in Hi; lia|intros i Hi; apply Nat.ltb_lt in Hi; lia].
        fold c0. rewrite Nat.add_1_r, power_S. rewrite <- (both_halves (x n) (x n)). ring.
      + intros j. specialize (B7 j). rewrite Nat2Z.inj_succ. unfold W in B7. lia.
      + intros j Hj. rewrite U7, U6, U5, U4, U3, U2, Z1; try (unfold c0; lia); try reflexivity.
        all: intros i Hi Hc; apply P in Hi; first [apply Nat.eqb_eq in Hc|apply Nat.ltb_lt in Hc]; lia. }
  specialize (Inv 10%nat (le_n _)). change (10 - 0)%nat with 10%nat. change (20 - 0)%nat with 20%nat.
  destruct (fold_left step (seq 0 10) (below_all, twice, zero)) as [[limbs twice1] sums]. destruct Inv as (_ & _ & I3 & I4 & I5 & I6 & _).
  pose proof (copied 20 sums t) as C. set (t' := fold_left _ (seq 0 20) t) in *. split; [|split; [|split; [|split]]].
  - rewrite (total_same 20 t' sums); [exact I5|]. intros j Hj. rewrite C. destruct (Nat.ltb_spec j 20); [reflexivity|lia].
  - intros j Hj. rewrite C. destruct (Nat.ltb_spec j 20); [|lia]. specialize (I6 j). lia.
  - intros j Hj. rewrite C. destruct (Nat.ltb_spec j 20); [lia|reflexivity].
  - exact I3.
  - exact I4.
Qed.

(* The limbs of twice a number. *)
Lemma doubled x below n : total n (far x below) = 2 * number n x + carry_in x below 0 - D ^ Z.of_nat n * carry_in x below n.
Proof.
  induction n as [|n IH]; [change (D ^ Z.of_nat 0) with 1; cbn [total number]; unfold number; cbn [total]; ring|].
  unfold number in *. cbn [total]. rewrite IH, power_S. unfold far. cbn [carry_in].
  pose proof (Z.div_mod (2 * limb (x n)) D ltac:(lia)) as E. fold (near x n) in E. set (q := 2 * limb (x n) / D) in *.
  replace (near x n) with (2 * limb (x n) - D * q) by lia. ring.
Qed.

(* ifma/blocks.rs: triangle. Every product of two limbs counts twice, that of a limb and itself once, and what the carry of
   the highest limb of 2 x would bring is left to the block above. *)
Theorem triangle_correct t twice x below start : between (2 * D) start ->
  let X := number 10 x in let carry := 2 * limb (x 9%nat) / D in
  let '(t', twice') := triangle t twice x below start in
  total 20 t' = total 20 start + X * X - D ^ 10 * carry * number 9 x /\
  (forall j, (j < 20)%nat -> 0 <= t' j < 2 ^ 58) /\ (forall j, (20 <= j)%nat -> t' j = t j) /\
  number 10 twice' = 2 * X + 2 * limb below / D - D ^ 10 * carry /\ 0 <= carry <= 1.
Proof.
  intros Hs X carry. pose proof (triangle_exact t twice x below start (2 * D) Hs ltac:(lia)) as H.
  destruct (triangle t twice x below start) as [t' twice']. destruct H as (H1 & H2 & H3 & H4 & _).
  assert (E : squared x below 10 = X * X - D ^ 10 * carry * number 9 x) by reflexivity. rewrite E in H1.
  split; [rewrite H1; apply Z.add_sub_assoc|].
  split; [intros j Hj; specialize (H2 j Hj); change (2 ^ 58) with (64 * D); lia|]. split; [exact H3|].
  split; [|apply carry_bit]. unfold number. rewrite (total_same 10 _ (far x below)) by exact H4. rewrite doubled. reflexivity.
Qed.
Example triangle_example : let x := fun j => if (j =? 9)%nat then 5 else D - 1 in
  let '(t', twice') := triangle (fun _ => 7) (fun _ => 7) x (D - 1) (fun _ => D) in
  total 20 t' = total 20 (fun _ => D) + number 10 x * number 10 x - D ^ 10 * (2 * limb (x 9%nat) / D) * number 9 x.
Proof.
  intros x. pose proof (triangle_correct (fun _ => 7) (fun _ => 7) x (D - 1) (fun _ => D) ltac:(intros j; lia)) as H.
  cbv zeta in H. destruct (triangle _ _ x _ _) as [t' twice']. apply H.
Qed.
