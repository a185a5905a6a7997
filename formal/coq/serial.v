(* crates/arith/src/backend/serial.rs: the portable kernel, for every number of limbs. *)
From Arith Require Export natural.
From Generated Require Export serial.

(* What is carried out of two rows, as a number. *)
Definition pair_val (x : Z * Z) := fst x + B * snd x.
Definition pair_word (x : Z * Z) := word (fst x) /\ word (snd x).

(* serial.rs: carry_row *)
Theorem carry_row_correct t x y c : word t -> word x -> word y -> word c ->
  let '(c', t') := carry_row t x y c in word t' /\ word c' /\ t' + B * c' = t + x + y + c.
Proof.
  unfold carry_row; words; intros.
  rewrite (Z.mod_small (t + x)) by lia. rewrite (Z.mod_small (t + x + y)) by lia.
  rewrite (Z.mod_small (t + x + y + c)) by lia. change (2 ^ 64) with B.
  divide (t + x + y + c). rewrite (Z.mod_small q) by lia. lia.
Qed.

(* serial.rs: carry_rows *)
Theorem carry_rows_correct t0 t1 x y c : word t0 -> word t1 -> pair_word x -> pair_word y -> word c ->
  let '(c', t') := carry_rows [t0; t1] x y c in
  limbs t' /\ length t' = 2%nat /\ word c' /\
  val t' + R 2 * c' = t0 + B * t1 + pair_val x + pair_val y + c.
Proof.
  intros W0 W1 Wx Wy Wc. destruct x as [x0 x1], y as [y0 y1]. unfold pair_word, pair_val in *. cbn [fst snd] in *.
  unfold carry_rows, splice; cbn [nth length firstn skipn app Nat.add val fst snd]; words.
  rewrite (Z.mod_small (t0 + x0)) by lia. rewrite (Z.mod_small (t0 + x0 + y0)) by lia.
  rewrite (Z.mod_small (t0 + x0 + y0 + c)) by lia. change (2 ^ 64) with B.
  divide (t0 + x0 + y0 + c).
  rewrite (Z.mod_small (t1 + x1)) by lia. rewrite (Z.mod_small (t1 + x1 + y1)) by lia.
  rewrite (Z.mod_small (t1 + x1 + y1 + q)) by lia.
  divide (t1 + x1 + y1 + q). rewrite (Z.mod_small q0) by lia.
  change (R 2) with (B * B). unfold limbs.
  repeat split; try (repeat constructor; unfold word; lia); lia.
Qed.

Lemma mac_rows_from_loop1_correct y0 y1 t : forall a c0 c1 before, word y0 -> word y1 ->
  limbs t -> limbs a -> length t = length a -> word c0 -> word c1 -> word before ->
  let '(r, c0', c1', before') := mac_rows_from_loop1 y0 y1 t a c0 c1 before in
  limbs r /\ length r = length t /\ word c0' /\ word c1' /\ word before' /\
  val r + R (length t) * (c0' + c1' + before' * y1) = val t + val a * (y0 + B * y1) + c0 + c1 + before * y1.
Proof.
  induction t as [|x t IH]; intros [|next a] c0 c1 before W0 W1 Ht Ha E Wc0 Wc1 Wb; try discriminate;
    cbn [val length mac_rows_from_loop1].
  - rewrite R_0. repeat split; auto; try apply Wc0; try apply Wc1; try apply Wb; lia.
  - apply limbs_cons in Ht as [Hx Ht]; apply limbs_cons in Ha as [Hn Ha]. cbn [length] in E.
    pose proof (mac_correct x next y0 c0 Hx Hn W0 Wc0) as A.
    destruct (mac x next y0 c0) as [l c0']. destruct A as (Wl & Wc0' & A).
    pose proof (mac_correct l before y1 c1 Wl Wb W1 Wc1) as A'.
    destruct (mac l before y1 c1) as [s c1']. destruct A' as (Ws & Wc1' & A').
    specialize (IH a c0' c1' next W0 W1 Ht Ha ltac:(lia) Wc0' Wc1' Hn).
    destruct (mac_rows_from_loop1 y0 y1 t a c0' c1' next) as [[[r c0''] c1''] before''].
    destruct IH as (Lr & Er & V0 & V1 & Vb & IH).
    rewrite R_S. cbn [val length]. repeat split; try apply V0; try apply V1; try apply Vb; try lia.
    apply limbs_cons; auto.
Qed.

(* serial.rs: mac_rows_from, mac_rows *)
Theorem mac_rows_correct t a y0 y1 : word y0 -> word y1 -> limbs t -> limbs a -> length t = length a ->
  let '(g, r) := mac_rows t a y0 y1 in
  limbs r /\ length r = length t /\ pair_word g /\
  val r + R (length t) * pair_val g = val t + val a * (y0 + B * y1).
Proof.
  intros W0 W1 Ht Ha E. unfold mac_rows, mac_rows_from. assert (Z0 : word 0) by (unfold word; lia).
  pose proof (mac_rows_from_loop1_correct y0 y1 t a 0 0 0 W0 W1 Ht Ha E Z0 Z0 Z0) as L.
  destruct (mac_rows_from_loop1 y0 y1 t a 0 0 0) as [[[r c0] c1] before]. destruct L as (Lr & Er & V0 & V1 & Vb & L).
  pose proof (mac_correct c0 before y1 c1 V0 Vb W1 V1) as A. destruct (mac c0 before y1 c1) as [lo hi].
  destruct A as (Wl & Wh & A). unfold pair_word, pair_val. cbn [fst snd].
  repeat split; try apply Wl; try apply Wh; auto.
  replace (lo + B * hi) with (c0 + c1 + before * y1) by lia. lia.
Qed.

Lemma congruent_zero x y : word x -> (x + y * B) mod B = 0 -> x = 0.
Proof. intros W H. rewrite Z_mod_plus_full in H. unfold word in W. rewrite Z.mod_small in H; lia. Qed.

(* neg_inverse is -m^-1 mod 2^64. *)
Definition inverts (n : Z) (m : list Z) := word n /\ (n * nth 0 m 0) mod B = B - 1.

Lemma digit_clears x n m0 : word x -> (n * m0) mod B = B - 1 -> (x + mul64 x n * m0) mod B = 0.
Proof.
  intros W H. unfold mul64. rewrite <- Zplus_mod_idemp_r, Zmult_mod_idemp_l.
  replace (x * n * m0) with (x * (n * m0)) by ring. rewrite <- Zmult_mod_idemp_r, H.
  rewrite Zplus_mod_idemp_r. replace (x + x * (B - 1)) with (x * B) by ring. apply Z_mod_mult.
Qed.

Lemma mul64_word x y : word (mul64 x y).
Proof. unfold word, mul64. apply Z.mod_pos_bound. lia. Qed.

(* serial.rs: reduce_row. The digit q takes the place of the limb that becomes zero. *)
Theorem reduce_row_correct t m n : limbs t -> limbs m -> length t = length m -> (1 <= length m)%nat -> inverts n m ->
  let '(c, t') := reduce_row t m n in
  exists q w, t' = q :: w /\ limbs t' /\ length t' = length t /\ word c /\
  B * (val w + R (length w) * c) = val t + q * val m.
