(* crates/rns/src/convert/ifma.rs: residues from the fraction of x / M, in one lane, for every number of limbs. The steps
   are translated; the loops over limbs are models. *)
From Arith Require Export lanes modular.
From Arith Require Import words.
From Generated Require Export fractions fraction_bounds rns_constants.

(* ifma.rs: digits. Bit by bit; 128 bits hold twice a remainder below 2^104. *)
Fixpoint digit_bits (n : nat) (m rest digit : Z) : Z * Z :=
  match n with
  | O => (rest, digit)
  | S n => let rest := 2 * rest in let one := if m <=? rest then 1 else 0 in
    digit_bits n m (rest - one * m) (2 * digit + one)
  end.
Fixpoint digits (count : nat) (m rest : Z) : list Z :=
  match count with
  | O => []
  | S count => let '(rest, digit) := digit_bits 52 m rest 0 in digit :: digits count m rest
  end.

Lemma digit_bits_correct n m : forall rest digit, 0 <= rest < m ->
  let '(rest', digit') := digit_bits n m rest digit in
  0 <= rest' < m /\ digit' * m + rest' = (digit * m + rest) * 2 ^ Z.of_nat n.
Proof.
  induction n as [|n IH]; intros rest digit H; cbn [digit_bits].
  - rewrite Z.pow_0_r. lia.
  - cbv zeta. set (one := if m <=? 2 * rest then 1 else 0).
    assert (K : 0 <= 2 * rest - one * m < m) by (unfold one; destruct (Z.leb_spec m (2 * rest)); lia).
    specialize (IH (2 * rest - one * m) (2 * digit + one) K).
    destruct (digit_bits n m (2 * rest - one * m) (2 * digit + one)) as [rest' digit']. destruct IH as [H1 H2].
    split; [exact H1|]. rewrite H2, Nat2Z.inj_succ, Z.pow_succ_r by lia. ring.
Qed.

(* rns/convert/ifma.rs: digits. A digit, and what is left of w. *)
Theorem digits_correct count m w : 0 <= w < m -> exists digit rest,
  digits (S count) m w = digit :: digits count m rest /\ 0 <= digit < D /\ 0 <= rest < m /\ w * D = digit * m + rest.
Proof.
  intros H. cbn [digits]. pose proof (digit_bits_correct 52 m w 0 H) as P.
  destruct (digit_bits 52 m w 0) as [rest digit]. destruct P as [H1 H2]. exists digit, rest.
  change (2 ^ Z.of_nat 52) with D in H2. split; [reflexivity|]. split; [|split; [exact H1|lia]].
  split; [enough (-1 < digit) by lia|]; apply Z.mul_lt_mono_pos_r with m; lia.
Qed.

(* A number in limbs of 52 bits: what lies above them in a word does not count. *)
Fixpoint number (x : list Z) : Z := match x with [] => 0 | limb :: x => limb mod D + D * number x end.

Definition sums := (Z * Z * Z * Z)%type.
Fixpoint fraction_loop (x ds : list Z) (s : sums) : sums :=
  match x with
  | [] => s
  | limb :: x => let '(upper, upper_carry, lower, lower_carry) := s in
    fraction_loop x (tl ds) (fraction_step upper upper_carry lower lower_carry limb (nth 0 ds 0) (nth 1 ds 0) (nth 2 ds 0))
  end.
(* ifma.rs: fractions *)
Definition fractions (x ds : list Z) : Z * Z :=
  let '(upper, upper_carry, lower, lower_carry) := fraction_loop x ds (0, 0, 0, CORRECTION * Z.of_nat (length x)) in
  fraction_end upper upper_carry lower lower_carry.
(* What the sums are worth, in units of D^-2. *)
Definition worth (s : sums) := let '(u, uc, l, lc) := s in D * (u + uc) + l + lc.
Definition below (most : Z) (s : sums) := let '(u, uc, l, lc) := s in 0 <= u <= most /\ 0 <= uc <= most /\ 0 <= l <= most /\ 0 <= lc <= most.

