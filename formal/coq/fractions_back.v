(* crates/rns/src/convert/ifma/back.rs: residues to numbers in one lane, for every basis. The steps
   are translated; the loops over moduli, rows of the table and limbs are models. *)
From Arith Require Import words.
From Arith Require Export residues places fractions.
From Generated Require ifma_constants.
From Generated Require Export ifma_back ifma_back_constants ifma_back_bounds.

(* The mask of a limb. *)
Lemma land_limb x : Z.land x 4503599627370495 = x mod D.
Proof. change 4503599627370495 with (Z.ones 52). rewrite Z.land_ones by lia. reflexivity. Qed.

Lemma limb_range x : 0 <= x < B -> 0 <= x / D < 4096.
Proof. intros H. split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]. Qed.

(* rns/convert/ifma/back.rs: narrow. q times the fraction is D y for y = r w mod q, at most 2 q too
   large, and its upper half is y. *)
Theorem narrow_correct q w r : 1 < q < 2 ^ NARROW_BITS -> 0 <= w < q -> 0 <= r < q ->
  let ds := digits (Z.to_nat NARROW_DIGITS) q w in
  let f := narrow r (nth 0 ds 0) (nth 1 ds 0) in let y := (r * w) mod q in
  narrow_factor f (q mod D) = y /\ D * y <= q * (f mod D) <= D * y + 2 * q.
Proof.
  intros Hq Hw Hr ds f y. unfold NARROW_BITS in Hq. change (2 ^ 50) with 1125899906842624 in Hq.
  subst ds. unfold NARROW_DIGITS in f. change (Z.to_nat 2) with 2%nat in f.
  destruct (digits_correct 1 q w Hw) as (d1 & r1 & E1 & G1 & Hr1 & Q1).
  destruct (digits_correct 0 q r1 Hr1) as (d2 & r2 & E2 & G2 & Hr2 & Q2).
  unfold f, y. clear f y. rewrite E1, E2. cbn [nth]. clear E1 E2. unfold narrow, narrow_factor, add_low, add_high. cbv zeta.
  rewrite (Z.mod_small r D), (Z.mod_small d2 D), !(Z.mod_small q D) by lia.
  pose proof (halves (r * d1)) as P1. pose proof (low_range (r * d1)) as R1.
  pose proof (halves (r * d2)) as P2. pose proof (low_range (r * d2)) as R2. pose proof (high_range r d2 ltac:(lia) G2) as R3.
  set (lo := (r * d1) mod D) in *. set (hi := r * d2 / D) in *. rewrite (Z.mod_small (2 + lo)) by lia.
  rewrite (Z.mod_small (2 + lo + hi)) by lia. set (F := 2 + lo + hi) in *.
  pose proof (halves F) as PF. pose proof (low_range F) as RF.
  pose proof (Z.div_mod (r * w) q ltac:(lia)) as Dy. pose proof (Z.mod_pos_bound (r * w) q ltac:(lia)) as Ry.
  set (y := (r * w) mod q) in *. set (j := r * w / q) in *. set (u := F mod D) in *. set (t := F / D) in *.
  (* What is lost, in units of 1 / q: less than 2. *)
  set (lost := r * r1 - q * hi).
  assert (L : 0 <= lost <= 2 * q).
  { assert (I : D * lost = q * ((r * d2) mod D) + r * r2).
    { unfold lost. replace (D * (r * r1 - q * hi)) with (r * (r1 * D) - q * (D * hi)) by ring. rewrite Q2.
      replace (D * hi) with (r * d2 - (r * d2) mod D) by lia. ring. }
    assert (0 <= r * r2 <= D * q) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]).
    assert (0 <= q * ((r * d2) mod D) <= q * D) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_l; lia]).
    lia. }
  set (z := j - r * d1 / D - t).
  assert (K : q * u = D * y + (2 * q - lost) + z * (q * D)).
  { assert (A : D * (r * w) = q * (r * d1) + r * r1) by (replace (D * (r * w)) with (r * (w * D)) by ring; rewrite Q1; ring).
    replace u with (F - D * t) by lia. unfold z, F.
    replace (q * (2 + lo + hi - D * t)) with (q * lo + (2 * q + q * hi) - q * D * t) by ring.
    replace lo with (r * d1 - D * (r * d1 / D)) by lia.
    replace (q * (r * d1 - D * (r * d1 / D))) with (q * (r * d1) - q * D * (r * d1 / D)) by ring.
    replace (q * (r * d1)) with (D * (q * j + y) - r * r1) by lia. unfold lost. ring. }
  assert (0 <= q * u <= q * (D - 1)) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_l; lia]).
  assert (Z1 : z < 1) by (apply Z.mul_lt_mono_pos_r with (q * D); lia).
  assert (Z2 : -1 < z) by (apply Z.mul_lt_mono_pos_r with (q * D); lia).
  assert (Z0 : z = 0) by lia. rewrite Z0 in K. rewrite Z.add_0_l.
  assert (Y : u * q / D = y) by (symmetry; apply Z.div_unique with (2 * q - lost); lia).
  rewrite Y. split; [apply Z.mod_small; lia|lia].
