(* crates/arith/src/backend/avx2.rs and avx2/blocks.rs: sums, differences and canonical residues in limbs of 28 bits. The steps are
   translated; the loops over limbs are models. *)
From Arith Require Import words lanes.
From Arith Require Import places.
From Generated Require Import avx2_lanes avx2_shapes.

Notation E := 268435456.
Notation value := (in_base E).

(* blocks.rs: subtract, both loops of reduce_once, add. *)
Fixpoint differences (lane : Z -> Z -> Z -> Z * Z) (a b : list Z) (borrow : Z) : list Z :=
  match a, b with x :: a, y :: b => let '(l, borrow) := lane x y borrow in l :: differences lane a b borrow | _, _ => a end.
Fixpoint compare (a m : list Z) (borrow : Z) : Z :=
  match a, m with x :: a, y :: m => compare a m (compare_lane x y borrow) | _, _ => borrow end.
Definition subtract (a b : list Z) := differences subtract_lane a b 0.
Definition reduce_once (a m : list Z) : list Z * Z :=
  let fits := fits_lane (compare a m 0) in (differences (reduce_lane fits) a m 0, subtracted_lane fits).
Fixpoint sums (a b : list Z) (carry : Z) : list Z :=
  match a with [] => [] | x :: a => let '(l, carry) := add_lane x (hd 0 b) carry in l :: sums a (tl b) carry end.
Definition add (a b : list Z) := sums a b 0.

Definition borrows (lane : Z -> Z -> Z -> Z * Z) := forall x y borrow, 0 <= x < E -> 0 <= y < E -> 0 <= borrow <= 1 ->
  let '(l, next) := lane x y borrow in 0 <= l < E /\ 0 <= next <= 1 /\ x - y - borrow = l - E * next.
Lemma subtract_borrows : borrows subtract_lane.
Proof.
  intros x y borrow Hx Hy Hb. unfold subtract_lane. cbv zeta. change ones with 268435455.
  destruct (difference_correct x y borrow Hx Hy Hb) as (D1 & D2 & D3). auto.
Qed.
Lemma differences_correct lane : borrows lane -> forall a b borrow, all_below E a -> all_below E b -> length b = length a -> 0 <= borrow <= 1 ->
  let out := differences lane a b borrow in all_below E out /\ length out = length a /\
  exists next, 0 <= next <= 1 /\ value out - E ^ Z.of_nat (length a) * next = value a - value b - borrow.
Proof.
  intros Hl. induction a as [|x a IH]; intros [|y b] borrow Ha Hb L Hc; try discriminate; cbv zeta; cbn [differences length in_base].
  - split; [constructor|]. split; [reflexivity|]. exists borrow. rewrite Z.pow_0_r. lia.
  - inversion Ha as [|? ? Hx Ha']; subst. inversion Hb as [|? ? Hy Hb']; subst. cbn [length] in L.
    specialize (Hl x y borrow Hx Hy Hc). destruct (lane x y borrow) as [l next]. destruct Hl as (D1 & D2 & D3).
    destruct (IH b next Ha' Hb' ltac:(lia) D2) as (I1 & I2 & top & I3 & I4). cbn [length in_base].
    split; [constructor; assumption|]. split; [rewrite I2; reflexivity|]. exists top. split; [exact I3|]. rewrite pow_S. lia.
Qed.
Lemma compare_correct : forall a m borrow, all_below E a -> all_below E m -> length m = length a -> 0 <= borrow <= 1 ->
  let next := compare a m borrow in 0 <= next <= 1 /\
  exists rest, 0 <= rest < E ^ Z.of_nat (length a) /\ value a - value m - borrow = rest - E ^ Z.of_nat (length a) * next.