(* One limb: x r D^2 = m (D lo1 + D hi2 + lo2 + hi3) + what is lost, less than 2 m. *)
Lemma one_limb m x r d1 d2 d3 r1 r2 r3 : 0 <= x < D -> 0 <= r2 < m -> 0 <= r3 < m ->
  r * D = d1 * m + r1 -> r1 * D = d2 * m + r2 -> r2 * D = d3 * m + r3 ->
  let lost := x * r2 - m * (x * d3 / D) in
  x * r * D * D = m * (D * ((x * d1) mod D) + D * (x * d2 / D) + (x * d2) mod D + x * d3 / D + D * D * (x * d1 / D)) + lost /\
  0 <= lost <= 2 * m.
Proof.
  intros Hx H2 H3 E1 E2 E3 lost.
  pose proof (halves (x * d1)) as P1. pose proof (halves (x * d2)) as P2. pose proof (halves (x * d3)) as P3.
  pose proof (low_range (x * d3)) as L3. split.
  - unfold lost. replace (x * r * D * D) with (x * (r * D) * D) by ring. rewrite E1.
    replace (x * (d1 * m + r1) * D) with (m * D * (x * d1) + x * (r1 * D)) by ring. rewrite E2.
    replace (x * (d2 * m + r2)) with (m * (x * d2) + x * r2) by ring. rewrite P1 at 1. rewrite P2 at 1. ring.
  - assert (I : D * lost = x * r3 + m * ((x * d3) mod D)).
    { unfold lost. replace (D * (x * r2 - m * (x * d3 / D))) with (x * (r2 * D) - m * (D * (x * d3 / D))) by ring.
      rewrite E3. replace (D * (x * d3 / D)) with (x * d3 - (x * d3) mod D) by lia. ring. }
    assert (0 <= x * r3 <= D * m) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]).
    assert (0 <= m * ((x * d3) mod D) <= m * D) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_l; lia]).
    lia.
Qed.

Lemma fraction_loop_correct m x : forall r s most count, 0 <= r < m -> (length x + 2 <= count)%nat ->
  0 <= most -> most + Z.of_nat (length x) * D < B -> below most s ->
  let s' := fraction_loop x (digits count m r) s in
  below (most + Z.of_nat (length x) * D) s' /\
  exists K lost, m * (worth s' - worth s) + lost + K * (m * D * D) = D * D * (r * number x) /\
    0 <= lost <= 2 * Z.of_nat (length x) * m.
