(* crates/arith/src/backend/serial.rs: the product of dual residues, sums and chunks. *)
From Arith Require Export serial.

Lemma doubled y above : word y -> 0 <= above <= 1 ->
  word (Z.lor (shl64 y 1) above) /\ 0 <= shr y 63 <= 1 /\ Z.lor (shl64 y 1) above + B * shr y 63 = 2 * y + above.
Proof.
  intros Wy Ha. unfold shl64, shr, word in *. change (2 ^ 1) with 2. change (2 ^ 63) with 9223372036854775808.
  assert (D := Z.div_mod y 9223372036854775808 ltac:(lia)).
  assert (P := Z.mod_pos_bound y 9223372036854775808 ltac:(lia)).
  set (q := y / 9223372036854775808) in *. set (r := y mod 9223372036854775808) in *. clearbody q r.
  assert (E : (y * 2) mod B = 2 * r) by (symmetry; apply Z.mod_unique with q; lia). rewrite E.
  assert (L : Z.lor (2 * r) above = 2 * r + above).
  { assert (above = 0 \/ above = 1) as [-> | ->] by lia; [rewrite Z.lor_0_r; lia|].
    destruct r; try lia; reflexivity. }
  rewrite L. lia.
Qed.

Lemma inverts_pos n m : limbs m -> inverts n m -> 0 < val m.
Proof.
  intros Hm [_ Hn]. pose proof (val_range m Hm).
  destruct m as [|x m]; cbn [nth val] in *; [rewrite Z.mul_0_r in Hn; discriminate|].
  apply limbs_cons in Hm as [Wx Hm]. unfold word in Wx. pose proof (val_range m Hm).
  assert (x <> 0) by (intros ->; rewrite Z.mul_0_r in Hn; discriminate). lia.
Qed.

Lemma not64_word q : word q -> word (not64 q).
Proof. unfold word, not64. lia. Qed.

Lemma subtract_digits_loop1_correct xs : forall qs c, limbs xs -> limbs qs -> length xs = length qs -> 0 <= c <= 1 ->
  let '(r, c') := subtract_digits_loop1 xs qs c in
  limbs r /\ length r = length xs /\ 0 <= c' <= 1 /\
  val r + R (length xs) * c' = val xs + (R (length xs) - 1 - val qs) + c.
Proof.
  induction xs as [|x xs IH]; intros [|y ys] c Hx Hy E Hc; try discriminate; cbn [val length subtract_digits_loop1].
  - rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hx as [Hx Hxs]; apply limbs_cons in Hy as [Hy Hys]. cbn [length] in E.
    assert (Wc : word c) by (unfold word; lia).
    pose proof (adc_correct x (not64 y) c Hx (not64_word _ Hy) Wc) as A.
    destruct (adc x (not64 y) c) as [s c1]. destruct A as (Ws & C1 & C1' & A).
    specialize (IH ys c1 Hxs Hys ltac:(lia) ltac:(lia)).
    destruct (subtract_digits_loop1 xs ys c1) as [r c2]. destruct IH as (Lr & Er & C2 & IH).
    unfold not64 in A. rewrite R_S. cbn [val length]. repeat split; try lia. apply limbs_cons; auto.
Qed.

Lemma subtract_digits_loop2_correct xs : forall c, limbs xs -> 0 <= c <= 2 ->
  let '(r, c') := subtract_digits_loop2 xs c in
  limbs r /\ length r = length xs /\ 0 <= c' <= 2 /\ val r + R (length xs) * c' = val xs + (R (length xs) - 1) + c.