Proof.
  intros Ht Hm E Hk [Wn Hn]. unfold reduce_row. set (q := mul64 (nth 0 t 0) n).
  pose proof (mac_row_correct t m q Ht Hm E (mul64_word _ _)) as L.
  destruct (mac_row t m q) as [c r]. destruct L as (Lr & Er & Wc & L).
  destruct t as [|t0 t]; [cbn in E; lia|]. destruct m as [|m0 m]; [discriminate|]. destruct r as [|r0 r]; [discriminate|].
  cbn [nth] in Hn, q. apply limbs_cons in Ht as [Wt Ht]. apply limbs_cons in Lr as [Wr Lr].
  cbn [length] in *. injection Er as Er. rewrite R_S in L. cbn [val] in L.
  assert (Z0 : r0 = 0).
  { apply (congruent_zero r0 (val r + R (length t) * c - val t - q * val m)); auto.
    rewrite <- (digit_clears t0 n m0 Wt Hn). fold q. f_equal. lia. }
  exists q, r. unfold splice. cbn [firstn skipn app length Nat.add].
  repeat split; auto; try apply Wc; try lia.
  - apply limbs_cons; split; auto. apply mul64_word.
  - rewrite Er. cbn [val]. lia.
Qed.

(* serial.rs: reduce_rows *)
Theorem reduce_rows_correct t m n : limbs t -> limbs m -> length t = length m -> (2 <= length m)%nat -> inverts n m ->
  let '(c, t') := reduce_rows t m n in
  exists q0 q1 w, t' = q0 :: q1 :: w /\ limbs t' /\ length t' = length t /\ pair_word c /\
  R 2 * (val w + R (length w) * pair_val c) = val t + (q0 + B * q1) * val m.