Proof.
  induction x as [|limb x IH]; intros r s most count Hr Hc H0 Hm Hs; cbn [fraction_loop length number] in *.
  - split; [destruct s as [[[u uc] l] lc]; unfold below in *; lia|]. exists 0, 0. lia.
  - destruct s as [[[u uc] l] lc]. unfold below in Hs.
    destruct count as [|[|[|count]]]; try lia.
    destruct (digits_correct (S (S count)) m r Hr) as (d1 & r1 & E1 & G1 & Hr1 & Q1).
    destruct (digits_correct (S count) m r1 Hr1) as (d2 & r2 & E2 & G2 & Hr2 & Q2).
    destruct (digits_correct count m r2 Hr2) as (d3 & r3 & E3 & G3 & Hr3 & Q3).
    rewrite E1. cbn [tl]. assert (N0 : nth 0 (d1 :: digits (S (S count)) m r1) 0 = d1) by reflexivity.
    assert (N1 : nth 1 (d1 :: digits (S (S count)) m r1) 0 = d2) by (rewrite E2; reflexivity).
    assert (N2 : nth 2 (d1 :: digits (S (S count)) m r1) 0 = d3) by (rewrite E2, E3; reflexivity).
    rewrite N0, N1, N2. clear E1 E2 E3 N0 N1 N2. set (X := limb mod D).
    pose proof (low_range limb) as HX. fold X in HX.
    unfold fraction_step, add_low, add_high. cbv zeta. fold X. rewrite (Z.mod_small d2 D), (Z.mod_small d3 D) by lia.
    assert (M1 : (limb * d1) mod D = (X * d1) mod D) by (unfold X; rewrite Z.mul_mod_idemp_l by lia; reflexivity).
    assert (M2 : (limb * d2) mod D = (X * d2) mod D) by (unfold X; rewrite Z.mul_mod_idemp_l by lia; reflexivity).
    rewrite M1, M2. pose proof (low_range (X * d1)). pose proof (low_range (X * d2)).
    pose proof (high_range X d2 HX G2). pose proof (high_range X d3 HX G3).
    rewrite Nat2Z.inj_succ, Z.mul_succ_l in *.
    assert (P : 0 <= Z.of_nat (length x) * D) by lia.
    rewrite !(Z.mod_small _ B) by lia.
    specialize (IH r1 (u + (X * d1) mod D, uc + X * d2 / D, l + (X * d2) mod D, lc + X * d3 / D) (most + D) (S (S count)) Hr1
      ltac:(lia) ltac:(lia) ltac:(lia) ltac:(unfold below; lia)).
    cbv zeta in IH. set (s' := fraction_loop x _ _) in *. destruct IH as [Hb (K & lost & E & HE)].
    split; [destruct s' as [[[u' uc'] l'] lc']; unfold below in *; lia|].
    destruct (one_limb m X r d1 d2 d3 r1 r2 r3 HX Hr2 Hr3 Q1 Q2 Q3) as [O HO]. cbv zeta in O, HO.
    set (lost0 := X * r2 - m * (X * d3 / D)) in *.
    exists (K + X * d1 / D + d1 * number x), (lost + lost0). split; [|lia]. unfold worth at 2. unfold worth at 2 in E.
    replace (D * D * (r * (X + D * number x))) with (X * r * D * D + D * D * (r * D) * number x) by ring.
    rewrite O, Q1. replace (D * D * (d1 * m + r1) * number x) with (D * D * (r1 * number x) + d1 * number x * (m * D * D)) by ring.
    rewrite <- E. ring.
Qed.

(* What the two limbs are worth: the lower 52 bits of each. *)
Definition value (f : Z * Z) := (fst f mod D) * D + snd f mod D.

(* rns/convert/ifma.rs: fractions. In units of D^-2 the fraction of w x / m is [value], too large by [over] / m. *)
Theorem fractions_correct m w x : let n := Z.of_nat (length x) in
  0 <= w < m -> CORRECTION * n * m < D * D -> n < 1000 ->
  let f := fractions x (digits (length x + 2) m w) in
  0 <= value f < D * D /\
  exists over, m * value f = D * D * ((w * number x) mod m) + over /\ 0 <= over <= CORRECTION * n * m.
Proof.
  intros n Hw Hm Hn f. unfold f, fractions. fold n. unfold CORRECTION in *. assert (N0 : 0 <= n) by lia.
  pose proof (fraction_loop_correct m x w (0, 0, 0, 2 * n) (2 * n) (length x + 2) Hw ltac:(lia) ltac:(lia)
    ltac:(fold n; lia) ltac:(unfold below; lia)) as L.
  cbv zeta in L. destruct (fraction_loop x _ _) as [[[u uc] l] lc]. destruct L as [Hb (K & lost & E & HE)].
  unfold below, worth in *. fold n in Hb, HE. unfold fraction_end, add64, shr. cbv zeta. change (2 ^ 52) with D.
  rewrite (Z.mod_small (l + lc)) by lia. rewrite (Z.mod_small (u + uc)) by lia.
  assert (0 <= (l + lc) / D <= l + lc) by (split; [apply Z.div_pos; lia|apply Z.div_le_upper_bound; lia]).
  rewrite (Z.mod_small (u + uc + (l + lc) / D)) by lia. unfold value. cbn [fst snd].
  pose proof (halves (l + lc)) as HL. pose proof (low_range (l + lc)) as RL.
  set (A := u + uc + (l + lc) / D) in *. pose proof (halves A) as HA. pose proof (low_range A) as RA.
  set (F := (A mod D) * D + (l + lc) mod D).
  assert (HF : 0 <= F < D * D) by (unfold F; lia).
  split; [exact HF|]. exists (2 * n * m - lost). split; [|lia].
  pose proof (Z.div_mod (w * number x) m ltac:(lia)) as Hd. pose proof (Z.mod_pos_bound (w * number x) m ltac:(lia)) as Rd.
  set (s := (w * number x) mod m) in *. set (j := w * number x / m) in *.
  set (z := j - K - A / D).
  assert (T : D * (u + uc) + l + lc = F + D * D * (A / D)) by (unfold F; lia).
  assert (G : m * F = D * D * s + (2 * n * m - lost) + z * (m * (D * D))).
  { replace F with (D * (u + uc) + l + lc - D * D * (A / D)) by lia. unfold z.
    rewrite Hd in E. clear - E.
    replace (m * (D * (u + uc) + l + lc - D * D * (A / D))) with
      (m * (D * (u + uc) + l + lc - (D * (0 + 0) + 0 + 2 * n)) + m * (2 * n) - m * (D * D * (A / D))) by ring.
    replace (m * (D * (u + uc) + l + lc - (D * (0 + 0) + 0 + 2 * n))) with
      (D * D * (m * j + s) - lost - K * (m * D * D)) by lia. ring. }
  assert (0 <= m * F < m * (D * D)) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_lt_mono_pos_l; lia]).
  assert (0 <= D * D * s + (2 * n * m - lost) < m * (D * D)) by lia.
  assert (Z0 : z = 0).
  { assert (z < 1) by (apply Z.mul_lt_mono_pos_r with (m * (D * D)); lia).
    assert (-1 < z) by (apply Z.mul_lt_mono_pos_r with (m * (D * D)); lia). lia. }
  rewrite Z0 in G. lia.