Proof.
  induction xs as [|x xs IH]; intros c Hx Hc; cbn [val length subtract_digits_loop2].
  - rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hx as [Hx Hxs]. change (2 ^ 64 - 1) with (B - 1).
    assert (Wc : word c) by (unfold word; lia). assert (W1 : word (B - 1)) by (unfold word; lia).
    pose proof (adc_correct x (B - 1) c Hx W1 Wc) as A. destruct (adc x (B - 1) c) as [s c1]. destruct A as (Ws & C1 & C1' & A).
    specialize (IH c1 Hxs ltac:(lia)).
    destruct (subtract_digits_loop2 xs c1) as [r c2]. destruct IH as (Lr & Er & C2 & IH).
    rewrite R_S. cbn [val length]. repeat split; try lia. apply limbs_cons; auto.
Qed.

(* serial.rs: subtract_digits. What it returns is the limb d above t, which may be -1, modulo 2^64. *)
Theorem subtract_digits_correct k t digits s : limbs t -> limbs digits -> length t = (2 * k)%nat ->
  (k <= length digits)%nat -> 0 <= s <= 1 ->
  let '(top, t') := subtract_digits k t digits s in
  exists d, top = d mod B /\ -1 <= d <= 1 /\ limbs t' /\ length t' = (2 * k)%nat /\
  val t' + R (2 * k) * d = val t + s * R k - val (firstn k digits).