Proof.
  intros Ht Hm E Hk [Wn Hn]. unfold reduce_rows.
  destruct t as [|t0 [|t1 t]]; try (cbn in E; lia). destruct m as [|m0 [|m1 m]]; try (cbn in E; lia).
  cbn [nth] in *. set (q0 := mul64 t0 n). assert (W0 : word 0) by (unfold word; lia).
  pose proof Ht as Ht'. pose proof Hm as Hm'.
  apply limbs_cons in Ht' as [Wt0 Ht']. apply limbs_cons in Ht' as [Wt1 Ht'].
  apply limbs_cons in Hm' as [Wm0 Hm']. apply limbs_cons in Hm' as [Wm1 Hm'].
  pose proof (mac_correct t0 q0 m0 0 Wt0 (mul64_word _ _) Wm0 W0) as A.
  destruct (mac t0 q0 m0 0) as [z c0]. destruct A as (Wz & Wc0 & A).
  pose proof (mac_correct t1 q0 m1 c0 Wt1 (mul64_word _ _) Wm1 Wc0) as A1.
  destruct (mac t1 q0 m1 c0) as [s c1]. destruct A1 as (Ws & Wc1 & A1).
  set (q1 := mul64 s n).
  pose proof (mac_rows_correct (t0 :: t1 :: t) (m0 :: m1 :: m) q0 q1 (mul64_word _ _) (mul64_word _ _) Ht Hm E) as L.
  destruct (mac_rows (t0 :: t1 :: t) (m0 :: m1 :: m) q0 q1) as [c r]. destruct L as (Lr & Er & Wc & L).
  destruct r as [|r0 [|r1 r]]; try discriminate.
  pose proof Lr as Lr'. apply limbs_cons in Lr' as [Wr0 Lr']. apply limbs_cons in Lr' as [Wr1 Lr'].
  cbn [length] in *. injection Er as Er. rewrite !R_S in L. cbn [val] in L.
  assert (Hz : z = 0).
  { apply (congruent_zero z c0); auto. rewrite <- (digit_clears t0 n m0 Wt0 Hn). fold q0. f_equal. lia. }
  assert (Z0 : r0 = 0).
  { apply (congruent_zero r0 ((r1 + B * val r) + B * R (length t) * pair_val c - (t1 + B * val t)
      - (m1 + B * val m) * q0 - (m0 + B * (m1 + B * val m)) * q1)); auto.
    rewrite <- (digit_clears t0 n m0 Wt0 Hn). fold q0. f_equal. lia. }
  assert (Z1 : r1 = 0).
  { apply (congruent_zero r1 (val r + R (length t) * pair_val c - val t - val m * q0 - (m1 + B * val m) * q1 - c1)); auto.
    rewrite <- (digit_clears s n m0 Ws Hn). fold q1. f_equal. lia. }
  exists q0, q1, r. unfold splice. cbn [firstn skipn app length Nat.add].
  repeat split; auto; try apply Wc; try lia.
  - apply limbs_cons; split; [apply mul64_word|apply limbs_cons; split; [apply mul64_word|auto]].
  - rewrite Er. change (R 2) with (B * B). cbn [val]. subst r0 r1. lia.
Qed.

(* Loops cut [t] into the limbs below the window, the window of k limbs and the limbs above it. *)
Section Window.
Variables (p w h : list Z) (k : nat).
Hypothesis Hw : length w = k.
Let i := length p.

Lemma at_window : firstn (i + k - i) (skipn i (p ++ w ++ h)) = w.
Proof. replace (i + k - i)%nat with k by lia. apply window; auto. Qed.

Lemma at_above x y : firstn (i + k + 2 - (i + k)) (skipn (i + k) (p ++ w ++ x :: y :: h)) = [x; y].
Proof.
  replace (i + k + 2 - (i + k))%nat with 2%nat by lia.
  change (x :: y :: h) with ([x; y] ++ h). rewrite (app_assoc p).
  apply window; auto. rewrite app_length. subst i. lia.
Qed.

Lemma nth_above x : nth (i + k) (p ++ w ++ x :: h) 0 = x.
Proof. rewrite app_assoc, app_nth2; rewrite app_length, Hw; subst i; [|lia]. rewrite Nat.sub_diag. reflexivity. Qed.

Lemma put_window w' : length w' = k -> splice (p ++ w ++ h) i w' = p ++ w' ++ h.
Proof. intros. apply splice_window; auto. lia. Qed.

Lemma put_above x y l : length l = 2%nat -> splice (p ++ w ++ x :: y :: h) (i + k) l = p ++ w ++ l ++ h.
Proof.
  intros. change (x :: y :: h) with ([x; y] ++ h). rewrite (app_assoc p), splice_window; auto.
  - rewrite <- app_assoc. reflexivity.
  - rewrite app_length. subst i. lia.
Qed.

Lemma put_first_above x l : splice (p ++ w ++ x :: h) (i + k) [l] = p ++ w ++ l :: h.
Proof.
  change (x :: h) with ([x] ++ h). rewrite (app_assoc p), splice_window; auto.
  - rewrite <- app_assoc. reflexivity.
  - rewrite app_length. subst i. lia.
Qed.
End Window.

Lemma two (l : list Z) : length l = 2%nat -> exists x y, l = [x; y].
Proof. destruct l as [|x [|y [|z l]]]; try discriminate. eauto. Qed.

Lemma slide2 (p w l h : list Z) q0 q1 : p ++ (q0 :: q1 :: w) ++ l ++ h = (p ++ [q0; q1]) ++ (w ++ l) ++ h.
Proof. rewrite <- !app_assoc. reflexivity. Qed.

Lemma slide1 (p w h : list Z) q x : p ++ (q :: w) ++ x :: h = (p ++ [q]) ++ (w ++ [x]) ++ h.
Proof. rewrite <- !app_assoc. reflexivity. Qed.

Ltac windows := rewrite ?at_window by auto.

Lemma take (b : list Z) i : (i < length b)%nat -> skipn i b = nth i b 0 :: skipn (S i) b.
Proof. revert i; induction b as [|x b IH]; intros [|i] H; cbn [length] in *; try lia; auto. cbn. rewrite IH by lia. reflexivity. Qed.

Section Loops.
Variables (k : nat) (m : list Z) (n : Z).
Hypothesis Hm : limbs m.
Hypothesis Em : length m = k.
Hypothesis Hn : inverts n m.

(* What a reduction keeps: the window, its carry and what lies above, times what has been shifted out. *)
Lemma reduce_loop1_correct : forall fuel p w h c,
  length w = k -> (length p + length h = k)%nat -> limbs w -> limbs h -> word c -> (length h <= 2 * fuel + 1)%nat ->
  let '(t, c', i) := reduce_loop1 k m n fuel (p ++ w ++ h) c (length p) in
  exists q w' h', t = (p ++ q) ++ w' ++ h' /\ i = length (p ++ q) /\ length w' = k /\
  (length (p ++ q) + length h' = k)%nat /\ (length h' <= 1)%nat /\ limbs q /\ limbs w' /\ limbs h' /\ word c' /\
  R (length q) * (val w' + R k * (val h' + c')) = val w + R k * (val h + c) + val q * val m.
Proof.
  assert (Done : forall p w h c, length w = k -> (length p + length h = k)%nat -> limbs w -> limbs h -> word c ->
    (length h <= 1)%nat ->
    exists q w' h', p ++ w ++ h = (p ++ q) ++ w' ++ h' /\ length p = length (p ++ q) /\ length w' = k /\
    (length (p ++ q) + length h' = k)%nat /\ (length h' <= 1)%nat /\ limbs q /\ limbs w' /\ limbs h' /\ word c /\
    R (length q) * (val w' + R k * (val h' + c)) = val w + R k * (val h + c) + val q * val m).
  { intros p w h c Ew Eh Ww Wh Wc S. exists [], w, h. rewrite app_nil_r. cbn [length val]. rewrite R_0.
    repeat split; auto; try apply Wc; try lia. constructor. }
  induction fuel as [|fuel IH]; intros p w h c Ew Eh Ww Wh Wc F; cbn [reduce_loop1].
  - apply Done; auto; lia.
  - destruct (Nat.ltb_spec (length p + 1) k) as [L|L]; [|apply Done; auto; lia].
    destruct h as [|h0 [|h1 h]]; cbn [length] in *; try lia.
    apply limbs_cons in Wh as [W0 Wh]; apply limbs_cons in Wh as [W1 Wh]. windows.
    pose proof (reduce_rows_correct w m n Ww Hm ltac:(lia) ltac:(lia) Hn) as A.
    destruct (reduce_rows w m n) as [g w1]. destruct A as (q0 & q1 & w3 & -> & Lw & E1 & Wg & A).
    rewrite put_window with (k := k) by (cbn [length] in *; lia).
    assert (Wz : pair_word (0, 0)) by (unfold pair_word, word; cbn; lia).
    pose proof (carry_rows_correct h0 h1 (0, 0) g c W0 W1 Wz Wg Wc) as C.
    rewrite at_above by (cbn [length] in *; lia).
    destruct (carry_rows [h0; h1] (0, 0) g c) as [c' l]. destruct C as (Wl & El & Wc' & C).
    rewrite put_above by (cbn [length] in *; lia). rewrite slide2.
    replace (length p + 2)%nat with (length (p ++ [q0; q1])) by (rewrite app_length; reflexivity).
    apply limbs_cons in Lw as [Wq0 Lw]; apply limbs_cons in Lw as [Wq1 Lw]. cbn [length] in E1.
    specialize (IH (p ++ [q0; q1]) (w3 ++ l) h c').
    rewrite !app_length in IH. cbn [length] in IH.
    specialize (IH ltac:(lia) ltac:(lia) ltac:(apply limbs_app; auto) Wh Wc' ltac:(lia)).
    rewrite <- app_length with (l' := [q0; q1]) in IH.
    replace (length p + 2)%nat with (length (p ++ [q0; q1])) in IH by (rewrite app_length; reflexivity).
    destruct (reduce_loop1 k m n fuel ((p ++ [q0; q1]) ++ (w3 ++ l) ++ h) c' (length (p ++ [q0; q1]))) as [[t c''] i].
    destruct IH as (q & w' & h' & -> & -> & Ew' & Eh' & Sh & Lq & Lw' & Lh' & Wc'' & IH).
    exists (q0 :: q1 :: q), w', h'. rewrite <- (app_assoc p [q0; q1] q). cbn [app].
    repeat split; auto; try apply Wc''.
    + rewrite app_length in *. cbn [length app] in *. rewrite app_length in *. cbn [length] in *. lia.
    + apply limbs_cons; split; auto. apply limbs_cons; auto.
    + cbn [length val]. rewrite !R_S. rewrite val_app in IH.
      assert (K : R k = B * (B * R (length w3))) by (rewrite <- !R_S; f_equal; lia).
      unfold pair_val in C at 1. cbn [fst snd] in C. change (R 2) with (B * B) in *.
      rewrite K in *. lia.
Qed.

Variables (a b : list Z).
Hypothesis Ha : limbs a.
Hypothesis Hb : limbs b.
Hypothesis Ea : length a = k.
Hypothesis Eb : length b = k.

Lemma mul_body_loop1_correct : forall fuel p w h c,
  length w = k -> (length p + length h = k)%nat -> limbs w -> limbs h -> word c -> (length h <= 2 * fuel + 1)%nat ->
  let '(t, c', i) := mul_body_loop1 a b k m n fuel (p ++ w ++ h) c (length p) in
  exists q w' h', t = (p ++ q) ++ w' ++ h' /\ i = length (p ++ q) /\ length w' = k /\
  (length (p ++ q) + length h' = k)%nat /\ (length h' <= 1)%nat /\ limbs q /\ limbs w' /\ limbs h' /\ word c' /\
  R (length q) * (val w' + R k * (val h' + c')) =
    val w + R k * (val h + c) + val q * val m + val a * val (firstn (length q) (skipn (length p) b)).
Proof.
  assert (Done : forall p w h c, length w = k -> (length p + length h = k)%nat -> limbs w -> limbs h -> word c ->
    (length h <= 1)%nat ->
    exists q w' h', p ++ w ++ h = (p ++ q) ++ w' ++ h' /\ length p = length (p ++ q) /\ length w' = k /\
    (length (p ++ q) + length h' = k)%nat /\ (length h' <= 1)%nat /\ limbs q /\ limbs w' /\ limbs h' /\ word c /\
    R (length q) * (val w' + R k * (val h' + c)) =
      val w + R k * (val h + c) + val q * val m + val a * val (firstn (length q) (skipn (length p) b))).
  { intros p w h c Ew Eh Ww Wh Wc S. exists [], w, h. rewrite app_nil_r. cbn [length val firstn]. rewrite R_0.
    repeat split; auto; try apply Wc; try lia. constructor. }
  induction fuel as [|fuel IH]; intros p w h c Ew Eh Ww Wh Wc F; cbn [mul_body_loop1].
  - apply Done; auto; lia.
  - destruct (Nat.ltb_spec (length p + 1) k) as [L|L]; [|apply Done; auto; lia].
    destruct h as [|h0 [|h1 h]]; cbn [length] in *; try lia.
    apply limbs_cons in Wh as [W0 Wh]; apply limbs_cons in Wh as [W1 Wh]. windows.
    rewrite (take b (length p)) by lia. rewrite (take b (S (length p))) by lia.
    replace (length p + 1)%nat with (S (length p)) by lia.
    set (y0 := nth (length p) b 0). set (y1 := nth (S (length p)) b 0).
    pose proof (mac_rows_correct w a y0 y1 (limbs_nth _ _ Hb) (limbs_nth _ _ Hb) Ww Ha ltac:(lia)) as M.
    destruct (mac_rows w a y0 y1) as [g0 w0]. destruct M as (Lw0 & Ew0 & Wg0 & M).
    rewrite put_window with (k := k) by lia. rewrite at_window by lia.
    pose proof (reduce_rows_correct w0 m n Lw0 Hm ltac:(lia) ltac:(lia) Hn) as A.
    destruct (reduce_rows w0 m n) as [g w1]. destruct A as (q0 & q1 & w3 & -> & Lw & E1 & Wg & A).
    rewrite put_window with (k := k) by (cbn [length] in *; lia).
    pose proof (carry_rows_correct h0 h1 g0 g c W0 W1 Wg0 Wg Wc) as C.
    rewrite at_above by (cbn [length] in *; lia).
    destruct (carry_rows [h0; h1] g0 g c) as [c' l]. destruct C as (Wl & El & Wc' & C).
    rewrite put_above by (cbn [length] in *; lia). rewrite slide2.
    replace (length p + 2)%nat with (length (p ++ [q0; q1])) by (rewrite app_length; reflexivity).
    apply limbs_cons in Lw as [Wq0 Lw]; apply limbs_cons in Lw as [Wq1 Lw]. cbn [length] in E1.
    specialize (IH (p ++ [q0; q1]) (w3 ++ l) h c').
    rewrite !app_length in IH. cbn [length] in IH.
    specialize (IH ltac:(lia) ltac:(lia) ltac:(apply limbs_app; auto) Wh Wc' ltac:(lia)).
    rewrite <- app_length with (l' := [q0; q1]) in IH.
    replace (length p + 2)%nat with (length (p ++ [q0; q1])) in IH by (rewrite app_length; reflexivity).
    destruct (mul_body_loop1 a b k m n fuel ((p ++ [q0; q1]) ++ (w3 ++ l) ++ h) c' (length (p ++ [q0; q1]))) as [[t c''] i].
    destruct IH as (q & w' & h' & -> & -> & Ew' & Eh' & Sh & Lq & Lw' & Lh' & Wc'' & IH).
    exists (q0 :: q1 :: q), w', h'. rewrite <- (app_assoc p [q0; q1] q). cbn [app].
    repeat split; auto; try apply Wc''.
    + rewrite app_length in *. cbn [length app] in *. rewrite app_length in *. cbn [length] in *. lia.
    + apply limbs_cons; split; auto. apply limbs_cons; auto.
    + cbn [length val firstn]. rewrite !R_S. rewrite val_app in IH.
      rewrite app_length in IH. cbn [length] in IH.
      replace (length p + 2)%nat with (S (S (length p))) in IH by lia.
      set (bs := val (firstn (length q) (skipn (S (S (length p))) b))) in *. clearbody bs.
      assert (K : R k = B * (B * R (length w3))) by (rewrite <- !R_S; f_equal; lia).
      change (R 2) with (B * B) in *. replace (length w) with k in M by lia.
      rewrite K in *. lia.
Qed.
End Loops.

(* serial.rs: mul_body. Any a below R, as add_chunk makes it, times a reduced b, divided by R. *)
Theorem mul_body_correct k out a b m n t :
  limbs a -> limbs b -> limbs m -> length out = k -> length a = k -> length b = k -> length m = k ->
  (2 * k <= length t)%nat -> (1 <= k)%nat -> inverts n m -> val b < val m ->
  let '(r, _) := mul_body k out a b m n t in
  limbs r /\ length r = k /\ 0 <= val r < val m /\ exists x, R k * val r = val a * val b + x * val m.
Proof.
  intros Ha Hb Hm Eo Ea Eb Em Et Hk Hn Hlt. unfold mul_body.
  assert (Et' : length (firstn (2 * k) t) = (k + k)%nat) by (rewrite firstn_length_le; lia). rewrite Et'.
  rewrite !firstn_all2 by lia. rewrite repeat_app.
  pose proof (mul_body_loop1_correct k m n Hm Em Hn a b Ha Hb Ea Eb k [] (repeat 0 k) (repeat 0 k) 0) as L.
  cbn [length app] in L. rewrite !repeat_length in L.
  assert (W0 : word 0) by (unfold word; lia).
  specialize (L eq_refl eq_refl (limbs_zeros _) (limbs_zeros _) W0 ltac:(lia)).
  destruct (mul_body_loop1 a b k m n k (repeat 0 k ++ repeat 0 k) 0 0) as [[t' c] i].
  destruct L as (q & w & h & -> & -> & Ew & Eh & Sh & Lq & Lw & Lh & Wc & L).
  rewrite !val_zeros in L. cbn [skipn] in L.
  (* The last single step, if the number of limbs is odd. *)
  match goal with |- context [if Nat.ltb ?i k then ?x else ?y] => set (last := if Nat.ltb i k then x else y) end.
  assert (F : exists q' w' c', last = (q' ++ w', c') /\ limbs q' /\ limbs w' /\ length q' = k /\ length w' = k /\ word c' /\
      R k * (val w' + R k * c') = val a * val b + val q' * val m).
  { subst last. cbv zeta. destruct (Nat.ltb_spec (length q) k) as [O|O].
    - destruct h as [|h0 [|h1 h]]; cbn [length] in *; try lia.
      apply limbs_cons in Lh as [W1 _]. windows.
      pose proof (mac_row_correct w a (nth (length q) b 0) Lw Ha ltac:(lia) (limbs_nth _ _ Hb)) as M.
      destruct (mac_row w a (nth (length q) b 0)) as [x1 w1]. destruct M as (Lw1 & Ew1 & Wx1 & M).
      rewrite put_window with (k := k) by lia. rewrite at_window by lia.
      pose proof (reduce_row_correct w1 m n Lw1 Hm ltac:(lia) ltac:(lia) Hn) as A.
      destruct (reduce_row w1 m n) as [x2 w2]. destruct A as (q0 & w3 & -> & Lw2 & E2 & Wx2 & A).
      rewrite put_window with (k := k) by (cbn [length] in *; lia).
      rewrite nth_above by (cbn [length] in *; lia).
      pose proof (carry_row_correct h0 x1 x2 c W1 Wx1 Wx2 Wc) as C.
      destruct (carry_row h0 x1 x2 c) as [x3 h']. destruct C as (Wh' & Wx3 & C).
      rewrite put_first_above by (cbn [length] in *; lia). rewrite slide1, app_nil_r.
      apply limbs_cons in Lw2 as [Wq0 Lw3]. cbn [length] in E2.
      exists (q ++ [q0]), (w3 ++ [h']), x3.
      repeat split; try apply Wx3; try (apply limbs_app; split; auto; repeat constructor; auto; fail);
        try (rewrite app_length; cbn [length]; lia).
      + repeat (apply limbs_app; split; auto). apply limbs_cons; split; auto. constructor.
      + repeat (apply limbs_app; split; auto). apply limbs_cons; split; auto. constructor.
      + rewrite <- (firstn_skipn (length q) b), (take b (length q)) by lia.
        rewrite skipn_all2 with (n := S (length q)) by lia.
        rewrite !val_app, firstn_length_le by lia. cbn [val] in *.
        assert (K : k = S (length w3)) by lia.
        assert (K' : k = S (length q)) by lia.
        replace (R k) with (B * R (length q)) at 1 by (rewrite <- R_S; f_equal; lia).
        replace (length w) with k in M by lia. rewrite K, R_S in *.
        set (y := nth (length q) b 0) in *. clearbody y. set (z := val (firstn (length q) b)) in *. clearbody z.
        assert (X : R (length q) * (B * (val w3 + R (length w3) * h' + B * R (length w3) * x3)) =
          R (length q) * (val w + B * R (length w3) * (h0 + c) + val a * y + q0 * val m)) by (f_equal; lia).
        lia.
    - destruct h; cbn [length] in *; [|lia]. exists q, w, c. rewrite app_nil_r. cbn [val] in L.
      replace (length q) with k in L by lia. rewrite firstn_all2 in L by lia.
      repeat split; auto; try apply Wc; lia. }
  destruct F as (q' & w' & c' & F & Lq' & Lw' & Eq' & Ew' & Wc' & V). rewrite F.
  replace (2 * k - k)%nat with k by lia.
  replace (firstn k (skipn k (q' ++ w'))) with w'
    by (rewrite <- (app_nil_r w') at 2; symmetry; apply window; auto).
  pose proof (val_range _ Lq') as Rq. pose proof (val_range _ Ha) as Ra. pose proof (val_range _ Hb) as Rb.
  pose proof (val_range _ Lw') as Rw. rewrite Eq' in Rq. rewrite Ea in Ra.
  assert (val w' + R (length w') * c' < 2 * val m).
  { rewrite Ew'. assert (val a * val b <= R k * val m) by nia. assert (val q' * val m < R k * val m) by nia. nia. }
  pose proof (reduce_once_correct w' c' m Lw' Hm ltac:(lia) Wc' H) as D.
  destruct (reduce_once w' c' m) as [s r]. destruct D as (Lr & Er & D & Rr & Hs).
  rewrite splice_all by lia. repeat split; auto; try lia.
  exists (val q' - R k * s). rewrite D, Ew'. lia.
Qed.

(* serial.rs: reduce. Leaves the quotient digits q below, the reduced number w above, and its carry. *)
Theorem reduce_correct k t m n : limbs t -> limbs m -> length t = (2 * k)%nat -> length m = k -> (1 <= k)%nat ->
  inverts n m ->
  let '(c, t') := reduce k t m n in
  exists q w, t' = q ++ w /\ limbs q /\ limbs w /\ length q = k /\ length w = k /\ word c /\
  R k * (val w + R k * c) = val t + val q * val m.
Proof.
  intros Ht Hm Et Em Hk Hn. unfold reduce. rewrite (firstn_all2 (n := k) m) by lia.
  destruct (cut t k ltac:(lia)) as (u & v & -> & Eu & _ & _). apply limbs_app in Ht as [Hu Hv].
  rewrite app_length in Et. assert (W0 : word 0) by (unfold word; lia).
  pose proof (reduce_loop1_correct k m n Hm Em Hn k [] u v 0 Eu ltac:(cbn; lia) Hu Hv W0 ltac:(lia)) as L.
  cbn [length app] in L.
  destruct (reduce_loop1 k m n k (u ++ v) 0 0) as [[t' c] i].
  destruct L as (q & w & h & -> & -> & Ew & Eh & Sh & Lq & Lw & Lh & Wc & L).
  rewrite val_app, Eu.
  match goal with |- context [if Nat.ltb ?i k then ?x else ?y] => set (last := if Nat.ltb i k then x else y) end.
  assert (F : exists q' w' c', last = (q' ++ w', c') /\ limbs q' /\ limbs w' /\ length q' = k /\ length w' = k /\
      word c' /\ R k * (val w' + R k * c') = val u + R k * val v + val q' * val m).
  { subst last. cbv zeta. destruct (Nat.ltb_spec (length q) k) as [O|O].
    - destruct h as [|h0 [|h1 h]]; cbn [length] in *; try lia.
      apply limbs_cons in Lh as [W1 _]. rewrite at_window by lia.
      pose proof (reduce_row_correct w m n Lw Hm ltac:(lia) ltac:(lia) Hn) as A.
      destruct (reduce_row w m n) as [x2 w2]. destruct A as (q0 & w3 & -> & Lw2 & E2 & Wx2 & A).
      rewrite put_window with (k := k) by (cbn [length] in *; lia).
      rewrite nth_above by (cbn [length] in *; lia).
      pose proof (carry_row_correct h0 0 x2 c W1 W0 Wx2 Wc) as C.
      destruct (carry_row h0 0 x2 c) as [x3 h']. destruct C as (Wh' & Wx3 & C).
      rewrite put_first_above by (cbn [length] in *; lia). rewrite slide1, app_nil_r.
      apply limbs_cons in Lw2 as [Wq0 Lw3]. cbn [length] in E2.
      exists (q ++ [q0]), (w3 ++ [h']), x3.
      repeat split; try apply Wx3; try (rewrite app_length; cbn [length]; lia).
      + repeat (apply limbs_app; split; auto). apply limbs_cons; split; auto. constructor.
      + repeat (apply limbs_app; split; auto). apply limbs_cons; split; auto. constructor.
      + rewrite !val_app. cbn [val] in *.
        replace (R k) with (B * R (length q)) at 1 by (rewrite <- R_S; f_equal; lia).
        assert (K : k = S (length w3)) by lia. rewrite K, R_S in *.
        assert (X : R (length q) * (B * (val w3 + R (length w3) * h' + B * R (length w3) * x3)) =
          R (length q) * (val w + B * R (length w3) * (h0 + c) + q0 * val m)) by (f_equal; lia).
        lia.
    - destruct h; cbn [length] in *; [|lia]. exists q, w, c. rewrite app_nil_r. cbn [val] in L.
      replace (length q) with k in L by lia. repeat split; auto; try apply Wc; lia. }
  destruct F as (q' & w' & c' & F & Lq' & Lw' & Eq' & Ew' & Wc' & V). rewrite F.
  exists q', w'. repeat split; auto; try apply Wc'; lia.
Qed.

Section Products.
Variables (k : nat) (a b : list Z).
Hypothesis Ha : limbs a.
Hypothesis Hb : limbs b.
Hypothesis Ea : length a = k.
Hypothesis Eb : (k <= length b)%nat.

Lemma two_low (w : list Z) : (2 <= length w)%nat -> exists x y r, w = x :: y :: r.
Proof. destruct w as [|x [|y r]]; cbn [length]; try lia. eauto. Qed.

Lemma mul_add_loop1_correct : forall fuel p w h c,
  length w = k -> (length p + length h = k)%nat -> limbs w -> limbs h -> word c -> (length h <= 2 * fuel + 1)%nat ->
  let '(t, c', i) := mul_add_loop1 a b k fuel (p ++ w ++ h) c (length p) in
  exists q w' h', t = (p ++ q) ++ w' ++ h' /\ i = length (p ++ q) /\ length w' = k /\
  (length (p ++ q) + length h' = k)%nat /\ (length h' <= 1)%nat /\ limbs q /\ limbs w' /\ limbs h' /\ word c' /\
  val q + R (length q) * (val w' + R k * (val h' + c')) =
    val w + R k * (val h + c) + val a * val (firstn (length q) (skipn (length p) b)).
Proof.
  assert (Done : forall p w h c, length w = k -> (length p + length h = k)%nat -> limbs w -> limbs h -> word c ->
    (length h <= 1)%nat ->
    exists q w' h', p ++ w ++ h = (p ++ q) ++ w' ++ h' /\ length p = length (p ++ q) /\ length w' = k /\
    (length (p ++ q) + length h' = k)%nat /\ (length h' <= 1)%nat /\ limbs q /\ limbs w' /\ limbs h' /\ word c /\
    val q + R (length q) * (val w' + R k * (val h' + c)) =
      val w + R k * (val h + c) + val a * val (firstn (length q) (skipn (length p) b))).
  { intros p w h c Ew Eh Ww Wh Wc Sh. exists [], w, h. rewrite app_nil_r. cbn [length val firstn]. rewrite R_0.
    repeat split; auto; try apply Wc; try lia. constructor. }
  induction fuel as [|fuel IH]; intros p w h c Ew Eh Ww Wh Wc F; cbn [mul_add_loop1].
  - apply Done; auto; lia.
  - destruct (Nat.ltb_spec (length p + 1) k) as [L|L]; [|apply Done; auto; lia].
    destruct h as [|h0 [|h1 h]]; cbn [length] in *; try lia.
    apply limbs_cons in Wh as [W0 Wh]; apply limbs_cons in Wh as [W1 Wh]. windows.
    rewrite (firstn_all2 (n := k) a) by lia.
    rewrite (take b (length p)) by lia. rewrite (take b (S (length p))) by lia.
    replace (length p + 1)%nat with (S (length p)) by lia.
    set (y0 := nth (length p) b 0). set (y1 := nth (S (length p)) b 0).
    pose proof (mac_rows_correct w a y0 y1 (limbs_nth _ _ Hb) (limbs_nth _ _ Hb) Ww Ha ltac:(lia)) as M.
    destruct (mac_rows w a y0 y1) as [g0 w0]. destruct M as (Lw0 & Ew0 & Wg0 & M).
    destruct (two_low w0 ltac:(lia)) as (q0 & q1 & w3 & ->).
    rewrite put_window with (k := k) by lia.
    assert (Wz : pair_word (0, 0)) by (unfold pair_word, word; cbn; lia).
    pose proof (carry_rows_correct h0 h1 g0 (0, 0) c W0 W1 Wg0 Wz Wc) as C.
    rewrite at_above by (cbn [length] in *; lia).
    destruct (carry_rows [h0; h1] g0 (0, 0) c) as [c' l]. destruct C as (Wl & El & Wc' & C).
    rewrite put_above by (cbn [length] in *; lia). rewrite slide2.
    replace (length p + 2)%nat with (length (p ++ [q0; q1])) by (rewrite app_length; reflexivity).
    apply limbs_cons in Lw0 as [Wq0 Lw]; apply limbs_cons in Lw as [Wq1 Lw]. cbn [length] in Ew0.
    specialize (IH (p ++ [q0; q1]) (w3 ++ l) h c').
    rewrite !app_length in IH. cbn [length] in IH.
    specialize (IH ltac:(lia) ltac:(lia) ltac:(apply limbs_app; auto) Wh Wc' ltac:(lia)).
    rewrite <- app_length with (l' := [q0; q1]) in IH.
    replace (length p + 2)%nat with (length (p ++ [q0; q1])) in IH by (rewrite app_length; reflexivity).
    destruct (mul_add_loop1 a b k fuel ((p ++ [q0; q1]) ++ (w3 ++ l) ++ h) c' (length (p ++ [q0; q1]))) as [[t c''] i].
    destruct IH as (q & w' & h' & -> & -> & Ew' & Eh' & Sh & Lq & Lw' & Lh' & Wc'' & IH).
    exists (q0 :: q1 :: q), w', h'. rewrite <- (app_assoc p [q0; q1] q). cbn [app].
    repeat split; auto; try apply Wc''.
    + rewrite app_length in *. cbn [length app] in *. rewrite app_length in *. cbn [length] in *. lia.
    + apply limbs_cons; split; auto. apply limbs_cons; auto.
    + cbn [length val firstn]. rewrite !R_S. rewrite val_app in IH.
      rewrite app_length in IH. cbn [length] in IH.
      replace (length p + 2)%nat with (S (S (length p))) in IH by lia.
      set (bs := val (firstn (length q) (skipn (S (S (length p))) b))) in *. clearbody bs.
      assert (K : R k = B * (B * R (length w3))) by (rewrite <- !R_S; f_equal; lia).
      unfold pair_val in C at 2. cbn [fst snd val] in *.
      change (R 2) with (B * B) in *. replace (length w) with k in M by lia.
      rewrite K in *. lia.
Qed.

(* serial.rs: mul_add. The caller's top must not overflow. *)
Theorem mul_add_correct t top : limbs t -> length t = (2 * k)%nat -> 0 <= top -> top + 1 < B ->
  let '(t', top') := mul_add k t top a b in
  limbs t' /\ length t' = (2 * k)%nat /\ 0 <= top' <= top + 1 /\
  val t' + R (2 * k) * top' = val t + R (2 * k) * top + val a * val (firstn k b).
Proof.
  intros Ht Et H0 H1. unfold mul_add.
  destruct (cut t k ltac:(lia)) as (u & v & -> & Eu & _ & _). apply limbs_app in Ht as [Hu Hv].
  rewrite app_length in Et. assert (W0 : word 0) by (unfold word; lia).
  pose proof (mul_add_loop1_correct k [] u v 0 Eu ltac:(cbn; lia) Hu Hv W0 ltac:(lia)) as L.
  cbn [length app skipn] in L.
  destruct (mul_add_loop1 a b k k (u ++ v) 0 0) as [[t' c] i].
  destruct L as (q & w & h & -> & -> & Ew & Eh & Sh & Lq & Lw & Lh & Wc & L).
  match goal with |- context [if Nat.ltb ?i k then ?x else ?y] => set (last := if Nat.ltb i k then x else y) end.
  assert (F : exists q' w' c', last = (q' ++ w', c') /\ limbs q' /\ limbs w' /\ length q' = k /\ length w' = k /\
      word c' /\ val q' + R k * (val w' + R k * c') = val u + R k * val v + val a * val (firstn k b)).
  { subst last. cbv zeta. rewrite (firstn_all2 (n := k) a) by lia. destruct (Nat.ltb_spec (length q) k) as [O|O].
    - destruct h as [|h0 [|h1 h]]; cbn [length] in *; try lia.
      apply limbs_cons in Lh as [W1 _]. rewrite at_window by lia.
      pose proof (mac_row_correct w a (nth (length q) b 0) Lw Ha ltac:(lia) (limbs_nth _ _ Hb)) as M.
      destruct (mac_row w a (nth (length q) b 0)) as [x1 w1]. destruct M as (Lw1 & Ew1 & Wx1 & M).
      destruct w1 as [|q0 w3]; [cbn [length] in *; lia|].
      rewrite put_window with (k := k) by (cbn [length] in *; lia).
      rewrite nth_above by (cbn [length] in *; lia).
      pose proof (carry_row_correct h0 x1 0 c W1 Wx1 W0 Wc) as C.
      destruct (carry_row h0 x1 0 c) as [x3 h']. destruct C as (Wh' & Wx3 & C).
      rewrite put_first_above by (cbn [length] in *; lia). rewrite slide1, app_nil_r.
      apply limbs_cons in Lw1 as [Wq0 Lw3]. cbn [length] in Ew1.
      exists (q ++ [q0]), (w3 ++ [h']), x3.
      repeat split; try apply Wx3; try (rewrite app_length; cbn [length]; lia).
      + repeat (apply limbs_app; split; auto). apply limbs_cons; split; auto. constructor.
      + repeat (apply limbs_app; split; auto). apply limbs_cons; split; auto. constructor.
      + replace (firstn k b) with (firstn (length q) b ++ [nth (length q) b 0]).
        2: { replace k with (length q + 1)%nat by lia. rewrite <- (firstn_skipn (length q) b) at 3.
             rewrite firstn_app, firstn_length_le by lia. replace (length q + 1 - length q)%nat with 1%nat by lia.
             rewrite (firstn_all2 (n := (length q + 1)%nat)) by (rewrite firstn_length_le; lia).
             rewrite (take b (length q)) by lia. reflexivity. }
        rewrite !val_app, firstn_length_le by lia. cbn [val] in *.
        replace (R k) with (B * R (length q)) at 1 by (rewrite <- R_S; f_equal; lia).
        assert (K : k = S (length w3)) by lia. replace (length w) with k in M by lia. rewrite K, R_S in *.
        set (y := nth (length q) b 0) in *. clearbody y. set (z := val (firstn (length q) b)) in *. clearbody z.
        assert (X : R (length q) * (q0 + B * (val w3 + R (length w3) * h' + B * R (length w3) * x3)) =
          R (length q) * (val w + B * R (length w3) * (h0 + c) + val a * y)) by (f_equal; lia).
        lia.
    - destruct h; cbn [length] in *; [|lia]. exists q, w, c. rewrite app_nil_r. cbn [val] in L.
      replace (length q) with k in L by lia. repeat split; auto; try apply Wc; lia. }
  destruct F as (q' & w' & c' & F & Lq' & Lw' & Eq' & Ew' & Wc' & V). rewrite F.
  pose proof (val_range _ Lq') as Rq. pose proof (val_range _ Lw') as Rw. pose proof (val_range _ Ha) as Ra.
  pose proof (val_range _ Hu) as Ru. pose proof (val_range _ Hv) as Rv.
  pose proof (val_range _ (limbs_firstn k b Hb)) as Rb. rewrite firstn_length_le in Rb by lia.
  rewrite Eq' in Rq. rewrite Ew' in Rw. rewrite Ea in Ra. rewrite Eu in Ru. replace (length v) with k in Rv by lia.
  unfold word in Wc'.
  assert (Hc : c' <= 1).
  { assert (val a * val (firstn k b) <= (R k - 1) * (R k - 1)) by nia.
    assert (R k * val v <= R k * (R k - 1)) by nia. pose proof (R_pos k). nia. }
  unfold add64. rewrite Z.mod_small by lia.
  replace (2 * k)%nat with (k + k)%nat by lia. rewrite R_plus, !val_app, Eu, Eq', app_length.
  repeat split; try lia. apply limbs_app; auto.
Qed.

Lemma product_loop1_correct : forall fuel p w h,
  length w = k -> (length p + length h = k)%nat -> limbs w -> limbs h -> (length h <= 2 * fuel + 1)%nat ->
  let '(t, i) := product_loop1 a b k fuel (p ++ w ++ h) (length p) in
  exists q w' h', t = (p ++ q) ++ w' ++ h' /\ i = length (p ++ q) /\ length w' = k /\
  (length (p ++ q) + length h' = k)%nat /\ (length h' <= 1)%nat /\ limbs q /\ limbs w' /\ limbs h' /\
  val q + R (length q) * val w' = val w + val a * val (firstn (length q) (skipn (length p) b)).
Proof.
  assert (Done : forall p w h, length w = k -> (length p + length h = k)%nat -> limbs w -> limbs h ->
    (length h <= 1)%nat ->
    exists q w' h', p ++ w ++ h = (p ++ q) ++ w' ++ h' /\ length p = length (p ++ q) /\ length w' = k /\
    (length (p ++ q) + length h' = k)%nat /\ (length h' <= 1)%nat /\ limbs q /\ limbs w' /\ limbs h' /\
    val q + R (length q) * val w' = val w + val a * val (firstn (length q) (skipn (length p) b))).
  { intros p w h Ew Eh Ww Wh Sh. exists [], w, h. rewrite app_nil_r. cbn [length val firstn]. rewrite R_0.
    repeat split; auto; try lia. constructor. }
  induction fuel as [|fuel IH]; intros p w h Ew Eh Ww Wh F; cbn [product_loop1].
  - apply Done; auto; lia.
  - destruct (Nat.ltb_spec (length p + 1) k) as [L|L]; [|apply Done; auto; lia].
    destruct h as [|h0 [|h1 h]]; cbn [length] in *; try lia.
    apply limbs_cons in Wh as [W0 Wh]; apply limbs_cons in Wh as [W1 Wh]. windows.
    rewrite (firstn_all2 (n := k) a) by lia.
    rewrite (take b (length p)) by lia. rewrite (take b (S (length p))) by lia.
    replace (length p + 1)%nat with (S (length p)) by lia.
    set (y0 := nth (length p) b 0). set (y1 := nth (S (length p)) b 0).
    pose proof (mac_rows_correct w a y0 y1 (limbs_nth _ _ Hb) (limbs_nth _ _ Hb) Ww Ha ltac:(lia)) as M.
    destruct (mac_rows w a y0 y1) as [[g0 g1] w0]. destruct M as (Lw0 & Ew0 & [Wg0 Wg1] & M). cbn [fst snd] in *.
    destruct (two_low w0 ltac:(lia)) as (q0 & q1 & w3 & ->). cbn [length] in *.
    rewrite put_window with (k := k) by (cbn [length]; lia).
    rewrite put_first_above by (cbn [length]; lia).
    replace (p ++ (q0 :: q1 :: w3) ++ g0 :: h1 :: h) with ((p ++ [q0]) ++ ((q1 :: w3) ++ [g0]) ++ h1 :: h)
      by (rewrite <- !app_assoc; reflexivity).
    replace (length p + k + 1)%nat with (length (p ++ [q0]) + k)%nat by (rewrite app_length; cbn [length]; lia).
    rewrite put_first_above by (rewrite app_length; cbn [length]; lia).
    replace ((p ++ [q0]) ++ ((q1 :: w3) ++ [g0]) ++ g1 :: h) with ((p ++ [q0; q1]) ++ (w3 ++ [g0; g1]) ++ h)
      by (rewrite <- !app_assoc; reflexivity).
    replace (length p + 2)%nat with (length (p ++ [q0; q1])) by (rewrite app_length; reflexivity).
    apply limbs_cons in Lw0 as [Wq0 Lw]; apply limbs_cons in Lw as [Wq1 Lw].
    specialize (IH (p ++ [q0; q1]) (w3 ++ [g0; g1]) h).
    rewrite !app_length in IH. cbn [length] in IH.
    specialize (IH ltac:(lia) ltac:(lia)
      ltac:(apply limbs_app; split; auto; apply limbs_cons; split; auto; apply limbs_cons; split; auto; constructor)
      Wh ltac:(lia)).
    rewrite <- app_length with (l' := [q0; q1]) in IH.
    replace (length p + 2)%nat with (length (p ++ [q0; q1])) in IH by (rewrite app_length; reflexivity).
    destruct (product_loop1 a b k fuel ((p ++ [q0; q1]) ++ (w3 ++ [g0; g1]) ++ h) (length (p ++ [q0; q1]))) as [t i].
    destruct IH as (q & w' & h' & -> & -> & Ew' & Eh' & Sh & Lq & Lw' & Lh' & IH).
    exists (q0 :: q1 :: q), w', h'. rewrite <- (app_assoc p [q0; q1] q). cbn [app].
    repeat split; auto.
    + rewrite app_length in *. cbn [length app] in *. rewrite app_length in *. cbn [length] in *. lia.
    + apply limbs_cons; split; auto. apply limbs_cons; auto.
    + cbn [length val firstn]. rewrite !R_S. rewrite val_app in IH.
      rewrite app_length in IH. cbn [length val] in IH.
      replace (length p + 2)%nat with (S (S (length p))) in IH by lia.
      set (bs := val (firstn (length q) (skipn (S (S (length p))) b))) in *. clearbody bs.
      assert (K : R k = B * (B * R (length w3))) by (rewrite <- !R_S; f_equal; lia).
      unfold pair_val in M. cbn [fst snd val] in *. replace (length w) with k in M by lia.
      rewrite K in *. lia.
Qed.

(* serial.rs: product *)
Theorem product_correct t : limbs t -> length t = (2 * k)%nat ->
  let t' := product k t a b in
  limbs t' /\ length t' = (2 * k)%nat /\ val t' = val a * val (firstn k b).
Proof.
  intros Ht Et. unfold product.
  destruct (cut t k ltac:(lia)) as (u & v & -> & Eu & -> & _). apply limbs_app in Ht as [Hu Hv].
  rewrite app_length in Et. rewrite splice_head by (rewrite repeat_length; lia). rewrite Eu.
  pose proof (product_loop1_correct k [] (repeat 0 k) v (repeat_length _ _) ltac:(cbn; lia) (limbs_zeros _) Hv ltac:(lia)) as L.
  cbn [length app skipn] in L.
  destruct (product_loop1 a b k k (repeat 0 k ++ v) 0) as [t' i].
  destruct L as (q & w & h & -> & -> & Ew & Eh & Sh & Lq & Lw & Lh & L). rewrite val_zeros in L.
  cbv zeta. rewrite (firstn_all2 (n := k) a) by lia. destruct (Nat.ltb_spec (length q) k) as [O|O].
  - destruct h as [|h0 [|h1 h]]; cbn [length] in *; try lia. rewrite at_window by lia.
    pose proof (mac_row_correct w a (nth (length q) b 0) Lw Ha ltac:(lia) (limbs_nth _ _ Hb)) as M.
    destruct (mac_row w a (nth (length q) b 0)) as [x1 w1]. destruct M as (Lw1 & Ew1 & Wx1 & M).
    rewrite put_window with (k := k) by (cbn [length] in *; lia).
    rewrite put_first_above by (cbn [length] in *; lia).
    replace (firstn k b) with (firstn (length q) b ++ [nth (length q) b 0]).
    2: { replace k with (length q + 1)%nat by lia. rewrite <- (firstn_skipn (length q) b) at 3.
         rewrite firstn_app, firstn_length_le by lia. replace (length q + 1 - length q)%nat with 1%nat by lia.
         rewrite (firstn_all2 (n := (length q + 1)%nat)) by (rewrite firstn_length_le; lia).
         rewrite (take b (length q)) by lia. reflexivity. }
    rewrite !val_app, firstn_length_le, !app_length by lia. cbn [val length].
    repeat split; try lia.
    + repeat (apply limbs_app; split; auto). apply limbs_cons; split; auto. constructor.
    + set (y := nth (length q) b 0) in *. clearbody y. set (z := val (firstn (length q) b)) in *. clearbody z.
      rewrite Ew1. assert (X : R (length q) * (val w1 + R (length w) * x1) = R (length q) * (val w + val a * y)) by (f_equal; lia).
      lia.
  - destruct h; cbn [length] in *; [|lia]. rewrite app_nil_r.
    replace (length q) with k in L by lia. rewrite val_app, app_length. replace (length q) with k by lia.
    repeat split; try lia. apply limbs_app; auto.
Qed.
End Products.