Qed.

(* Two multiples of a number with remainders: only one way to be in the range. *)
Lemma same_multiple q f s h z : 0 < q -> 0 <= f < D -> 0 <= s < q -> 0 <= h < D * D ->
  q * D * f = D * D * s + h + z * (q * (D * D)) -> q * D * f = D * D * s + h.
Proof.
  intros Hq Hf Hs Hh E. assert (0 <= q * D * f) by (repeat apply Z.mul_nonneg_nonneg; lia).
  assert (q * D * f <= q * D * (D - 1)) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (0 < q * (D * D)) by lia.
  assert (z < 1) by (apply Z.mul_lt_mono_pos_r with (q * (D * D)); lia).
  assert (-1 < z) by (apply Z.mul_lt_mono_pos_r with (q * (D * D)); lia).
  assert (z = 0) by lia. subst z. lia.
Qed.

(* The product of a fraction's limb by the modulus, once it is known to the last unit. *)
Lemma high_is_residue q f s h : 0 < q < D -> 0 <= f < D -> 0 <= s < q -> 0 <= h < D * D ->
  q * D * f = D * D * s + h -> f * q / D = s.
Proof. intros Hq Hf Hs Hh E. symmetry. apply Z.div_unique with (f * q - D * s); [|lia]. left. lia. Qed.

(* rns/convert/ifma/forward.rs: residue. For a group's product m = q c with room: x mod q for every number of n limbs. *)
Theorem residue_correct q c x : let n := Z.of_nat (length x) in let m := q * c in
  1 < q < 2 ^ NARROW_BITS -> 0 < c -> 0 < n < 1000 -> ROOM * n * m <= D * D ->
  let f := fractions x (digits (length x + 2) m 1) in
  residue (fst f) (snd f) q (c mod D) (c / D) = number x mod q.
Proof.
  intros n m Hq Hc Hn Hm f. unfold ROOM, NARROW_BITS in *. change (2 ^ 50) with 1125899906842624 in Hq.
  assert (M2 : q <= m) by (unfold m; replace q with (q * 1) at 1 by ring; apply Z.mul_le_mono_nonneg_l; lia).
  assert (M3 : c <= m) by (unfold m; replace c with (1 * c) at 1 by ring; apply Z.mul_le_mono_nonneg_r; lia).
  assert (M4 : m <= n * m) by (replace m with (1 * m) at 1 by ring; apply Z.mul_le_mono_nonneg_r; lia).
  destruct (fractions_correct m 1 x ltac:(lia) ltac:(unfold CORRECTION; fold n; lia) ltac:(fold n; lia)) as [RV (over & E & HO)].
  fold f in RV, E. fold n in HO. unfold CORRECTION in HO. rewrite Z.mul_1_l in E.
  unfold residue, add_low, add_high. cbv zeta. unfold value in *. set (U := fst f) in *. set (L := snd f) in *.
  pose proof (low_range U) as RU. pose proof (low_range L) as RL.
  pose proof (halves c) as Ec. pose proof (low_range c) as Rc.
  assert (Rc1 : 0 <= c / D < D) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
  set (c0 := c mod D) in *. set (c1 := c / D) in *.
  rewrite (Z.mod_small c0 D) by lia.
  assert (X1 : (U * c0) mod D = (U mod D * c0) mod D) by (rewrite Z.mul_mod_idemp_l by lia; reflexivity).
  assert (X2 : (L * c1) mod D = (L mod D * c1) mod D) by (rewrite Z.mul_mod_idemp_l by lia; reflexivity).
  rewrite X1, X2. clear X1 X2. set (u := U mod D) in *. set (l := L mod D) in *.
  pose proof (halves (u * c0)) as P1. pose proof (low_range (u * c0)) as R1.
  pose proof (halves (l * c0)) as P2. pose proof (low_range (l * c0)) as R2. pose proof (high_range l c0 RL Rc) as R3.
  pose proof (halves (l * c1)) as P3. pose proof (low_range (l * c1)) as R4.
  set (f1 := (u * c0) mod D + l * c0 / D + (l * c1) mod D) in *.
  rewrite (Z.mod_small (1 + _)) by lia. rewrite (Z.mod_small (1 + (u * c0) mod D + l * c0 / D)) by lia.
  replace (1 + (u * c0) mod D + l * c0 / D + (l * c1) mod D) with (f1 + 1) by (unfold f1; ring).
  rewrite (Z.mod_small (f1 + 1) B) by lia. rewrite (Z.mod_small q D) by lia.
  pose proof (halves (f1 + 1)) as P4. pose proof (low_range (f1 + 1)) as R5.
  pose proof (high_range ((f1 + 1) mod D) q ltac:(lia) ltac:(lia)) as R6.
  rewrite Z.add_0_l. rewrite Z.mod_small by lia.
  pose proof (Z.mod_pos_bound (number x) m ltac:(lia)) as Rs. set (s := number x mod m) in *.
  assert (Es : number x mod q = s mod q).
  { unfold s, m. pose proof (Z.div_mod (number x) (q * c) ltac:(lia)) as Y.
    rewrite Y at 1. replace (q * c * (number x / (q * c)) + number x mod (q * c)) with
      (number x mod (q * c) + (c * (number x / (q * c))) * q) by ring. apply Z.mod_add. lia. }
  rewrite Es. pose proof (Z.div_mod s q ltac:(lia)) as Ds. pose proof (Z.mod_pos_bound s q ltac:(lia)) as Rq.
  set (rho := s mod q) in *. set (sigma := s / q) in *.
  assert (H0 : 0 <= q * (D - (l * c0) mod D) <= q * D) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_l; lia]).
  assert (F : D * f1 + (l * c0) mod D = (u * D + l) * c - D * D * (u * c1 + u * c0 / D + l * c1 / D)).
  { assert (X : (u * D + l) * c = D * D * (u * c1) + D * (u * c0) + D * (l * c1) + l * c0) by (rewrite Ec; ring).
    rewrite X. unfold f1. clear - P1 P2 P3. lia. }
  apply (high_is_residue q ((f1 + 1) mod D) rho (over + q * (D - (l * c0) mod D))); try lia.
  apply (same_multiple q _ _ _ (sigma - (u * c1 + u * c0 / D + l * c1 / D) - (f1 + 1) / D)); [lia|lia|lia|lia|].
  replace ((f1 + 1) mod D) with (f1 + 1 - D * ((f1 + 1) / D)) by lia.
  set (A := u * c1 + u * c0 / D + l * c1 / D) in *. set (C := (f1 + 1) / D) in *. set (lo := (l * c0) mod D) in *.
  replace (q * D * (f1 + 1 - D * C)) with (q * (D * f1 + lo) + q * (D - lo) - q * (D * D) * C) by ring.
  rewrite F. replace (q * ((u * D + l) * c - D * D * A)) with (m * (u * D + l) - q * (D * D) * A) by (unfold m; ring).
  rewrite E, Ds. ring.