Proof.
  induction a as [|x a IH]; intros [|y m] borrow Ha Hm L Hc; try discriminate; cbv zeta; cbn [compare length in_base].
  - split; [exact Hc|]. exists 0. rewrite Z.pow_0_r. lia.
  - inversion Ha as [|? ? Hx Ha']; subst. inversion Hm as [|? ? Hy Hm']; subst. cbn [length] in L.
    destruct (difference_correct x y borrow Hx Hy Hc) as (D1 & D2 & D3).
    change (shr (sub64 (sub64 x y) borrow) 63) with (compare_lane x y borrow) in *.
    destruct (IH m (compare_lane x y borrow) Ha' Hm' ltac:(lia) D1) as (I1 & rest & I2 & I3).
    split; [exact I1|]. set (digit := Z.land _ _) in *. exists (digit + E * rest). rewrite pow_S. lia.
Qed.

(* avx2/blocks.rs: subtract. What is borrowed at the end is forgotten. *)
Theorem subtract_correct a b : all_below E a -> all_below E b -> length b = length a ->
  all_below E (subtract a b) /\ length (subtract a b) = length a /\
  value (subtract a b) = (value a - value b) mod E ^ Z.of_nat (length a).
Proof.
  intros Ha Hb L. destruct (differences_correct _ subtract_borrows a b 0 Ha Hb L ltac:(lia)) as (D1 & D2 & next & D3 & D4).
  fold (subtract a b) in *. split; [exact D1|]. split; [exact D2|].
  pose proof (in_base_range E _ ltac:(lia) D1) as Rv. rewrite D2 in Rv. apply Z.mod_unique with (- next); lia.
Qed.

Lemma reduce_is_subtract fits : forall a m borrow,
  differences (reduce_lane fits) a m borrow = differences subtract_lane a (map (Z.land fits) m) borrow.
Proof.
  induction a as [|x a IH]; intros [|y m] borrow; try reflexivity. cbn [map differences].
  change (reduce_lane fits x y borrow) with (subtract_lane x (Z.land fits y) borrow).
  destruct (subtract_lane x (Z.land fits y) borrow) as [l next]. rewrite IH. reflexivity.
Qed.
Lemma masked m : all_below E m -> map (Z.land 0) m = repeat 0 (length m) /\ map (Z.land (B - 1)) m = m.
Proof.
  induction 1 as [|x m Hx _ [I1 I2]]; cbn [map length repeat]; [auto|]. rewrite I1, I2. split; [reflexivity|]. f_equal.
  rewrite Z.land_comm. change (B - 1) with (Z.ones 64). rewrite Z.land_ones by lia. apply Z.mod_small. change (2 ^ 64) with B. lia.
Qed.

(* avx2/blocks.rs: reduce_once. Subtracts m where that is not negative, and gives 1 there. *)
Theorem reduce_once_correct a m : all_below E a -> all_below E m -> length m = length a ->
  let '(r, s) := reduce_once a m in all_below E r /\ length r = length a /\ value r = value a - s * value m /\
  s = if value a <? value m then 0 else 1.
Proof.
  intros Ha Hm L. unfold reduce_once. destruct (compare_correct a m 0 Ha Hm L ltac:(lia)) as (C1 & rest & C2 & C3).
  destruct (masked m Hm) as [M0 M1]. rewrite reduce_is_subtract.
  set (b := compare a m 0) in *. clearbody b. set (P := E ^ Z.of_nat (length a)) in *.
  pose proof (in_base_range E a ltac:(lia) Ha) as Ra. pose proof (in_base_range E m ltac:(lia) Hm) as Rm. rewrite L in Rm. fold P in Ra, Rm.
  assert (Cases : b = 1 \/ b = 0) by lia. destruct Cases as [-> | ->].
  - change (fits_lane 1) with 0. change (subtracted_lane 0) with 0. rewrite M0.
    assert (Z0 : all_below E (repeat 0 (length m))) by (apply Forall_forall; intros z Hz; apply repeat_spec in Hz; lia).
    destruct (differences_correct _ subtract_borrows a _ 0 Ha Z0 ltac:(rewrite repeat_length; exact L) ltac:(lia)) as (D1 & D2 & next & D3 & D4).
    rewrite in_base_zeros in D4. fold P in D4. pose proof (in_base_range E _ ltac:(lia) D1) as Rv. rewrite D2 in Rv. fold P in Rv.
    assert (next = 0) by nia. subst next. split; [exact D1|]. split; [exact D2|]. split; [lia|].
    destruct (Z.ltb_spec (value a) (value m)); lia.
  - change (fits_lane 0) with (B - 1). change (subtracted_lane (B - 1)) with 1. rewrite M1.
    destruct (differences_correct _ subtract_borrows a m 0 Ha Hm L ltac:(lia)) as (D1 & D2 & next & D3 & D4).
    fold P in D4. pose proof (in_base_range E _ ltac:(lia) D1) as Rv. rewrite D2 in Rv. fold P in Rv.
    assert (next = 0) by nia. subst next. split; [exact D1|]. split; [exact D2|]. split; [lia|].
    destruct (Z.ltb_spec (value a) (value m)); lia.