Qed.

(* back.rs: scale. What one modulus gives: the factors of its rows, and the fraction y / q. *)
Definition scale_one (m : modulus) (r : Z) : list Z * Z :=
  if q m <? 2 ^ NARROW_BITS then
    let ds := digits (Z.to_nat NARROW_DIGITS) (q m) (inverse m) in
    let fraction := narrow r (nth 0 ds 0) (nth 1 ds 0) in
    ([narrow_factor fraction (q m mod D)], fraction)
  else
    let '(low, high) := wide_limbs r in
    let f := fractions [low; high] (digits (Z.to_nat WIDE_DIGITS) (q m) (inverse m)) in
    let '(first, second) := wide_factors (scaled (fst f) (snd f) (q m mod D) (q m / D)) in
    ([first; second], fst f).
(* back.rs: rows. One row, or two for a wide modulus. *)
Definition rows_one (limbs : nat) (m : modulus) : list (list Z) :=
  let row := cut D limbs (val (cofactor m)) in
  if q m <? 2 ^ NARROW_BITS then [row] else [row; firstn limbs (0 :: row)].

Lemma wide_correct q w r : 1 < q < 2 ^ MOST_BITS -> 0 <= w < q -> 0 <= r < q ->
  let '(low, high) := wide_limbs r in
  let f := fractions [low; high] (digits (Z.to_nat WIDE_DIGITS) q w) in let y := (r * w) mod q in
  scaled (fst f) (snd f) (q mod D) (q / D) = y /\ D * y < q * (fst f mod D + 1) /\ q * (fst f mod D) <= D * y + 2 * q.
Proof.
  intros Hq Hw Hr. unfold wide_limbs, shr, WIDE_DIGITS, MOST_BITS in *. change (2 ^ 52) with D.
  change (2 ^ 60) with 1152921504606846976 in *. set (x := [r; r / D]).
  change (Z.to_nat 4) with (length x + 2)%nat.
  assert (N : fractions.number x = r).
  { unfold x. cbn [fractions.number]. pose proof (halves r). assert (0 <= r / D < D) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
    rewrite (Z.mod_small (r / D)) by lia. lia. }
  pose proof (scaled_correct q w x) as S. cbv zeta in S. unfold MOST_BITS in S. change (2 ^ 60) with 1152921504606846976 in S.
  specialize (S Hq Hw ltac:(unfold x; cbn [length]; lia)). pose proof (fractions_correct q w x Hw) as F. cbv zeta in F.
  unfold CORRECTION in F. specialize (F ltac:(unfold x; cbn [length]; lia) ltac:(unfold x; cbn [length]; lia)).
  set (f := fractions x _) in *. cbv zeta. rewrite N, (Z.mul_comm w r) in *.
  destruct F as (RV & over & E & HO). unfold x in HO. cbn [length] in HO. split; [exact S|]. unfold value in *.
  pose proof (low_range (fst f)). pose proof (low_range (snd f)). set (u := fst f mod D) in *. set (l := snd f mod D) in *.
  set (y := (r * w) mod q) in *. replace (q * (u * D + l)) with (D * (q * u) + q * l) in E by ring.
  assert (0 <= q * l <= q * (D - 1)) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_l; lia]).
  lia.
Qed.

(* Products read the lower 52 bits of a factor. *)
Definition read (fs : list Z) := map (fun f => f mod D) fs.

Lemma scale_one_correct m r : 1 < q m < 2 ^ MOST_BITS -> 0 <= inverse m < q m -> 0 <= r < q m ->
  let '(fs, fraction) := scale_one m r in let y := (r * inverse m) mod q m in
  D * y < q m * (fraction mod D + 1) /\ q m * (fraction mod D) <= D * y + 2 * q m /\
  forall limbs, length fs = length (rows_one limbs m) /\ (length fs <= 2)%nat /\
    cong (D ^ Z.of_nat limbs) (dot D (read fs) (rows_one limbs m)) (y * val (cofactor m)).