Qed.

(* rns/convert/ifma.rs: scaled. For one wide modulus, as the forward way and y = residue w mod q need it. *)
Theorem scaled_correct q w x : let n := Z.of_nat (length x) in
  1 < q < 2 ^ MOST_BITS -> 0 <= w < q -> 0 < n < 1000 ->
  let f := fractions x (digits (length x + 2) q w) in
  scaled (fst f) (snd f) (q mod D) (q / D) = (w * number x) mod q.
Proof.
  intros n Hq Hw Hn f. unfold MOST_BITS in Hq. change (2 ^ 60) with 1152921504606846976 in Hq.
  assert (Room : 2 * n * q <= 2000 * q) by (apply Z.mul_le_mono_nonneg_r; lia).
  destruct (fractions_correct q w x ltac:(lia) ltac:(unfold CORRECTION; fold n; lia) ltac:(fold n; lia)) as [RV (over & E & HO)].
  fold f in RV, E. fold n in HO. unfold CORRECTION in HO.
  unfold scaled, add_low, add_high, add64, shr, shl64. cbv zeta. change (2 ^ 52) with D.
  unfold value in *. set (U := fst f) in *. set (L := snd f) in *.
  pose proof (low_range U) as RU. pose proof (low_range L) as RL.
  pose proof (halves q) as Ec. pose proof (low_range q) as Rc.
  assert (Rc1 : 0 <= q / D < 256) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
  set (q0 := q mod D) in *. set (q1 := q / D) in *.
  rewrite (Z.mod_small q0 D) by lia. rewrite (Z.mod_small q1 D) by lia.
  assert (X1 : (U * q0) mod D = (U mod D * q0) mod D) by (rewrite Z.mul_mod_idemp_l by lia; reflexivity).
  assert (X2 : (L * q1) mod D = (L mod D * q1) mod D) by (rewrite Z.mul_mod_idemp_l by lia; reflexivity).
  assert (X3 : (U * q1) mod D = (U mod D * q1) mod D) by (rewrite Z.mul_mod_idemp_l by lia; reflexivity).
  rewrite X1, X2, X3. clear X1 X2 X3. set (u := U mod D) in *. set (l := L mod D) in *.
  pose proof (halves (u * q0)) as P1. pose proof (low_range (u * q0)) as R1. pose proof (high_range u q0 RU Rc) as R1'.
  pose proof (halves (l * q0)) as P2. pose proof (low_range (l * q0)) as R2. pose proof (high_range l q0 RL Rc) as R2'.
  pose proof (halves (l * q1)) as P3. pose proof (low_range (l * q1)) as R3.
  pose proof (high_range l q1 RL ltac:(lia)) as R3'.
  pose proof (halves (u * q1)) as P4. pose proof (low_range (u * q1)) as R4.
  assert (R4' : 0 <= u * q1 / D < 256).
  { split; [apply Z.div_pos; [apply Z.mul_nonneg_nonneg; lia|lia]|]. apply Z.div_lt_upper_bound; [lia|].
    apply Z.mul_lt_mono_nonneg; lia. }
  set (P := 1 + l * q0 / D + (u * q0) mod D + (l * q1) mod D) in *.
  rewrite (Z.mod_small (1 + l * q0 / D)) by lia. rewrite (Z.mod_small (1 + l * q0 / D + (u * q0) mod D)) by lia.
  fold P. rewrite (Z.mod_small P B) by lia. pose proof (halves P) as PP. pose proof (low_range P) as RP.
  assert (RD : 0 <= P / D < 4) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
  rewrite (Z.mod_small (P / D + u * q0 / D)) by lia.
  rewrite (Z.mod_small (P / D + u * q0 / D + (u * q1) mod D)) by lia.
  rewrite (Z.mod_small (P / D + u * q0 / D + (u * q1) mod D + l * q1 / D)) by lia.
  rewrite !Z.add_0_l. rewrite (Z.mod_small (u * q1 / D) B) by lia.
  rewrite (Z.mod_small (u * q1 / D * D)) by lia. rewrite Z.mod_small by lia.
  pose proof (Z.mod_pos_bound (w * number x) q ltac:(lia)) as Rs. set (s := (w * number x) mod q) in *.
  set (r := P / D + u * q0 / D + (u * q1) mod D + l * q1 / D + u * q1 / D * D).
  (* D^2 r = q f + D - (the low half of the low limbs) - D (P mod D) *)
  assert (F : D * D * r = q * (u * D + l) + D - (l * q0) mod D - D * (P mod D)).
  { assert (X : q * (u * D + l) = D * D * (u * q1) + D * (u * q0) + D * (l * q1) + l * q0) by (rewrite Ec; ring).
    rewrite X. unfold r. assert (PV : P = 1 + l * q0 / D + (u * q0) mod D + (l * q1) mod D) by reflexivity.
    clear - P1 P2 P3 P4 PP PV. clearbody P. lia. }
  rewrite E in F. assert (r < s + 1) by lia. assert (s - 1 < r) by lia. lia.
Qed.
