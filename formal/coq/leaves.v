(* crates/ntt/src/engine/loops.rs: products at the leaves of a transform in one lane, and with them products of whole polynomials
   modulo x^n - 1. The steps are translated; the loops over coefficients are a model. *)
From Arith Require Import words.
From Arith Require Export ntt_transforms.

Fixpoint dot (xs ys : list Z) : Z := match xs, ys with x :: xs, y :: ys => x * y + dot xs ys | _, _ => 0 end.
(* loops.rs: columns *)
Fixpoint column (xs ys : list Z) (low high : Z) : Z * Z :=
  match xs, ys with
  | x :: xs, y :: ys => let '(low, high) := column_step low high x y in column xs ys low high
  | _, _ => (low, high)
  end.

Section Prime.
Variables P inverse : Z.
Hypothesis HP : 0 < P < 2 ^ NTT_BITS.
(* What the carries of lower halves add to a column is less than a quarter of p. *)
Hypothesis Large : 64 <= P.
Hypothesis Odd : rel_prime P D.
Hypothesis Inverse : cong D (inverse * P) 1.

Lemma upper_half x y : 0 <= x < 2 * P -> 0 <= y < 2 * P -> 0 <= x * y / D /\ 4 * (x * y / D) <= P.
Proof.
  intros Hx Hy. pose proof (bits P HP). assert (0 <= x * y) by (apply Z.mul_nonneg_nonneg; lia).
  assert (x * y <= 2 * P * (2 * P)) by (apply Z.mul_le_mono_nonneg; lia).
  assert (16 * P * P <= D * P) by (apply Z.mul_le_mono_nonneg_r; lia).
  pose proof (halves (x * y)) as H3. pose proof (low_range (x * y)).
  split; [apply Z.div_pos; lia|]. apply Z.mul_le_mono_pos_l with D; lia.
Qed.

Lemma column_bound xs : forall ys low high n, below P 2 xs -> below P 2 ys -> (length xs <= length ys)%nat ->
  0 <= n -> n + Z.of_nat (length xs) <= 15 -> 0 <= low <= n * (D - 1) -> 0 <= high -> 4 * high <= n * P ->
  let '(l, h) := column xs ys low high in
  0 <= l <= (n + Z.of_nat (length xs)) * (D - 1) /\ 0 <= h /\ 4 * h <= (n + Z.of_nat (length xs)) * P /\
  D * h + l = D * high + low + dot xs ys.
Proof.
  induction xs as [|x xs IH]; intros [|y ys] low high n Hx Hy E Hn Hm Hl Hh H4; cbn [column dot length] in *; try lia.
  inversion Hx; inversion Hy; subst. pose proof (bits P HP). rewrite Nat2Z.inj_succ in *.
  destruct (upper_half x y ltac:(assumption) ltac:(assumption)) as [U1 U2].
  pose proof (halves (x * y)) as H8. pose proof (low_range (x * y)) as L.
  unfold column_step. cbv zeta. unfold add_low, add_high. rewrite (Z.mod_small x D), (Z.mod_small y D) by lia.
  assert (n * (D - 1) <= 15 * (D - 1)) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (n * P <= 15 * P) by (apply Z.mul_le_mono_nonneg_r; lia).
  rewrite (Z.mod_small (low + _)), (Z.mod_small (high + _)) by lia.
  specialize (IH ys (low + (x * y) mod D) (high + x * y / D) (n + 1) ltac:(assumption) ltac:(assumption) ltac:(lia) ltac:(lia)
    ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)).
  destruct (column xs ys (low + (x * y) mod D) (high + x * y / D)) as [l h].
  replace (n + Z.succ (Z.of_nat (length xs))) with (n + 1 + Z.of_nat (length xs)) by lia. lia.
Qed.

