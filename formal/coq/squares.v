(* crates/arith/src/backend/serial.rs: squarings of residues and dual residues, for every number of limbs. *)
From Arith Require Export serial_dual.
From Generated Require Export squares.

(* The products of different limbs, and the squares. *)
Fixpoint cross (l : list Z) : Z := match l with [] => 0 | x :: l => B * (x * val l) + B * B * cross l end.
Fixpoint squares (l : list Z) : Z := match l with [] => 0 | x :: l => x * x + B * B * squares l end.

Lemma square_value l : val l * val l = 2 * cross l + squares l.
Proof.
  induction l as [|x l IH]; cbn [val cross squares]; [reflexivity|].
  transitivity (x * x + 2 * (B * (x * val l)) + B * B * (val l * val l)); [ring|rewrite IH; ring].
Qed.

Lemma cross_short l : (length l <= 1)%nat -> cross l = 0.
Proof. destruct l as [|x [|y l]]; cbn [length cross val]; intros; lia. Qed.

Lemma mac_rows_from_value t a y0 y1 c : word y0 -> word y1 -> limbs t -> limbs a -> length t = length a -> word c ->
  let '(g, r) := mac_rows_from t a y0 y1 c in
  limbs r /\ length r = length t /\ pair_word g /\
  val r + R (length t) * pair_val g = val t + val a * (y0 + B * y1) + c.
Proof.
  intros W0 W1 Ht Ha E Wc. unfold mac_rows_from. assert (Z0 : word 0) by (unfold word; lia).
  pose proof (mac_rows_from_loop1_correct y0 y1 t a c 0 0 W0 W1 Ht Ha E Wc Z0 Z0) as L.
  destruct (mac_rows_from_loop1 y0 y1 t a c 0 0) as [[[r c0] c1] before]. destruct L as (Lr & Er & V0 & V1 & Vb & L).
  pose proof (mac_correct c0 before y1 c1 V0 Vb W1 V1) as A. destruct (mac c0 before y1 c1) as [lo hi].
  destruct A as (Wl & Wh & A). unfold pair_word, pair_val. cbn [fst snd].
  repeat split; try apply Wl; try apply Wh; auto.
  replace (lo + B * hi) with (c0 + c1 + before * y1) by lia. lia.
Qed.

Lemma limb_at (p h : list Z) x n : length p = n -> nth n (p ++ x :: h) 0 = x.
Proof. intros <-. apply nth_middle. Qed.

Lemma put_limb (p h : list Z) x y n : length p = n -> splice (p ++ x :: h) n [y] = p ++ y :: h.
Proof. intros E. exact (splice_window p [x] [y] h n E eq_refl). Qed.

Section Square.
Variables (k : nat) (a : list Z).
Hypothesis Ha : limbs a.
Hypothesis Ea : length a = k.

Lemma square_loop1_correct : forall fuel u i, length u = (k + i)%nat -> (i <= k)%nat -> limbs u ->
  (k <= i + 2 * fuel + 1)%nat -> val u + R (2 * i) * cross (skipn i a) = cross a ->
  let '(t, _) := square_loop1 a k fuel (u ++ repeat 0 (k - i)) i in
  limbs t /\ length t = (2 * k)%nat /\ val t = cross a.