Proof.
  intros Ht Hd Et Ed Hs. unfold subtract_digits.
  destruct (cut t k ltac:(lia)) as (u & v & -> & Eu & -> & _). apply limbs_app in Ht as [Hu Hv].
  rewrite app_length in Et.
  pose proof (subtract_digits_loop1_correct u (firstn k digits) 1 Hu (limbs_firstn _ _ Hd)
    ltac:(rewrite firstn_length_le; lia) ltac:(lia)) as L.
  destruct (subtract_digits_loop1 u (firstn k digits) 1) as [u' c1]. destruct L as (Lu & Eu' & C1 & L).
  rewrite splice_head by lia.
  assert (Ea : add64 c1 s = c1 + s) by (unfold add64; apply Z.mod_small; lia). rewrite Ea.
  replace (2 * k - k)%nat with k by lia.
  replace (firstn k (skipn k (u' ++ v))) with v
    by (rewrite <- (app_nil_r v) at 2; symmetry; apply window; lia).
  pose proof (subtract_digits_loop2_correct v (c1 + s) Hv ltac:(lia)) as L2.
  destruct (subtract_digits_loop2 v (c1 + s)) as [v' c2]. destruct L2 as (Lv & Ev' & C2 & L2).
  rewrite splice_tail by lia. exists (c2 - 1).
  repeat split; try lia.
  - unfold add64. change (2 ^ 64 - 1) with (B - 1). replace (B - 1 + c2) with (c2 - 1 + 1 * B) by lia.
    apply Z_mod_plus_full.
  - apply limbs_app; auto.
  - rewrite app_length. lia.
  - replace (2 * k)%nat with (k + k)%nat by lia. rewrite R_plus, !val_app, Eu', Eu.
    rewrite Eu in L. replace (length v) with k in L2 by lia.
    assert (X : R k * (val v' + R k * c2) = R k * (val v + (R k - 1) + (c1 + s))) by (rewrite L2; reflexivity).
    lia.
Qed.

Lemma finish_high_loop1_correct xs : forall vs ys b above, limbs vs -> limbs ys -> length xs = length vs ->
  length xs = length ys -> 0 <= b <= 1 -> 0 <= above <= 1 ->
  let '(r, b', above') := finish_high_loop1 xs vs ys b above in
  limbs r /\ length r = length xs /\ 0 <= b' <= 1 /\ 0 <= above' <= 1 /\
  val r - R (length xs) * (b' + above') = val vs - 2 * val ys - b - above.
Proof.
  induction xs as [|x xs IH]; intros [|v vs] [|y ys] b above Hv Hy Ev Ey Hb Ha; try discriminate;
    cbn [val length finish_high_loop1].
  - rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hv as [Wv Hv]; apply limbs_cons in Hy as [Wy Hy]. cbn [length] in *.
    destruct (doubled y above Wy Ha) as (Wd & Hs & D).
    pose proof (sbb_correct v _ b Wv Wd Hb) as A.
    destruct (sbb v (Z.lor (shl64 y 1) above) b) as [d b1]. destruct A as (Wx & B1 & A).
    specialize (IH vs ys b1 (shr y 63) Hv Hy ltac:(lia) ltac:(lia) B1 Hs).
    destruct (finish_high_loop1 xs vs ys b1 (shr y 63)) as [[r b2] a2]. destruct IH as (Lr & Er & B2 & A2 & IH).
    rewrite R_S. cbn [val length]. repeat split; try lia. apply limbs_cons; auto.
Qed.

Lemma finish_high_loop2_correct s : s = 0 \/ s = 1 -> forall xs ys c above, limbs xs -> limbs ys ->
  length xs = length ys -> 0 <= c <= 1 -> 0 <= above <= 1 ->
  let '(r, c', above') := finish_high_loop2 (mask s) xs ys c above in
  limbs r /\ length r = length xs /\ 0 <= c' <= 1 /\ 0 <= above' <= 1 /\
  val r + R (length xs) * (c' + s * above') = val xs + 2 * s * val ys + c + s * above.
Proof.
  intros Hs. induction xs as [|x xs IH]; intros [|y ys] c above Hx Hy E Hc Ha; try discriminate;
    cbn [val length finish_high_loop2].
  - rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hx as [Wx Hx]; apply limbs_cons in Hy as [Wy Hy]. cbn [length] in *.
    destruct (doubled y above Wy Ha) as (Wd & Hsh & D). rewrite (mask_correct _ s Wd Hs).
    set (z := Z.lor (shl64 y 1) above) in *. clearbody z.
    assert (Wz : word (s * z)) by (unfold word in *; destruct Hs; subst; lia).
    assert (Wc : word c) by (unfold word; lia).
    pose proof (adc_correct x (s * z) c Wx Wz Wc) as A.
    destruct (adc x (s * z) c) as [d c1]. destruct A as (Wx' & C1 & C1' & A).
    specialize (IH ys c1 (shr y 63) Hx Hy ltac:(lia) ltac:(lia) Hsh).
    destruct (finish_high_loop2 (mask s) xs ys c1 (shr y 63)) as [[r c2] a2]. destruct IH as (Lr & Er & C2 & A2 & IH).
    rewrite R_S. cbn [val length]. repeat split; try lia; try (apply limbs_cons; auto).
Qed.

(* serial.rs: finish_high. [u] is t with the limb above it, which is known modulo 2^64. *)
Theorem finish_high_correct k out t top tau m n :
  limbs t -> limbs m -> length out = k -> length t = (2 * k)%nat -> length m = k -> (1 <= k)%nat -> inverts n m ->
  top = tau mod B -> let u := val t + R (2 * k) * tau in - R k < u <= 2 * R k * val m ->
  let '(r, _) := finish_high k out t top m n in
  limbs r /\ length r = k /\ 0 <= val r < val m /\ exists x, R k * val r = u + x * val m.
Proof.
  intros Ht Hm Eo Et Em Hk Hn Etop u Hu. unfold finish_high.
  pose proof (reduce_correct k t m n Ht Hm Et Em Hk Hn) as A.
  destruct (reduce k t m n) as [c t']. destruct A as (q & w & -> & Lq & Lw & Eq & Ew & Wc & A).
  rewrite (firstn_all2 (n := k) m) by lia. replace (2 * k - k)%nat with k by lia.
  replace (firstn k (skipn k (q ++ w))) with w by (rewrite <- (app_nil_r w) at 2; symmetry; apply window; auto).
  pose proof (val_range _ Lq) as Rq. pose proof (val_range _ Lw) as Rw. pose proof (val_range _ Hm) as Rm.
  rewrite Eq in Rq. rewrite Ew in Rw. rewrite Em in Rm.
  (* v, the reduced number, is at most 3 m. *)
  assert (V : exists v, v = val w + R k * (c + tau) /\ R k * v = u + val q * val m).
  { eexists; split; [reflexivity|]. subst u. replace (2 * k)%nat with (k + k)%nat by lia. rewrite R_plus. lia. }
  destruct V as (v & Ev & V).
  assert (0 <= val q * val m) by (apply Z.mul_nonneg_nonneg; lia).
  assert (val q * val m <= (R k - 1) * val m) by (apply Z.mul_le_mono_nonneg_r; lia).
  clearbody u. pose proof (inverts_pos n m Hm Hn) as Pm.
  assert (Hv : -1 < v < 3 * val m) by (split; apply Z.mul_lt_mono_pos_l with (R k); lia).
  assert (Ht2 : -1 < c + tau < 3) by (split; apply Z.mul_lt_mono_pos_l with (R k); lia).
  assert (Etop2 : add64 top c = c + tau).
  { unfold add64. rewrite Etop, Zplus_mod_idemp_l, (Z.add_comm tau). apply Z.mod_small. lia. }
  rewrite Etop2. set (top2 := c + tau) in *. clearbody top2.
  pose proof (finish_high_loop1_correct out w m 0 0 Lw Hm ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)) as L.
  destruct (finish_high_loop1 out w m 0 0) as [[r b] above]. destruct L as (Lr & Er & Hb & Hab & L).
  assert (Wt : word top2) by (unfold word; lia). assert (Wab : word above) by (unfold word; lia).
  pose proof (sbb_correct top2 above b Wt Wab Hb) as S. destruct (sbb top2 above b) as [left_ under].
  destruct S as (Wleft & Hunder & S). unfold word in Wleft.
  pose proof (finish_high_loop2_correct under ltac:(lia) r m 0 0 Lr Hm ltac:(lia) ltac:(lia) ltac:(lia)) as L2.
  destruct (finish_high_loop2 (mask under) r m 0 0) as [[r2 c2] above2]. destruct L2 as (Lr2 & Er2 & Hc2 & Hab2 & L2).
  rewrite (mask_correct above2 under ltac:(unfold word; lia) ltac:(lia)).
  rewrite Eo in Er, L. rewrite Er in L2, Er2. pose proof (val_range _ Lr) as Rr. pose proof (val_range _ Lr2) as Rr2.
  rewrite Er in Rr. rewrite Er2 in Rr2.
  assert (V1 : v - 2 * val m = val r + R k * (left_ - B * under)) by (rewrite S; lia).
  assert (U : (under = 0 /\ 2 * val m <= v) \/ (under = 1 /\ v < 2 * val m)).
  { assert (under = 0 \/ under = 1) as [-> | ->] by lia; [left|right]; split; auto.
    - assert (0 <= R k * left_) by (apply Z.mul_nonneg_nonneg; lia). lia.
    - assert (R k * (left_ - B) <= R k * (-1)) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
  set (l := left_ - B * under + under * above2 + c2).
  assert (V2 : v - 2 * val m + 2 * under * val m = val r2 + R k * l).
  { subst l. rewrite V1. destruct U as [[-> _]|[-> _]]; lia. }
  assert (Hl : 0 <= l < B).
  { assert (0 <= val r2 + R k * l < 2 * val m) by (destruct U as [[-> ?]|[-> ?]]; lia).
    assert (l < 2) by (apply Z.mul_lt_mono_pos_l with (R k); lia).
    assert (-1 < l) by (apply Z.mul_lt_mono_pos_l with (R k); lia). lia. }
  assert (El : add64 (add64 left_ (under * above2)) c2 = l).
  { unfold add64. rewrite Zplus_mod_idemp_l. replace (left_ + under * above2 + c2) with (l + under * B) by (subst l; lia).
    rewrite Z_mod_plus_full. apply Z.mod_small. exact Hl. }
  rewrite El.
  pose proof (reduce_once_correct r2 l m Lr2 Hm ltac:(lia) Hl) as D. rewrite Er2 in D.
  specialize (D ltac:(rewrite <- V2; destruct U as [[-> ?]|[-> ?]]; lia)).
  destruct (reduce_once r2 l m) as [s r3]. destruct D as (Lr3 & Er3 & D & Rr3 & Hs).
  repeat split; auto; try lia.
  exists (val q - R k * (2 - 2 * under + s)). rewrite D, <- V2. lia.
Qed.

(* serial.rs: dual_mul_body. The first factor may be what add_chunk makes; the second is reduced. *)
Theorem dual_mul_body_correct k out a_low a_high b_low b_high m n scratch :
  limbs a_low -> limbs a_high -> limbs b_low -> limbs b_high -> limbs m -> limbs scratch ->
  length a_low = k -> length a_high = k -> length b_low = k -> length b_high = k -> length m = k ->
  length out = (2 * k)%nat -> length scratch = (4 * k)%nat -> (1 <= k)%nat -> inverts n m ->
  val a_high <= val m -> val b_low < val m -> val b_high < val m ->
  let '(r, _) := dual_mul_body k out (a_low ++ a_high) (b_low ++ b_high) m n scratch in
  exists low high, r = low ++ high /\ limbs low /\ limbs high /\ length low = k /\ length high = k /\
  0 <= val low < val m /\ 0 <= val high < val m /\
  exists x, (val a_low + val a_high * val m) * (val b_low + val b_high * val m) =
    R k * (val low + val high * val m) + x * (val m * val m).
Proof.
  intros Ha Hb Hc Hd Hm Hs Ea Eb Ec Ed Em Eo Es Hk Hn Rb Rc Rd. unfold dual_mul_body.
  rewrite !(firstn_all2 (n := (4 * k)%nat) scratch), !(firstn_all2 (n := (2 * k)%nat) out) by lia.
  replace (2 * k - k)%nat with k by lia.
  rewrite (firstn_all2 (n := k) m) by lia.
  assert (F : forall x y : list Z, length x = k -> length y = k -> firstn k (x ++ y) = x /\ firstn k (skipn k (x ++ y)) = y).
  { intros x y Ex Ey. split.
    - exact (window [] x y 0 k eq_refl Ex).
    - rewrite <- (app_nil_r y) at 1. exact (window x y [] k k Ex Ey). }
  destruct (F a_low a_high Ea Eb) as [-> ->]. destruct (F b_low b_high Ec Ed) as [-> ->].
  destruct (cut scratch (2 * k) ltac:(lia)) as (sl & sh & -> & Esl & -> & ->).
  apply limbs_app in Hs as [Hsl Hsh]. rewrite app_length in Es.
  destruct (cut out k ltac:(lia)) as (ol & oh & -> & Eol & Fo1 & Fo2). rewrite app_length in Eo.
  rewrite ?Fo1, ?Fo2.
  (* The low part. *)
  pose proof (product_correct k a_low b_low Ha Hc Ea ltac:(lia) sl Hsl Esl) as P. cbv zeta in P.
  destruct P as (L1 & E1 & P). set (p := product k sl a_low b_low) in *. clearbody p.
  rewrite (firstn_all2 (n := k) b_low) in P by lia.
  pose proof (reduce_correct k p m n L1 Hm E1 Em Hk Hn) as A.
  destruct (reduce k p m n) as [c p']. destruct A as (q & w & -> & Lq & Lw & Eq & Ew & Wc & A).
  destruct (F q w Eq Ew) as [Fq ->].
  pose proof (val_range _ Lq) as Rq. pose proof (val_range _ Ha) as Ra. pose proof (val_range _ Hc) as Rc'.
  pose proof (val_range _ Hm) as Rm. pose proof (val_range _ Hb) as Rb'. pose proof (val_range _ Hd) as Rd'.
  rewrite Eq in Rq. rewrite Ea in Ra. rewrite Em in Rm.
  assert (T : val w + R (length w) * c < 2 * val m).
  { rewrite Ew. assert (val a_low * val b_low <= R k * val m) by nia. assert (val q * val m < R k * val m) by nia. nia. }
  pose proof (reduce_once_correct w c m Lw Hm ltac:(lia) Wc T) as D.
  destruct (reduce_once w c m) as [s low]. destruct D as (Llow & Elow & D & Rlow & Hs01). rewrite Ew in D.
  (* The high part. *)
  pose proof (product_correct k a_low b_high Ha Hd Ea ltac:(lia) sh Hsh ltac:(lia)) as P2. cbv zeta in P2.
  destruct P2 as (L2 & E2 & P2). set (p2 := product k sh a_low b_high) in *. clearbody p2.
  rewrite (firstn_all2 (n := k) b_high) in P2 by lia.
  pose proof (mul_add_correct k a_high b_low Hb Hc Eb ltac:(lia) p2 0 L2 E2 ltac:(lia) ltac:(lia)) as M.
  destruct (mul_add k p2 0 a_high b_low) as [p3 top]. destruct M as (L3 & E3 & Htop & M).
  rewrite (firstn_all2 (n := k) b_low) in M by lia.
  pose proof (subtract_digits_correct k p3 (q ++ w) s L3 ltac:(apply limbs_app; auto) E3
    ltac:(rewrite app_length; lia) ltac:(lia)) as G.
  destruct (subtract_digits k p3 (q ++ w) s) as [res p4]. destruct G as (d & -> & Hd1 & L4 & E4 & G). rewrite Fq in G.
  pose proof (finish_high_correct k oh p4 (add64 top (d mod B)) (top + d) m n L4 Hm ltac:(lia) E4 Em Hk Hn) as H.
  cbv zeta in H.
  assert (U : val p4 + R (2 * k) * (top + d) = val a_low * val b_high + val a_high * val b_low + s * R k - val q) by lia.
  rewrite U in H.
  specialize (H ltac:(unfold add64; apply Zplus_mod_idemp_r)).
  assert (Bounds : - R k < val a_low * val b_high + val a_high * val b_low + s * R k - val q <= 2 * R k * val m).
  { assert (0 <= val a_low * val b_high <= (R k - 1) * (val m - 1)) by nia.
    assert (0 <= val a_high * val b_low <= (R k - 1) * (val m - 1)) by nia.
    assert (0 <= s * R k <= R k) by (destruct Hs01; subst s; lia). lia. }
  specialize (H Bounds).
  destruct (finish_high k oh p4 (add64 top (d mod B)) m n) as [high p5]. destruct H as (Lh & Eh & Rh & x & H).
  simpl (0 + _)%nat. rewrite splice_tail by lia. rewrite splice_head by lia.
  exists low, high. repeat split; auto; try lia.
  exists (val a_high * val b_high - x).
  assert (X : R k * (val low + val high * val m) = R k * val low + val m * (R k * val high)) by ring.
  rewrite X, H, D. rewrite P in A. lia.
Qed.

(* serial.rs: add *)
Theorem add_correct k m a b : limbs a -> limbs b -> limbs m -> length a = k -> length b = k -> length m = k ->
  val a < val m -> val b < val m ->
  let r := add k m a b in
  limbs r /\ length r = k /\ (val r = val a + val b \/ val r = val a + val b - val m) /\ 0 <= val r < val m.
Proof.
  intros Ha Hb Hm Ea Eb Em Ra Rb. unfold add.
  pose proof (add_assign_correct a b Ha Hb ltac:(lia)) as A. destruct (add_assign a b) as [c s].
  destruct A as (Ls & Es & Hc & A).
  pose proof (reduce_once_correct s c m Ls Hm ltac:(lia) ltac:(unfold word; lia)) as D. rewrite Es in D.
  specialize (D ltac:(lia)). destruct (reduce_once s c m) as [z r]. destruct D as (Lr & Er & D & Rr & Hz).
  repeat split; auto; try lia.
Qed.

Lemma add_chunk_loop1_correct s : s = 0 \/ s = 1 -> forall xs ys c, limbs xs -> limbs ys ->
  length xs = length ys -> 0 <= c <= 1 ->
  let '(r, c') := add_chunk_loop1 s xs ys c in
  limbs r /\ length r = length xs /\ 0 <= c' <= 1 /\ val r - R (length xs) * c' = val xs - s * val ys - c.
Proof.
  intros Hs. induction xs as [|x xs IH]; intros [|y ys] c Hx Hy E Hc; try discriminate; cbn [val length add_chunk_loop1].
  - rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hx as [Hx Hxs]; apply limbs_cons in Hy as [Hy Hys]. cbn [length] in E.
    rewrite (mask_correct y s Hy Hs).
    assert (Wy : word (s * y)) by (unfold word in *; destruct Hs; subst; lia).
    pose proof (sbb_correct x (s * y) c Hx Wy Hc) as A.
    destruct (sbb x (s * y) c) as [d c1]. destruct A as (Ws & C1 & A).
    specialize (IH ys c1 Hxs Hys ltac:(lia) ltac:(lia)).
    destruct (add_chunk_loop1 s xs ys c1) as [r c2]. destruct IH as (Lr & Er & C2 & IH).
    rewrite R_S. cbn [val length]. repeat split; try lia. apply limbs_cons; auto.
Qed.

(* serial.rs: add_chunk. Of a dual residue: the number grows by the chunk; the high part may become m. *)
Theorem add_chunk_correct k m low high chunk : limbs low -> limbs high -> limbs chunk -> limbs m ->
  length low = k -> length high = k -> length chunk = k -> length m = k -> (1 <= k)%nat ->
  val low < val m -> val high < val m ->
  exists low' high', add_chunk k m (low ++ high) chunk = low' ++ high' /\ limbs low' /\ limbs high' /\
  length low' = k /\ length high' = k /\ val high' <= val m /\
  val low' + val high' * val m = val low + val high * val m + val chunk.
Proof.
  intros Hl Hh Hc Hm El Eh Ec Em Hk Rl Rh. unfold add_chunk.
  assert (F1 : firstn k (low ++ high) = low) by exact (window [] low high 0 k eq_refl El).
  assert (F2 : skipn k (low ++ high) = high) by (rewrite <- El, skipn_app, skipn_all, Nat.sub_diag; reflexivity).
  rewrite F1, F2.
  pose proof (add_assign_correct low chunk Hl Hc ltac:(lia)) as A. destruct (add_assign low chunk) as [over s].
  destruct A as (Ls & Es & Ho & A).
  pose proof (add_chunk_loop1_correct over ltac:(lia) s m 0 Ls Hm ltac:(lia) ltac:(lia)) as L.
  destruct (add_chunk_loop1 over s m 0) as [r b]. destruct L as (Lr & Er & Hb & L).
  assert (Wo : limbs [over]) by (apply limbs_cons; split; [unfold word; lia|constructor]).
  pose proof (add_assign_correct high [over] Hh Wo ltac:(cbn; lia)) as H.
  destruct high as [|h0 high]; [cbn [length] in *; lia|]. cbn [is_empty negb].
  set (hs := h0 :: high) in *. destruct (add_assign hs [over]) as [c h']. destruct H as (Lh & Eh' & Hc' & H).
  cbn [val] in H. simpl (0 + _)%nat. rewrite splice_tail by lia. rewrite splice_head by lia.
  pose proof (val_range _ Lh) as R1. pose proof (val_range _ Hm) as R2. pose proof (val_range _ Lr) as R3.
  pose proof (val_range _ Ls) as R4. pose proof (val_range _ Hc) as R5.
  rewrite Eh', Eh in *. rewrite Er, Es, El in *. rewrite Em in *. rewrite Ec in *.
  assert (c = 0) by nia. subst c.
  assert (Hbo : b = over) by (assert (over = 0 \/ over = 1) as [-> | ->] by lia; nia). subst b.
  exists r, h'. repeat split; auto; try lia.
Qed.