(* loops.rs: ONE; multiply. Factors are brought below 2 p, the coefficients that wrap are multiplied by the leaf's root. *)
Definition one := constant P inverse 1.
Definition brought (l : list Z) := map (fun v => times_positive one v (multiples P)) l.
Definition rooted (odd : bool) (w : factor) (l : list Z) :=
  map (fun v => if odd then wrapped_odd w (multiples P) v 0 else wrapped_even w (multiples P) v 0) l.
Definition leaf_sums (odd : bool) (w : factor) (a b : list Z) : list Z :=
  let x := brought a in let plain := brought b in let y := rooted odd w (tl plain) ++ plain in
  map (fun start => let '(low, high) := column (rev x) (skipn start y) 0 0 in reduced (multiples P) low high inverse) (seq 0 (length a)).
Definition leaf_set (odd : bool) (w : factor) (a b : list Z) := map (put_set (multiples P)) (leaf_sums odd w a b).
Definition leaf_add (odd : bool) (w : factor) (a b out : list Z) := zip (put_add (multiples P)) (leaf_sums odd w a b) out.

Lemma brought_correct l : below P 12 l -> below P 2 (brought l) /\ same P (brought l) l.
Proof.
  intros H. pose proof (bits P HP). unfold brought, below, same.
  induction H as [|v l Hv H [I1 I2]]; cbn [map]; [split; constructor|].
  destruct (times_positive_correct P inverse HP Odd Inverse 1 one v (constant_stands P inverse 1 ltac:(lia)) ltac:(lia)) as [R C].
  split; constructor; try assumption; [lia|]. rewrite C. exists 0. ring.
Qed.

Lemma rooted_correct (odd : bool) c w l l' : stands_for P inverse c w -> below P 2 l -> same P l l' ->
  below P 2 (rooted odd w l) /\ same P (rooted odd w l) (map (Z.mul (if odd then - c else c)) l').
Proof.
  intros Hw. pose proof (bits P HP). unfold rooted, below, same. revert l'.
  induction l as [|v l IH]; intros l' Hl S; inversion S; subst; cbn [map]; [split; constructor|].
  inversion Hl; subst. destruct (IH _ ltac:(eassumption) ltac:(eassumption)) as [I1 I2].
  destruct (times_correct P inverse HP Odd Inverse c w v Hw ltac:(lia)) as (t & E & R & C).
  assert (V : 0 <= (if odd then wrapped_odd w (multiples P) v 0 else wrapped_even w (multiples P) v 0) < 2 * P /\
    cong P (if odd then wrapped_odd w (multiples P) v 0 else wrapped_even w (multiples P) v 0) ((if odd then - c else c) * v)).
  { destruct odd; unfold wrapped_odd, wrapped_even; cbv zeta; cbn [p multiples]; rewrite E, ?sub64_in, ?add64_in by lia;
      (split; [lia|]).
    - rewrite C. exists 1. ring.
    - rewrite C. exists 1. ring. }
  destruct V as [V1 V2]. split; constructor; try assumption. rewrite V2. match goal with H : cong P v _ |- _ => rewrite H end. reflexivity.
Qed.

Lemma dot_cong xs xs' : same P xs xs' -> forall ys ys', same P ys ys' -> cong P (dot xs ys) (dot xs' ys').
Proof.
  induction 1 as [|x x' xs xs' Hx H IH]; intros ys ys' S; cbn [dot]; [reflexivity|].
  inversion S as [|y y' zs zs' Hy Hz]; subst; [reflexivity|]. rewrite Hx, Hy, (IH zs zs' Hz). reflexivity.
Qed.
Lemma same_rev l l' : same P l l' -> same P (rev l) (rev l').
Proof. induction 1; cbn [rev]; [constructor|]. apply Forall2_app; [assumption|]. repeat constructor. assumption. Qed.
Lemma same_skipn n : forall l l', same P l l' -> same P (skipn n l) (skipn n l').
Proof. induction n as [|n IH]; intros l l' S; [exact S|]. inversion S; subst; cbn [skipn]; [constructor|]. apply IH. assumption. Qed.
Lemma below_skipn n k : forall l, below P k l -> below P k (skipn n l).
Proof. induction n as [|n IH]; intros l S; [exact S|]. inversion S; subst; cbn [skipn]; [constructor|]. apply IH. assumption. Qed.
Lemma below_tl k l : below P k l -> below P k (tl l).
Proof. intros H. inversion H; subst; cbn [tl]; [constructor|assumption]. Qed.
Lemma same_tl l l' : same P l l' -> same P (tl l) (tl l').
Proof. intros H. inversion H; subst; cbn [tl]; [constructor|assumption]. Qed.

(* What coefficient j of a leaf's product is, times 2^52. *)
Definition leaf_coefficient (z : Z) (a b : list Z) (j : nat) := dot (rev a) (skipn j (map (Z.mul z) (tl b) ++ b)).

Lemma put_set_correct r : 0 <= r < 5 * P -> 0 <= put_set (multiples P) r < 4 * P /\ cong P (put_set (multiples P) r) r.
Proof. intros H. unfold put_set. cbn [p4 multiples]. apply (reduce_4 P HP). lia. Qed.
Lemma put_add_correct r out : 0 <= r < 5 * P -> 0 <= out < 4 * P ->
  0 <= put_add (multiples P) r out < 4 * P /\ cong P (put_add (multiples P) r out) (r + out).
Proof.
  intros H Ho. pose proof (bits P HP). unfold put_add. cbv zeta. cbn [p4 p8 multiples]. rewrite add64_small by lia.
  destruct (reduce_8 P HP (r + out) ltac:(lia)) as [R C].
  destruct (reduce_4 P HP (reduce (r + out) (8 * P)) ltac:(lia)) as [R2 C2]. split; [exact R2|]. rewrite C2, C. reflexivity.
Qed.

Lemma leaf_sums_correct (odd : bool) c w a b : stands_for P inverse c w -> (0 < length a <= 15)%nat -> length b = length a ->
  below P 12 a -> below P 12 b ->
  Forall2 (fun r j => 0 <= r < 5 * P /\ cong P (D * r) (leaf_coefficient (if odd then - c else c) a b j))
    (leaf_sums odd w a b) (seq 0 (length a)).
Proof.
  intros Hw Hd E Ha Hb. pose proof (bits P HP). destruct (brought_correct a Ha) as [A1 A2]. destruct (brought_correct b Hb) as [B1 B2].
  destruct (rooted_correct odd c w _ _ Hw (below_tl 2 _ B1) (same_tl _ _ B2)) as [R1 R2].
  unfold leaf_sums. cbv zeta. set (x := brought a) in *. set (plain := brought b) in *.
  set (y := rooted odd w (tl plain) ++ plain).
  assert (Ly : length y = (2 * length a - 1)%nat).
  { unfold y, rooted, plain, brought. rewrite app_length, map_length, map_length. destruct b as [|v b]; cbn [length tl map] in *; [lia|].
    rewrite map_length. lia. }
  assert (Lx : length (rev x) = length a) by (unfold x, brought; rewrite rev_length, map_length; reflexivity).
  assert (By : below P 2 y) by (apply Forall_app; auto).
  assert (Sy : same P y (map (Z.mul (if odd then - c else c)) (tl b) ++ b)) by (apply Forall2_app; assumption).
  assert (Each : forall j, In j (seq 0 (length a)) ->
    let r := (let '(low, high) := column (rev x) (skipn j y) 0 0 in reduced (multiples P) low high inverse) in
    0 <= r < 5 * P /\ cong P (D * r) (leaf_coefficient (if odd then - c else c) a b j)).
  { intros j Hj. apply in_seq in Hj.
    pose proof (column_bound (rev x) (skipn j y) 0 0 0 (Forall_rev A1) (below_skipn j 2 y By)
      ltac:(rewrite skipn_length, Lx; lia) ltac:(lia) ltac:(rewrite Lx; lia) ltac:(lia) ltac:(lia) ltac:(lia)) as C.
    destruct (column (rev x) (skipn j y) 0 0) as [low high]. rewrite Lx in C. destruct C as (C1 & C2 & C3 & C4). cbv zeta.
    assert (Z.of_nat (length a) * (D - 1) <= 15 * (D - 1)) by (apply Z.mul_le_mono_nonneg_r; lia).
    assert (Z.of_nat (length a) * P <= 15 * P) by (apply Z.mul_le_mono_nonneg_r; lia).
    destruct (reduced_correct P inverse HP Inverse low high ltac:(lia) ltac:(lia)) as [Rr Cr].
    split; [lia|]. rewrite Cr, C4. unfold leaf_coefficient.
    rewrite <- (dot_cong _ _ (same_rev _ _ A2) _ _ (same_skipn j _ _ Sy)). exists 0. ring. }
  revert Each. generalize (seq 0 (length a)). intros l Each. induction l as [|j l IH]; cbn [map]; constructor.
  - apply Each. left. reflexivity.
  - apply IH. intros i Hi. apply Each. right. exact Hi.
Qed.

(* ntt/engine/loops.rs: multiply, columns, put. A product at a leaf, of 15 coefficients at most: below 4 p, and 2^52 times it is
   the product modulo x^d - z, coefficient by coefficient. *)
Theorem leaf_correct (odd : bool) c w a b out : stands_for P inverse c w -> (0 < length a <= 15)%nat -> length b = length a ->
  length out = length a -> below P 12 a -> below P 12 b -> below P 4 out ->
  let z := if odd then - c else c in
  below P 4 (leaf_set odd w a b) /\ below P 4 (leaf_add odd w a b out) /\
  Forall2 (fun r j => cong P (D * r) (leaf_coefficient z a b j)) (leaf_set odd w a b) (seq 0 (length a)) /\
  Forall2 (fun r j => cong P (D * r) (leaf_coefficient z a b j + D * nth j out 0)) (leaf_add odd w a b out) (seq 0 (length a)).
Proof.
  intros Hw Hd E Eo Ha Hb Ho z. pose proof (leaf_sums_correct odd c w a b Hw Hd E Ha Hb) as S. fold z in S.
  unfold leaf_set, leaf_add. assert (Set_ : below P 4 (map (put_set (multiples P)) (leaf_sums odd w a b)) /\
    Forall2 (fun r j => cong P (D * r) (leaf_coefficient z a b j)) (map (put_set (multiples P)) (leaf_sums odd w a b)) (seq 0 (length a))).
  { clear - S HP Large. induction S as [|r j rs js [R C] S [I1 I2]]; cbn [map]; [split; constructor|].
    destruct (put_set_correct r R) as [R2 C2]. split; constructor; try assumption. rewrite C2. exact C. }
  destruct Set_ as [S1 S2].
  assert (Add : forall n rs outs, length outs = length rs -> below P 4 outs ->
    Forall2 (fun r j => 0 <= r < 5 * P /\ cong P (D * r) (leaf_coefficient z a b j)) rs (seq n (length rs)) ->
    below P 4 (zip (put_add (multiples P)) rs outs) /\
    Forall2 (fun r j => cong P (D * r) (leaf_coefficient z a b j + D * nth (j - n) outs 0)) (zip (put_add (multiples P)) rs outs) (seq n (length rs))).
  { clear - HP Large. intros n rs. revert n. induction rs as [|r rs IH]; intros n [|o outs] Eo Ho S; try discriminate; cbn [zip length seq].
    - split; constructor.
    - inversion Ho; inversion S as [|? ? ? ? [R C] S']; subst. injection Eo as Eo.
      destruct (put_add_correct r o R ltac:(assumption)) as [R2 C2].
      destruct (IH (Datatypes.S n) outs Eo ltac:(assumption) S') as [I1 I2]. split; constructor; try assumption.
      + rewrite C2, Z.mul_add_distr_l, C, Nat.sub_diag. reflexivity.
      + clear - I2. revert I2. generalize (zip (put_add (multiples P)) rs outs). intros l I2.
        assert (Up : Forall (fun j => (Datatypes.S n <= j)%nat) (seq (Datatypes.S n) (length rs))).
        { apply Forall_forall. intros j Hj. apply in_seq in Hj. lia. }
        apply (Forall2_with _ _ _ _ _ I2 Up). cbv beta. intros u j Hu Hj. rewrite Hu.
        replace (j - n)%nat with (Datatypes.S (j - Datatypes.S n)) by lia. reflexivity. }
  assert (Ls : length (leaf_sums odd w a b) = length a) by (unfold leaf_sums; rewrite map_length, seq_length; reflexivity).
  destruct (Add 0%nat (leaf_sums odd w a b) out ltac:(lia) Ho) as [A1 A2]; [rewrite Ls; exact S|]. rewrite Ls in A2.
  split; [exact S1|]. split; [exact A1|]. split; [exact S2|].
  assert (Any : Forall (fun _ => True) (seq 0 (length a))) by (apply Forall_forall; auto).
  apply (Forall2_with _ _ _ _ _ A2 Any). cbv beta. intros u j Hu _. rewrite Nat.sub_0_r in Hu. exact Hu.
Qed.
End Prime.

Definition i_97 := 278573172827041.
Lemma prime_97 : 0 < 97 < 2 ^ NTT_BITS. Proof. split; reflexivity. Qed.
Lemma odd_97 : rel_prime 97 D. Proof. apply bezout_rel_prime. apply Bezout_intro with i_97 (-6). reflexivity. Qed.
Lemma inverse_97 : cong D (i_97 * 97) 1. Proof. exists 6. reflexivity. Qed.
Example leaf_example : let r := leaf_add 97 i_97 true (constant 97 i_97 5) [1163; 7; 0] [1; 1163; 500] [387; 0; 1] in
  below 97 4 r /\ cong 97 (D * nth 2 r 0) (leaf_coefficient (-5) [1163; 7; 0] [1; 1163; 500] 2 + D * 1).
Proof.
  destruct (leaf_correct 97 i_97 prime_97 ltac:(lia) odd_97 inverse_97 true 5 (constant 97 i_97 5) [1163; 7; 0] [1; 1163; 500] [387; 0; 1])
    as (_ & H & _ & _); try (apply constant_stands; lia); try (cbn [length]; lia); try (unfold below; repeat constructor; lia).
  split; [exact H|]. apply cong_by_mod; [discriminate|vm_compute; reflexivity].
Qed.
