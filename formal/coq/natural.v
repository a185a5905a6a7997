(* crates/arith/src/natural.rs: the carries of one limb, and of rows of limbs. *)
From Arith Require Export words.
From Generated Require Export natural.

Ltac words := unfold low64, add64, sub64, mul64, neg64, not64, shl64, shr, add128, sub128, mul128, word in *.
(* Divides by B with remainder: quotient and remainder become numbers that lia knows. *)
Ltac divide x :=
  let H := fresh in
  let H' := fresh in
  assert (H := Z.div_mod x B ltac:(lia)); assert (H' := Z.mod_pos_bound x B ltac:(lia));
  let q := fresh "q" in let r := fresh "r" in
  set (q := x / B) in *; set (r := x mod B) in *; clearbody q r.

Lemma word_product x y : word x -> word y -> 0 <= x * y <= (B - 1) * (B - 1).
Proof. unfold word. intros. split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]. Qed.

(* natural.rs: adc *)
Theorem adc_correct a b c : word a -> word b -> word c ->
  let '(s, c') := adc a b c in
  word s /\ 0 <= c' <= 2 /\ (c <= 1 -> c' <= 1) /\ s + B * c' = a + b + c.
Proof.
  unfold adc; words; intros. rewrite !(Z.mod_small _ B2) by (rewrite ?Z.mod_small; lia).
  change (2 ^ 64) with B.
  divide (a + b + c). rewrite (Z.mod_small q) by lia. lia.
Qed.

(* natural.rs: sbb *)
Theorem sbb_correct a b c : word a -> word b -> 0 <= c <= 1 ->
  let '(s, c') := sbb a b c in word s /\ 0 <= c' <= 1 /\ s - B * c' = a - b - c.
Proof.
  unfold sbb; words; intros. rewrite Zminus_mod_idemp_l.
  change (2 ^ 127) with 170141183460469231731687303715884105728.
  destruct (Z_lt_le_dec (a - b - c) 0).
  - assert (E : (a - b - c) mod B2 = a - b - c + B2) by (symmetry; apply Z.mod_unique with (-1); lia).
    rewrite E.
    assert (F : (a - b - c + B2) / 170141183460469231731687303715884105728 = 1).
    { symmetry. apply Z.div_unique with (a - b - c + 170141183460469231731687303715884105728); lia. }
    rewrite F.
    assert (G : (a - b - c + B2) mod B = a - b - c + B).
    { symmetry. apply Z.mod_unique with (B - 1); lia. }
    rewrite G, (Z.mod_small 1) by lia. lia.
  - rewrite (Z.mod_small (a - b - c) B2) by lia. rewrite (Z.div_small (a - b - c)) by lia.
    rewrite !Z.mod_small by lia. lia.
Qed.

(* natural.rs: mac *)
Theorem mac_correct a b c carry : word a -> word b -> word c -> word carry ->
  let '(lo, hi) := mac a b c carry in word lo /\ word hi /\ lo + B * hi = a + b * c + carry.
Proof.
  unfold mac; words; intros.
  assert (0 <= b * c <= (B - 1) * (B - 1)) by nia.
  rewrite (Z.mod_small (b * c)) by lia. rewrite (Z.mod_small (a + b * c)) by lia.
  rewrite (Z.mod_small (a + b * c + carry)) by lia. change (2 ^ 64) with B.
  divide (a + b * c + carry). rewrite (Z.mod_small q) by lia. lia.
Qed.

(* natural.rs: mask *)
Theorem mask_correct y s : word y -> s = 0 \/ s = 1 -> Z.land y (mask s) = s * y.
Proof.
  unfold mask; words; intros ? [-> | ->].
  - simpl Z.opp. rewrite Z.mod_0_l, Z.land_0_r by lia. lia.
  - change (- (1) mod B) with (Z.ones 64). rewrite Z.land_ones by lia. change (2 ^ 64) with B.
    rewrite Z.mod_small; lia.
Qed.

Lemma add_assign_loop1_correct xs : forall ys c, limbs xs -> limbs ys -> length xs = length ys -> 0 <= c <= 1 ->
  let '(r, c') := add_assign_loop1 xs ys c in
  limbs r /\ length r = length xs /\ 0 <= c' <= 1 /\ val r + R (length xs) * c' = val xs + val ys + c.