Proof.
  assert (Done : forall u i, length u = (k + i)%nat -> (i <= k)%nat -> limbs u -> (k <= i + 1)%nat ->
    val u + R (2 * i) * cross (skipn i a) = cross a ->
    limbs (u ++ repeat 0 (k - i)) /\ length (u ++ repeat 0 (k - i)) = (2 * k)%nat /\
    val (u ++ repeat 0 (k - i)) = cross a).
  { intros u i Eu Hi Lu Hk V. rewrite val_app, val_zeros, app_length, repeat_length.
    rewrite (cross_short (skipn i a)) in V by (rewrite skipn_length; lia).
    repeat split; try lia. apply limbs_app; split; auto. apply limbs_zeros. }
  induction fuel as [|fuel IH]; intros u i Eu Hi Lu F V; cbn [square_loop1].
  - apply Done; auto; lia.
  - destruct (Nat.ltb_spec (i + 1) k) as [L|L]; [|apply Done; auto; lia].
    destruct (cut u (2 * i + 1) ltac:(lia)) as (p & s & -> & Ep & _ & _).
    rewrite app_length in Eu. destruct s as [|x w]; [cbn [length] in Eu; lia|]. cbn [length] in Eu.
    apply limbs_app in Lu as [Lp Lw]. apply limbs_cons in Lw as [Wx Lw].
    rewrite (take a i) in V by lia. rewrite (take a (S i)) in V by lia.
    replace (skipn (i + 2) a) with (skipn (S (S i)) a) by (f_equal; lia).
    replace (i + 1)%nat with (S i) by lia.
    set (r := skipn (S (S i)) a) in *. set (y0 := nth i a 0) in *. set (y1 := nth (S i) a 0) in *.
    assert (Er : length r = length w) by (subst r; rewrite skipn_length; lia).
    assert (W0 : word y0) by (apply limbs_nth, Ha). assert (W1 : word y1) by (apply limbs_nth, Ha).
    assert (Wz : word 0) by (unfold word; lia).
    assert (Lr : limbs r) by (apply limbs_skipn, Ha).
    assert (Hr : skipn (i + 2) a = r) by (subst r; f_equal; lia). clearbody r y0 y1.
    replace (k - i)%nat with (S (S (k - (i + 2)))) by lia. cbn [repeat].
    set (zeros := repeat 0 (k - (i + 2))). rewrite <- app_assoc. cbn [app].
    rewrite limb_at by lia.
    pose proof (mac_correct x y0 y1 0 Wx W0 W1 Wz) as A. destruct (mac x y0 y1 0) as [l c]. destruct A as (Wl & Wc & A).
    cbv zeta. rewrite put_limb by lia.
    replace (p ++ l :: w ++ 0 :: 0 :: zeros) with ((p ++ [l]) ++ w ++ 0 :: 0 :: zeros)
      by (rewrite <- app_assoc; reflexivity).
    assert (Ep' : length (p ++ [l]) = (2 * i + 2)%nat) by (rewrite app_length; cbn [length]; lia).
    rewrite window by lia.
    pose proof (mac_rows_from_value w r y0 y1 c W0 W1 Lw Lr ltac:(lia) Wc) as M.
    destruct (mac_rows_from w r y0 y1 c) as [[g0 g1] w']. destruct M as (Lw' & Ew' & [Wg0 Wg1] & M).
    cbn [fst snd] in *. rewrite splice_window by lia.
    rewrite (app_assoc _ w'). rewrite put_limb by (rewrite app_length; lia).
    replace (((p ++ [l]) ++ w') ++ g0 :: 0 :: zeros) with ((((p ++ [l]) ++ w') ++ [g0]) ++ 0 :: zeros)
      by (rewrite <- !app_assoc; reflexivity).
    rewrite put_limb by (rewrite !app_length in *; cbn [length] in *; lia).
    replace ((((p ++ [l]) ++ w') ++ [g0]) ++ g1 :: zeros) with (((p ++ [l]) ++ w' ++ [g0; g1]) ++ zeros)
      by (rewrite <- !app_assoc; reflexivity).
    apply IH.
    + rewrite !app_length in *. cbn [length] in *. lia.
    + lia.
    + assert (limbs [l]) by (repeat constructor; apply Wl).
      assert (limbs [g0; g1]) by (repeat constructor; apply Wg0 || apply Wg1).
      repeat (apply limbs_app; split; auto).
    + lia.
    + rewrite <- V, Hr. cbn [cross val]. rewrite !val_app. cbn [val]. rewrite Ep', Ep, Ew'.
      unfold pair_val in M. cbn [fst snd] in M.
      replace (2 * (i + 2))%nat with (S (S (S (S (2 * i))))) by lia.
      replace (2 * i + 2)%nat with (S (S (2 * i))) by lia. replace (2 * i + 1)%nat with (S (2 * i)) by lia.
      rewrite !R_S. set (q := R (2 * i)).
      assert (X : q * B * (l + B * c) = q * B * (x + y0 * y1 + 0)) by (f_equal; exact A).
      assert (Y : q * B * B * (val w' + R (length w) * (g0 + B * g1)) =
        q * B * B * (val w + val r * (y0 + B * y1) + c)) by (f_equal; exact M).
      clear - X Y. lia.
Qed.
End Square.

Lemma square_loop2_correct xs : forall pairs above carry, limbs xs -> limbs pairs ->
  length pairs = (2 * length xs)%nat -> 0 <= above <= 1 -> 0 <= carry <= 1 ->
  let '(r, above', carry') := square_loop2 pairs xs above carry in
  limbs r /\ length r = length pairs /\ 0 <= above' <= 1 /\ 0 <= carry' <= 1 /\
  val r + R (length pairs) * (above' + carry') = 2 * val pairs + above + squares xs + carry.
Proof.
  induction xs as [|x xs IH]; intros [|p0 [|p1 ps]] above carry Hx Hp E Hab Hc; cbn [length] in E; try lia;
    cbn [square_loop2].
  - cbn [val length squares]. rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hx as [Wx Hx]. apply limbs_cons in Hp as [W0 Hp]. apply limbs_cons in Hp as [W1 Hp].
    cbn [nth fst snd].
    destruct (doubled p0 above W0 Hab) as (Wd0 & Hb0 & D0).
    destruct (doubled p1 (shr p0 63) W1 Hb0) as (Wd1 & Hb1 & D1).
    set (d0 := Z.lor (shl64 p0 1) above) in *. set (d1 := Z.lor (shl64 p1 1) (shr p0 63)) in *.
    set (b0 := shr p0 63) in *. set (b1 := shr p1 63) in *. clearbody d0 d1 b0 b1.
    assert (Wz : word 0) by (unfold word; lia). assert (Wc : word carry) by (unfold word; lia).
    pose proof (mac_correct 0 x x 0 Wz Wx Wx Wz) as M. destruct (mac 0 x x 0) as [lo hi]. destruct M as (Wlo & Whi & M).
    pose proof (adc_correct d0 lo carry Wd0 Wlo Wc) as A0. destruct (adc d0 lo carry) as [s0 c0].
    destruct A0 as (Ws0 & C0 & C0' & A0). specialize (C0' ltac:(lia)). assert (Wc0 : word c0) by (unfold word; lia).
    pose proof (adc_correct d1 hi c0 Wd1 Whi Wc0) as A1. destruct (adc d1 hi c0) as [s1 c1].
    destruct A1 as (Ws1 & C1 & C1' & A1). specialize (C1' ltac:(lia)).
    specialize (IH ps b1 c1 Hx Hp ltac:(lia) Hb1 ltac:(lia)).
    destruct (square_loop2 ps xs b1 c1) as [[r above'] carry']. destruct IH as (Lr & Er & Hab' & Hc' & IH).
    unfold splice. cbn [firstn skipn app length Nat.add].
    repeat split; try lia.
    + apply limbs_cons; split; auto. apply limbs_cons; auto.
    + cbn [val squares]. rewrite !R_S. clear - IH A0 A1 M D0 D1. lia.
Qed.

(* serial.rs: square *)
Theorem square_correct k t a : limbs t -> limbs a -> (2 * k <= length t)%nat -> length a = k ->
  let t' := square k t a in
  exists s, t' = s ++ skipn (2 * k) t /\ limbs s /\ length s = (2 * k)%nat /\ val s = val a * val a.
Proof.
  intros Ht Ha Et Ea. unfold square. rewrite (firstn_all2 (n := k) a) by lia.
  rewrite firstn_length_le by lia. cbv zeta.
  pose proof (square_loop1_correct k a Ha Ea k (repeat 0 k) 0) as L. rewrite repeat_length in L.
  specialize (L ltac:(lia) ltac:(lia) (limbs_zeros _) ltac:(lia)). rewrite val_zeros in L.
  change (2 * 0)%nat with 0%nat in L. change (skipn 0 a) with a in L. rewrite R_0 in L. specialize (L ltac:(lia)).
  rewrite Nat.sub_0_r, <- repeat_app in L. replace (k + k)%nat with (2 * k)%nat in L by lia.
  destruct (square_loop1 a k k (repeat 0 (2 * k)) 0) as [t1 i]. destruct L as (L1 & E1 & V1).
  pose proof (square_loop2_correct a t1 0 0 Ha L1 ltac:(lia) ltac:(lia) ltac:(lia)) as L2.
  destruct (square_loop2 t1 a 0 0) as [[s above] carry]. destruct L2 as (Ls & Es & Hab & Hc & V2).
  exists s. pose proof (val_range _ Ls) as Rs. pose proof (val_range _ Ha) as Ra.
  rewrite V1, E1 in V2. rewrite Es, E1 in Rs. rewrite Ea in Ra.
  assert (K : R (2 * k) = R k * R k) by (rewrite <- R_plus; f_equal; lia).
  assert (Q : val a * val a <= (R k - 1) * (R k - 1)) by (apply Z.mul_le_mono_nonneg; lia).
  pose proof (R_pos k) as P. pose proof (square_value a) as SV.
  assert (Z : above + carry = 0).
  { destruct (Z.eq_dec (above + carry) 0); auto. exfalso.
    assert (R k * R k <= R (2 * k) * (above + carry)) by (rewrite K; apply Z.le_mul_diag_r; [apply Z.mul_pos_pos; lia|lia]).
    lia. }
  rewrite Z, Z.mul_0_r in V2.
  repeat split; try lia; auto.
  unfold splice. cbn [firstn app Nat.add]. rewrite Es, E1. reflexivity.
Qed.

Lemma square_whole k t a : limbs t -> limbs a -> length t = (2 * k)%nat -> length a = k ->
  let t' := square k t a in limbs t' /\ length t' = (2 * k)%nat /\ val t' = val a * val a.
Proof.
  intros Ht Ha Et Ea. destruct (square_correct k t a Ht Ha ltac:(lia) Ea) as (s & -> & Ls & Es & V).
  rewrite skipn_all2 by lia. rewrite app_nil_r. auto.
Qed.

(* serial.rs: sqr_body *)
Theorem sqr_body_correct k out a m n t :
  limbs a -> limbs m -> limbs t -> length out = k -> length a = k -> length m = k -> (2 * k <= length t)%nat ->
  (1 <= k)%nat -> inverts n m -> val a < val m ->
  let '(r, _) := sqr_body k out a m n t in
  limbs r /\ length r = k /\ 0 <= val r < val m /\ exists x, R k * val r = val a * val a + x * val m.
Proof.
  intros Ha Hm Ht Eo Ea Em Et Hk Hn Hlt. unfold sqr_body.
  rewrite !(firstn_all2 (n := k)) by lia.
  assert (E1 : length (firstn (2 * k) t) = (2 * k)%nat) by (rewrite firstn_length_le; lia).
  destruct (square_whole k (firstn (2 * k) t) a (limbs_firstn _ _ Ht) Ha E1 Ea) as (Ls & Es & S).
  set (s := square k (firstn (2 * k) t) a) in *. clearbody s. cbv zeta.
  pose proof (reduce_correct k s m n Ls Hm Es Em Hk Hn) as A.
  destruct (reduce k s m n) as [c s']. destruct A as (q & w & -> & Lq & Lw & Eq & Ew & Wc & A).
  replace (skipn k (q ++ w)) with w by (rewrite <- Eq, skipn_app, skipn_all, Nat.sub_diag; reflexivity).
  pose proof (val_range _ Lq) as Rq. pose proof (val_range _ Ha) as Ra. pose proof (val_range _ Hm) as Rm.
  rewrite Eq in Rq. rewrite Ea in Ra. rewrite Em in Rm. pose proof (R_pos k) as P.
  assert (T : val w + R (length w) * c < 2 * val m).
  { rewrite Ew. apply Z.mul_lt_mono_pos_l with (R k); [exact P|]. rewrite A, S.
    assert (val a * val a <= R k * val m) by (apply Z.mul_le_mono_nonneg; lia).
    assert (val q * val m < R k * val m) by (apply Z.mul_lt_mono_pos_r; lia). lia. }
  pose proof (reduce_once_correct w c m Lw Hm ltac:(lia) Wc T) as D.
  destruct (reduce_once w c m) as [b r]. destruct D as (Lr & Er & D & Rr & Hb).
  rewrite splice_all by lia. repeat split; auto; try lia.
  exists (val q - R k * b). rewrite D, Ew. rewrite S in A. lia.
Qed.

(* A number shifted up by one bit, limb by limb. *)
Fixpoint twice (above : Z) (l : list Z) : list Z :=
  match l with [] => [] | x :: l => Z.lor (shl64 x 1) above :: twice (shr x 63) l end.
Fixpoint above_of (above : Z) (l : list Z) : Z := match l with [] => above | x :: l => above_of (shr x 63) l end.

Lemma twice_value l : forall above, limbs l -> 0 <= above <= 1 ->
  limbs (twice above l) /\ length (twice above l) = length l /\ 0 <= above_of above l <= 1 /\
  val (twice above l) + R (length l) * above_of above l = 2 * val l + above.
Proof.
  induction l as [|x l IH]; intros above Hl Ha; cbn [twice above_of length val].
  - rewrite R_0. repeat split; try lia. constructor.
  - apply limbs_cons in Hl as [Wx Hl]. destruct (doubled x above Wx Ha) as (Wd & Hb & D).
    destruct (IH (shr x 63) Hl Hb) as (Lt & Et & Ht & V). rewrite R_S.
    repeat split; try lia. apply limbs_cons; auto.
Qed.

Lemma twice_snoc l : forall above y, twice above (l ++ [y]) = twice above l ++ [Z.lor (shl64 y 1) (above_of above l)].
Proof. induction l as [|x l IH]; intros above y; cbn [twice above_of app]; [reflexivity|]. f_equal. apply IH. Qed.

Lemma above_of_last l : forall x, shr (nth (length l) (x :: l) 0) 63 = above_of (shr x 63) l.
Proof. induction l as [|y l IH]; intros x; cbn [length nth above_of]; [reflexivity|]. exact (IH y). Qed.

Lemma dual_sqr_body_loop1_correct x : forall count l h, length l = count ->
  dual_sqr_body_loop1 count (x :: l ++ h) = x :: twice (shr x 63) l ++ h.
Proof.
  induction count as [|count IH]; intros l h E; cbn [dual_sqr_body_loop1].
  - destruct l; [reflexivity|discriminate].
  - destruct (cut l count ltac:(lia)) as (u & s & -> & Eu & _ & _). rewrite app_length in E.
    destruct s as [|y [|z s]]; cbn [length] in E; try lia.
    rewrite <- app_assoc. cbn [app]. cbv zeta. cbn [Nat.add].
    change (nth (S count) (x :: u ++ y :: h) 0) with (nth count (u ++ y :: h) 0). rewrite limb_at by exact Eu.
    replace (S count - 1)%nat with count by lia.
    change (x :: u ++ y :: h) with ((x :: u) ++ y :: h).
    rewrite put_limb by (cbn [length]; lia).
    rewrite (app_nth1 (x :: u)) by (cbn [length]; lia). rewrite <- Eu at 2. rewrite above_of_last.
    rewrite twice_snoc, <- app_assoc. cbn [app]. apply IH. exact Eu.
Qed.

(* serial.rs: dual_sqr_body *)
Theorem dual_sqr_body_correct k out a_low a_high m n scratch :
  limbs a_low -> limbs a_high -> limbs m -> limbs scratch -> length a_low = k -> length a_high = k -> length m = k ->
  length out = (2 * k)%nat -> length scratch = (4 * k)%nat -> (1 <= k)%nat -> inverts n m ->
  val a_low < val m -> val a_high < val m ->
  let '(r, _) := dual_sqr_body k out (a_low ++ a_high) m n scratch in
  exists low high, r = low ++ high /\ limbs low /\ limbs high /\ length low = k /\ length high = k /\
  0 <= val low < val m /\ 0 <= val high < val m /\
  exists x, (val a_low + val a_high * val m) * (val a_low + val a_high * val m) =
    R k * (val low + val high * val m) + x * (val m * val m).
Proof.
  intros Ha Hb Hm Hs Ea Eb Em Eo Es Hk Hn Rac Rbd. unfold dual_sqr_body.
  rewrite !(firstn_all2 (n := (4 * k)%nat) scratch), !(firstn_all2 (n := (2 * k)%nat) out) by lia.
  replace (2 * k - k)%nat with k by lia. rewrite (firstn_all2 (n := k) m) by lia.
  assert (F : forall x y : list Z, length x = k -> length y = k -> firstn k (x ++ y) = x /\ firstn k (skipn k (x ++ y)) = y).
  { intros x y Ex Ey. split.
    - exact (window [] x y 0 k eq_refl Ex).
    - rewrite <- (app_nil_r y) at 1. exact (window x y [] k k Ex Ey). }
  destruct (F a_low a_high Ea Eb) as [-> ->].
  destruct (cut scratch (2 * k) ltac:(lia)) as (sl & sh & -> & Esl & -> & ->).
  apply limbs_app in Hs as [Hsl Hsh]. rewrite app_length in Es.
  destruct (cut out k ltac:(lia)) as (ol & oh & -> & Eol & Fo1 & Fo2). rewrite app_length in Eo.
  rewrite ?Fo1, ?Fo2.
  (* The low part. *)
  destruct (square_whole k sl a_low Hsl Ha Esl Ea) as (L1 & E1 & P).
  set (p := square k sl a_low) in *. clearbody p. cbv zeta.
  pose proof (reduce_correct k p m n L1 Hm E1 Em Hk Hn) as A.
  destruct (reduce k p m n) as [c p']. destruct A as (q & w & -> & Lq & Lw & Eq & Ew & Wc & A).
  destruct (F q w Eq Ew) as [Fq ->].
  pose proof (val_range _ Lq) as Rq. pose proof (val_range _ Ha) as Ra. pose proof (val_range _ Hb) as Rb.
  pose proof (val_range _ Hm) as Rm. rewrite Eq in Rq. rewrite Ea in Ra. rewrite Em in Rm.
  pose proof (R_pos k) as Pos.
  assert (T : val w + R (length w) * c < 2 * val m).
  { rewrite Ew. apply Z.mul_lt_mono_pos_l with (R k); [exact Pos|]. rewrite A, P.
    assert (val a_low * val a_low <= R k * val m) by (apply Z.mul_le_mono_nonneg; lia).
    assert (val q * val m < R k * val m) by (apply Z.mul_lt_mono_pos_r; lia). lia. }
  pose proof (reduce_once_correct w c m Lw Hm ltac:(lia) Wc T) as D.
  destruct (reduce_once w c m) as [s low]. destruct D as (Llow & Elow & D & Rlow & Hs01). rewrite Ew in D.
  (* The high part: a b, doubled. *)
  pose proof (product_correct k a_low a_high Ha Hb Ea ltac:(lia) sh Hsh ltac:(lia)) as P2. cbv zeta in P2.
  destruct P2 as (L2 & E2 & P2). set (p2 := product k sh a_low a_high) in *. clearbody p2.
  rewrite (firstn_all2 (n := k) a_high) in P2 by lia.
  destruct p2 as [|x l]; [cbn [length] in E2; lia|].
  replace (2 * k - 1)%nat with (length l) by (cbn [length] in E2; lia).
  rewrite above_of_last.
  assert (Sh : dual_sqr_body_loop1 (length l) (x :: l) = x :: twice (shr x 63) l).
  { pose proof (dual_sqr_body_loop1_correct x (length l) l [] eq_refl) as Q. rewrite !app_nil_r in Q. exact Q. }
  rewrite Sh. cbn [nth]. unfold splice at 1. cbn [firstn skipn app length Nat.add].
  destruct (twice_value (x :: l) 0 L2 ltac:(lia)) as (L3 & E3 & Htop & V3). rewrite E2 in V3, E3.
  cbn [twice above_of] in L3, E3, Htop, V3. rewrite Z.lor_0_r in L3, E3, V3.
  set (p3 := shl64 x 1 :: twice (shr x 63) l) in *. set (top := above_of (shr x 63) l) in *. clearbody p3 top.
  pose proof (subtract_digits_correct k p3 (q ++ w) s L3 ltac:(apply limbs_app; auto) E3
    ltac:(rewrite app_length; lia) ltac:(lia)) as G.
  destruct (subtract_digits k p3 (q ++ w) s) as [res p4]. destruct G as (d & -> & Hd1 & L4 & E4 & G). rewrite Fq in G.
  pose proof (finish_high_correct k oh p4 (add64 top (d mod B)) (top + d) m n L4 Hm ltac:(lia) E4 Em Hk Hn) as H.
  cbv zeta in H. rewrite P2 in V3.
  assert (U : val p4 + R (2 * k) * (top + d) = 2 * (val a_low * val a_high) + s * R k - val q) by lia.
  rewrite U in H.
  specialize (H ltac:(unfold add64; apply Zplus_mod_idemp_r)).
  assert (Bounds : - R k < 2 * (val a_low * val a_high) + s * R k - val q <= 2 * R k * val m).
  { assert (0 <= val a_low * val a_high) by (apply Z.mul_nonneg_nonneg; lia).
    assert (val a_low * val a_high <= (R k - 1) * (val m - 1)) by (apply Z.mul_le_mono_nonneg; lia).
    assert (0 <= s * R k <= R k) by (destruct Hs01; subst s; lia).
    assert ((R k - 1) * (val m - 1) = R k * val m - R k - val m + 1) by ring. lia. }
  specialize (H Bounds).
  destruct (finish_high k oh p4 (add64 top (d mod B)) m n) as [high p5]. destruct H as (Lh & Eh & Rh & y & H).
  simpl (0 + _)%nat. rewrite splice_tail by lia. rewrite splice_head by lia.
  exists low, high. repeat split; auto; try lia.
  exists (val a_high * val a_high - y).
  assert (X : R k * (val low + val high * val m) = R k * val low + val m * (R k * val high)) by ring.
  rewrite X, H, D. rewrite P in A. lia.
Qed.
