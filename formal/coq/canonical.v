(* crates/arith/src/backend/ifma/across.rs: sums of numbers in limbs of 52 bits, and the last reductions of residues that are
   reduced lazily. The functions are translated. *)
From Arith Require Import words lanes modular.
From Arith Require natural lazy.
From Arith Require Import across.
From Generated Require Import ifma_constants across_limbs across_shapes.

Lemma ones_land x : Z.land x 4503599627370495 = x mod D.
Proof. change 4503599627370495 with (Z.ones 52). rewrite Z.land_ones by lia. reflexivity. Qed.

Lemma add_loop xs : forall b n c, Forall limb xs -> Forall limb b -> (length b <= length xs <= length b + n)%nat -> 0 <= c <= 1 ->
  let '(r, c') := add_loop1 xs (b ++ repeat 0 n) c in
  Forall limb r /\ length r = length xs /\ 0 <= c' /\ value r + D ^ Z.of_nat (length xs) * c' = value xs + value b + c.
Proof.
  induction xs as [|x xs IH]; intros b n c Hx Hb Hn Hc; cbn [length] in Hn.
  - destruct b; cbn [length] in Hn; [|lia]. cbn [add_loop1 value length]. change (D ^ Z.of_nat 0) with 1.
    split; [constructor|]. split; [reflexivity|]. lia.
  - apply Forall_cons_iff in Hx as [Hx Hxs].
    assert (K : exists y b' n', b ++ repeat 0 n = y :: b' ++ repeat 0 n' /\ limb y /\ Forall limb b' /\ value b = y + D * value b' /\
      (length b' <= length xs <= length b' + n')%nat).
    { destruct b as [|y b]; cbn [length] in Hn.
      - destruct n as [|n]; [lia|]. exists 0, [], n. cbn [repeat app value length]. unfold limb. split; [reflexivity|].
        split; [lia|]. split; [constructor|]. lia.
      - exists y, b, n. apply Forall_cons_iff in Hb as [Hy Hb]. cbn [app value]. split; [reflexivity|].
        split; [exact Hy|]. split; [exact Hb|]. lia. }
    destruct K as (y & b' & n' & -> & Hy & Hb' & -> & Hn'). unfold limb in Hx, Hy. cbn [add_loop1 value length].
    unfold add64, shr. rewrite (Z.mod_small (x + y)), (Z.mod_small (x + y + c)), ones_land by lia. change (2 ^ 52) with D.
    pose proof (halves (x + y + c)) as E. pose proof (low_range (x + y + c)) as R.
    set (q := (x + y + c) / D) in *. set (s := (x + y + c) mod D) in *.
    specialize (IH b' n' q Hxs Hb' Hn' ltac:(lia)). destruct (add_loop1 xs _ q) as [r c']. destruct IH as (I1 & I2 & I3 & I4).
    split; [constructor; assumption|]. cbn [length value]. split; [lia|]. split; [exact I3|].
    rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. lia.
Qed.

(* ifma/across.rs: add. A sum that has no more limbs. *)
Theorem add_correct a b : Forall limb a -> Forall limb b -> (length b <= length a)%nat ->
  value a + value b < D ^ Z.of_nat (length a) ->
  Forall limb (add a b) /\ length (add a b) = length a /\ value (add a b) = value a + value b.
Proof.
  intros Ha Hb L V. unfold add. pose proof (add_loop a b (length a) 0 Ha Hb ltac:(lia) ltac:(lia)) as H. cbv zeta.
  destruct (add_loop1 _ _ _) as [r c]. destruct H as (H1 & H2 & H3 & H4). split; [exact H1|]. split; [exact H2|].
  pose proof (value_range r H1) as R. rewrite H2 in R. set (P := D ^ Z.of_nat (length a)) in *.
  assert (c < 1); [|nia]. apply Z.mul_lt_mono_pos_l with P; lia.
Qed.

(* One limb of a difference. *)
Lemma difference_limb x y c : limb x -> limb y -> 0 <= c <= 1 ->
  let d := sub64 (sub64 x y) c in 0 <= shr d 63 <= 1 /\ limb (Z.land d 4503599627370495) /\
  Z.land d 4503599627370495 = x - y - c + D * shr d 63.
Proof.
  intros Hx Hy Hc d. unfold limb in *. rewrite ones_land. unfold shr. change (2 ^ 63) with 9223372036854775808.
  destruct (Z_lt_le_dec (x - y - c) 0) as [N|N].
  - assert (E : d = x - y - c + B) by (unfold d, sub64; rewrite Zminus_mod_idemp_l; symmetry; apply Z.mod_unique with (-1); lia).
    assert (H : d / 9223372036854775808 = 1) by (symmetry; apply Z.div_unique with (d - 9223372036854775808); lia).
    assert (M : d mod D = x - y - c + D) by (symmetry; apply Z.mod_unique with 4095; lia). rewrite H, M. lia.
  - assert (E : d = x - y - c) by (unfold d, sub64; rewrite Zminus_mod_idemp_l; apply Z.mod_small; lia).
    rewrite Z.div_small, Z.mod_small by lia. lia.
Qed.

Lemma borrow_loop a : forall m c, Forall limb a -> Forall limb m -> length a = length m -> 0 <= c <= 1 ->
  (reduce_once_loop1 a m c = 1 /\ value a < value m + c) \/ (reduce_once_loop1 a m c = 0 /\ value m + c <= value a).
Proof.
  induction a as [|x a IH]; intros [|y m] c Ha Hm E Hc; try discriminate; cbn [reduce_once_loop1 value]; [lia|].
  apply Forall_cons_iff in Ha as [Hx Ha]. apply Forall_cons_iff in Hm as [Hy Hm]. cbn [length] in E.
  destruct (difference_limb x y c Hx Hy Hc) as (D1 & D2 & D3). unfold limb in *.
  specialize (IH m _ Ha Hm ltac:(lia) D1). lia.
Qed.

Lemma difference_loop s a : s = 0 \/ s = 1 -> forall m c, Forall limb a -> Forall limb m -> length a = length m -> 0 <= c <= 1 ->
  let '(r, c') := reduce_once_loop2 (natural.mask s) a m c in Forall limb r /\ length r = length a /\
  value r - D ^ Z.of_nat (length a) * c' = value a - s * value m - c.
Proof.
  intros Hs. induction a as [|x a IH]; intros [|y m] c Ha Hm E Hc; try discriminate; cbn [reduce_once_loop2 value length].
  - split; [constructor|]. split; [reflexivity|]. change (D ^ Z.of_nat 0) with 1. lia.
  - apply Forall_cons_iff in Ha as [Hx Ha]. apply Forall_cons_iff in Hm as [Hy Hm]. cbn [length] in E. unfold limb in Hy.
    rewrite (natural.mask_correct y s) by (unfold word; lia).
    destruct (difference_limb x (s * y) c Hx ltac:(unfold limb; destruct Hs; subst; lia) Hc) as (D1 & D2 & D3).
    specialize (IH m _ Ha Hm ltac:(lia) D1). destruct (reduce_once_loop2 _ a m _) as [r c']. destruct IH as (I1 & I2 & I3).
    split; [constructor; assumption|]. cbn [length value]. split; [lia|]. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. lia.
Qed.

(* ifma/across.rs: reduce_once. One subtraction, if the number is not below m. *)
Theorem reduce_once_correct a m : Forall limb a -> Forall limb m -> length a = length m ->
  let '(s, r) := reduce_once a m in Forall limb r /\ length r = length a /\
  value r = value a - s * value m /\ ((s = 1 /\ value m <= value a) \/ (s = 0 /\ value a < value m)).
Proof.
  intros Ha Hm E. unfold reduce_once. cbv zeta. pose proof (borrow_loop a m 0 Ha Hm E ltac:(lia)) as L.
  set (b := reduce_once_loop1 a m 0) in *. set (s := 1 - b). assert (Hs : s = 0 \/ s = 1) by lia.
  replace (not64 (natural.mask b)) with (natural.mask s) by (unfold s; destruct L as [[-> _]|[-> _]]; reflexivity).
  pose proof (difference_loop s a Hs m 0 Ha Hm E ltac:(lia)) as H. destruct (reduce_once_loop2 _ a m 0) as [r c].
  destruct H as (H1 & H2 & H3). pose proof (value_range a Ha) as Ra. pose proof (value_range m Hm) as Rm.
  pose proof (value_range r H1) as Rr. rewrite H2 in Rr. rewrite <- E in Rm.
  replace (Z.land (natural.mask s) 1) with s by (destruct Hs as [-> | ->]; reflexivity).
  split; [exact H1|]. split; [exact H2|]. set (P := D ^ Z.of_nat (length a)) in *.
  assert (c = 0); [|subst c; destruct Hs; subst s; lia].
  assert (-1 < c < 1); [|lia]. destruct Hs as [Hs|Hs]; rewrite Hs in *; split; apply Z.mul_lt_mono_pos_l with P; lia.
Qed.

Lemma value_of_cut (a b : list Z) : value (a ++ b) = value a + D ^ Z.of_nat (length a) * value b.
Proof.
  induction a as [|x a IH]; cbn [app value length]; [change (D ^ Z.of_nat 0) with 1; lia|].
  rewrite IH, Nat2Z.inj_succ, Z.pow_succ_r by lia. ring.
Qed.

Section Modulus.
Variable m : list Z.
Let k := length m.
Let M := value m.
Let R := D ^ Z.of_nat k.
Hypothesis Hm : Forall limb m.
Hypothesis HM : 1 < M.
Hypothesis HR : 256 * M <= R.

Lemma reductions n : forall a, Forall limb a -> length a = k -> value a < Z.of_nat (S n) * M ->
  let r := canonical_loop1 m n a in Forall limb r /\ length r = k /\ value r = value a mod M.
Proof.
  induction n as [|n IH]; intros a Ha La Va; cbn [canonical_loop1]; cbv zeta.
  - split; [exact Ha|]. split; [exact La|]. symmetry. apply Z.mod_small. pose proof (value_range a Ha). lia.
  - pose proof (reduce_once_correct a m Ha Hm La) as H. destruct (reduce_once a m) as [s r]. destruct H as (H1 & H2 & H3 & H4).
    fold M in H3, H4. specialize (IH r H1 ltac:(lia)). cbv zeta in IH. destruct IH as (I1 & I2 & I3); [lia|].
    split; [exact I1|]. split; [exact I2|]. rewrite I3, H3. replace (value a - s * M) with (value a + - s * M) by ring.
    apply Z_mod_plus_full.
Qed.

Lemma cut_at (low high : list Z) : length low = k -> firstn k (low ++ high) = low /\ skipn k (low ++ high) = high.
Proof. intros <-. rewrite firstn_app, skipn_app, Nat.sub_diag, firstn_all, skipn_all. cbn. rewrite app_nil_r. auto. Qed.

(* ifma/across.rs: canonical. A residue, modulo m. *)
Theorem canonical_residue a : Forall limb a -> length a = k -> value a < 2 * M ->
  let r := canonical k m a in Forall limb r /\ length r = k /\ value r = value a mod M.
Proof.
  intros Ha La Va. unfold canonical. rewrite <- (app_nil_r a). destruct (cut_at a [] La) as [-> ->]. cbv zeta.
  pose proof (reduce_once_correct a m Ha Hm La) as H. destruct (reduce_once a m) as [s r]. destruct H as (H1 & H2 & H3 & H4).
  cbn [is_empty negb]. change (0 + k)%nat with k. rewrite (splice_tail a [] []), (splice_head a r) by auto. rewrite !app_nil_r.
  split; [exact H1|]. split; [lia|]. fold M in H3, H4. pose proof (value_range a Ha).
  apply Z.mod_unique_pos with s; lia.
Qed.

(* ifma/across.rs: canonical. A dual residue, modulo m^2. *)
Theorem canonical_dual low high : Forall limb low -> length low = k -> Forall limb high -> length high = k ->
  value low < 2 * M -> value high < 3 * M -> exists r s, canonical k m (low ++ high) = r ++ s /\
  Forall limb r /\ length r = k /\ 0 <= value r < M /\ Forall limb s /\ length s = k /\ 0 <= value s < M /\
  value r + value s * M = (value low + value high * M) mod (M * M).
Proof.
  intros Hl Ll Hh Lh Vl Vh. unfold canonical. destruct (cut_at low high Ll) as [-> ->]. cbv zeta.
  pose proof (reduce_once_correct low m Hl Hm Ll) as H. destruct (reduce_once low m) as [c r].
  destruct H as (H1 & H2 & H3 & H4). fold M in H3, H4.
  assert (N : is_empty high = false) by (destruct high; [unfold M in HM; destruct m; cbn in *; lia|reflexivity]).
  rewrite N. cbn [negb]. pose proof (value_range high Hh) as Rh. pose proof (value_range low Hl) as Rl.
  destruct (add_correct high [c]) as (A1 & A2 & A3); [exact Hh|constructor; [unfold limb; lia|constructor]| | |].
  { rewrite Lh. unfold M in HM. unfold k. destruct m; cbn in *; lia. }
  { rewrite Lh. fold R. cbn [value]. lia. }
  cbn [value] in A3. destruct (reductions 3 (add high [c]) A1 ltac:(lia) ltac:(lia)) as (S1 & S2 & S3).
  change (3 - 0)%nat with 3%nat. set (s := canonical_loop1 m 3 (add high [c])) in *.
  exists r, s. change (0 + k)%nat with k. rewrite (splice_tail low high s), (splice_head low r) by (lia || auto).
  pose proof (Z.mod_pos_bound (value (add high [c])) M ltac:(lia)) as Q.
  assert (Vr : 0 <= value r < M) by lia. assert (Vs : 0 <= value s < M) by lia.
  split; [reflexivity|]. split; [exact H1|]. split; [lia|]. split; [exact Vr|]. split; [exact S1|]. split; [exact S2|].
  split; [exact Vs|]. apply cong_small with (M * M).
  - assert (value s * M <= (M - 1) * M) by (apply Z.mul_le_mono_nonneg_r; lia).
    assert (0 <= value s * M) by (apply Z.mul_nonneg_nonneg; lia). lia.
  - apply Z.mod_pos_bound. apply Z.mul_pos_pos; lia.
  - rewrite cong_mod by (assert (0 < M * M) by (apply Z.mul_pos_pos; lia); lia).
    pose proof (Z.div_mod (value (add high [c])) M ltac:(lia)) as E. rewrite <- S3 in E.
    set (t := value (add high [c]) / M) in *. exists (- t).
    replace (value high) with (M * t + value s - c) by lia. rewrite H3. ring.
Qed.

(* ifma/across.rs: add_chunk; ifma.rs: chunk_bits. The low part grows to less than R / 2. *)
Theorem add_chunk_correct low high chunk : Forall limb low -> length low = k -> value low < 2 * M ->
  Forall limb chunk -> (length chunk <= k)%nat -> 2 ^ CHUNK * value chunk < R -> exists r,
  add_chunk k m (low ++ high) chunk = r ++ high /\ Forall limb r /\ length r = k /\ value r = value low + value chunk /\
  2 * value r < R.
Proof.
  unfold CHUNK. change (2 ^ 2) with 4. intros Hl Ll Vl Hc Lc Vc. pose proof (value_range chunk Hc) as Rc. exists (add low chunk).
  destruct (add_correct low chunk Hl Hc ltac:(lia)) as (A1 & A2 & A3); [rewrite Ll; fold R; lia|].
  unfold add_chunk. destruct (cut_at low high Ll) as [-> _]. cbv zeta. rewrite splice_head by exact A2.
  split; [reflexivity|]. split; [exact A1|]. split; [lia|]. split; [exact A3|]. lia.
Qed.
End Modulus.

(* The modulus 2^52 + 5 in three limbs. *)
Ltac computed := first [reflexivity | lia | (unfold limb; repeat constructor; (lia || discriminate)) | (vm_compute; intuition discriminate)].
Example add_example : Forall limb (add [D - 1; D - 1; 0] [1]) /\ length (add [D - 1; D - 1; 0] [1]) = 3%nat /\
  value (add [D - 1; D - 1; 0] [1]) = value [D - 1; D - 1; 0] + value [1].
Proof. apply add_correct; computed. Qed.
Example reduce_once_example : let '(s, r) := reduce_once [2; 2; 0] [5; 1; 0] in Forall limb r /\ length r = 3%nat /\
  value r = value [2; 2; 0] - s * value [5; 1; 0] /\
  ((s = 1 /\ value [5; 1; 0] <= value [2; 2; 0]) \/ (s = 0 /\ value [2; 2; 0] < value [5; 1; 0])).
Proof. apply reduce_once_correct; computed. Qed.
Example canonical_example : let r := canonical 3 [5; 1; 0] [9; 2; 0] in
  Forall limb r /\ length r = 3%nat /\ value r = value [9; 2; 0] mod value [5; 1; 0].
Proof. apply (canonical_residue [5; 1; 0]); computed. Qed.
Example canonical_dual_example : exists r s, canonical 3 [5; 1; 0] ([9; 2; 0] ++ [14; 3; 0]) = r ++ s /\
  Forall limb r /\ length r = 3%nat /\ 0 <= value r < value [5; 1; 0] /\ Forall limb s /\ length s = 3%nat /\
  0 <= value s < value [5; 1; 0] /\ value r + value s * value [5; 1; 0] =
  (value [9; 2; 0] + value [14; 3; 0] * value [5; 1; 0]) mod (value [5; 1; 0] * value [5; 1; 0]).
Proof. apply (canonical_dual [5; 1; 0]); computed. Qed.
Example add_chunk_example : exists r, add_chunk 3 [5; 1; 0] ([9; 2; 0] ++ [4; 3; 0]) [D - 1; D - 1; D / 4 - 1] = r ++ [4; 3; 0] /\
  Forall limb r /\ length r = 3%nat /\ value r = value [9; 2; 0] + value [D - 1; D - 1; D / 4 - 1] /\ 2 * value r < D ^ 3.
Proof. apply (add_chunk_correct [5; 1; 0]); computed. Qed.