Proof.
  induction xs as [|x xs IH]; intros [|y ys] c Hx Hy E Hc; try discriminate; cbn [val length add_assign_loop1].
  - rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hx as [Hx Hxs]; apply limbs_cons in Hy as [Hy Hys]. cbn [length] in E.
    assert (Wc : word c) by (unfold word; lia).
    pose proof (adc_correct x y c Hx Hy Wc) as A. destruct (adc x y c) as [s c1]. destruct A as (Ws & C1 & C1' & A).
    specialize (IH ys c1 Hxs Hys ltac:(lia) ltac:(lia)).
    destruct (add_assign_loop1 xs ys c1) as [r c2]. destruct IH as (Lr & Er & C2 & IH).
    rewrite R_S. cbn [val length]. repeat split; try lia. apply limbs_cons; auto.
Qed.

Lemma add_assign_loop2_correct xs : forall c, limbs xs -> 0 <= c <= 1 ->
  let '(r, c') := add_assign_loop2 xs c in
  limbs r /\ length r = length xs /\ 0 <= c' <= 1 /\ val r + R (length xs) * c' = val xs + c.
Proof.
  induction xs as [|x xs IH]; intros c Hx Hc; cbn [val length add_assign_loop2].
  - rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hx as [Hx Hxs].
    assert (Wc : word c) by (unfold word; lia). assert (W0 : word 0) by (unfold word; lia).
    pose proof (adc_correct x 0 c Hx W0 Wc) as A. destruct (adc x 0 c) as [s c1]. destruct A as (Ws & C1 & C1' & A).
    specialize (IH c1 Hxs ltac:(lia)).
    destruct (add_assign_loop2 xs c1) as [r c2]. destruct IH as (Lr & Er & C2 & IH).
    rewrite R_S. cbn [val length]. repeat split; try lia. apply limbs_cons; auto.
Qed.

(* natural.rs: add_assign *)
Theorem add_assign_correct a b : limbs a -> limbs b -> (length b <= length a)%nat ->
  let '(c, r) := add_assign a b in
  limbs r /\ length r = length a /\ 0 <= c <= 1 /\ val r + R (length a) * c = val a + val b.
Proof.
  intros Ha Hb E. unfold add_assign.
  destruct (cut a (length b) E) as (p & s & -> & Lp & -> & ->).
  apply limbs_app in Ha as [Hp Hs].
  pose proof (add_assign_loop1_correct p b 0 Hp Hb ltac:(lia) ltac:(lia)) as L.
  destruct (add_assign_loop1 p b 0) as [p' c1]. destruct L as (Wp' & Lp' & C1 & V1).
  pose proof (add_assign_loop2_correct s c1 Hs ltac:(lia)) as L.
  destruct (add_assign_loop2 s c1) as [s' c2]. destruct L as (Ws' & Ls' & C2 & V2).
  simpl (0 + _)%nat.
  rewrite splice_tail by auto. rewrite splice_head by auto.
  rewrite limbs_app, !app_length, R_plus, !val_app, Lp'.
  repeat split; auto; try lia.
Qed.

Lemma sub_assign_loop1_correct xs : forall ys c, limbs xs -> limbs ys -> length xs = length ys -> 0 <= c <= 1 ->
  let '(r, c') := sub_assign_loop1 xs ys c in
  limbs r /\ length r = length xs /\ 0 <= c' <= 1 /\ val r - R (length xs) * c' = val xs - val ys - c.
Proof.
  induction xs as [|x xs IH]; intros [|y ys] c Hx Hy E Hc; try discriminate; cbn [val length sub_assign_loop1].
  - rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hx as [Hx Hxs]; apply limbs_cons in Hy as [Hy Hys]. cbn [length] in E.
    pose proof (sbb_correct x y c Hx Hy Hc) as A. destruct (sbb x y c) as [s c1]. destruct A as (Ws & C1 & A).
    specialize (IH ys c1 Hxs Hys ltac:(lia) ltac:(lia)).
    destruct (sub_assign_loop1 xs ys c1) as [r c2]. destruct IH as (Lr & Er & C2 & IH).
    rewrite R_S. cbn [val length]. repeat split; try lia. apply limbs_cons; auto.
Qed.

Lemma sub_assign_loop2_correct xs : forall c, limbs xs -> 0 <= c <= 1 ->
  let '(r, c') := sub_assign_loop2 xs c in
  limbs r /\ length r = length xs /\ 0 <= c' <= 1 /\ val r - R (length xs) * c' = val xs - c.
Proof.
  induction xs as [|x xs IH]; intros c Hx Hc; cbn [val length sub_assign_loop2].
  - rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hx as [Hx Hxs]. assert (W0 : word 0) by (unfold word; lia).
    pose proof (sbb_correct x 0 c Hx W0 Hc) as A. destruct (sbb x 0 c) as [s c1]. destruct A as (Ws & C1 & A).
    specialize (IH c1 Hxs ltac:(lia)).
    destruct (sub_assign_loop2 xs c1) as [r c2]. destruct IH as (Lr & Er & C2 & IH).
    rewrite R_S. cbn [val length]. repeat split; try lia. apply limbs_cons; auto.
Qed.

(* natural.rs: sub_assign *)
Theorem sub_assign_correct a b : limbs a -> limbs b -> (length b <= length a)%nat ->
  let '(c, r) := sub_assign a b in
  limbs r /\ length r = length a /\ 0 <= c <= 1 /\ val r - R (length a) * c = val a - val b.
Proof.
  intros Ha Hb E. unfold sub_assign.
  destruct (cut a (length b) E) as (p & s & -> & Lp & -> & ->).
  apply limbs_app in Ha as [Hp Hs].
  pose proof (sub_assign_loop1_correct p b 0 Hp Hb ltac:(lia) ltac:(lia)) as L.
  destruct (sub_assign_loop1 p b 0) as [p' c1]. destruct L as (Wp' & Lp' & C1 & V1).
  pose proof (sub_assign_loop2_correct s c1 Hs ltac:(lia)) as L.
  destruct (sub_assign_loop2 s c1) as [s' c2]. destruct L as (Ws' & Ls' & C2 & V2).
  simpl (0 + _)%nat.
  rewrite splice_tail by auto. rewrite splice_head by auto.
  rewrite limbs_app, !app_length, R_plus, !val_app, Lp'.
  repeat split; auto; try lia.
Qed.

Lemma less_loop1_correct xs : forall ys c, limbs xs -> limbs ys -> length xs = length ys -> 0 <= c <= 1 ->
  (less_loop1 xs ys c = 1 /\ val xs < val ys + c) \/ (less_loop1 xs ys c = 0 /\ val ys + c <= val xs).
Proof.
  induction xs as [|x xs IH]; intros [|y ys] c Hx Hy E Hc; try discriminate; cbn [val length less_loop1].
  - lia.
  - apply limbs_cons in Hx as [Hx Hxs]; apply limbs_cons in Hy as [Hy Hys]. cbn [length] in E.
    pose proof (sbb_correct x y c Hx Hy Hc) as A. destruct (sbb x y c) as [s c1]. destruct A as (Ws & C1 & A).
    unfold word in *. cbn [snd]. specialize (IH ys c1 Hxs Hys ltac:(lia) ltac:(lia)). lia.
Qed.

(* natural.rs: less *)
Theorem less_correct a b : limbs a -> limbs b -> length a = length b ->
  (less a b = 1 /\ val a < val b) \/ (less a b = 0 /\ val b <= val a).
Proof. intros Ha Hb E. pose proof (less_loop1_correct a b 0 Ha Hb E ltac:(lia)). unfold less. lia. Qed.

Lemma reduce_once_loop1_correct s : s = 0 \/ s = 1 -> forall xs ys c, limbs xs -> limbs ys ->
  length xs = length ys -> 0 <= c <= 1 ->
  let '(r, c') := reduce_once_loop1 (mask s) xs ys c in
  limbs r /\ length r = length xs /\ 0 <= c' <= 1 /\ val r - R (length xs) * c' = val xs - s * val ys - c.
Proof.
  intros Hs. induction xs as [|x xs IH]; intros [|y ys] c Hx Hy E Hc; try discriminate; cbn [val length reduce_once_loop1].
  - rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hx as [Hx Hxs]; apply limbs_cons in Hy as [Hy Hys]. cbn [length] in E.
    rewrite (mask_correct y s Hy Hs).
    assert (Wy : word (s * y)) by (unfold word in *; destruct Hs; subst; lia).
    pose proof (sbb_correct x (s * y) c Hx Wy Hc) as A.
    destruct (sbb x (s * y) c) as [d c1]. destruct A as (Ws & C1 & A).
    specialize (IH ys c1 Hxs Hys ltac:(lia) ltac:(lia)).
    destruct (reduce_once_loop1 (mask s) xs ys c1) as [r c2]. destruct IH as (Lr & Er & C2 & IH).
    rewrite R_S. cbn [val length]. repeat split; try lia. apply limbs_cons; auto.
Qed.

(* natural.rs: reduce_once. For every number of limbs: below 2 m it is the reduction modulo m. *)
Theorem reduce_once_correct a top m : limbs a -> limbs m -> length a = length m -> word top ->
  val a + R (length a) * top < 2 * val m ->
  let '(s, r) := reduce_once a top m in
  limbs r /\ length r = length a /\ val r = val a + R (length a) * top - s * val m /\ 0 <= val r < val m /\
  (s = 0 \/ s = 1).
Proof.
  intros Ha Hm E Ht Hlt. unfold reduce_once.
  pose proof (val_range a Ha) as Ra. pose proof (val_range m Hm) as Rm. rewrite <- E in Rm.
  pose proof (less_correct a m Ha Hm E) as L.
  assert (W0 : word 0) by (unfold word; lia).
  pose proof (sbb_correct top 0 (less a m) Ht W0 ltac:(lia)) as A.
  destruct (sbb top 0 (less a m)) as [d c]. destruct A as (Wd & Hc & A). cbn [snd].
  assert (Hs : sub64 1 c = 1 - c) by (unfold sub64; apply Z.mod_small; lia). rewrite Hs.
  unfold word in *.
  pose proof (reduce_once_loop1_correct (1 - c) ltac:(lia) a m 0 Ha Hm E ltac:(lia)) as K.
  destruct (reduce_once_loop1 (mask (1 - c)) a m 0) as [r b]. destruct K as (Lr & Er & Hb & K).
  pose proof (val_range r Lr) as Rr. rewrite Er in Rr.
  assert (C : c = 0 \/ c = 1) by lia. assert (Cb : b = 0 \/ b = 1) by lia.
  assert (Htop : top = 0 \/ top = 1 \/ 2 <= top) by lia.
  destruct Htop as [-> | [-> | ?]]; [| | nia];
    destruct C as [-> | ->]; destruct Cb as [-> | ->]; repeat split; try lia; auto.
Qed.

Lemma mac_row_loop1_correct y ts : forall xs c, word y -> limbs ts -> limbs xs -> length ts = length xs -> word c ->
  let '(r, c') := mac_row_loop1 y ts xs c in
  limbs r /\ length r = length ts /\ word c' /\ val r + R (length ts) * c' = val ts + val xs * y + c.
Proof.
  induction ts as [|t ts IH]; intros [|x xs] c Wy Ht Hx E Hc; try discriminate; cbn [val length mac_row_loop1].
  - rewrite R_0. repeat split; auto; unfold word in *; lia.
  - apply limbs_cons in Hx as [Hx Hxs]; apply limbs_cons in Ht as [Ht Hts]. cbn [length] in E.
    pose proof (mac_correct t x y c Ht Hx Wy Hc) as A. destruct (mac t x y c) as [s c1]. destruct A as (Ws & C1 & A).
    specialize (IH xs c1 Wy Hts Hxs ltac:(lia) C1).
    destruct (mac_row_loop1 y ts xs c1) as [r c2]. destruct IH as (Lr & Er & C2 & IH).
    rewrite R_S. cbn [val length]. repeat split; try apply C2; try lia. apply limbs_cons; auto.
Qed.

(* natural.rs: mac_row *)
Theorem mac_row_correct t a y : limbs t -> limbs a -> length t = length a -> word y ->
  let '(c, r) := mac_row t a y in
  limbs r /\ length r = length t /\ word c /\ val r + R (length t) * c = val t + val a * y.
Proof.
  intros Ht Ha E Wy. unfold mac_row. assert (W0 : word 0) by (unfold word; lia).
  pose proof (mac_row_loop1_correct y t a 0 Wy Ht Ha E W0) as L.
  destruct (mac_row_loop1 y t a 0) as [r c]. destruct L as (? & ? & ? & ?). repeat split; auto; lia || apply H1.
Qed.
