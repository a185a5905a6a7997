(* crates/arith/src/natural.rs: bits of a number, and its double. *)
From Arith Require Export natural signed.
From Generated Require Export bits.

Lemma R_pow2 n : R n = 2 ^ (64 * Z.of_nat n).
Proof. unfold R. change B with (2 ^ 64). rewrite <- Z.pow_mul_r by lia. reflexivity. Qed.

Lemma val_skipn i : forall a, limbs a -> val a / R i = val (skipn i a).
Proof.
  induction i as [|i IH]; intros a Ha.
  - rewrite R_0, Z.div_1_r. reflexivity.
  - destruct a as [|x a]; cbn [skipn val].
    + apply Z.div_0_l. pose proof (R_pos (S i)). lia.
    + apply limbs_cons in Ha as [Wx Ha]. rewrite R_S. pose proof (R_pos i).
      rewrite <- Z.div_div by lia. rewrite <- (IH a Ha). f_equal.
      unfold word in Wx. symmetry. apply Z.div_unique with x; lia.
Qed.

Lemma skipn_value i a : val (skipn i a) = nth i a 0 + B * val (skipn (i + 1) a).
Proof.
  revert a; induction i as [|i IH]; intros [|x a]; cbn [skipn val nth Nat.add]; try lia. apply IH.
Qed.

(* natural.rs: low_bits *)
Theorem low_bits_correct w : 0 <= w <= 64 -> low_bits w = 2 ^ w - 1.
Proof.
  intros Hw. unfold low_bits, shr, sub32. destruct (Z.eqb_spec w 0) as [->|Hn]; [reflexivity|].
  rewrite Z.mod_small by lia. symmetry. apply Z.div_unique with (2 ^ (64 - w) - 1).
  - assert (0 < 2 ^ (64 - w)) by (apply Z.pow_pos_nonneg; lia). lia.
  - assert (E : 2 ^ 64 = 2 ^ (64 - w) * 2 ^ w) by (rewrite <- Z.pow_add_r by lia; f_equal; lia). rewrite E. ring.
Qed.

Lemma land_low_bits x w : 0 <= w <= 64 -> Z.land x (low_bits w) = x mod 2 ^ w.
Proof.
  intros Hw. rewrite low_bits_correct by exact Hw.
  replace (2 ^ w - 1) with (Z.ones w) by (rewrite Z.ones_equiv; lia). apply Z.land_ones. lia.
Qed.

Lemma mod_drop x y w : 0 <= w <= 64 -> (x + B * y) mod 2 ^ w = x mod 2 ^ w.
Proof.
  intros Hw. assert (E : B = 2 ^ (64 - w) * 2 ^ w) by (rewrite <- Z.pow_add_r by lia; replace (64 - w + w) with 64 by lia; reflexivity).
  rewrite E. replace (2 ^ (64 - w) * 2 ^ w * y) with (2 ^ (64 - w) * y * 2 ^ w) by ring. apply Z_mod_plus_full.
Qed.

(* natural.rs: bits_at *)
Theorem bits_at_correct a p w : limbs a -> 0 <= w <= 64 -> bits_at a p w = (val a / 2 ^ Z.of_nat p) mod 2 ^ w.
Proof.
  intros Ha Hw. unfold bits_at. cbv zeta. rewrite land_low_bits by exact Hw.
  pose proof (Nat.div_mod p 64 ltac:(lia)) as D. pose proof (Nat.mod_upper_bound p 64 ltac:(lia)) as M.
  set (i := (p / 64)%nat) in *. set (s := (p mod 64)%nat) in *. clearbody i s.
  assert (E : 2 ^ Z.of_nat p = R i * 2 ^ Z.of_nat s).
  { rewrite R_pow2, <- Z.pow_add_r by lia. f_equal. lia. }
  assert (P : 0 < 2 ^ Z.of_nat s) by (apply Z.pow_pos_nonneg; lia).
  rewrite E, <- Z.div_div by (pose proof (R_pos i); lia). rewrite val_skipn by exact Ha.
  rewrite skipn_value, (skipn_value (i + 1)).
  pose proof (limbs_nth i a Ha) as Wx. pose proof (limbs_nth (i + 1) a Ha) as Wy.
  set (x := nth i a 0) in *. set (y := nth (i + 1) a 0) in *. set (t := val (skipn (i + 1 + 1) a)).
  clearbody x y t. unfold shr, shl64.
  destruct (Nat.eqb_spec s 0) as [->|Hs].
  - rewrite Z.lor_0_r. change (2 ^ Z.of_nat 0) with 1. rewrite !Z.div_1_r. symmetry. apply mod_drop, Hw.
  - set (S := 2 ^ Z.of_nat s) in *. set (Q := 2 ^ Z.of_nat (64 - s)).
    assert (PQ : B = S * Q).
    { unfold S, Q. rewrite <- Z.pow_add_r by lia. replace (Z.of_nat s + Z.of_nat (64 - s)) with 64 by lia. reflexivity. }
    assert (0 < Q) by (apply Z.pow_pos_nonneg; lia).
    assert (H1 : (y * Q) mod B = (y mod S) * Q) by (rewrite PQ; apply Z.mul_mod_distr_r; lia).
    assert (H2 : 0 <= x / S < Q).
    { unfold word in Wx. split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]. }
    rewrite H1, Z.lor_comm. unfold Q at 1. rewrite lor_add by (fold Q; lia). fold Q.
    assert (H3 : (x + B * (y + B * t)) / S = x / S + Q * (y + B * t)).
    { rewrite PQ. replace (x + S * Q * (y + S * Q * t)) with (x + Q * (y + S * Q * t) * S) by ring.
      apply Z.div_add. lia. }
    rewrite H3. pose proof (Z.div_mod y S ltac:(lia)) as Dy.
    replace (x / S + Q * (y + B * t)) with (y mod S * Q + x / S + B * (y / S + Q * t)).
    + symmetry. apply mod_drop, Hw.
    + rewrite Dy at 3. rewrite PQ. ring.
