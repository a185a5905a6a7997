(* crates/arith/src/doubling.rs: many doublings modulo a number at a time. *)
From Arith Require Export bits.
From Generated Require Export doubling.
From Generated Require Import doubling_constants.

Lemma reciprocal_loop1_correct D : 0 < D <= 4294967296 -> forall count rest q,
  0 <= rest < D -> 0 <= q -> (q + 1) * 2 ^ Z.of_nat count <= 4294967296 ->
  let '(rest', q') := reciprocal_loop1 D count rest q in
  0 <= rest' < D /\ 2 ^ Z.of_nat count * (q * D + rest) = q' * D + rest'.
Proof.
  intros HD. induction count as [|count IH]; intros rest q Hr Hq Hc; cbn [reciprocal_loop1].
  - change (2 ^ Z.of_nat 0) with 1. lia.
  - rewrite Nat2Z.inj_succ, Z.pow_succ_r in * by lia.
    assert (P : 0 < 2 ^ Z.of_nat count) by (apply Z.pow_pos_nonneg; lia).
    assert (Hq2 : q < 4294967296).
    { assert (q + 1 <= (q + 1) * (2 * 2 ^ Z.of_nat count)) by (apply Z.le_mul_diag_r; lia). lia. }
    unfold shl64. change (2 ^ 1) with 2. rewrite !(Z.mod_small (_ * 2)) by lia.
    unfold shr, sub64. change (2 ^ 63) with 9223372036854775808. cbv zeta.
    assert (F : exists f, Z.lxor 1 ((rest * 2 - D) mod B / 9223372036854775808) = f /\ (f = 0 \/ f = 1) /\
      0 <= rest * 2 - f * D < D).
    { destruct (Z_lt_le_dec (rest * 2) D).
      - exists 0. assert (E : (rest * 2 - D) mod B = rest * 2 - D + B) by (symmetry; apply Z.mod_unique with (-1); lia).
        rewrite E. assert (E' : (rest * 2 - D + B) / 9223372036854775808 = 1)
          by (symmetry; apply Z.div_unique with (rest * 2 - D + 9223372036854775808); lia).
        rewrite E'. repeat split; auto; lia.
      - exists 1. rewrite Z.mod_small by lia. rewrite Z.div_small by lia. repeat split; auto; lia. }
    destruct F as (f & -> & Hf & Hrest).
    assert (WD : word D) by (unfold word; lia). rewrite (mask_correct D f WD Hf).
    assert (Hf1 : 0 <= f <= 1) by lia.
    rewrite (Z.mod_small (rest * 2 - f * D)) by lia.
    change 2 with (2 ^ 1) at 2. rewrite lor_add by lia. change (2 ^ 1) with 2.
    specialize (IH (rest * 2 - f * D) (q * 2 + f) Hrest ltac:(lia)).
    assert (Hn : (q * 2 + f + 1) * 2 ^ Z.of_nat count <= 4294967296).
    { assert ((q * 2 + f + 1) * 2 ^ Z.of_nat count <= (q * 2 + 2) * 2 ^ Z.of_nat count)
        by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
    specialize (IH Hn). destruct (reciprocal_loop1 D count (rest * 2 - f * D) (q * 2 + f)) as [rest' q'].
    destruct IH as (IH1 & IH2). split; [exact IH1|]. rewrite <- IH2. ring.
Qed.

(* doubling.rs: reciprocal *)
Theorem reciprocal_correct D : 2147483648 < D <= 4294967296 -> reciprocal D = 2 ^ 63 / D.
Proof.
  intros HD. unfold reciprocal, shl64. change ((1 * 2 ^ 31) mod B) with 2147483648. change (32 - 0)%nat with 32%nat.
  pose proof (reciprocal_loop1_correct D ltac:(lia) 32 2147483648 0 ltac:(lia) ltac:(lia) ltac:(reflexivity || (vm_compute; discriminate))) as L.
  destruct (reciprocal_loop1 D 32 2147483648 0) as [r q]. destruct L as [Hr L].
  change (2 ^ Z.of_nat 32) with 4294967296 in L. change (2 ^ 63) with 9223372036854775808.
  apply Z.div_unique with r; lia.
Qed.

(* The modulus is short: bit by bit. *)
Lemma double_loop1_correct added m : limbs m -> forall count a q, limbs a -> length a = length m -> val a < val m ->
  0 <= q -> (q + 1) * 2 ^ Z.of_nat count <= B ->
  let '(r, q') := double_loop1 added m count a q in
  limbs r /\ length r = length m /\ 0 <= val r < val m /\ 0 <= q' /\
  2 ^ Z.of_nat count * (q * val m + val a) + added mod 2 ^ Z.of_nat count = q' * val m + val r.
Proof.
  intros Hm. induction count as [|count IH]; intros a q Ha E Hlt Hq Hc; cbn [double_loop1].
  - change (2 ^ Z.of_nat 0) with 1. rewrite Z.mod_1_r. pose proof (val_range a Ha). repeat split; auto; lia.
  - rewrite Nat2Z.inj_succ, Z.pow_succ_r in * by lia. rewrite Z.add_0_l.
    assert (P : 0 < 2 ^ Z.of_nat count) by (apply Z.pow_pos_nonneg; lia).
    assert (Hb : Z.land (shr added (Z.of_nat count)) 1 = (added / 2 ^ Z.of_nat count) mod 2).
    { unfold shr. exact (Z.land_ones (added / 2 ^ Z.of_nat count) 1 ltac:(lia)). }
    cbv zeta. rewrite Hb. pose proof (Z.mod_pos_bound (added / 2 ^ Z.of_nat count) 2 ltac:(lia)) as Rb.
    set (bit := (added / 2 ^ Z.of_nat count) mod 2) in *.
    assert (Split : added mod (2 * 2 ^ Z.of_nat count) = added mod 2 ^ Z.of_nat count + 2 ^ Z.of_nat count * bit)
      by (rewrite Z.mul_comm; apply Z.rem_mul_r; lia).
    clearbody bit. pose proof (double_correct a bit m Ha Hm E ltac:(lia) Hlt) as D.
    destruct (bits.double a bit m) as [s a']. destruct D as (La & Ea & Ra & Hs & D).
    assert (Hq2 : q + 1 <= B / 2).
    { apply Z.div_le_lower_bound; [lia|]. assert (2 * (q + 1) <= (q + 1) * (2 * 2 ^ Z.of_nat count)); [|lia].
      replace ((q + 1) * (2 * 2 ^ Z.of_nat count)) with (2 * (q + 1) * 2 ^ Z.of_nat count) by ring.
      apply Z.le_mul_diag_r; lia. }
    change (B / 2) with 9223372036854775808 in Hq2.
    unfold shl64. rewrite Z.mod_small by (change (2 ^ 1) with 2; lia).
    rewrite lor_add by (change (2 ^ 1) with 2; lia). change (2 ^ 1) with 2.
    specialize (IH a' (q * 2 + s) La ltac:(lia) ltac:(lia) ltac:(lia)).
    assert (Hn : (q * 2 + s + 1) * 2 ^ Z.of_nat count <= B).
    { assert ((q * 2 + s + 1) * 2 ^ Z.of_nat count <= (q * 2 + 2) * 2 ^ Z.of_nat count)
        by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
    specialize (IH Hn). destruct (double_loop1 added m count a' (q * 2 + s)) as [r q'].
    destruct IH as (Lr & Er & Rr & Hq' & IH). repeat split; auto; try lia.
Qed.

(* A limb shifted up, and what leaves it. *)
Lemma shifted x so t : word x -> 1 <= t <= 24 -> 0 <= so < 2 ^ t ->
  word (Z.lor (shl64 x t) so) /\ 0 <= shr x (64 - t) < 2 ^ t /\
  Z.lor (shl64 x t) so + B * shr x (64 - t) = 2 ^ t * x + so.
Proof.
  intros Wx Ht Hso. unfold shl64, shr, word in *. set (T := 2 ^ t) in *. set (U := 2 ^ (64 - t)).
  assert (TU : B = U * T) by (unfold U, T; rewrite <- Z.pow_add_r by lia; replace (64 - t + t) with 64 by lia; reflexivity).
  assert (PT : 0 < T) by (apply Z.pow_pos_nonneg; lia). assert (PU : 0 < U) by (apply Z.pow_pos_nonneg; lia).
  assert (E : (x * T) mod B = x mod U * T) by (rewrite TU; apply Z.mul_mod_distr_r; lia).
  pose proof (Z.div_mod x U ltac:(lia)) as D. pose proof (Z.mod_pos_bound x U PU) as M.
  assert (L : Z.lor (x mod U * T) so = x mod U * T + so) by (apply lor_add; [lia|exact Hso]).
  rewrite E, L. clearbody T U.
  assert (x mod U * T <= (U - 1) * T) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (0 <= x mod U * T) by (apply Z.mul_nonneg_nonneg; lia).
  split; [split; [lia|rewrite TU; lia]|].
  split; [split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]|].
  replace (T * x) with (x * T) by ring. rewrite D at 3. rewrite TU. ring.
Qed.

Notation MANY := 16777216.

Lemma double_loop2_correct q t : 0 <= q <= MANY -> 1 <= t <= 24 -> forall xs ys so c, limbs xs -> limbs ys ->
  length xs = length ys -> 0 <= so < 2 ^ t -> - MANY <= c <= MANY ->
  let '(r, so', c') := double_loop2 q t xs ys so c in
  limbs r /\ length r = length xs /\ 0 <= so' < 2 ^ t /\ - MANY <= c' <= MANY /\
  val r + R (length xs) * (c' + so') = c + so + 2 ^ t * val xs - q * val ys.
Proof.
  intros Hq Ht. induction xs as [|x xs IH]; intros [|y ys] so c Hx Hy E Hso Hc; try discriminate;
    cbn [val length double_loop2].
  - rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hx as [Wx Hx]; apply limbs_cons in Hy as [Wy Hy]. cbn [length] in E.
    unfold sub32. rewrite (Z.mod_small (64 - t)) by lia.
    destruct (shifted x so t Wx Ht Hso) as (Ws & Hso' & S).
    set (s := Z.lor (shl64 x t) so) in *. set (so1 := shr x (64 - t)) in *. clearbody s so1.
    unfold word in Ws, Wy, Wx.
    assert (Q : 0 <= q * y <= MANY * (B - 1)).
    { split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]. }
    unfold muli128, addi128, subi128. cbv zeta.
    rewrite (signed128_small (q * y)), (signed128_small (c + s)), (signed128_small (c + s - q * y)) by lia.
    unfold low64, shr. change (2 ^ 64) with B. set (v := c + s - q * y).
    pose proof (Z.div_mod v B ltac:(lia)) as D. pose proof (Z.mod_pos_bound v B ltac:(lia)) as M.
    set (c1 := v / B) in *. set (r0 := v mod B) in *. subst v. clearbody c1 r0.
    specialize (IH ys so1 c1 Hx Hy ltac:(lia) Hso' ltac:(lia)).
    destruct (double_loop2 q t xs ys so1 c1) as [[r so'] c']. destruct IH as (Lr & Er & Hs' & Hc' & IH).
    rewrite R_S. cbn [val length]. repeat split; try lia. apply limbs_cons; split; auto.
Qed.

(* The quotient from the leading 32 bits d, e of modulus and residue is right or too small by 1. *)
Lemma quotient_close m a t added S d e : 1 <= t <= 24 -> 0 < S -> 0 <= a < m -> 0 <= added < 2 ^ t ->
  2147483648 <= d < 4294967296 -> d * S <= m -> m < (d + 1) * S -> e * S <= a -> a < (e + 1) * S ->
  let q := e * (2 ^ 63 / (d + 1)) / 2 ^ (63 - t) in
  0 <= q <= 2 ^ t /\ 0 <= 2 ^ t * a + added - q * m < 2 * m.
Proof.
  intros Ht HS Ha Hadd Hd Hm Hm1 He He1 q.
  set (T := 2 ^ t) in *. set (U := 2 ^ (63 - t)) in *. set (r := 2 ^ 63 / (d + 1)) in *.
  assert (TU : 2 ^ 63 = U * T) by (unfold U, T; rewrite <- Z.pow_add_r by lia; f_equal; lia).
  assert (PT : 0 < T) by (apply Z.pow_pos_nonneg; lia).
  assert (PU : 549755813888 <= U).
  { change 549755813888 with (2 ^ 39). apply Z.pow_le_mono_r; lia. }
  pose proof (Z.div_mod (2 ^ 63) (d + 1) ltac:(lia)) as D. pose proof (Z.mod_pos_bound (2 ^ 63) (d + 1) ltac:(lia)) as M.
  fold r in D. set (w := 2 ^ 63 mod (d + 1)) in *. clearbody w.
  assert (Pr : 0 <= r) by (apply Z.div_pos; lia).
  assert (e0 : 0 <= e). { assert (0 < e + 1); [|lia]. apply Z.mul_pos_cancel_r with S; lia. }
  assert (ed : e <= d). { assert (e < d + 1); [|lia]. apply Z.mul_lt_mono_pos_r with S; lia. }
  pose proof (Z.div_mod (e * r) U ltac:(lia)) as Dq. pose proof (Z.mod_pos_bound (e * r) U ltac:(lia)) as Mq.
  change (e * r / U) with q in Dq. set (v := (e * r) mod U) in *. clearbody v.
  assert (q0 : 0 <= q) by (apply Z.div_pos; [apply Z.mul_nonneg_nonneg; lia|lia]).
  clearbody q r. 
  (* q m <= 2^t a *)
  assert (Low : q * m <= T * a).
  { apply Z.mul_le_mono_pos_l with U; [lia|].
    assert (U * (q * m) <= e * r * m).
    { replace (U * (q * m)) with (U * q * m) by ring. apply Z.mul_le_mono_nonneg_r; lia. }
    assert (e * r * m <= e * r * ((d + 1) * S)).
    { apply Z.mul_le_mono_nonneg_l; [apply Z.mul_nonneg_nonneg; lia|lia]. }
    assert (e * r * ((d + 1) * S) <= U * (T * a)).
    { replace (e * r * ((d + 1) * S)) with ((d + 1) * r * (e * S)) by ring.
      replace (U * (T * a)) with (2 ^ 63 * a) by (rewrite TU; ring).
      assert (0 <= (d + 1) * r) by (apply Z.mul_nonneg_nonneg; lia).
      assert (0 <= e * S) by (apply Z.mul_nonneg_nonneg; lia). apply Z.mul_le_mono_nonneg; lia. }
    lia. }
  (* 2^t (e + 1) <= (q + 2) d *)
  assert (High : T * (e + 1) <= (q + 2) * d).
  { apply Z.mul_le_mono_pos_l with (U * (d + 1)); [apply Z.mul_pos_pos; lia|].
    assert (A1 : U * (q + 2) >= e * r + 1 + U) by lia.
    assert (A2 : d * (d + 1) * (e * r + 1 + U) <= d * (d + 1) * (U * (q + 2))).
    { apply Z.mul_le_mono_nonneg_l; [apply Z.mul_nonneg_nonneg; lia|lia]. }
    assert (A3 : d * e * ((d + 1) * r) = d * e * (2 ^ 63 - w)) by (f_equal; lia).
    assert (A4 : d * e * w <= d * d * d).
    { assert (0 <= d * e) by (apply Z.mul_nonneg_nonneg; lia).
      assert (d * e <= d * d) by (apply Z.mul_le_mono_nonneg_l; lia). apply Z.mul_le_mono_nonneg; lia. }
    assert (A5 : d * d <= 4294967296 * 4294967296) by (apply Z.mul_le_mono_nonneg; lia).
    assert (A6 : d * d * d <= 4294967296 * 4294967296 * d) by (apply Z.mul_le_mono_nonneg_r; lia).
    assert (A7 : 549755813888 * 2147483648 * (d + 1) <= U * d * (d + 1)).
    { apply Z.mul_le_mono_nonneg_r; [lia|]. apply Z.mul_le_mono_nonneg; lia. }
    replace (U * (d + 1) * (T * (e + 1))) with (U * T * ((d + 1) * (e + 1))) by ring. rewrite <- TU.
    replace (U * (d + 1) * ((q + 2) * d)) with (d * (d + 1) * (U * (q + 2))) by ring.
    assert (A8 : d * (d + 1) * (e * r + 1 + U) = d * e * ((d + 1) * r) + d * (d + 1) + U * d * (d + 1)) by ring.
    assert (0 <= d * (d + 1)) by (apply Z.mul_nonneg_nonneg; lia).
    change (2 ^ 63) with 9223372036854775808 in *. lia. }
  assert (Up : T * (a + 1) <= (q + 2) * m).
  { apply Z.le_trans with (T * (e + 1) * S).
    - replace (T * (e + 1) * S) with (T * ((e + 1) * S)) by ring. apply Z.mul_le_mono_nonneg_l; lia.
    - apply Z.le_trans with ((q + 2) * d * S); [apply Z.mul_le_mono_nonneg_r; lia|].
      replace ((q + 2) * d * S) with ((q + 2) * (d * S)) by ring. apply Z.mul_le_mono_nonneg_l; lia. }
  split; [|lia]. split; [exact q0|].
  apply Z.mul_le_mono_pos_r with m; [lia|].
  assert (T * a <= T * m) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
Qed.

(* doubling.rs: new, double. For up to STEP doublings, of a modulus of any length. *)
Theorem doubling_correct m bits a times added : limbs m -> limbs a -> length a = length m ->
  1 <= bits -> 2 ^ (bits - 1) <= val m < 2 ^ bits -> val a < val m -> 1 <= times <= STEP -> 0 <= added < 2 ^ times ->
  let '(_, _, prepared) := new m bits in
  let '(q, r) := double m bits prepared a times added in
  limbs r /\ length r = length m /\ 0 <= val r < val m /\ 2 ^ times * val a + added = q * val m + val r.
Proof.
  unfold STEP. intros Hm Ha E Hbits Rm Hlt Ht Hadd. unfold new, double.
  pose proof (val_range a Ha) as Ra.
  assert (HT : 2 ^ times <= MANY) by (change MANY with (2 ^ 24); apply Z.pow_le_mono_r; lia).
  destruct (Z.ltb_spec bits 128) as [Short|Long].
  - pose proof (double_loop1_correct added m Hm (Z.to_nat (times - 0)) a 0 Ha E Hlt ltac:(lia)) as L.
    rewrite Z2Nat.id in L by lia. rewrite Z.sub_0_r in L |- *. specialize (L ltac:(lia)).
    destruct (double_loop1 added m (Z.to_nat times) a 0) as [r q]. destruct L as (Lr & Er & Rr & Hq & L).
    rewrite (Z.mod_small added) in L by lia. repeat split; auto; lia.
  - cbv zeta.
    assert (Place : Z.of_nat (Z.to_nat bits - 32) = bits - 32) by lia.
    rewrite !bits_at_correct, Place by (auto; lia).
    set (S := 2 ^ (bits - 32)) in *. assert (PS : 0 < S) by (apply Z.pow_pos_nonneg; lia).
    assert (T1 : 2 ^ bits = 4294967296 * S).
    { change 4294967296 with (2 ^ 32). unfold S. rewrite <- Z.pow_add_r by lia. f_equal. lia. }
    assert (T2 : 2 ^ (bits - 1) = 2147483648 * S).
    { change 2147483648 with (2 ^ 31). unfold S. rewrite <- Z.pow_add_r by lia. f_equal. lia. }
    change (2 ^ 32) with 4294967296.
    pose proof (Z.div_mod (val m) S ltac:(lia)) as Dm. pose proof (Z.mod_pos_bound (val m) S PS) as Mm.
    pose proof (Z.div_mod (val a) S ltac:(lia)) as Da. pose proof (Z.mod_pos_bound (val a) S PS) as Ma.
    assert (Hd : 2147483648 <= val m / S < 4294967296).
    { split; [apply Z.div_le_lower_bound; lia|apply Z.div_lt_upper_bound; lia]. }
    assert (He : 0 <= val a / S < 4294967296).
    { split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]. }
    rewrite !(Z.mod_small (_ / S)) by lia.
    set (d := val m / S) in *. set (e := val a / S) in *. clearbody d e.
    set (q := shr (mul64 e (reciprocal (add64 d 1))) (sub32 63 times)) in *.
    assert (Eq : q = e * (2 ^ 63 / (d + 1)) / 2 ^ (63 - times)).
    { unfold q, add64, mul64, sub32, shr. rewrite (Z.mod_small (d + 1)) by lia. rewrite reciprocal_correct by lia.
      assert (Hr : 0 <= 2 ^ 63 / (d + 1) <= 4294967296).
      { split; [apply Z.div_pos; lia|]. apply Z.div_le_upper_bound; [lia|]. change (2 ^ 63) with (2147483648 * 4294967296). lia. }
      assert (He2 : 0 <= e * (2 ^ 63 / (d + 1)) <= 4294967295 * 4294967296).
      { split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]. }
      rewrite (Z.mod_small (e * _)) by lia. rewrite (Z.mod_small (63 - times)) by lia. reflexivity. }
    pose proof (quotient_close (val m) (val a) times added S d e ltac:(lia) PS ltac:(lia) Hadd Hd ltac:(lia) ltac:(lia)
      ltac:(lia) ltac:(lia)) as QC. cbv zeta in QC. rewrite <- Eq in QC. destruct QC as [Hq Close]. clearbody q.
    assert (P : 0 < 2 ^ times) by (apply Z.pow_pos_nonneg; lia).
    pose proof (double_loop2_correct q times ltac:(lia) ltac:(lia) a m 0 added Ha Hm E ltac:(lia) ltac:(lia)) as L.
    destruct (double_loop2 q times a m 0 added) as [[r so] c]. destruct L as (Lr & Er & Hso & Hc & L).
    pose proof (val_range _ Lr) as Rr. rewrite Er in Rr. pose proof (R_pos (length a)) as PR.
    pose proof (val_range _ Hm) as Rm'. rewrite <- E in Rm'.
    assert (Htop : 0 <= c + so).
    { assert (-1 < c + so); [|lia]. apply Z.mul_lt_mono_pos_l with (R (length a)); lia. }
    unfold addi128, low64. rewrite signed128_small by lia. rewrite (Z.mod_small (c + so)) by lia.
    pose proof (reduce_once_correct r (c + so) m Lr Hm ltac:(lia) ltac:(unfold word; lia)) as D. rewrite Er in D.
    specialize (D ltac:(lia)). destruct (reduce_once r (c + so) m) as [s r2]. destruct D as (L2 & E2 & D & R2 & Hs).
    unfold add64. rewrite (Z.mod_small (q + s)) by lia. repeat split; auto; lia.
Qed.
