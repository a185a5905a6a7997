(* crates/ntt/src/engine/loops.rs and transform.rs: whole transforms of long multiplication, of one or two levels at a time in
   any order, and back. The butterflies are those that butterflies.v proves; loops over blocks are a model. *)
From Arith Require Import words.
From Arith Require Export butterflies polynomials.

(* Four numbers of a block at a time. *)
Fixpoint level4 (f : Z -> Z -> Z -> Z -> Z * Z * Z * Z) (a b c d : list Z) : list Z * list Z * list Z * list Z :=
  match a, b, c, d with
  | x0 :: a, x1 :: b, x2 :: c, x3 :: d =>
    let '(y0, y1, y2, y3) := f x0 x1 x2 x3 in let '(p, q, r, s) := level4 f a b c d in (y0 :: p, y1 :: q, y2 :: r, y3 :: s)
  | _, _, _, _ => ([], [], [], [])
  end.
(* loops.rs: quarters *)
Definition quarters (a : list Z) := let '(low, high) := halve a in let '(q0, q1) := halve low in let '(q2, q3) := halve high in
  (q0, q1, q2, q3).

(* The levels of a transform, one or two at a time: as loops.rs takes them, and as transform.rs does depth first. *)
Inductive steps := Done | Two (rest : steps) | Four (rest : steps).
Fixpoint depth (s : steps) : nat := match s with Done => 0 | Two s => S (depth s) | Four s => S (S (depth s)) end.

Fixpoint zip (f : Z -> Z -> Z) (a b : list Z) : list Z :=
  match a, b with x :: a, y :: b => f x y :: zip f a b | _, _ => [] end.
Lemma zip_length f a : forall b, length a = length b -> length (zip f a b) = length a.
Proof. induction a as [|x a IH]; intros [|y b] E; try discriminate; cbn [zip length]; [reflexivity|]. rewrite IH; auto. Qed.
Lemma zip_app f a : forall b a' b', length a = length b -> zip f (a ++ a') (b ++ b') = zip f a b ++ zip f a' b'.
Proof.
  induction a as [|x a IH]; intros [|y b] a' b' E; try discriminate; cbn [zip app]; [reflexivity|]. rewrite IH; auto.
Qed.

Section Prime.
Variables P inverse : Z.
Hypothesis HP : 0 < P < 2 ^ NTT_BITS.
Hypothesis Odd : rel_prime P D.
Hypothesis Inverse : cong D (inverse * P) 1.
(* Roots by node, and constants for them and for their negative inverses. *)
Variable root : nat -> Z.
Variables factor reflected : nat -> ntt_words.factor.
Variable reflected_root : nat -> Z.
Hypothesis Roots : forall node, stands_for P inverse (root node) (factor node).
Hypothesis Back : forall node, stands_for P inverse (reflected_root node) (reflected node).
(* Nodes that the table has. *)
Variable count : nat.
Hypothesis Reflected : forall node, (node < count)%nat -> cong P (root node * reflected_root node) (-1).

Definition two (node : nat) (x0 x1 : Z) := forward2 (factor node) (multiples P) x0 x1.
Definition four (node : nat) (x0 x1 x2 x3 : Z) :=
  forward4 (factor node) (factor (2 * node)) (factor (2 * node + 1)) (multiples P) x0 x1 x2 x3.
Definition two_back (node : nat) (x0 x1 : Z) := inverse2 (reflected node) (multiples P) x0 x1.
Definition four_back (node : nat) (x0 x1 x2 x3 : Z) :=
  inverse4 (reflected node) (reflected (2 * node)) (reflected (2 * node + 1)) (multiples P) x0 x1 x2 x3.

Fixpoint forward (s : steps) (node : nat) (a : list Z) : list Z :=
  match s with
  | Done => a
  | Two s => let '(low, high) := halve a in let '(l, h) := level (two node) low high in
    forward s (2 * node) l ++ forward s (2 * node + 1) h
  | Four s => let '(q0, q1, q2, q3) := quarters a in let '(b0, b1, b2, b3) := level4 (four node) q0 q1 q2 q3 in
    (forward s (2 * (2 * node)) b0 ++ forward s (2 * (2 * node) + 1) b1) ++
    (forward s (2 * (2 * node + 1)) b2 ++ forward s (2 * (2 * node + 1) + 1) b3)
  end.
Fixpoint backward (s : steps) (node : nat) (a : list Z) : list Z :=
  match s with
  | Done => a
  | Two s => let '(low, high) := halve a in
    let '(l, h) := level (two_back node) (backward s (2 * node) low) (backward s (2 * node + 1) high) in l ++ h
  | Four s => let '(q0, q1, q2, q3) := quarters a in
    let '(b0, b1, b2, b3) := level4 (four_back node) (backward s (2 * (2 * node)) q0) (backward s (2 * (2 * node) + 1) q1)
      (backward s (2 * (2 * node + 1)) q2) (backward s (2 * (2 * node + 1) + 1) q3) in (b0 ++ b1) ++ (b2 ++ b3)
  end.

(* What they compute, without reductions: the polynomial modulo x^m - w and x^m + w, level by level. *)
Definition plus (w : Z) := zip (fun x y => x + w * y).
Definition minus (w : Z) := zip (fun x y => x - w * y).
Fixpoint split (levels node : nat) (a : list Z) : list (list Z) :=
  match levels with
  | O => [a]
  | S levels => let '(low, high) := halve a in
    split levels (2 * node) (plus (root node) low high) ++ split levels (2 * node + 1) (minus (root node) low high)
  end.