Proof.
  intros Hq Hi Hr. unfold scale_one, rows_one. pose proof (Z.mod_pos_bound (r * inverse m) (q m) ltac:(lia)) as Ry.
  destruct (Z.ltb_spec (q m) (2 ^ NARROW_BITS)) as [N|W].
  - pose proof (narrow_correct (q m) (inverse m) r ltac:(lia) Hi Hr) as P. cbv zeta in *. destruct P as [E R].
    rewrite E. set (f := narrow _ _ _) in *. clearbody f. set (y := (r * inverse m) mod q m) in *.
    unfold NARROW_BITS in N. change (2 ^ 50) with 1125899906842624 in N.
    split; [lia|]. split; [lia|].
    intros limbs. split; [reflexivity|]. split; [cbn [length]; lia|]. cbn [read map dot]. rewrite (Z.mod_small y D) by lia.
    rewrite (cut_cong D limbs ltac:(lia)). exists 0. ring.
  - pose proof (wide_correct (q m) (inverse m) r Hq Hi Hr) as P. destruct (wide_limbs r) as [low high]. cbv zeta in *.
    destruct P as (E & P1 & P2). rewrite E. set (f := fractions _ _) in *. clearbody f. unfold wide_factors, shr.
    change (2 ^ 52) with D. set (y := (r * inverse m) mod q m) in *.
    unfold MOST_BITS in Hq. change (2 ^ 60) with 1152921504606846976 in Hq.
    assert (Y2 : 0 <= y / D < 256) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
    pose proof (halves y) as Ey. split; [lia|]. split; [lia|]. intros limbs. set (C := val (cofactor m)).
    split; [reflexivity|]. split; [cbn [length]; lia|]. cbn [read map dot]. rewrite (Z.mod_small (y / D)) by lia.
    destruct limbs as [|n]; [rewrite Z.pow_0_r; match goal with |- cong _ ?x ?z => exists (x - z); ring end|].
    assert (F : cong (D ^ Z.of_nat (S n)) (in_base D (firstn (S n) (0 :: cut D (S n) C))) (D * C)).
    { assert (G : forall n x, firstn n (cut D (S n) x) = cut D n x).
      { clear. induction n as [|n IH]; intros x; [reflexivity|]. cbn [cut firstn] in *. f_equal. apply IH. }
      cbn [firstn in_base]. rewrite G, pow_S. destruct (cut_cong D n ltac:(lia) C) as [k ->]. exists k. ring. }
    rewrite F, (cut_cong D (S n) ltac:(lia)). exists 0. rewrite Ey at 3. ring.
Qed.

(* The fraction in units of 2^-FRACTION, as it is added to the parts. *)
Lemma parts_step_correct parts fraction q y : 1 < q -> 0 <= y < q -> 0 <= parts < B - 2 ^ FRACTION - 2 ->
  D * y < q * (fraction mod D + 1) -> q * (fraction mod D) <= D * y + 2 * q ->
  let p := parts_step parts fraction - parts in
  0 <= p < 2 ^ FRACTION /\ 0 <= (p + 1) * q - y * 2 ^ FRACTION <= 2 * q.
Proof.
  intros Hq Hy Hp L U. unfold parts_step, add_high, shl64. cbv zeta. unfold FRACTION in *.
  change ((1 * 2 ^ 40) mod B) with 1099511627776. change (2 ^ 40) with 1099511627776 in *.
  rewrite (Z.mod_small 1099511627776 D) by lia. pose proof (low_range fraction) as Ru. set (u := fraction mod D) in *.
  replace (u * 1099511627776 / D) with (u / 4096) by (change D with (4096 * 1099511627776); rewrite Z.div_mul_cancel_r by lia; reflexivity).
  pose proof (Z.div_mod u 4096 ltac:(lia)) as E. pose proof (Z.mod_pos_bound u 4096 ltac:(lia)) as M.
  set (p := u / 4096) in *. set (v := u mod 4096) in *. clearbody p v.
  rewrite (Z.mod_small (parts + p)) by lia. replace (parts + p - parts) with p by ring. split; [lia|].
  rewrite E in L, U. assert (0 <= q * v <= q * 4095) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_l; lia]).
  lia.
Qed.

Fixpoint scale_loop (pairs : list (modulus * Z)) (parts : Z) : list Z * Z :=
  match pairs with
  | [] => ([], parts)
  | (m, r) :: pairs => let '(fs, fraction) := scale_one m r in
    let '(rest, parts) := scale_loop pairs (parts_step parts fraction) in (fs ++ rest, parts)
  end.
(* back.rs: scale *)
Definition factors (pairs : list (modulus * Z)) : list Z :=
  let '(fs, parts) := scale_loop pairs (parts_start (Z.of_nat (length pairs))) in fs ++ [quotient parts].
(* back.rs: rows *)
Definition rows (limbs : nat) (Q : Z) (pairs : list (modulus * Z)) : list (list Z) :=
  flat_map (fun p => rows_one limbs (fst p)) pairs ++ [cut D limbs (- Q)].

Lemma scale_loop_correct k Q limbs pairs : 0 < Q -> Forall (member k Q) pairs -> forall parts count,
  0 <= parts <= count * 2 ^ FRACTION -> 0 <= count -> count + Z.of_nat (length pairs) <= 2 * MOST_MODULI ->
  let '(fs, parts') := scale_loop pairs parts in
  let table := flat_map (fun p => rows_one limbs (fst p)) pairs in
  length fs = length table /\ (length fs <= 2 * length pairs)%nat /\
  0 <= parts' <= (count + Z.of_nat (length pairs)) * 2 ^ FRACTION /\
  cong (D ^ Z.of_nat limbs) (dot D (read fs) table) (terms pairs) /\
  0 <= (parts' - parts + Z.of_nat (length pairs)) * Q - terms pairs * 2 ^ FRACTION <= 2 * Z.of_nat (length pairs) * Q.
