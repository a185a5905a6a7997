(* crates/arith/src/single.rs: products of single numbers outside Montgomery form, by a reciprocal, translated. *)
From Arith Require Export natural.
From Generated Require Export single.
From Generated Require Import single_bits.

Lemma adc_bit a b c : word a -> word b -> 0 <= c <= 1 ->
  let '(s, c') := adc a b c in word s /\ 0 <= c' <= 1 /\ s + B * c' = a + b + c.
Proof.
  intros Ha Hb Hc. assert (Wc : word c) by (unfold word; lia). pose proof (adc_correct a b c Ha Hb Wc) as H.
  destruct (adc a b c) as [s c']. destruct H as (W & C & C1 & E). specialize (C1 ltac:(lia)). auto with zarith.
Qed.

Lemma wide_correct a b : word a -> word b -> let '(l, h) := wide a b in word l /\ word h /\ h < B - 1 /\ l + B * h = a * b.
Proof.
  intros Ha Hb. pose proof (word_product a b Ha Hb) as H. unfold wide; words.
  rewrite (Z.mod_small (a * b)) by lia. change (2 ^ 64) with B. divide (a * b). rewrite (Z.mod_small q) by lia. lia.
Qed.

Lemma add_row_loop1_correct y : word y -> forall n ts xs c, limbs ts -> limbs xs ->
  length ts = (4 * n)%nat -> length xs = (4 * n)%nat -> word c ->
  let '(r, c') := add_row_loop1 y ts xs c in
  limbs r /\ length r = length ts /\ word c' /\ val r + R (length ts) * c' = val ts + val xs * y + c.