Definition below (n : Z) (l : list Z) := Forall (fun v => 0 <= v < n * P) l.
Definition same := Forall2 (cong P).
Definition times_of (k : Z) := Forall2 (fun u v => cong P u (k * v)).

Lemma split_length d levels : forall node a, length a = (d * 2 ^ levels)%nat -> length (concat (split levels node a)) = length a.
Proof.
  induction levels as [|levels IH]; intros node a L; cbn [split concat].
  - rewrite app_nil_r. reflexivity.
  - destruct (halves_twice (d * 2 ^ levels) a) as (low & high & -> & Ea & L1 & L2); [rewrite L, Nat.pow_succ_r'; lia|].
    subst a. rewrite concat_app, !app_length. unfold plus, minus.
    rewrite !IH; rewrite ?zip_length; lia.
Qed.

Lemma level_two node low : forall high low' high', length low = length high -> below 12 low -> below 12 high ->
  same low low' -> same high high' -> let '(l, h) := level (two node) low high in
  length l = length low /\ length h = length low /\ below 12 l /\ below 12 h /\
  same l (plus (root node) low' high') /\ same h (minus (root node) low' high').
Proof.
  unfold plus, minus.
  induction low as [|a low IH]; intros [|b high] low' high' E Ha Hb Sa Sb; try discriminate; cbn [level].
  - inversion Sa; subst. cbn [zip]. repeat split; constructor.
  - inversion Ha; inversion Hb; inversion Sa as [|? v0 ? la V0 T0]; inversion Sb as [|? v1 ? lb V1 T1]; subst. injection E as E.
    pose proof (forward2_correct P inverse HP Odd Inverse (root node) (factor node) a b (Roots node) ltac:(assumption) ltac:(assumption)) as F.
    unfold two at 1. destruct (forward2 (factor node) (multiples P) a b) as [s0 s1]. destruct F as (F1 & F2 & F3 & F4).
    specialize (IH high la lb E ltac:(assumption) ltac:(assumption) T0 T1).
    destruct (level (two node) low high) as [l h]. destruct IH as (I1 & I2 & I3 & I4 & I5 & I6). cbn [length zip].
    split; [lia|]. split; [lia|]. split; [constructor; assumption|]. split; [constructor; assumption|].
    split; constructor; try assumption.
    + rewrite F3, V0, V1. reflexivity.
    + rewrite F4, V0, V1. reflexivity.
Qed.

Lemma level_four node q0 : forall q1 q2 q3 a0 a1 a2 a3,
  length q1 = length q0 -> length q2 = length q0 -> length q3 = length q0 ->
  below 12 q0 -> below 12 q1 -> below 12 q2 -> below 12 q3 -> same q0 a0 -> same q1 a1 -> same q2 a2 -> same q3 a3 ->
  let '(b0, b1, b2, b3) := level4 (four node) q0 q1 q2 q3 in
  (length b0 = length q0 /\ length b1 = length q0 /\ length b2 = length q0 /\ length b3 = length q0) /\
  (below 12 b0 /\ below 12 b1 /\ below 12 b2 /\ below 12 b3) /\
  let l0 := plus (root node) a0 a2 in let l1 := plus (root node) a1 a3 in
  let h0 := minus (root node) a0 a2 in let h1 := minus (root node) a1 a3 in
  same b0 (plus (root (2 * node)%nat) l0 l1) /\ same b1 (minus (root (2 * node)%nat) l0 l1) /\
  same b2 (plus (root (2 * node + 1)%nat) h0 h1) /\ same b3 (minus (root (2 * node + 1)%nat) h0 h1).
Proof.
  unfold plus, minus.
  induction q0 as [|x0 q0 IH]; intros [|x1 q1] [|x2 q2] [|x3 q3] a0 a1 a2 a3 E1 E2 E3 H0 H1 H2 H3 S0 S1 S2 S3; try discriminate;
    cbn [level4].
  - inversion S0; inversion S1; subst. cbn [zip]. repeat split; constructor.
  - inversion H0; inversion H1; inversion H2; inversion H3; subst.
    inversion S0 as [|? v0 ? a0' V0 T0]; inversion S1 as [|? v1 ? a1' V1 T1]; inversion S2 as [|? v2 ? a2' V2 T2];
      inversion S3 as [|? v3 ? a3' V3 T3]; subst. injection E1 as E1. injection E2 as E2. injection E3 as E3.
    pose proof (forward4_correct P inverse HP Odd Inverse (root node) (root (2 * node)%nat) (root (2 * node + 1)%nat)
      (factor node) (factor (2 * node)) (factor (2 * node + 1)) x0 x1 x2 x3 (Roots node) (Roots (2 * node)) (Roots (2 * node + 1))
      ltac:(assumption) ltac:(assumption) ltac:(assumption) ltac:(assumption)) as F.
    unfold four at 1. destruct (forward4 (factor node) (factor (2 * node)) (factor (2 * node + 1)) (multiples P) x0 x1 x2 x3)
      as [[[s0 s1] s2] s3]. destruct F as ((F0 & F1 & F2 & F3) & G0 & G1 & G2 & G3).
    specialize (IH q1 q2 q3 a0' a1' a2' a3' E1 E2 E3 ltac:(assumption) ltac:(assumption) ltac:(assumption) ltac:(assumption) T0 T1 T2 T3).
    destruct (level4 (four node) q0 q1 q2 q3) as [[[b0 b1] b2] b3].
    destruct IH as ((L0 & L1 & L2 & L3) & (R0 & R1 & R2 & R3) & I0 & I1 & I2 & I3). cbn [length zip].
    split; [lia|]. split; [repeat split; constructor; assumption|].
    repeat split; constructor; try assumption.
    + rewrite G0, V0, V1, V2, V3. reflexivity.
    + rewrite G1, V0, V1, V2, V3. reflexivity.
    + rewrite G2, V0, V1, V2, V3. reflexivity.
    + rewrite G3, V0, V1, V2, V3. reflexivity.
Qed.

Lemma quarters_of n a : length a = (2 * (2 * n))%nat -> exists q0 q1 q2 q3, quarters a = (q0, q1, q2, q3) /\
  a = (q0 ++ q1) ++ (q2 ++ q3) /\ length q0 = n /\ length q1 = n /\ length q2 = n /\ length q3 = n.
Proof.
  intros L. destruct (halves_twice (2 * n) a L) as (low & high & E & -> & L1 & L2).
  destruct (halves_twice n low L1) as (q0 & q1 & E1 & -> & A1 & A2).
  destruct (halves_twice n high L2) as (q2 & q3 & E2 & -> & B1 & B2).
  exists q0, q1, q2, q3. unfold quarters. rewrite E, E1, E2. auto 10.
Qed.

Lemma split_two levels node low high : length low = length high ->
  split (S levels) node (low ++ high) =
  split levels (2 * node) (plus (root node) low high) ++ split levels (2 * node + 1) (minus (root node) low high).
Proof. intros E. cbn [split]. rewrite (halve_app low high E). reflexivity. Qed.

Lemma same_app_r u a b : same u (a ++ b) -> exists u1 u2, same u1 a /\ same u2 b /\ u = u1 ++ u2.
Proof. apply Forall2_app_inv_r. Qed.
Lemma same_app_l u v a : same (u ++ v) a -> exists a1 a2, same u a1 /\ same v a2 /\ a = a1 ++ a2.
Proof. apply Forall2_app_inv_l. Qed.
Lemma split_four levels node a0 a1 a2 a3 : length a1 = length a0 -> length a2 = length a0 -> length a3 = length a0 ->
  let l0 := plus (root node) a0 a2 in let l1 := plus (root node) a1 a3 in
  let h0 := minus (root node) a0 a2 in let h1 := minus (root node) a1 a3 in
  split (S (S levels)) node ((a0 ++ a1) ++ (a2 ++ a3)) =
  (split levels (2 * (2 * node)) (plus (root (2 * node)%nat) l0 l1) ++ split levels (2 * (2 * node) + 1) (minus (root (2 * node)%nat) l0 l1)) ++
  (split levels (2 * (2 * node + 1)) (plus (root (2 * node + 1)%nat) h0 h1) ++
   split levels (2 * (2 * node + 1) + 1) (minus (root (2 * node + 1)%nat) h0 h1)).
Proof.
  intros E1 E2 E3. cbv zeta. rewrite split_two by (rewrite !app_length; lia). unfold plus at 1, minus at 1.
  rewrite !zip_app by lia. fold (plus (root node)). fold (minus (root node)).
  rewrite !split_two; [reflexivity|unfold minus; rewrite !zip_length; lia|unfold plus; rewrite !zip_length; lia].
Qed.

Lemma pow_S levels d : (d * 2 ^ S levels = 2 * (d * 2 ^ levels))%nat.
Proof. rewrite Nat.pow_succ_r'. lia. Qed.

(* ntt/engine/loops.rs: forward, split; ntt/transform.rs: forward. One or two levels at a time, in any order and of any depth:
   numbers stay below 12 p, and become the coefficients modulo the polynomials of the leaves. *)
Theorem forward_correct d s : forall node a b, length a = (d * 2 ^ depth s)%nat -> below 12 a -> same a b ->
  let c := forward s node a in
  length c = length a /\ below 12 c /\ same c (concat (split (depth s) node b)).
Proof.
  induction s as [|s IH|s IH]; intros node a b L Ha Sa; cbv zeta; cbn [forward depth] in *.
  - cbn [split concat]. rewrite app_nil_r. auto.
  - rewrite pow_S in L. destruct (halves_twice _ a L) as (low & high & -> & -> & L1 & L2).
    apply Forall_app in Ha as [H1 H2]. apply same_app_l in Sa as (low' & high' & S1 & S2 & ->).
    pose proof (level_two node low high low' high' ltac:(lia) H1 H2 S1 S2) as F.
    destruct (level (two node) low high) as [l h]. destruct F as (F1 & F2 & F3 & F4 & F5 & F6).
    rewrite split_two by (rewrite <- (Forall2_length S1), <- (Forall2_length S2); lia).
    destruct (IH (2 * node)%nat l _ ltac:(lia) F3 F5) as (A1 & A2 & A3).
    destruct (IH (2 * node + 1)%nat h _ ltac:(lia) F4 F6) as (B1 & B2 & B3).
    rewrite concat_app, !app_length. split; [lia|]. split; [apply Forall_app; auto|]. apply Forall2_app; assumption.
  - rewrite !pow_S in L. destruct (quarters_of _ a L) as (q0 & q1 & q2 & q3 & -> & -> & L0 & L1 & L2 & L3).
    apply Forall_app in Ha as [Ha Hb]. apply Forall_app in Ha as [H0 H1]. apply Forall_app in Hb as [H2 H3].
    apply same_app_l in Sa as (b' & b'' & S1 & S2 & ->). apply same_app_l in S1 as (a0 & a1 & S0 & S1 & ->).
    apply same_app_l in S2 as (a2 & a3 & S2 & S3 & ->).
    pose proof (level_four node q0 q1 q2 q3 a0 a1 a2 a3 ltac:(lia) ltac:(lia) ltac:(lia) H0 H1 H2 H3 S0 S1 S2 S3) as F.
    destruct (level4 (four node) q0 q1 q2 q3) as [[[b0 b1] b2] b3].
    destruct F as ((M0 & M1 & M2 & M3) & (R0 & R1 & R2 & R3) & F0 & F1 & F2 & F3).
    pose proof (Forall2_length S0). pose proof (Forall2_length S1). pose proof (Forall2_length S2). pose proof (Forall2_length S3).
    rewrite split_four by lia.
    destruct (IH (2 * (2 * node))%nat b0 _ ltac:(lia) R0 F0) as (A1 & A2 & A3).
    destruct (IH (2 * (2 * node) + 1)%nat b1 _ ltac:(lia) R1 F1) as (B1 & B2 & B3).
    destruct (IH (2 * (2 * node + 1))%nat b2 _ ltac:(lia) R2 F2) as (C1 & C2 & C3).
    destruct (IH (2 * (2 * node + 1) + 1)%nat b3 _ ltac:(lia) R3 F3) as (D1 & D2 & D3).
    rewrite !concat_app, !app_length. split; [lia|].
    split; [apply Forall_app; split; apply Forall_app; auto|]. repeat apply Forall2_app; assumption.
Qed.

(* Back: twice, and four times what there was. *)
Lemma back_two k node x : (node < count)%nat -> forall y u v, length x = length y -> below 4 u -> below 4 v ->
  times_of k u (plus (root node) x y) -> times_of k v (minus (root node) x y) ->
  let '(l, h) := level (two_back node) u v in
  below 4 l /\ below 4 h /\ times_of (2 * k) l x /\ times_of (2 * k) h y.
Proof.
  intros Hn. unfold plus, minus.
  induction x as [|a x IH]; intros [|b y] u v E Hu Hv Tu Tv; try discriminate; cbn [zip] in *.
  - inversion Tu; inversion Tv; subst. cbn [level]. repeat split; constructor.
  - inversion Tu as [|u0 ? us ? U0 Us]; inversion Tv as [|v0 ? vs ? V0 Vs]; subst. inversion Hu; inversion Hv; subst. injection E as E.
    cbn [level]. pose proof (inverse2_correct P inverse HP Odd Inverse (reflected_root node) (reflected node) u0 v0 (Back node)
      ltac:(assumption) ltac:(assumption)) as F.
    unfold two_back at 1. destruct (inverse2 (reflected node) (multiples P) u0 v0) as [s0 s1]. destruct F as (F1 & F2 & F3 & F4).
    specialize (IH y us vs E ltac:(assumption) ltac:(assumption) Us Vs).
    destruct (level (two_back node) us vs) as [l h]. destruct IH as (I1 & I2 & I3 & I4).
    repeat split; constructor; try assumption.
    + rewrite F3, U0, V0. exists 0. ring.
    + rewrite F4, U0, V0. replace (reflected_root node * (k * (a - root node * b) - k * (a + root node * b)))
        with (- (2 * k * b) * (root node * reflected_root node)) by ring.
      rewrite (Reflected node Hn). exists 0. ring.
Qed.

Lemma back_four k node x0 : (node < count)%nat -> (2 * node + 1 < count)%nat -> forall x1 x2 x3 u0 u1 u2 u3,
  length x1 = length x0 -> length x2 = length x0 -> length x3 = length x0 ->
  below 4 u0 -> below 4 u1 -> below 4 u2 -> below 4 u3 ->
  let l0 := plus (root node) x0 x2 in let l1 := plus (root node) x1 x3 in
  let h0 := minus (root node) x0 x2 in let h1 := minus (root node) x1 x3 in
  times_of k u0 (plus (root (2 * node)%nat) l0 l1) -> times_of k u1 (minus (root (2 * node)%nat) l0 l1) ->
  times_of k u2 (plus (root (2 * node + 1)%nat) h0 h1) -> times_of k u3 (minus (root (2 * node + 1)%nat) h0 h1) ->
  let '(y0, y1, y2, y3) := level4 (four_back node) u0 u1 u2 u3 in
  (below 4 y0 /\ below 4 y1 /\ below 4 y2 /\ below 4 y3) /\
  times_of (4 * k) y0 x0 /\ times_of (4 * k) y1 x1 /\ times_of (4 * k) y2 x2 /\ times_of (4 * k) y3 x3.
Proof.
  intros Hn Hc. unfold plus, minus.
  pose proof (Reflected node Hn) as C0. pose proof (Reflected (2 * node)%nat ltac:(lia)) as C1.
  pose proof (Reflected (2 * node + 1)%nat Hc) as C2.
  set (w := root node) in *. set (wl := root (2 * node)%nat) in *. set (wr := root (2 * node + 1)%nat) in *. clearbody w wl wr.
  induction x0 as [|a0 x0 IH]; intros [|a1 x1] [|a2 x2] [|a3 x3] u0 u1 u2 u3 E1 E2 E3 H0 H1 H2 H3; try discriminate;
    cbn [zip]; intros T0 T1 T2 T3.
  - inversion T0; inversion T1; inversion T2; inversion T3; subst. cbn [level4]. repeat split; constructor.
  - inversion T0 as [|v0 ? w0 ? V0 W0]; inversion T1 as [|v1 ? w1 ? V1 W1]; inversion T2 as [|v2 ? w2 ? V2 W2];
      inversion T3 as [|v3 ? w3 ? V3 W3]; subst.
    inversion H0; inversion H1; inversion H2; inversion H3; subst. injection E1 as E1. injection E2 as E2. injection E3 as E3.
    cbn [level4].
    pose proof (inverse4_correct P inverse HP Odd Inverse (reflected_root node) (reflected_root (2 * node)%nat)
      (reflected_root (2 * node + 1)%nat) (reflected node) (reflected (2 * node)) (reflected (2 * node + 1)) v0 v1 v2 v3
      (Back node) (Back (2 * node)) (Back (2 * node + 1))
      ltac:(assumption) ltac:(assumption) ltac:(assumption) ltac:(assumption)) as F.
    unfold four_back at 1.
    destruct (inverse4 (reflected node) (reflected (2 * node)) (reflected (2 * node + 1)) (multiples P) v0 v1 v2 v3)
      as [[[s0 s1] s2] s3]. destruct F as ((F0 & F1 & F2 & F3) & G0 & G1 & G2 & G3).
    specialize (IH x1 x2 x3 w0 w1 w2 w3 E1 E2 E3 ltac:(assumption) ltac:(assumption) ltac:(assumption) ltac:(assumption) W0 W1 W2 W3).
    destruct (level4 (four_back node) w0 w1 w2 w3) as [[[z0 z1] z2] z3].
    destruct IH as ((R0 & R1 & R2 & R3) & I0 & I1 & I2 & I3).
    set (i0 := reflected_root node) in *. set (i1 := reflected_root (2 * node)%nat) in *.
    set (i2 := reflected_root (2 * node + 1)%nat) in *.
    assert (K1 : cong P (i1 * (v1 - v0)) (2 * k * (a1 + w * a3))).
    { rewrite V0, V1. match goal with |- cong P ?x _ => replace x with (- (2 * k * (a1 + w * a3)) * (wl * i1)) by ring end.
      rewrite C1. exists 0. ring. }
    assert (K2 : cong P (i2 * (v3 - v2)) (2 * k * (a1 - w * a3))).
    { rewrite V2, V3. match goal with |- cong P ?x _ => replace x with (- (2 * k * (a1 - w * a3)) * (wr * i2)) by ring end.
      rewrite C2. exists 0. ring. }
    split; [repeat split; constructor; assumption|]. repeat split; constructor; try assumption.
    + rewrite G0, V0, V1, V2, V3. exists 0. ring.
    + rewrite G1, K1, K2. exists 0. ring.
    + rewrite G2, V0, V1, V2, V3.
      match goal with |- cong P ?x _ => replace x with (- (4 * k * a2) * (w * i0)) by ring end. rewrite C0. exists 0. ring.
    + rewrite G3, K1, K2.
      match goal with |- cong P ?x _ => replace x with (- (4 * k * a3) * (w * i0)) by ring end. rewrite C0. exists 0. ring.
Qed.

Lemma two_pow n : 2 ^ Z.of_nat (S n) = 2 * 2 ^ Z.of_nat n.
Proof. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. reflexivity. Qed.

Lemma nodes node n : ((node + 1) * 2 ^ S n <= 2 * count)%nat -> (node < count)%nat.
Proof. rewrite Nat.pow_succ_r'. intros H. pose proof (Nat.pow_nonzero 2 n ltac:(lia)). nia. Qed.
Lemma left_node node n : ((node + 1) * 2 ^ S n <= 2 * count)%nat -> ((2 * node + 1) * 2 ^ n <= 2 * count)%nat.
Proof. rewrite Nat.pow_succ_r'. nia. Qed.
Lemma right_node node n : ((node + 1) * 2 ^ S n <= 2 * count)%nat -> ((2 * node + 1 + 1) * 2 ^ n <= 2 * count)%nat.
Proof. rewrite Nat.pow_succ_r'. nia. Qed.

(* ntt/engine/loops.rs: inverse, join; ntt/transform.rs: inverse. Numbers stay below 4 p, and coefficients modulo the
   polynomials of the leaves become those of the whole one, 2^levels times. *)
Theorem backward_correct d s : forall node u a, ((node + 1) * 2 ^ depth s <= 2 * count)%nat ->
  length a = (d * 2 ^ depth s)%nat -> below 4 u -> same u (concat (split (depth s) node a)) ->
  let v := backward s node u in below 4 v /\ times_of (2 ^ Z.of_nat (depth s)) v a.
Proof.
  induction s as [|s IH|s IH]; intros node u a Hd L Hu Su; cbv zeta; cbn [backward depth] in *.
  - cbn [split concat] in Su. rewrite app_nil_r in Su. split; [exact Hu|]. unfold times_of. change (2 ^ Z.of_nat 0) with 1.
    clear L Hu. induction Su as [|x y us ys Hxy Su IH]; constructor; [rewrite Hxy; exists 0; ring|exact IH].
  - rewrite pow_S in L. destruct (halves_twice _ a L) as (x & y & _ & -> & L1 & L2). rewrite split_two, concat_app in Su by lia.
    apply same_app_r in Su as (u1 & u2 & S1 & S2 & ->). apply Forall_app in Hu as [H1 H2].
    assert (Lp : length (plus (root node) x y) = (d * 2 ^ depth s)%nat) by (unfold plus; rewrite zip_length; lia).
    assert (Lm : length (minus (root node) x y) = (d * 2 ^ depth s)%nat) by (unfold minus; rewrite zip_length; lia).
    rewrite halve_app by (rewrite (Forall2_length S1), (Forall2_length S2), !(split_length d) by assumption; lia).
    destruct (IH (2 * node)%nat u1 _ (left_node _ _ Hd) Lp H1 S1) as [A1 A2].
    destruct (IH (2 * node + 1)%nat u2 _ (right_node _ _ Hd) Lm H2 S2) as [B1 B2].
    pose proof (back_two _ node x (nodes _ _ Hd) y _ _ ltac:(lia) A1 B1 A2 B2) as F.
    destruct (level (two_back node) (backward s (2 * node) u1) (backward s (2 * node + 1) u2)) as [l h].
    destruct F as (F1 & F2 & F3 & F4). rewrite two_pow. split; [apply Forall_app; auto|]. apply Forall2_app; assumption.
  - rewrite !pow_S in L. destruct (quarters_of _ a L) as (x0 & x1 & x2 & x3 & _ & -> & L0 & L1 & L2 & L3).
    rewrite split_four in Su by lia.
    set (l0 := plus (root node) x0 x2) in *. set (l1 := plus (root node) x1 x3) in *.
    set (h0 := minus (root node) x0 x2) in *. set (h1 := minus (root node) x1 x3) in *.
    assert (Ll0 : length l0 = length x0) by (apply zip_length; lia). assert (Ll1 : length l1 = length x0) by (unfold l1, plus; rewrite zip_length; lia).
    assert (Lh0 : length h0 = length x0) by (apply zip_length; lia). assert (Lh1 : length h1 = length x0) by (unfold h1, minus; rewrite zip_length; lia).
    rewrite !concat_app in Su. apply same_app_r in Su as (u' & u'' & S1 & S2 & ->).
    apply same_app_r in S1 as (u0 & u1 & S0 & S1 & ->). apply same_app_r in S2 as (u2 & u3 & S2 & S3 & ->).
    apply Forall_app in Hu as [Hu Hv]. apply Forall_app in Hu as [H0 H1]. apply Forall_app in Hv as [H2 H3].
    assert (K0 : length (plus (root (2 * node)%nat) l0 l1) = (d * 2 ^ depth s)%nat) by (unfold plus; rewrite zip_length; lia).
    assert (K1 : length (minus (root (2 * node)%nat) l0 l1) = (d * 2 ^ depth s)%nat) by (unfold minus; rewrite zip_length; lia).
    assert (K2 : length (plus (root (2 * node + 1)%nat) h0 h1) = (d * 2 ^ depth s)%nat) by (unfold plus; rewrite zip_length; lia).
    assert (K3 : length (minus (root (2 * node + 1)%nat) h0 h1) = (d * 2 ^ depth s)%nat) by (unfold minus; rewrite zip_length; lia).
    assert (M0 : length u0 = (d * 2 ^ depth s)%nat) by (rewrite (Forall2_length S0), (split_length d); assumption).
    assert (M1 : length u1 = (d * 2 ^ depth s)%nat) by (rewrite (Forall2_length S1), (split_length d); assumption).
    assert (M2 : length u2 = (d * 2 ^ depth s)%nat) by (rewrite (Forall2_length S2), (split_length d); assumption).
    assert (M3 : length u3 = (d * 2 ^ depth s)%nat) by (rewrite (Forall2_length S3), (split_length d); assumption).
    unfold quarters. rewrite (halve_app (u0 ++ u1) (u2 ++ u3)) by (rewrite !app_length; lia).
    rewrite (halve_app u0 u1), (halve_app u2 u3) by lia.
    destruct (IH (2 * (2 * node))%nat u0 _ (left_node _ _ (left_node _ _ Hd)) K0 H0 S0) as [A0 B0].
    destruct (IH (2 * (2 * node) + 1)%nat u1 _ (right_node _ _ (left_node _ _ Hd)) K1 H1 S1) as [A1 B1].
    destruct (IH (2 * (2 * node + 1))%nat u2 _ (left_node _ _ (right_node _ _ Hd)) K2 H2 S2) as [A2 B2].
    destruct (IH (2 * (2 * node + 1) + 1)%nat u3 _ (right_node _ _ (right_node _ _ Hd)) K3 H3 S3) as [A3 B3].
    pose proof (back_four _ node x0 (nodes _ _ Hd) (nodes _ _ (right_node _ _ Hd)) x1 x2 x3 _ _ _ _
      ltac:(lia) ltac:(lia) ltac:(lia) A0 A1 A2 A3 B0 B1 B2 B3) as F.
    destruct (level4 (four_back node) _ _ _ _) as [[[y0 y1] y2] y3].
    destruct F as ((R0 & R1 & R2 & R3) & F0 & F1 & F2 & F3). rewrite !two_pow, Z.mul_assoc.
    split; [apply Forall_app; split; apply Forall_app; auto|]. repeat apply Forall2_app; assumption.
Qed.
End Prime.

(* The table of roots: number 2^l + j is number j times [s l], a root of order 2^(l+2). *)
Section Table.
Variable P : Z.
Variables root step : nat -> Z.
Variable levels : nat.
Hypothesis First : cong P (root 0%nat) 1.
Hypothesis Next : forall l j, (l < levels)%nat -> (j < 2 ^ l)%nat -> cong P (root (2 ^ l + j)%nat) (root j * step l).
Hypothesis Quarter : cong P (step 0%nat * step 0%nat) (-1).
Hypothesis Halved : forall l, (S l < levels)%nat -> cong P (step (S l) * step (S l)) (step l).

Lemma square_times a b c : cong P (a * b * (a * b)) c -> cong P (a * a * (b * b)) c.
Proof. intros <-. exists 0. ring. Qed.

Lemma roots_level l : (l < levels)%nat -> forall j, (j < 2 ^ l)%nat ->
  cong P (root (2 * j)%nat * root (2 * j)%nat) (root j) /\ cong P (root (2 * j + 1)%nat * root (2 * j + 1)%nat) (- root j).
Proof.
  induction l as [|l IH]; intros Hl j Hj.
  - assert (j = 0)%nat by (cbn in Hj; lia). subst. change (2 * 0)%nat with 0%nat. change (0 + 1)%nat with (2 ^ 0 + 0)%nat.
    rewrite (Next 0 0 Hl ltac:(cbn; lia)), First. split; [exists 0; ring|].
    transitivity (step 0%nat * step 0%nat); [exists 0; ring|]. rewrite Quarter. exists 0. ring.
  - rewrite Nat.pow_succ_r' in Hj. destruct (Nat.lt_ge_cases j (2 ^ l)) as [H|H]; [apply (IH ltac:(lia) j H)|].
    set (i := (j - 2 ^ l)%nat). assert (Ei : j = (2 ^ l + i)%nat) by lia. assert (Hi : (i < 2 ^ l)%nat) by lia.
    destruct (IH ltac:(lia) i Hi) as [I1 I2]. rewrite Ei.
    replace (2 * (2 ^ l + i))%nat with (2 ^ S l + 2 * i)%nat by (rewrite Nat.pow_succ_r'; lia).
    replace (2 ^ S l + 2 * i + 1)%nat with (2 ^ S l + (2 * i + 1))%nat by lia.
    rewrite (Next (S l) (2 * i) Hl), (Next (S l) (2 * i + 1) Hl), (Next l i) by (rewrite ?Nat.pow_succ_r'; lia).
    pose proof (Halved l Hl) as Sq. split.
    + transitivity (root (2 * i)%nat * root (2 * i)%nat * (step (S l) * step (S l))); [exists 0; ring|]. rewrite I1, Sq. reflexivity.
    + transitivity (root (2 * i + 1)%nat * root (2 * i + 1)%nat * (step (S l) * step (S l))); [exists 0; ring|].
      rewrite I2, Sq. exists 0. ring.
Qed.

Lemma across l : (l < levels)%nat -> forall j, (j < 2 ^ l)%nat ->
  cong P (root j * root (2 ^ l - 1 - j)%nat * (step l * step l)) (-1).
Proof.
  induction l as [|l IH]; intros Hl j Hj.
  - assert (j = 0)%nat by (cbn in Hj; lia). subst. change (2 ^ 0 - 1 - 0)%nat with 0%nat. rewrite First, Quarter. exists 0. ring.
  - pose proof (Halved l Hl) as Sq. rewrite Nat.pow_succ_r' in *. destruct (Nat.lt_ge_cases j (2 ^ l)) as [H|H].
    + replace (2 * 2 ^ l - 1 - j)%nat with (2 ^ l + (2 ^ l - 1 - j))%nat by lia. rewrite (Next l) by lia. rewrite Sq.
      rewrite <- (IH ltac:(lia) j H). exists 0. ring.
    + set (i := (j - 2 ^ l)%nat). assert (Ei : j = (2 ^ l + i)%nat) by lia. assert (Hi : (i < 2 ^ l)%nat) by lia.
      rewrite Ei. replace (2 * 2 ^ l - 1 - (2 ^ l + i))%nat with (2 ^ l - 1 - i)%nat by lia. rewrite (Next l) by lia. rewrite Sq.
      rewrite <- (IH ltac:(lia) i Hi). exists 0. ring.
Qed.

(* ntt/primes.rs: roots; ntt/engine/loops.rs: reflected. The table's roots are square roots of what their nodes split, and
   the one across the level is the negative inverse. *)
Theorem table_correct : (forall l j, (l < levels)%nat -> (j < 2 ^ l)%nat ->
    cong P (root (2 * j)%nat * root (2 * j)%nat) (root j) /\ cong P (root (2 * j + 1)%nat * root (2 * j + 1)%nat) (- root j)) /\
  (forall l j, (l < levels)%nat -> (2 ^ l <= j < 2 ^ S l)%nat -> cong P (root j * root (3 * 2 ^ l - 1 - j)%nat) (-1)).
Proof.
  split; [intros l j Hl; exact (roots_level l Hl j)|]. intros l j Hl Hj. rewrite Nat.pow_succ_r' in Hj.
  set (i := (j - 2 ^ l)%nat). assert (Ei : j = (2 ^ l + i)%nat) by lia. assert (Hi : (i < 2 ^ l)%nat) by lia. rewrite Ei.
  replace (3 * 2 ^ l - 1 - (2 ^ l + i))%nat with (2 ^ l + (2 ^ l - 1 - i))%nat by lia. rewrite (Next l i), (Next l (2 ^ l - 1 - i)) by lia.
  rewrite <- (across l Hl i Hi). exists 0. ring.
Qed.
End Table.

(* ntt/primes.rs: roots. A root of order 2^LOG_ORDER, raised as the table raises it, gives the roots of its levels. *)
Theorem steps_correct P g log : 0 < log -> cong P (g ^ 2 ^ (log - 1)) (-1) ->
  let step := fun l => g ^ 2 ^ EXPONENT log (Z.of_nat l) in
  (1 < log -> cong P (step 0%nat * step 0%nat) (-1)) /\
  (forall l, Z.of_nat l + 2 < log -> cong P (step (S l) * step (S l)) (step l)).
Proof.
  intros Hl Hg step. unfold step, EXPONENT.
  assert (Twice : forall e, 0 <= e -> g ^ 2 ^ e * g ^ 2 ^ e = g ^ 2 ^ (e + 1)).
  { intros e He. assert (0 < 2 ^ e) by (apply Z.pow_pos_nonneg; lia). rewrite <- Z.pow_add_r by lia. f_equal.
    rewrite Z.pow_add_r by lia. lia. }
  split.
  - intros H. rewrite Twice by (cbn; lia). rewrite <- Hg. replace (log - 2 - Z.of_nat 0 + 1) with (log - 1) by lia. reflexivity.
  - intros l H. rewrite Twice by lia. replace (log - 2 - Z.of_nat (S l) + 1) with (log - 2 - Z.of_nat l) by lia. reflexivity.
Qed.

(* Constant::of *)
Definition constant (P inverse c : Z) := let v := (c * D) mod P in Factor v ((v * inverse) mod D).
Lemma constant_stands P inverse c : 0 < P -> stands_for P inverse c (constant P inverse c).
Proof.
  intros HP. unfold stands_for, constant. cbn [value by_inverse]. split; [apply Z.mod_pos_bound; lia|]. split; [|reflexivity].
  apply cong_mod. lia.
Qed.

(* Modulo 17: 2 has order 8, so the table has 4 roots, for three levels. *)
Definition i_17 := 264917625139441.
Definition roots (node : nat) : Z := nth node [1; 4; 2; 8] 1.
Definition across_17 (node : nat) : Z := nth node [16; 4; 8; 2] 16.
Definition factors (node : nat) := constant 17 i_17 (roots node).
Definition reflections (node : nat) := constant 17 i_17 (across_17 node).
Lemma prime_17 : 0 < 17 < 2 ^ NTT_BITS. Proof. split; reflexivity. Qed.
Lemma odd_17 : rel_prime 17 D. Proof. apply bezout_rel_prime. apply Bezout_intro with i_17 (-1). reflexivity. Qed.
Lemma inverse_17 : cong D (i_17 * 17) 1. Proof. exists 1. reflexivity. Qed.
Lemma across_correct node : (node < 4)%nat -> cong 17 (roots node * across_17 node) (-1).
Proof. intros H. do 4 (destruct node as [|node]; [apply cong_by_mod; [discriminate|reflexivity]|]). lia. Qed.
Definition sample := [203; 0; 1; 67; 16; 200; 5; 9].
Example forward_example : let c := forward 17 factors (Two (Four Done)) 0 sample in
  length c = 8%nat /\ below 17 12 c /\ same 17 c (concat (split roots 3 0 sample)).
Proof.
  apply (forward_correct 17 i_17 prime_17 odd_17 inverse_17 roots factors
    (fun node => constant_stands 17 i_17 (roots node) ltac:(lia)) 1 (Two (Four Done)) 0 sample sample).
  - reflexivity.
  - unfold below, sample. repeat constructor; lia.
  - unfold same, sample. repeat constructor; reflexivity.
Qed.
Example backward_example : let u := map (fun x => x mod 17) (concat (split roots 3 0 sample)) in
  let v := backward 17 reflections (Four (Two Done)) 0 u in below 17 4 v /\ times_of 17 (2 ^ 3) v sample.
Proof.
  apply (backward_correct 17 i_17 prime_17 odd_17 inverse_17 roots reflections across_17
    (fun node => constant_stands 17 i_17 (across_17 node) ltac:(lia)) 4 across_correct 1 (Four (Two Done)) 0 _ sample).
  - cbn. lia.
  - reflexivity.
  - unfold below. apply Forall_forall. intros x Hx. apply in_map_iff in Hx as (y & <- & _).
    pose proof (Z.mod_pos_bound y 17 ltac:(lia)). lia.
  - unfold same. cbn [depth]. induction (concat (split roots 3 0 sample)) as [|x l IH]; constructor; [|exact IH].
    apply cong_mod. lia.
Qed.
Example steps_example : let step := fun l => 2 ^ 2 ^ EXPONENT 3 (Z.of_nat l) in cong 17 (step 0%nat * step 0%nat) (-1).
Proof. apply (steps_correct 17 2 3); [lia| |lia]. apply cong_by_mod; [discriminate|reflexivity]. Qed.
Example table_example : cong 17 (roots 2 * roots (3 * 2 ^ 1 - 1 - 2)) (-1).
Proof.
  apply (table_correct 17 roots (fun l => nth l [4; 2] 1) 2); try (apply cong_by_mod; [discriminate|reflexivity]).
  - intros [|[|l]] j Hl Hj; [| |lia].
    + destruct j as [|j]; [|cbn in Hj; lia]. apply cong_by_mod; [discriminate|reflexivity].
    + destruct j as [|[|j]]; [| |cbn in Hj; lia]; (apply cong_by_mod; [discriminate|reflexivity]).
  - intros [|l] Hl; [|lia]. apply cong_by_mod; [discriminate|reflexivity].
  - lia.
  - cbn. lia.
Qed.