Proof.
  intros HQ. induction 1 as [|[m r] pairs Hm Hp IH]; intros parts count Hparts H0 Hc; cbn [scale_loop length flat_map] in *.
  - unfold terms. cbn [fold_right read map dot]. split; [reflexivity|]. split; [lia|]. split; [lia|]. split; [reflexivity|lia].
  - destruct (y_of_correct k Q m r Hm) as [Ey Ry]. pose proof Hm as (Hq & Lc & _ & Vc & Hi & _ & Hr).
    pose proof (scale_one_correct m r Hq Hi Hr) as A. destruct (scale_one m r) as [fs fraction]. cbv zeta in A.
    rewrite <- Ey in A. set (y := y_of m r) in *. destruct A as (A1 & A2 & A3). destruct (A3 limbs) as (A4 & A5 & A6). clear A3.
    assert (Room : count * 2 ^ FRACTION <= 1023 * 2 ^ FRACTION) by (apply Z.mul_le_mono_nonneg_r; unfold FRACTION, MOST_MODULI in *; lia).
    pose proof (parts_step_correct parts fraction (q m) y ltac:(lia) Ry) as P. cbv zeta in P.
    specialize (P ltac:(unfold FRACTION, MOST_MODULI in *; change (2 ^ 40) with 1099511627776 in *; lia) A1 A2).
    set (parts1 := parts_step parts fraction) in *. destruct P as [P1 P2].
    specialize (IH parts1 (count + 1) ltac:(lia) ltac:(lia) ltac:(lia)).
    destruct (scale_loop pairs parts1) as [rest parts']. cbv zeta in *. destruct IH as (I1 & I2 & I3 & I4 & I5).
    cbn [fst]. rewrite !app_length. unfold read in *. rewrite map_app, dot_app by (rewrite map_length; exact A4).
    rewrite I4, A6. unfold terms in *. cbn [fold_right fst snd]. fold y. set (others := fold_right _ 0 pairs) in *. clearbody others.
    split; [lia|]. split; [lia|]. split; [lia|]. split; [reflexivity|].
    set (C := val (cofactor m)) in *. assert (C0 : 0 <= C) by apply (val_range _ Lc).
    assert (0 <= C * ((parts1 - parts + 1) * q m - y * 2 ^ FRACTION) <= C * (2 * q m)).
    { split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_l; lia]. }
    replace (C * ((parts1 - parts + 1) * q m - y * 2 ^ FRACTION)) with ((parts1 - parts + 1) * Q - y * C * 2 ^ FRACTION) in * by (rewrite <- Vc; ring).
    replace (C * (2 * q m)) with (2 * Q) in * by (rewrite <- Vc; ring). lia.
Qed.

(* rns/convert/ifma/back.rs: scale, wide, rows. The factors and rows give the sum over all moduli
   less k Q, with k right or one too large; all is modulo D^limbs. *)
Theorem scale_correct k Q limbs pairs : 0 < Q -> Forall (member k Q) pairs -> Z.of_nat (length pairs) <= MOST_MODULI ->
  exists z, length (factors pairs) = length (rows limbs Q pairs) /\
    Z.of_nat (length (factors pairs)) <= 2 * MOST_MODULI + 1 /\
    cong (D ^ Z.of_nat limbs) (dot D (read (factors pairs)) (rows limbs Q pairs)) z /\
    cong Q z (terms pairs) /\ - Q <= z < Q.
Proof.
  intros HQ Hm Hc. set (t := Z.of_nat (length pairs)) in *. assert (T0 : 0 <= t) by lia. unfold MOST_MODULI in *.
  pose proof (scale_loop_correct k Q limbs pairs HQ Hm (parts_start t) 1) as L.
  unfold parts_start, FRACTION, MOST_MODULI in L. change (2 ^ 40) with 1099511627776 in L.
  specialize (L ltac:(lia) ltac:(lia) ltac:(fold t; lia)). unfold factors, rows. fold t.
  unfold parts_start. destruct (scale_loop pairs t) as [fs parts]. cbv zeta in L. fold t in L.
  destruct L as (L1 & L2 & L3 & L4 & L5). unfold quotient, shr. change (2 ^ 40) with 1099511627776.
  pose proof (Z.div_mod parts 1099511627776 ltac:(lia)) as E. pose proof (Z.mod_pos_bound parts 1099511627776 ltac:(lia)) as M.
  set (n := parts / 1099511627776) in *. set (f := parts mod 1099511627776) in *. clearbody n f.
  exists (terms pairs - n * Q). rewrite !app_length. cbn [length]. split; [lia|]. split; [lia|].
  assert (0 <= n < D) by lia. split; [|split].
  - unfold read in *. rewrite map_app, dot_app by (rewrite map_length; exact L1). cbn [map dot].
    rewrite L4, (cut_cong D limbs ltac:(lia)), (Z.mod_small n D) by lia. exists 0. ring.
  - exists (- n). ring.
  - replace (parts - t + t) with parts in L5 by ring. rewrite E in L5.
    assert (0 <= f * Q <= 1099511627775 * Q) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_r; lia]).
    assert (t * Q <= 512 * Q) by (apply Z.mul_le_mono_nonneg_r; lia). lia.