Qed.

Lemma sums_correct : forall a b carry, all_below E a -> all_below E b -> (length b <= length a)%nat -> 0 <= carry <= 1 ->
  let out := sums a b carry in all_below E out /\ length out = length a /\
  exists top, 0 <= top /\ value out + E ^ Z.of_nat (length a) * top = value a + value b + carry.
Proof.
  induction a as [|x a IH]; intros b carry Ha Hb L Hc; cbv zeta; cbn [sums length in_base].
  - destruct b; cbn [length] in L; [|lia]. split; [constructor|]. split; [reflexivity|]. exists carry. rewrite Z.pow_0_r. cbn [in_base]. lia.
  - inversion Ha as [|? ? Hx Ha']; subst. set (y := hd 0 b).
    assert (Hy : 0 <= y < E /\ all_below E (tl b) /\ value b = y + E * value (tl b) /\ (length (tl b) <= length a)%nat).
    { unfold y. destruct b as [|z b]; cbn [hd tl in_base length] in *; [repeat split; try constructor; lia|]. inversion Hb; subst. repeat split; try assumption; lia. }
    destruct Hy as (Hy & Hb' & Vb & Lb).
    assert (Lane : add_lane x y carry = ((x + y + carry) mod E, (x + y + carry) / E)).
    { unfold add_lane, add64, shr. cbv zeta. rewrite Zplus_mod_idemp_l, (Z.mod_small (x + y + carry)) by lia.
      change ones with 268435455. rewrite land_limb. reflexivity. }
    rewrite Lane. pose proof (Z.div_mod (x + y + carry) E ltac:(lia)). pose proof (Z.mod_pos_bound (x + y + carry) E ltac:(lia)).
    assert (Hq : 0 <= (x + y + carry) / E <= 1) by (split; [apply Z.div_pos; lia|enough ((x + y + carry) / E < 2) by lia; apply Z.div_lt_upper_bound; lia]).
    destruct (IH (tl b) _ Ha' Hb' Lb Hq) as (I1 & I2 & top & I3 & I4). cbn [length in_base].
    split; [constructor; assumption|]. split; [rewrite I2; reflexivity|]. exists top. split; [exact I3|]. rewrite pow_S. lia.
Qed.

(* avx2/blocks.rs: add. The second number may be the shorter one; what leaves the last limb is dropped. *)
Theorem add_correct a b : all_below E a -> all_below E b -> (length b <= length a)%nat ->
  all_below E (add a b) /\ length (add a b) = length a /\ value (add a b) = (value a + value b) mod E ^ Z.of_nat (length a).
Proof.
  intros Ha Hb L. destruct (sums_correct a b 0 Ha Hb L ltac:(lia)) as (D1 & D2 & top & D3 & D4). fold (add a b) in *.
  split; [exact D1|]. split; [exact D2|].
  pose proof (in_base_range E _ ltac:(lia) D1) as Rv. rewrite D2 in Rv. apply Z.mod_unique with top; lia.
Qed.

(* avx2.rs: canonical, add_chunk, remainder. *)
Definition once (m a : list Z) := fst (reduce_once a m).
Definition canonical (m low high : list Z) : list Z * list Z :=
  let '(low, carried) := reduce_once low m in (low, Nat.iter (Z.to_nat TIMES) (once m) (add high [carried])).
Definition remainder (m a b : list Z) := once m (subtract a b).

Lemma once_correct m a : all_below E a -> all_below E m -> length m = length a ->
  all_below E (once m a) /\ length (once m a) = length a /\ (value m <= value a -> value (once m a) = value a - value m) /\
  (value a < value m -> value (once m a) = value a).
Proof.
  intros Ha Hm L. pose proof (reduce_once_correct a m Ha Hm L) as H. unfold once. destruct (reduce_once a m) as [r s].
  destruct H as (H1 & H2 & H3 & H4). cbn [fst]. rewrite H3, H4. repeat split; try assumption; intros; destruct (Z.ltb_spec (value a) (value m)); lia.
Qed.

Lemma iter_correct m n : all_below E m -> forall j h, all_below E h -> length m = length h -> value h <= Z.of_nat (n + j) * value m ->
  let out := Nat.iter n (once m) h in all_below E out /\ length out = length h /\
  (value out < value m \/ value out <= Z.of_nat j * value m) /\ exists x, value h = value out + x * value m.
Proof.
  intros Hm. induction n as [|n IH]; intros j h Hh L Bh; cbv zeta.
  - cbn [Nat.iter nat_rect]. split; [exact Hh|]. split; [reflexivity|]. split; [right; exact Bh|]. exists 0. ring.
  - replace (S n + j)%nat with (n + S j)%nat in Bh by lia. destruct (IH (S j) h Hh L Bh) as (I1 & I2 & I3 & x & I4).
    change (Nat.iter (S n) (once m) h) with (once m (Nat.iter n (once m) h)). set (g := Nat.iter n (once m) h) in *. clearbody g.
    destruct (once_correct m g I1 Hm ltac:(lia)) as (O1 & O2 & O3 & O4). split; [exact O1|]. split; [lia|].
    destruct (Z_lt_le_dec (value g) (value m)) as [N|N].
    + rewrite (O4 N). split; [left; exact N|]. exists x. exact I4.
    + rewrite (O3 N). rewrite Nat2Z.inj_succ, Z.mul_succ_l in I3. split; [right; destruct I3; lia|]. exists (x + 1). lia.
Qed.

(* avx2.rs: canonical. A residue, and the high part of a dual residue: both below m, with the same value modulo m^2. *)
Theorem canonical_correct m low high : all_below E m -> all_below E low -> all_below E high -> length low = length m ->
  length high = length m -> 256 * value m <= E ^ Z.of_nat (length m) -> value low < 2 * value m -> value high < 3 * value m ->
  let '(r, s) := canonical m low high in all_below E r /\ all_below E s /\ length r = length m /\ length s = length m /\
  value r = value low mod value m /\ 0 <= value s < value m /\
  exists x, value low + value high * value m = value r + value s * value m + x * (value m * value m).
Proof.
  intros Hm Hl Hh Ll Lh Room Bl Bh. unfold canonical. pose proof (reduce_once_correct low m Hl Hm ltac:(lia)) as H.
  destruct (reduce_once low m) as [r c]. destruct H as (H1 & H2 & H3 & H4).
  pose proof (in_base_range E low ltac:(lia) Hl) as Rl. pose proof (in_base_range E high ltac:(lia) Hh) as Rh.
  pose proof (in_base_range E r ltac:(lia) H1) as Rr. rewrite Lh in Rh.
  assert (Hc : 0 <= c <= 1 /\ 0 <= value r < value m) by (destruct (Z.ltb_spec (value low) (value m)); subst c; lia).
  assert (Lc : all_below E [c]) by (constructor; [lia|constructor]).
  assert (K : (1 <= length m)%nat) by (destruct m; cbn [length in_base] in *; lia).
  destruct (add_correct high [c] Hh Lc ltac:(cbn [length]; lia)) as (A1 & A2 & A3). cbn [in_base] in A3. rewrite Lh in A2, A3.
  rewrite Z.mod_small in A3 by lia. set (h0 := add high [c]) in *.
  destruct (iter_correct m (Z.to_nat TIMES) Hm 0 h0 A1 ltac:(lia) ltac:(change (Z.of_nat (Z.to_nat TIMES + 0)) with 3; lia)) as (D1 & D2 & D3 & x & X).
  set (h3 := Nat.iter _ _ _) in *. clearbody h0 h3. pose proof (in_base_range E h3 ltac:(lia) D1) as R3.
  assert (S : 0 <= value h3 < value m) by (destruct D3; lia). rewrite A3 in X.
  split; [exact H1|]. split; [exact D1|]. split; [lia|]. split; [lia|]. split; [|split; [exact S|]].
  - apply Z.mod_unique with c; lia.
  - exists x. replace (value high) with (value h3 + x * value m - c) by lia. replace (value r) with (value low - c * value m) by lia. ring.
Qed.

(* avx2.rs: add_chunk. Of a residue below 2 m: no carry leaves the low part, which stays below R / 2. *)
Theorem add_chunk_correct m low chunk : all_below E low -> all_below E chunk -> length low = length m -> (2 <= length m)%nat ->
  length chunk = (length m - 1)%nat -> 256 * value m <= E ^ Z.of_nat (length m) -> value low < 2 * value m ->
  all_below E (add low chunk) /\ length (add low chunk) = length m /\ value (add low chunk) = value low + value chunk /\
  2 * value (add low chunk) < E ^ Z.of_nat (length m).
Proof.
  intros Hl Hc Ll K Lc Room Bl. destruct (add_correct low chunk Hl Hc ltac:(lia)) as (A1 & A2 & A3). rewrite Ll in A2, A3.
  pose proof (in_base_range E low ltac:(lia) Hl). pose proof (in_base_range E chunk ltac:(lia) Hc) as Rc. rewrite Lc in Rc.
  assert (Pk : E ^ Z.of_nat (length m) = E * E ^ Z.of_nat (length m - 1)) by (rewrite <- pow_S; f_equal; lia).
  rewrite Pk in *. set (P := E ^ Z.of_nat (length m - 1)) in *. rewrite Z.mod_small in A3 by lia.
  split; [exact A1|]. split; [exact A2|]. split; [exact A3|]. lia.
Qed.

(* avx2.rs: remainder. Of numbers that differ, modulo R, by x below 2 m. *)
Theorem remainder_correct m a b x : all_below E m -> all_below E a -> all_below E b -> length a = length m -> length b = length m ->
  2 * value m <= E ^ Z.of_nat (length m) -> 0 <= x < 2 * value m -> cong (E ^ Z.of_nat (length m)) (value a - value b) x ->
  all_below E (remainder m a b) /\ length (remainder m a b) = length m /\ value (remainder m a b) = x mod value m.
Proof.
  intros Hm Ha Hb La Lb Room Hx C. destruct (subtract_correct a b Ha Hb ltac:(lia)) as (S1 & S2 & S3). rewrite La in S2, S3.
  apply cong_mod_eq in C; [|lia]. rewrite C, Z.mod_small in S3 by lia. unfold remainder.
  destruct (once_correct m (subtract a b) S1 Hm ltac:(lia)) as (R1 & R2 & R3 & R4). rewrite S2 in R2. rewrite S3 in R3, R4.
  split; [exact R1|]. split; [exact R2|]. destruct (Z_lt_le_dec x (value m)) as [N|N].
  - rewrite (R4 N). symmetry. apply Z.mod_small. lia.
  - rewrite (R3 N). apply Z.mod_unique with 1; lia.
Qed.