Qed.

Lemma doubled_bit y above : word y -> 0 <= above <= 1 ->
  word (Z.lor (shl64 y 1) above) /\ 0 <= shr y 63 <= 1 /\ Z.lor (shl64 y 1) above + B * shr y 63 = 2 * y + above.
Proof.
  intros Wy Ha. unfold shl64, shr, word in *.
  change (2 ^ 63) with 9223372036854775808.
  assert (D := Z.div_mod y 9223372036854775808 ltac:(lia)).
  assert (M := Z.mod_pos_bound y 9223372036854775808 ltac:(lia)).
  set (q := y / 9223372036854775808) in *. set (r := y mod 9223372036854775808) in *. clearbody q r.
  assert (E : (y * 2 ^ 1) mod B = r * 2 ^ 1) by (symmetry; apply Z.mod_unique with q; lia).
  rewrite E, lor_add by lia. lia.
Qed.

Lemma shift_in_loop1_correct xs : forall c, limbs xs -> 0 <= c <= 1 ->
  let '(r, c') := shift_in_loop1 xs c in
  limbs r /\ length r = length xs /\ 0 <= c' <= 1 /\ val r + R (length xs) * c' = 2 * val xs + c.
Proof.
  induction xs as [|x xs IH]; intros c Hx Hc; cbn [val length shift_in_loop1].
  - rewrite R_0. repeat split; auto; lia.
  - apply limbs_cons in Hx as [Wx Hx]. destruct (doubled_bit x c Wx Hc) as (Wd & Hb & D).
    specialize (IH (shr x 63) Hx Hb). destruct (shift_in_loop1 xs (shr x 63)) as [r c'].
    destruct IH as (Lr & Er & Hc' & IH). rewrite R_S. cbn [val length]. repeat split; try lia. apply limbs_cons; auto.
Qed.

(* natural.rs: shift_in *)
Theorem shift_in_correct a bit : limbs a -> 0 <= bit <= 1 ->
  let '(c, r) := shift_in a bit in
  limbs r /\ length r = length a /\ 0 <= c <= 1 /\ val r + R (length a) * c = 2 * val a + bit.
Proof.
  intros Ha Hb. unfold shift_in. pose proof (shift_in_loop1_correct a bit Ha Hb) as L.
  destruct (shift_in_loop1 a bit) as [r c]. exact L.
Qed.

(* natural.rs: double *)
Theorem double_correct a bit m : limbs a -> limbs m -> length a = length m -> 0 <= bit <= 1 -> val a < val m ->
  let '(s, r) := double a bit m in
  limbs r /\ length r = length a /\ 0 <= val r < val m /\ 0 <= s <= 1 /\ 2 * val a + bit = s * val m + val r.
Proof.
  intros Ha Hm E Hb Hlt. unfold double. pose proof (shift_in_correct a bit Ha Hb) as S.
  destruct (shift_in a bit) as [c r0]. destruct S as (L0 & E0 & Hc & S).
  pose proof (reduce_once_correct r0 c m L0 Hm ltac:(lia) ltac:(unfold word; lia)) as D. rewrite E0 in D.
  specialize (D ltac:(lia)). destruct (reduce_once r0 c m) as [s r]. destruct D as (Lr & Er & V & Rr & Hs).
  repeat split; try lia; auto.
Qed.