Qed.

(* back.rs: columns. A row of the table: [before] is the entry before that of a column. The blocks
   of columns lie side by side here. *)
Fixpoint row_step (factor before : Z) (row : list Z) (sums : list (Z * Z)) : list (Z * Z) :=
  match row, sums with
  | entry :: row, (low, high) :: sums => column_step low high factor entry before :: row_step factor entry row sums
  | _, _ => []
  end.
Fixpoint rows_loop (fs : list Z) (rows : list (list Z)) (sums : list (Z * Z)) : list (Z * Z) :=
  match fs, rows with f :: fs, row :: rows => rows_loop fs rows (row_step f 0 row sums) | _, _ => sums end.
Definition columns (limbs : nat) (fs : list Z) (rows : list (list Z)) : list Z :=
  map (fun s => column_end (fst s) (snd s)) (rows_loop fs rows (repeat (0, 0) limbs)).

(* After so many rows no sum has more than so many halves; what the sums are worth. *)
Definition within (count : Z) (sums : list (Z * Z)) :=
  Forall (fun s => 0 <= fst s <= count * D /\ 0 <= snd s <= count * D) sums.
Fixpoint weight (sums : list (Z * Z)) : Z := match sums with [] => 0 | (l, h) :: sums => l + h + D * weight sums end.

Lemma row_step_correct f count : 0 <= count < 2 * MOST_MODULI + 1 -> forall row before sums, 0 <= before < D ->
  all_below D row -> length row = length sums -> within count sums ->
  let s := row_step f before row sums in
  length s = length sums /\ within (count + 1) s /\
  exists h, weight s + D ^ Z.of_nat (length sums) * h = weight sums + f mod D * before / D + f mod D * in_base D row.