Proof.
  intros Wy. induction n as [|n IH]; intros ts xs c Ht Hx Et Ex Hc.
  - destruct ts; [|discriminate]. destruct xs; [|discriminate]. cbn [add_row_loop1 val length]. rewrite R_0.
    repeat split; auto; try apply Hc; lia.
  - destruct ts as [|t0 [|t1 [|t2 [|t3 ts]]]]; cbn [length] in Et; try lia.
    destruct xs as [|a0 [|a1 [|a2 [|a3 xs]]]]; cbn [length] in Ex; try lia.
    apply limbs_cons in Ht as [T0 Ht]; apply limbs_cons in Ht as [T1 Ht].
    apply limbs_cons in Ht as [T2 Ht]; apply limbs_cons in Ht as [T3 Ht].
    apply limbs_cons in Hx as [A0 Hx]; apply limbs_cons in Hx as [A1 Hx].
    apply limbs_cons in Hx as [A2 Hx]; apply limbs_cons in Hx as [A3 Hx].
    cbn [add_row_loop1]. cbv zeta. cbn [nth].
    pose proof (wide_correct a0 y A0 Wy) as P0. destruct (wide a0 y) as [l0 h0]. destruct P0 as (L0 & H0 & _ & P0).
    pose proof (wide_correct a1 y A1 Wy) as P1. destruct (wide a1 y) as [l1 h1]. destruct P1 as (L1 & H1 & _ & P1).
    pose proof (wide_correct a2 y A2 Wy) as P2. destruct (wide a2 y) as [l2 h2]. destruct P2 as (L2 & H2 & _ & P2).
    pose proof (wide_correct a3 y A3 Wy) as P3. destruct (wide a3 y) as [l3 h3]. destruct P3 as (L3 & H3 & H3' & P3).
    pose proof (adc_bit l0 c 0 L0 Hc ltac:(lia)) as S. destruct (adc l0 c 0) as [s0 o0]. destruct S as (V0 & O0 & S0).
    pose proof (adc_bit l1 h0 o0 L1 H0 O0) as S. destruct (adc l1 h0 o0) as [s1 o1]. destruct S as (V1 & O1 & S1).
    pose proof (adc_bit l2 h1 o1 L2 H1 O1) as S. destruct (adc l2 h1 o1) as [s2 o2]. destruct S as (V2 & O2 & S2).
    pose proof (adc_bit l3 h2 o2 L3 H2 O2) as S. destruct (adc l3 h2 o2) as [s3 o3]. destruct S as (V3 & O3 & S3).
    pose proof (adc_bit t0 s0 0 T0 V0 ltac:(lia)) as Z. destruct (adc t0 s0 0) as [z0 v0]. destruct Z as (W0 & U0 & Z0).
    pose proof (adc_bit t1 s1 v0 T1 V1 U0) as Z. destruct (adc t1 s1 v0) as [z1 v1]. destruct Z as (W1 & U1 & Z1).
    pose proof (adc_bit t2 s2 v1 T2 V2 U1) as Z. destruct (adc t2 s2 v1) as [z2 v2]. destruct Z as (W2 & U2 & Z2).
    pose proof (adc_bit t3 s3 v2 T3 V3 U2) as Z. destruct (adc t3 s3 v2) as [z3 v3]. destruct Z as (W3 & U3 & Z3).
    pose proof (word_product a0 y A0 Wy) as M0. pose proof (word_product a1 y A1 Wy) as M1.
    pose proof (word_product a2 y A2 Wy) as M2. pose proof (word_product a3 y A3 Wy) as M3.
    set (p0 := a0 * y) in *. set (p1 := a1 * y) in *. set (p2 := a2 * y) in *. set (p3 := a3 * y) in *.
    (* The carry is the highest limb of a sum that fits in five limbs. *)
    assert (Sum : z0 + B * (z1 + B * (z2 + B * (z3 + B * (h3 + o3 + v3)))) =
      t0 + B * (t1 + B * (t2 + B * t3)) + p0 + B * (p1 + B * (p2 + B * p3)) + c) by (clear - S0 S1 S2 S3 Z0 Z1 Z2 Z3 P0 P1 P2 P3; lia).
    assert (N : 0 <= h3 + o3 + v3 < B).
    { unfold word in *. clear - Sum M0 M1 M2 M3 W0 W1 W2 W3 T0 T1 T2 T3 Hc H3 O3 U3. lia. }
    assert (C1 : add64 h3 o3 = h3 + o3) by (unfold add64; apply Z.mod_small; unfold word in *; lia).
    assert (C2 : add64 (h3 + o3) v3 = h3 + o3 + v3) by (unfold add64; apply Z.mod_small; lia).
    rewrite C1, C2.
    specialize (IH ts xs (h3 + o3 + v3) Ht Hx ltac:(lia) ltac:(lia) N).
    destruct (add_row_loop1 y ts xs (h3 + o3 + v3)) as [r c']. destruct IH as (Lr & Er & Wc & IH).
    cbn [app length val]. rewrite !R_S.
    split; [repeat (apply limbs_cons; split; auto)|]. split; [lia|]. split; [exact Wc|].
    unfold p0, p1, p2, p3 in *. clear - Sum IH. lia.
Qed.

(* The loop of mac_row. *)
Lemma add_row_loop2_correct y ts : forall xs c, word y -> limbs ts -> limbs xs -> length ts = length xs -> word c ->
  let '(r, c') := add_row_loop2 y ts xs c in
  limbs r /\ length r = length ts /\ word c' /\ val r + R (length ts) * c' = val ts + val xs * y + c.
Proof. intros. apply mac_row_loop1_correct; assumption. Qed.

(* single.rs: add_row *)
Theorem add_row_correct t a y : limbs t -> limbs a -> length t = length a -> word y ->
  let '(c, r) := add_row t a y in
  limbs r /\ length r = length t /\ word c /\ val r + R (length t) * c = val t + val a * y.
Proof.
  intros Ht Ha E Wy. unfold add_row. cbv zeta. rewrite <- E. set (n := (length t / 4)%nat).
  assert (Hn : (n * 4 <= length t)%nat) by (unfold n; pose proof (Nat.mul_div_le (length t) 4); lia).
  clearbody n. assert (Hn' : (n * 4 <= length a)%nat) by lia.
  destruct (cut t (n * 4) Hn) as (p & s & -> & Lp & -> & ->). destruct (cut a (n * 4) Hn') as (q & r & -> & Lq & -> & ->).
  apply limbs_app in Ht as [Hp Hs]. apply limbs_app in Ha as [Hq Hr]. rewrite !app_length in E.
  assert (W0 : word 0) by (unfold word; lia).
  pose proof (add_row_loop1_correct y Wy n p q 0 Hp Hq ltac:(lia) ltac:(lia) W0) as L.
  destruct (add_row_loop1 y p q 0) as [p' c1]. destruct L as (Lp' & Ep & C1 & V1).
  pose proof (add_row_loop2_correct y s r c1 Wy Hs Hr ltac:(lia) C1) as L.
  destruct (add_row_loop2 y s r c1) as [s' c2]. destruct L as (Ls' & Es & C2 & V2).
  simpl (0 + _)%nat. rewrite splice_tail by auto. rewrite splice_head by auto.
  rewrite limbs_app, !app_length, R_plus, !val_app, Ep. replace (length q) with (length p) by lia.
  split; [auto|]. split; [lia|]. split; [exact C2|].
  assert (X : R (length p) * (val s' + R (length s) * c2) = R (length p) * (val s + val r * y + c1)) by (f_equal; exact V2).
  lia.
Qed.

(* Parts of numbers. *)
Lemma skip_next e : forall t : list Z, skipn (S e) t = skipn 1 (skipn e t).
Proof. induction e; intros [|x t]; try reflexivity. exact (IHe t). Qed.

Lemma nth_skip e : forall t : list Z, nth e t 0 = nth 0 (skipn e t) 0.
Proof. induction e; intros [|x t]; cbn [skipn nth]; auto. Qed.

Lemma skip_zeros n : forall k, skipn k (repeat 0 n) = repeat 0 (n - k).
Proof. induction n; intros [|k]; cbn [repeat skipn Nat.sub]; auto. Qed.

Lemma val_cut n l : limbs l -> (n <= length l)%nat ->
  val l = val (firstn n l) + R n * val (skipn n l) /\ 0 <= val (firstn n l) < R n.
Proof.
  intros Hl Hn. pose proof (val_range _ (limbs_firstn n l Hl)) as H. rewrite firstn_length_le in H by lia.
  split; [|exact H]. rewrite <- (firstn_skipn n l) at 1. rewrite val_app, firstn_length_le by lia. reflexivity.
Qed.

Lemma val_skip n l : limbs l -> (n <= length l)%nat -> val (skipn n l) = val l / R n.
Proof.
  intros Hl Hn. destruct (val_cut n l Hl Hn) as [E H]. apply Z.div_unique with (val (firstn n l)); [left; exact H|]. lia.
Qed.

Lemma splice_same k (l : list Z) : (k <= length l)%nat -> splice l k (skipn k l) = l.
Proof. intros H. destruct (cut l k H) as (p & s & -> & L & _ & ->). apply splice_tail; auto. Qed.

(* A row added at limb s, and its carry stored in the limb above, which is zero. *)
Lemma row_at u s x y e : limbs u -> limbs x -> word y -> e = (s + length x)%nat -> (e < length u)%nat -> nth e u 0 = 0 ->
  let '(c, r) := add_row (firstn (e - s) (skipn s u)) x y in
  let u' := splice (splice u s r) e [c] in
  limbs u' /\ length u' = length u /\ skipn (S e) u' = skipn (S e) u /\ val u' = val u + R s * (val x * y).
Proof.
  intros Hu Hx Wy -> He Z. replace (s + length x - s)%nat with (length x) by lia.
  destruct (cut u s ltac:(lia)) as (p & v & -> & Lp & _ & ->). rewrite app_length in He.
  destruct (cut v (length x) ltac:(lia)) as (w & h & -> & Lw & -> & _). rewrite app_length in He.
  destruct h as [|z h]; [cbn [length] in He; lia|].
  rewrite app_nth2 in Z by lia. rewrite app_nth2 in Z by lia.
  replace (s + length x - length p - length w)%nat with 0%nat in Z by lia. cbn [nth] in Z. subst z.
  apply limbs_app in Hu as [Hp Hv]; apply limbs_app in Hv as [Hw Hh]; apply limbs_cons in Hh as [_ Hh].
  pose proof (add_row_correct w x y Hw Hx Lw Wy) as A. destruct (add_row w x y) as [c r]. destruct A as (Lr & Er & Wc & A).
  cbv zeta. rewrite splice_window by lia.
  replace (splice (p ++ r ++ 0 :: h) (s + length x) [c]) with (p ++ r ++ c :: h).
  2: { rewrite !app_assoc. change (0 :: h) with ([0] ++ h).
       rewrite splice_window by (rewrite ?app_length; cbn [length]; lia). reflexivity. }
  split; [repeat (apply limbs_app; split); auto; apply limbs_cons; auto|].
  split; [rewrite !app_length; cbn [length]; lia|]. split.
  - assert (K : forall v z, length v = length x -> skipn (S (s + length x)) (p ++ v ++ z :: h) = h).
    { intros v z Ev. change (z :: h) with ([z] ++ h). rewrite !app_assoc. rewrite skipn_app.
      rewrite skipn_all2 by (rewrite !app_length; cbn [length]; lia).
      replace (_ - _)%nat with 0%nat by (rewrite !app_length; cbn [length]; lia). reflexivity. }
    rewrite !K by lia. reflexivity.
  - rewrite !val_app. cbn [val]. rewrite Er, Lp.
    assert (X : R s * (val r + R (length w) * c) = R s * (val w + val x * y)) by (f_equal; exact A). lia.
Qed.

Lemma product_body_loop1_correct x ys : forall t i, limbs x -> limbs ys -> limbs t ->
  (i + length x + length ys <= length t)%nat -> skipn (i + length x) t = repeat 0 (length t - (i + length x)) ->
  exists t', product_body_loop1 x ys t i = (t', (i + length ys)%nat) /\ limbs t' /\ length t' = length t /\
  val t' = val t + R i * (val x * val ys).
Proof.
  induction ys as [|y ys IH]; intros t i Hx Hy Ht L Z; cbn [product_body_loop1 length val].
  - exists t. rewrite Nat.add_0_r. repeat split; auto. lia.
  - apply limbs_cons in Hy as [Wy Hy]. cbn [length] in L.
    assert (N : nth (i + length x) t 0 = 0) by (rewrite nth_skip, Z; apply nth_repeat).
    pose proof (row_at t i x y (i + length x) Ht Hx Wy eq_refl ltac:(lia) N) as A.
    destruct (add_row (firstn (i + length x - i) (skipn i t)) x y) as [c r]. cbv zeta in *.
    destruct A as (Lt & Et & Sk & A). set (t1 := splice (splice t i r) (i + length x) [c]) in *. clearbody t1.
    destruct (IH t1 (i + 1)%nat Hx Hy Lt ltac:(lia)) as (t' & E & Lt' & Et' & V).
    { replace (i + 1 + length x)%nat with (S (i + length x)) by lia. rewrite Sk, Et, skip_next, Z.
      replace (length t - (i + length x))%nat with (S (length t - S (i + length x))) by lia. reflexivity. }
    exists t'. split; [rewrite E; f_equal; lia|]. split; [exact Lt'|]. split; [lia|].
    rewrite V, A. replace (i + 1)%nat with (S i) by lia. rewrite R_S. ring.
Qed.

(* Columns below d - 2 are left out: less than R (d - 1) for each limb of the reciprocal below limb d - 2. *)
Lemma product_body_loop2_correct d upper mus : (2 <= d)%nat -> limbs upper -> length upper = (d + 1)%nat ->
  forall u i, limbs mus -> limbs u -> (i + d + 1 + length mus <= length u)%nat ->
  skipn (i + d + 1) u = repeat 0 (length u - (i + d + 1)) ->
  exists u' dropped, product_body_loop2 d upper mus u i = (u', (i + length mus)%nat) /\ limbs u' /\ length u' = length u /\
  0 <= dropped <= Z.of_nat (d - 2 - i) * R (d - 1) /\ val u' = val u + R i * (val upper * val mus) - dropped.
Proof.
  intros Hd Hu' Eu. induction mus as [|y mus IH]; intros u i Hy Hu L Z; cbn [product_body_loop2 length val].
  - exists u, 0. rewrite Nat.add_0_r. pose proof (R_pos (d - 1)). repeat split; auto; try lia.
    apply Z.mul_nonneg_nonneg; lia.
  - apply limbs_cons in Hy as [Wy Hy]. cbn [length] in L. cbv zeta.
    assert (N : nth (i + d + 1) u 0 = 0) by (rewrite nth_skip, Z; apply nth_repeat).
    set (first := (d - 2 - i)%nat) in *.
    assert (Ls : length (skipn first upper) = (d + 1 - first)%nat) by (rewrite skipn_length; lia).
    pose proof (row_at u (i + first) (skipn first upper) y (i + d + 1) Hu (limbs_skipn _ _ Hu') Wy
      ltac:(rewrite Ls; unfold first; lia) ltac:(lia) N) as A.
    destruct (add_row (firstn (i + d + 1 - (i + first)) (skipn (i + first) u)) (skipn first upper) y) as [c r]. cbv zeta in *.
    destruct A as (Lt & Et & Sk & A). set (u1 := splice (splice u (i + first) r) (i + d + 1) [c]) in *. clearbody u1.
    destruct (IH u1 (i + 1)%nat Hy Lt ltac:(lia)) as (u2 & dropped & E & Lu2 & Eu2 & D & V).
    { replace (i + 1 + d + 1)%nat with (S (i + d + 1)) by lia. rewrite Sk, Et, skip_next, Z.
      replace (length u - (i + d + 1))%nat with (S (length u - S (i + d + 1))) by lia. reflexivity. }
    destruct (val_cut first upper Hu' ltac:(unfold first; lia)) as [Cut Low].
    set (low := val (firstn first upper)) in *. set (high := val (skipn first upper)) in *.
    assert (D1 : 0 <= R i * (low * y) <= (Z.of_nat first - Z.of_nat (d - 2 - (i + 1))) * R (d - 1)).
    { pose proof (R_pos i) as Ri. destruct (Nat.eq_dec first 0) as [F|F].
      - rewrite F in *. rewrite R_0 in Low. replace low with 0 by lia. replace (d - 2 - (i + 1))%nat with 0%nat by lia. lia.
      - replace (Z.of_nat first - Z.of_nat (d - 2 - (i + 1))) with 1 by lia.
        replace (R (d - 1)) with (R i * (R first * B)).
        2: { replace (d - 1)%nat with (i + first + 1)%nat by lia. rewrite !R_plus. change (R 1) with B. ring. }
        unfold word in Wy. assert (0 <= low * y <= R first * B).
        { split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]. }
        split; [apply Z.mul_nonneg_nonneg; lia|]. rewrite Z.mul_1_l. apply Z.mul_le_mono_nonneg_l; lia. }
    exists u2, (dropped + R i * (low * y)). split; [rewrite E; f_equal; lia|]. split; [exact Lu2|]. split; [lia|].
    split; [lia|]. rewrite V, A, Cut. replace (i + 1)%nat with (S i) by lia. rewrite R_S, R_plus. ring.
Qed.

(* Columns above d are left out: multiples of R (d + 1). *)
Lemma product_body_loop3_correct d m qs : limbs m -> length m = d -> forall low i, limbs qs -> limbs low ->
  length low = (d + 1)%nat -> (1 <= i)%nat -> (i + length qs = d + 1)%nat ->
  exists low' over, product_body_loop3 d m qs low i = (low', (d + 1)%nat) /\ limbs low' /\ length low' = (d + 1)%nat /\
  val low' = val low + R i * (val m * val qs) - R (d + 1) * over.
Proof.
  intros Hm Em. induction qs as [|q qs IH]; intros low i Hq Hl El Hi L; cbn [product_body_loop3 length val].
  - exists low, 0. cbn [length] in L. rewrite Nat.add_0_r in L. rewrite L. repeat split; auto. lia.
  - apply limbs_cons in Hq as [Wq Hq]. cbn [length] in L. cbv zeta. set (k := (d + 1 - i)%nat).
    assert (Es : length (skipn i low) = k) by (rewrite skipn_length; unfold k; lia).
    assert (Ek : length (firstn k m) = k) by (apply firstn_length_le; unfold k; lia).
    pose proof (add_row_correct (skipn i low) (firstn k m) q (limbs_skipn _ _ Hl) (limbs_firstn _ _ Hm) ltac:(lia) Wq) as A.
    destruct (add_row (skipn i low) (firstn k m) q) as [c r]. destruct A as (Lr & Er & Wc & A).
    rewrite Es in *. destruct (val_cut i low Hl ltac:(lia)) as [CutL _].
    destruct (val_cut k m Hm ltac:(unfold k; lia)) as [CutM _].
    destruct (cut low i ltac:(lia)) as (p & s & -> & Lp & Fp & Sp). rewrite Fp, Sp in *.
    rewrite splice_tail by lia. apply limbs_app in Hl as [Hp Hs]. rewrite app_length in El.
    destruct (IH (p ++ r) (i + 1)%nat Hq ltac:(apply limbs_app; auto) ltac:(rewrite app_length; lia) ltac:(lia) ltac:(lia))
      as (low' & over & E & Ll & El' & V).
    exists low', (over + c + val (skipn k m) * q). split; [exact E|]. split; [exact Ll|]. split; [exact El'|].
    rewrite V, CutL, val_app, Lp, CutM. replace (i + 1)%nat with (S i) by lia. rewrite R_S.
    replace (R (d + 1)) with (R i * R k) by (rewrite <- R_plus; f_equal; unfold k; lia).
    assert (X : R i * (val r + R k * c) = R i * (val s + val (firstn k m) * q)) by (f_equal; exact A). lia.
Qed.

(* The modulus is subtracted once unless the number, with the limb above, is smaller. *)
Lemma reduce_step a m top : limbs a -> limbs m -> length a = length m -> word top ->
  let '(s, r) := reduce_once a top m in
  let top' := sub64 top (Z.land (less a m) s) in let v := val a + R (length a) * top in
  limbs r /\ length r = length a /\ word top' /\
  val r + R (length a) * top' = (if Z_lt_le_dec v (val m) then v else v - val m).
Proof.
  intros Ha Hm E Ht. unfold reduce_once.
  pose proof (val_range a Ha) as Ra. pose proof (val_range m Hm) as Rm. rewrite <- E in Rm.
  pose proof (less_correct a m Ha Hm E) as L. assert (W0 : word 0) by (unfold word; lia).
  pose proof (sbb_correct top 0 (less a m) Ht W0 ltac:(lia)) as A.
  destruct (sbb top 0 (less a m)) as [d c]. destruct A as (Wd & Hc & A). cbn [snd]. cbv zeta.
  assert (Hs : sub64 1 c = 1 - c) by (unfold sub64; apply Z.mod_small; lia). rewrite Hs.
  pose proof (reduce_once_loop1_correct (1 - c) ltac:(lia) a m 0 Ha Hm E ltac:(lia)) as K.
  destruct (reduce_once_loop1 (mask (1 - c)) a m 0) as [r b]. destruct K as (Lr & Er & Hb & K).
  pose proof (val_range r Lr) as Rr. rewrite Er in Rr. pose proof (R_pos (length a)) as P.
  assert (C : c = 0 \/ c = 1) by lia. assert (Cb : b = 0 \/ b = 1) by lia. unfold word in *.
  set (n := length a) in *. set (v := val a + R n * top) in *.
  destruct C as [-> | ->].
  - (* The limb above holds the borrow. *)
    assert (S1 : sub64 top (Z.land (less a m) 1) = top - less a m).
    { destruct L as [[F _]|[F _]]; rewrite F in *; unfold sub64; [change (Z.land 1 1) with 1|change (Z.land 0 1) with 0];
        apply Z.mod_small; lia. }
    change (1 - 0) with 1 in *. rewrite S1.
    assert (Bor : b = less a m) by (destruct L as [[F ?]|[F ?]]; rewrite F; destruct Cb as [-> | ->]; lia).
    split; [exact Lr|]. split; [exact Er|]. split; [lia|].
    assert (Ge : val m <= v).
    { destruct L as [[F ?]|[F ?]]; rewrite F in *.
      - assert (R n * 1 <= R n * top) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
      - assert (0 <= R n * top) by (apply Z.mul_nonneg_nonneg; lia). lia. }
    destruct (Z_lt_le_dec v (val m)); [lia|]. unfold v. rewrite <- Bor. lia.
  - assert (T : top = 0) by lia. assert (F : less a m = 1) by lia. rewrite F. change (1 - 1) with 0 in *.
    change (Z.land 1 0) with 0. subst top. change (sub64 0 0) with 0.
    split; [exact Lr|]. split; [exact Er|]. split; [lia|].
    destruct L as [[_ F']|[F' _]]; [|lia]. unfold v. destruct (Z_lt_le_dec (val a + R n * 0) (val m)); [|lia].
    destruct Cb as [-> | ->]; lia.
Qed.

Lemma product_body_loop4_correct m rest top : limbs rest -> limbs m -> length rest = length m -> limbs top ->
  let v := val rest + R (length m) * nth 0 top 0 in 0 <= v < 3 * val m ->
  exists r top', product_body_loop4 m 2 rest top = (r, top') /\ limbs r /\ length r = length m /\ val r = v mod val m.
Proof.
  intros Hr Hm E Ht v Hv. cbn [product_body_loop4]. cbv zeta.
  pose proof (reduce_step rest m (nth 0 top 0) Hr Hm E (limbs_nth _ _ Ht)) as S1.
  destruct (reduce_once rest (nth 0 top 0) m) as [s1 r1]. cbv zeta in S1. destruct S1 as (L1 & E1 & W1 & V1).
  set (top1 := sub64 (nth 0 top 0) (Z.land (less rest m) s1)) in *.
  change (nth 0 (splice top 0 [top1]) 0) with top1.
  pose proof (reduce_step r1 m top1 L1 Hm ltac:(lia) W1) as S2.
  destruct (reduce_once r1 top1 m) as [s2 r2]. cbv zeta in S2. destruct S2 as (L2 & E2 & W2 & V2).
  set (top2 := sub64 top1 (Z.land (less r1 m) s2)) in *.
  eexists; eexists. split; [reflexivity|]. split; [exact L2|]. split; [lia|].
  rewrite E1, E in *. fold v in V1. pose proof (val_range _ L2) as R2. pose proof (val_range _ Hm) as Rm.
  rewrite E2 in R2. unfold word in W2.
  assert (Z2 : exists k, val r2 + R (length m) * top2 = v - k * val m /\ 0 <= v - k * val m < val m).
  { rewrite V2, V1. destruct (Z_lt_le_dec v (val m)).
    - destruct (Z_lt_le_dec v (val m)); [|lia]. exists 0. lia.
    - destruct (Z_lt_le_dec (v - val m) (val m)); [exists 1|exists 2]; lia. }
  destruct Z2 as (k & Z2 & Rk).
  assert (top2 = 0).
  { destruct (Z.eq_dec top2 0); [assumption|]. pose proof (R_pos (length m)).
    assert (R (length m) * 1 <= R (length m) * top2) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
  apply Z.mod_unique with k; [left; lia|]. rewrite H in Z2. lia.
Qed.

(* single.rs: product_body. Factors that fill all limbs of the modulus: the quotient is at most 2 too small. *)
Theorem single_quotient low W m t mu dropped : 1 <= low -> 1 <= W -> 4 * low <= m -> 0 <= t < W * low ->
  mu = W * low / m -> 0 <= dropped <= t / low * mu -> 4 * dropped <= W ->
  let q := (t / low * mu - dropped) / W in 0 <= t - q * m < 3 * m.
Proof.
  intros Hlow HW Hm Ht Hmu Hd Hd4 q.
  pose proof (Z.div_mod t low ltac:(lia)) as D1. pose proof (Z.mod_pos_bound t low ltac:(lia)) as M1.
  pose proof (Z.div_mod (W * low) m ltac:(lia)) as D2. pose proof (Z.mod_pos_bound (W * low) m ltac:(lia)) as M2.
  rewrite <- Hmu in D2.
  assert (U0 : 0 <= t / low) by (apply Z.div_pos; lia).
  assert (U1 : t / low < W) by (apply Z.div_lt_upper_bound; lia).
  assert (MU0 : 0 <= mu) by (subst mu; apply Z.div_pos; lia).
  set (u := t / low) in *. set (v := t mod low) in *. set (w := (W * low) mod m) in *.
  pose proof (Z.div_mod (u * mu - dropped) W ltac:(lia)) as D3. pose proof (Z.mod_pos_bound (u * mu - dropped) W ltac:(lia)) as M3.
  fold q in D3. set (z := (u * mu - dropped) mod W) in *. clearbody u v w z q.
  assert (A : u * mu * m <= W * t).
  { assert (u * (m * mu) <= u * (W * low)) by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (W * (low * u) <= W * t) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
  assert (Q : q * W <= u * mu) by lia.
  assert (L : q * m <= t).
  { apply Z.mul_le_mono_pos_l with W; [lia|].
    assert (q * W * m <= u * mu * m) by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
  assert (H1 : 4 * W * v <= W * m).
  { replace (4 * W * v) with (W * (4 * v)) by ring. apply Z.mul_le_mono_nonneg_l; lia. }
  assert (H2 : u * w <= W * m) by (apply Z.mul_le_mono_nonneg; lia).
  assert (H3 : 4 * dropped * m <= W * m) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (H4 : z * m <= (W - 1) * m) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (E : W * (t - q * m) = W * v + u * w + dropped * m + z * m).
  { assert (X1 : W * t = W * (low * u) + W * v) by (rewrite D1 at 1; ring).
    assert (X2 : u * (W * low) = u * (m * mu + w)) by (f_equal; exact D2).
    assert (X3 : (u * mu - dropped) * m = (W * q + z) * m) by (f_equal; exact D3). lia. }
  split; [lia|]. apply Z.mul_lt_mono_pos_l with (4 * W); lia.
Qed.

(* single.rs: product_body. The canonical product, for every number of limbs and with no spare bits in the factors. *)
Theorem product_body_correct out x y m mu space : limbs x -> limbs y -> limbs m -> limbs mu ->
  let d := length m in (2 <= d)%nat -> Z.of_nat d < B -> (length x <= d)%nat -> (length y <= d)%nat ->
  length mu = (d + 1)%nat -> length space = (4 * d + 2)%nat -> 2 ^ HIGHEST * R (d - 1) <= val m -> val mu = R (2 * d) / val m ->
  let '(r, _) := product_body out x y m mu space in limbs r /\ length r = d /\ val r = (val x * val y) mod val m.
Proof.
  intros Hx Hy Hm Hmu d Hd HB Ex Ey Emu Es Hlow Vmu. unfold HIGHEST in Hlow. change (2 ^ 2) with 4 in Hlow. unfold product_body. cbv zeta. fold d.
  assert (E1 : length (firstn (2 * d) space) = (2 * d)%nat) by (apply firstn_length_le; lia).
  assert (E2 : length (skipn (2 * d) space) = (2 * d + 2)%nat) by (rewrite skipn_length; lia).
  rewrite E1, E2. change (skipn 0 y) with y. change (skipn 0 mu) with mu.
  destruct (product_body_loop1_correct x y (repeat 0 (2 * d)) 0 Hx Hy (limbs_zeros _)) as (t & -> & Lt & Et & Vt).
  { rewrite repeat_length. lia. }
  { rewrite skip_zeros, repeat_length. reflexivity. }
  rewrite repeat_length in Et. rewrite val_zeros, R_0 in Vt.
  destruct (product_body_loop2_correct d (skipn (d - 1) t) mu Hd (limbs_skipn _ _ Lt) ltac:(rewrite skipn_length; lia)
    (repeat 0 (2 * d + 2)) 0 Hmu (limbs_zeros _)) as (u & dropped & -> & Lu & Eu & Hdr & Vu).
  { rewrite repeat_length. lia. }
  { rewrite skip_zeros, repeat_length. reflexivity. }
  rewrite repeat_length in Eu. rewrite val_zeros, R_0 in Vu.
  assert (Ef : length (firstn (d + 1) u) = (d + 1)%nat) by (apply firstn_length_le; lia). rewrite Ef.
  (* The quotient. *)
  pose proof (val_range _ Lt) as Rt. rewrite Et in Rt. pose proof (val_range _ Hm) as Rm. fold d in Rm.
  pose proof (R_pos (d - 1)) as P1. pose proof (R_pos (d + 1)) as P2.
  assert (RW : R (d + 1) = B * (B * R (d - 1))) by (rewrite <- !R_S; f_equal; lia).
  assert (RD : R d = B * R (d - 1)) by (rewrite <- R_S; f_equal; lia).
  assert (R2 : R (2 * d) = R (d + 1) * R (d - 1)) by (rewrite <- R_plus; f_equal; lia).
  pose proof (val_skip (d - 1) t Lt ltac:(lia)) as Up. pose proof (val_skip (d + 1) u Lu ltac:(lia)) as Quo.
  pose proof (val_range _ Lu) as Ru.
  assert (Dropped : 4 * dropped <= R (d + 1)).
  { assert (Z.of_nat (d - 2 - 0) * R (d - 1) <= B * R (d - 1)) by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
  replace (val u) with (val t / R (d - 1) * val mu - dropped) in Quo by lia.
  pose proof (single_quotient (R (d - 1)) (R (d + 1)) (val m) (val t) (val mu) dropped ltac:(lia) ltac:(lia) Hlow ltac:(lia)
    ltac:(rewrite Vmu, R2; reflexivity) ltac:(lia) Dropped) as Near. cbv zeta in Near. rewrite <- Quo in Near.
  assert (Lq : limbs (skipn (d + 1) u)) by apply limbs_skipn, Lu.
  assert (Eq : length (skipn (d + 1) u) = (d + 1)%nat) by (rewrite skipn_length; lia).
  set (quotient := skipn (d + 1) u) in *. clearbody quotient.
  destruct quotient as [|q0 qs]; [cbn [length] in Eq; lia|]. cbn [nth skipn]. cbn [length] in Eq.
  apply limbs_cons in Lq as [Wq0 Lq]. cbn [val] in Near.
  (* The low limbs of its product. *)
  pose proof (row_at (repeat 0 (d + 1)) 0 m q0 d (limbs_zeros _) Hm Wq0 eq_refl ltac:(rewrite repeat_length; lia) (nth_repeat _ _ _)) as A.
  rewrite Nat.sub_0_r in A. change (skipn 0 (repeat 0 (d + 1))) with (repeat 0 (d + 1)) in A.
  destruct (add_row (firstn d (repeat 0 (d + 1))) m q0) as [c r0]. cbv zeta in *. destruct A as (Ll & El & _ & Vl).
  set (low0 := splice (splice (repeat 0 (d + 1)) 0 r0) d [c]) in *. clearbody low0.
  rewrite repeat_length in El. rewrite val_zeros, R_0 in Vl.
  destruct (product_body_loop3_correct d m qs Hm eq_refl low0 1 Lq Ll El ltac:(lia) ltac:(lia)) as (low & over & -> & Llow & Elow & Vlow).
  change (R 1) with B in Vlow. rewrite splice_same by lia.
  (* The difference. *)
  destruct (val_cut (d + 1) t Lt ltac:(lia)) as [CutT _].
  destruct (cut t (d + 1) ltac:(lia)) as (p & s & -> & Lp & Fp & Sp). rewrite Fp, Sp in *. clear Fp Sp.
  apply limbs_app in Lt as [Hp Hs].
  pose proof (sub_assign_correct p low Hp Llow ltac:(lia)) as Sub.
  destruct (sub_assign p low) as [borrow part]. destruct Sub as (Lpart & Epart & Hborrow & Vpart).
  rewrite splice_head by lia. rewrite Lp in *.
  assert (V : val part = val (p ++ s) - (q0 + B * val qs) * val m).
  { pose proof (val_range _ Lpart) as Rp. rewrite Epart in Rp.
    set (k := borrow - val s + over).
    assert (K : val part = val (p ++ s) - (q0 + B * val qs) * val m + R (d + 1) * k) by (unfold k; lia).
    assert (R (d + 1) * k < R (d + 1) * 1) by lia. assert (R (d + 1) * -1 < R (d + 1) * k) by lia.
    assert (k < 1) by (apply Z.mul_lt_mono_pos_l with (R (d + 1)); lia).
    assert (-1 < k) by (apply Z.mul_lt_mono_pos_l with (R (d + 1)); lia).
    replace k with 0 in K by lia. lia. }
  destruct (cut part d ltac:(lia)) as (rest & above & -> & Lrest & _ & _). rewrite app_length in Epart.
  destruct above as [|z [|z' above]]; cbn [length] in Epart; try lia.
  apply limbs_app in Lpart as [Hrest Hz]. rewrite val_app in V. cbn [val] in V.
  rewrite <- app_assoc. cbn [app].
  replace (firstn d (rest ++ z :: s)) with rest
    by (rewrite firstn_app, Lrest, Nat.sub_diag, firstn_all2 by lia; cbn [firstn]; symmetry; apply app_nil_r).
  replace (skipn d (rest ++ z :: s)) with (z :: s)
    by (rewrite skipn_app, Lrest, Nat.sub_diag, skipn_all2 by lia; reflexivity).
  change (2 - 0)%nat with 2%nat.
  destruct (product_body_loop4_correct m rest (z :: s) Hrest Hm ltac:(lia)) as (r & top & -> & Lr & Er & Vr).
  { apply limbs_cons in Hz as [Wz _]. apply limbs_cons; auto. }
  { cbn [nth]. fold d. rewrite Lrest in V. lia. }
  split; [exact Lr|]. split; [exact Er|]. cbn [nth] in Vr. fold d in Vr. rewrite Vr.
  rewrite Lrest in V. replace (val rest + R d * z) with (val x * val y + - (q0 + B * val qs) * val m) by lia.
  apply Z.mod_add. lia.
Qed.