Proof.
  intros Hc. unfold MOST_MODULI in Hc. pose proof (low_range f) as Rf.
  induction row as [|entry row IH]; intros before [|[l h] sums] Hb Hrow E Hs; try discriminate; cbv zeta; cbn [row_step].
  - split; [reflexivity|]. split; [constructor|]. exists (f mod D * before / D). cbn [weight length in_base]. rewrite Z.pow_0_r. lia.
  - inversion Hrow as [|e r He Hrow']; subst e r. inversion Hs as [|e r [Hl Hh] Hs']; subst e r. cbn [fst snd length] in *.
    destruct (IH entry sums He Hrow' ltac:(lia) Hs') as (I1 & I2 & h' & I3).
    unfold column_step, add_low, add_high. cbv zeta. rewrite (Z.mod_small before D) by lia.
    pose proof (high_range (f mod D) before Rf Hb). pose proof (low_range (f * entry)).
    assert (count * D <= 1024 * D) by (apply Z.mul_le_mono_nonneg_r; lia).
    rewrite (Z.mod_small (l + _)), (Z.mod_small (h + _)) by lia. cbn [weight in_base length].
    split; [rewrite I1; reflexivity|]. split.
    + constructor; [cbn [fst snd]; lia|exact I2].
    + exists h'. rewrite pow_S.
      assert (M : (f * entry) mod D = (f mod D * entry) mod D) by (rewrite Z.mul_mod_idemp_l by lia; reflexivity).
      rewrite M. pose proof (halves (f mod D * entry)) as P. set (w := weight (row_step f entry row sums)) in *.
      replace (D * D ^ Z.of_nat (length sums) * h') with (D * (D ^ Z.of_nat (length sums) * h')) by ring.
      replace (D ^ Z.of_nat (length sums) * h') with (weight sums + f mod D * entry / D + f mod D * in_base D row - w) by lia.
      replace (f mod D * (entry + D * in_base D row)) with (f mod D * entry + D * (f mod D * in_base D row)) by ring.
      lia.
Qed.

Lemma rows_loop_correct limbs fs : forall rows sums count, 0 <= count -> length fs = length rows ->
  count + Z.of_nat (length fs) <= 2 * MOST_MODULI + 1 -> length sums = limbs ->
  Forall (fun row => length row = limbs /\ all_below D row) rows -> within count sums ->
  let s := rows_loop fs rows sums in
  length s = limbs /\ within (count + Z.of_nat (length fs)) s /\
  cong (D ^ Z.of_nat limbs) (weight s) (weight sums + dot D (read fs) rows).
Proof.
  induction fs as [|f fs IH]; intros [|row rows] sums count H0 E Hc Hl Hr Hs; try discriminate; cbv zeta; cbn [rows_loop length] in *.
  - cbn [read map dot]. rewrite !Z.add_0_r. repeat split; auto. reflexivity.
  - inversion Hr as [|e r [Lr Hrow] Hr']; subst e r.
    destruct (row_step_correct f count ltac:(lia) row 0 sums ltac:(lia) Hrow ltac:(lia) Hs) as (S1 & S2 & h & S3).
    set (s := row_step f 0 row sums) in *.
    destruct (IH rows s (count + 1) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) Hr' S2) as (I1 & I2 & I3).
    split; [exact I1|]. split.
    + replace (count + Z.of_nat (S (length fs))) with (count + 1 + Z.of_nat (length fs)) by lia. exact I2.
    + rewrite I3. cbn [read map dot]. fold (read fs). rewrite Z.mul_0_r in S3. change (0 / D) with 0 in S3. rewrite Hl in S3.
      exists (- h). replace (weight s) with (weight sums + 0 + f mod D * in_base D row - D ^ Z.of_nat limbs * h) by lia. ring.
Qed.

(* rns/convert/ifma/back.rs: columns. No sum of halves wraps, with room for a carry; the columns are
   worth the sum of all factors times their rows, modulo D^limbs. *)
Theorem columns_correct limbs fs rows : length fs = length rows -> Z.of_nat (length fs) <= 2 * MOST_MODULI + 1 ->
  Forall (fun row => length row = limbs /\ all_below D row) rows ->
  let sum := columns limbs fs rows in
  length sum = limbs /\ all_below (B - 4096) sum /\ cong (D ^ Z.of_nat limbs) (in_base D sum) (dot D (read fs) rows).
Proof.
  intros E Hc Hr. cbv zeta. unfold columns.
  assert (W0 : within 0 (repeat (0, 0) limbs)).
  { apply Forall_forall. intros s Hs. apply repeat_spec in Hs as ->. cbn [fst snd]. lia. }
  assert (V0 : weight (repeat (0, 0) limbs) = 0).
  { clear. induction limbs as [|n IH]; cbn [repeat weight]; [reflexivity|]. rewrite IH. lia. }
  destruct (rows_loop_correct limbs fs rows (repeat (0, 0) limbs) 0 ltac:(lia) E ltac:(lia) (repeat_length _ _) Hr W0) as (L & W & V).
  rewrite V0, !Z.add_0_l in *. set (s := rows_loop _ _ _) in *. clearbody s. rewrite map_length. split; [exact L|].
  unfold MOST_MODULI in Hc.
  assert (Z.of_nat (length fs) * D <= 1025 * D) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (G : all_below (B - 4096) (map (fun s => column_end (fst s) (snd s)) s) /\
    in_base D (map (fun s => column_end (fst s) (snd s)) s) = weight s).
  { clear L V. induction W as [|[l h] s [Hl Hh] _ IH]; cbn [map weight in_base]; [split; [constructor|reflexivity]|].
    cbn [fst snd] in *. destruct IH as [I1 I2].
    assert (A : column_end l h = l + h) by (unfold column_end, add64; apply Z.mod_small; lia). rewrite A, I2.
    split; [constructor; [lia|exact I1]|lia]. }
  destruct G as [G1 G2]. split; [exact G1|]. rewrite G2. exact V.
Qed.

(* back.rs: settle. Two passes of carries. *)
Fixpoint settle_loop (l : list Z) (carry : Z) : list Z :=
  match l with [] => [] | limb :: l => let '(carry, limb) := settled limb carry in limb :: settle_loop l carry end.
Fixpoint restore_loop (minus : Z) (l product : list Z) (carry : Z) : list Z :=
  match l, product with
  | limb :: l, x :: product => let '(carry, limb) := restored minus x limb carry in limb :: restore_loop minus l product carry
  | _, _ => []
  end.
Definition settle (l product : list Z) : list Z :=
  let l := settle_loop l 0 in restore_loop (negative (last l 0)) l product 0.

Lemma settle_loop_correct l : forall carry, all_below (B - 4096) l -> 0 <= carry < 4096 ->
  let s := settle_loop l carry in
  length s = length l /\ all_below D s /\ exists h, in_base D s + D ^ Z.of_nat (length l) * h = in_base D l + carry.
Proof.
  induction l as [|limb l IH]; intros carry Hl Hc; cbv zeta; cbn [settle_loop in_base length].
  - split; [reflexivity|]. split; [constructor|]. exists carry. rewrite Z.pow_0_r. lia.
  - inversion Hl; subst. unfold settled, add64, shr. cbv zeta. rewrite land_limb. change (2 ^ 52) with D.
    rewrite (Z.mod_small (limb + carry)) by lia.
    destruct (IH ((limb + carry) / D) ltac:(assumption) (limb_range (limb + carry) ltac:(lia))) as (I1 & I2 & h & I3).
    cbn [length in_base]. split; [rewrite I1; reflexivity|]. split; [constructor; [apply low_range|exact I2]|].
    exists h. rewrite pow_S. pose proof (halves (limb + carry)). lia.
Qed.

Lemma restore_loop_correct minus l : minus = 0 \/ minus = 1 -> forall product carry, all_below D l -> all_below D product ->
  length product = length l -> 0 <= carry < 4096 ->
  let s := restore_loop minus l product carry in
  length s = length l /\ all_below D s /\
  exists h, in_base D s + D ^ Z.of_nat (length l) * h = in_base D l + minus * in_base D product + carry.
Proof.
  intros Hm. induction l as [|limb l IH]; intros [|x product] carry Hl Hp E Hc; try discriminate; cbv zeta; cbn [restore_loop in_base length].
  - split; [reflexivity|]. split; [constructor|]. exists carry. rewrite Z.pow_0_r. lia.
  - inversion Hl; inversion Hp; subst. unfold restored, add64, shr, maskz. cbv zeta. rewrite land_limb. change (2 ^ 52) with D.
    assert (A : (if minus =? 0 then 0 else x) = minus * x) by (destruct Hm as [-> | ->]; [reflexivity|cbn [Z.eqb]; lia]).
    rewrite A. assert (0 <= minus * x < D) by (destruct Hm as [-> | ->]; lia).
    rewrite (Z.mod_small (limb + minus * x)) by lia. rewrite (Z.mod_small (limb + minus * x + carry)) by lia.
    destruct (IH product ((limb + minus * x + carry) / D) ltac:(assumption) ltac:(assumption) ltac:(cbn [length] in E; lia)
      (limb_range (limb + minus * x + carry) ltac:(lia))) as (I1 & I2 & h & I3).
    cbn [length in_base]. split; [rewrite I1; reflexivity|]. split; [constructor; [apply low_range|exact I2]|].
    exists h. rewrite pow_S. pose proof (halves (limb + minus * x + carry)). lia.
Qed.

(* The sign bit of a limb. *)
Lemma negative_correct top : 0 <= top < D -> negative top = if top <? 2251799813685248 then 0 else 1.
Proof.
  intros H. unfold negative, test_mask. change (shl64 1 (52 - 1)) with (2 ^ 51). change D with (2 ^ 51 * 2) in H.
  destruct (Z.ltb_spec top 2251799813685248) as [L|L]; change 2251799813685248 with (2 ^ 51) in L.
  - replace (Z.land top (2 ^ 51)) with 0; [reflexivity|]. symmetry. apply Z.bits_inj'. intros n Hn.
    rewrite Z.land_spec, Z.bits_0. destruct (Z.eq_dec n 51) as [->|N].
    + rewrite <- (Z.mod_small top (2 ^ 51)) by lia. rewrite Z.mod_pow2_bits_high by lia. reflexivity.
    + rewrite Z.pow2_bits_false by lia. apply Bool.andb_false_r.
  - destruct (Z.eqb_spec (Z.land top (2 ^ 51)) 0) as [Z0|]; [|reflexivity]. exfalso.
    assert (T : Z.testbit (Z.land top (2 ^ 51)) 51 = true).
    { rewrite Z.land_spec, Z.pow2_bits_true, Bool.andb_true_r by lia. apply Z.testbit_true; [lia|].
      replace (top / 2 ^ 51) with 1; [reflexivity|]. apply Z.div_unique with (top - 2 ^ 51); lia. }
    rewrite Z0, Z.bits_0 in T. discriminate.
Qed.

(* rns/convert/ifma/back.rs: settle. What is at least - Q and below Q becomes its residue modulo Q,
   in limbs below D. *)
Theorem settle_correct limbs l Q z : length l = limbs -> all_below (B - 4096) l -> 0 < Q -> 2 * Q <= D ^ Z.of_nat limbs ->
  cong (D ^ Z.of_nat limbs) (in_base D l) z -> - Q <= z < Q ->
  let s := settle l (cut D limbs Q) in all_below D s /\ in_base D s = z mod Q.
Proof.
  intros El Hl HQ Room C Hz. cbv zeta. unfold settle.
  destruct (settle_loop_correct l 0 Hl ltac:(lia)) as (S1 & S2 & h & S3). set (s := settle_loop l 0) in *.
  pose proof (in_base_range D s ltac:(lia) S2) as R. rewrite S1, El in *. set (P := D ^ Z.of_nat limbs) in *.
  assert (T : in_base D s = if z <? 0 then P + z else z).
  { apply cong_small with P; [exact R|destruct (Z.ltb_spec z 0); lia|]. transitivity (in_base D l); [exists (- h); lia|].
    rewrite C. destruct (z <? 0); [exists (-1); ring|reflexivity]. }
  assert (N : negative (last s 0) = if z <? 0 then 1 else 0).
  { destruct (@exists_last _ s) as (s' & top & Es).
    { intros E. rewrite E in S1. cbn [length] in S1. unfold P in Room. rewrite <- S1 in Room. rewrite Z.pow_0_r in Room. lia. }
    clearbody s. subst s. rewrite last_last. apply Forall_app in S2 as [S2 St]. inversion St; subst. rewrite negative_correct by assumption.
    rewrite app_length in S1. cbn [length] in S1. rewrite in_base_app in T. cbn [in_base] in T.
    pose proof (in_base_range D s' ltac:(lia) S2) as R'.
    assert (EP : P = D * D ^ Z.of_nat (length s')) by (unfold P; rewrite <- S1, Nat.add_1_r, pow_S; reflexivity).
    set (W := D ^ Z.of_nat (length s')) in *. rewrite Z.mul_0_r, Z.add_0_r in T. clearbody W P.
    destruct (Z.ltb_spec z 0); destruct (Z.ltb_spec top 2251799813685248); try reflexivity; exfalso.
    - assert (W * top <= W * 2251799813685247) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
    - assert (W * 2251799813685248 <= W * top) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
  rewrite N. pose proof (cut_length D limbs Q) as Lq.
  destruct (restore_loop_correct (if z <? 0 then 1 else 0) s ltac:(destruct (z <? 0); auto) (cut D limbs Q) 0 S2
    (cut_below D limbs ltac:(lia) Q) ltac:(lia) ltac:(lia)) as (F1 & F2 & g & F3).
  split; [exact F2|]. rewrite T, S1, (cut_value D limbs Q) in F3 by (fold P; lia). fold P in F3.
  pose proof (in_base_range D _ ltac:(lia) F2) as RF. rewrite F1, S1 in RF. fold P in RF.
  set (x := in_base D (restore_loop _ _ _ _)) in *. clearbody x. destruct (Z.ltb_spec z 0).
  - assert (E : x = z + Q) by (apply cong_small with P; [lia|lia|exists (1 - g); lia]).
    rewrite E. apply Z.mod_unique with (-1); lia.
  - assert (E : x = z) by (apply cong_small with P; [lia|lia|exists (- g); lia]).
    rewrite E. symmetry. apply Z.mod_small. lia.
Qed.

(* back.rs: numbers, new. For limbs of the engine. *)
Definition back (limbs : nat) (Q : Z) (pairs : list (modulus * Z)) : list Z :=
  settle (columns limbs (factors pairs) (rows limbs Q pairs)) (cut D limbs Q).

Lemma rows_shape limbs Q pairs : Forall (fun row => length row = limbs /\ all_below D row) (rows limbs Q pairs).
Proof.
  assert (C : forall x, length (cut D limbs x) = limbs /\ all_below D (cut D limbs x)).
  { intros x. split; [apply cut_length|apply cut_below; lia]. }
  unfold rows. apply Forall_app. split; [|constructor; [apply C|constructor]].
  induction pairs as [|[m r] pairs IH]; cbn [flat_map fst]; [constructor|]. apply Forall_app. split; [|exact IH].
  unfold rows_one. destruct (C (val (cofactor m))) as [C1 C2]. destruct (q m <? 2 ^ NARROW_BITS); constructor; auto.
  constructor; [|constructor]. split; [rewrite firstn_length; cbn [length]; lia|].
  apply Forall_forall. intros x Hx. assert (I : In x (0 :: cut D limbs (val (cofactor m)))).
  { rewrite <- (firstn_skipn limbs). apply in_or_app. left. exact Hx. }
  destruct I as [<-|I]; [lia|]. unfold all_below in C2. rewrite Forall_forall in C2. apply C2, I.
Qed.

(* rns/convert/ifma/back.rs: numbers, new. For every basis and every number below Q: its residues
   give it back. *)
Theorem back_correct bits limbs k Q pairs X : 0 < Q < 2 ^ bits -> bits + SIGN <= ifma_constants.RADIX * Z.of_nat limbs ->
  whole pairs = Q -> Z.of_nat (length pairs) <= MOST_MODULI -> Forall (member k Q) pairs -> 0 <= X < Q ->
  (forall m r, In (m, r) pairs -> cong (q m) X r) ->
  all_below D (back limbs Q pairs) /\ in_base D (back limbs Q pairs) = X.
Proof.
  intros HQ Hb W Hc Hm HX Hr. unfold SIGN, ifma_constants.RADIX in Hb.
  assert (Room : 2 * Q <= D ^ Z.of_nat limbs).
  { change D with (2 ^ 52). rewrite <- Z.pow_mul_r by lia.
    assert (0 <= bits) by (destruct (Z_lt_le_dec bits 0) as [N|N]; [rewrite Z.pow_neg_r in HQ by lia; lia|exact N]).
    assert (P : 2 ^ (bits + 1) <= 2 ^ (52 * Z.of_nat limbs)) by (apply Z.pow_le_mono_r; lia).
    rewrite Z.pow_add_r in P by lia. change (2 ^ 1) with 2 in P. lia. }
  destruct (scale_correct k Q limbs pairs ltac:(lia) Hm Hc) as (z & L1 & L2 & C & Cz & Rz).
  destruct (columns_correct limbs (factors pairs) (rows limbs Q pairs) L1 L2 (rows_shape limbs Q pairs)) as (S1 & S2 & S3).
  rewrite C in S3. unfold back.
  destruct (settle_correct limbs (columns limbs (factors pairs) (rows limbs Q pairs)) Q z S1 S2 ltac:(lia) Room S3 Rz) as [R V].
  split; [exact R|]. rewrite V. rewrite <- (Z.mod_small X Q) by lia. apply cong_mod_eq; [lia|].
  rewrite Cz. symmetry. apply (terms_number k Q pairs X Hm W Hr).
Qed.
