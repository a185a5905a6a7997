(* crates/bfv/src/kernel/loops.rs: transforms back over all levels, the roots of the tables, and products of whole
   polynomials modulo x^n + 1. The order of the loops is the model of transforms.v. *)
From Arith Require Import words.
From Arith Require Export transforms.

(* loops.rs: inverse. The halves of a block first, then what joins them. *)
Fixpoint inverse (step : nat -> Z -> Z -> Z * Z) (levels node : nat) (a : list Z) : list Z :=
  match levels with
  | O => a
  | S levels => let '(low, high) := halve a in
    let '(l, h) := level (step node) (inverse step levels (2 * node) low) (inverse step levels (2 * node + 1) high) in l ++ h
  end.

Section Prime.
Variable Q : Z.
Hypothesis HQ : 0 < Q < 2 ^ BFV_BITS.

(* bfv/kernel/loops.rs: scale. What comes in may have 52 bits. *)
Theorem scale_correct c w x : stands_for Q c w -> 0 <= x < D -> scale (of_prime Q) x w = (c * x) mod Q.
Proof.
  intros Hw Hx. pose proof (bits Q HQ). unfold scale. cbn [q of_prime].
  destruct (times_correct Q HQ c w x Hw Hx) as [R C].
  destruct (once_correct (times (of_prime Q) x w) Q ltac:(lia) ltac:(lia)) as [R2 C2].
  apply cong_small with Q; [exact R2|apply Z.mod_pos_bound; lia|]. rewrite cong_mod by lia.
  transitivity (times (of_prime Q) x w); [|exact C]. destruct C2 as [->| ->]; [reflexivity|exists (- 1); ring].
Qed.

Lemma once_less x : 0 <= x < 2 * Q -> once x Q = x mod Q.
Proof.
  intros Hx. pose proof (bits Q HQ). destruct (once_correct x Q ltac:(lia) ltac:(lia)) as [R C].
  apply cong_small with Q; [exact R|apply Z.mod_pos_bound; lia|]. rewrite cong_mod by lia.
  destruct C as [->| ->]; [reflexivity|exists (- 1); ring].
Qed.

(* bfv/kernel/loops.rs: add *)
Theorem add_correct a b : 0 <= a < Q -> 0 <= b < Q -> add_residues Q a b = (a + b) mod Q.
Proof.
  intros Ha Hb. pose proof (bits Q HQ). unfold add_residues, add64. rewrite Z.mod_small by lia. apply once_less. lia.
Qed.

(* bfv/kernel/loops.rs: subtract *)
Theorem subtract_correct a b : 0 <= a < Q -> 0 <= b < Q -> subtract_residues Q a b = (a - b) mod Q.
Proof.
  intros Ha Hb. pose proof (bits Q HQ). unfold subtract_residues, add64, sub64.
  rewrite (Z.mod_small (a + Q)), Z.mod_small by lia. rewrite once_less by lia.
  replace (a + Q - b) with (a - b + 1 * Q) by ring. apply Z_mod_plus_full.
Qed.

(* bfv/kernel/loops.rs: add_small. Negative numbers are words from 2^63 on. *)
Theorem add_small_correct a s : 0 <= a < Q -> - Q < s < Q -> add_small Q a (s mod B) = (a + s) mod Q.
Proof.
  intros Ha Hs. pose proof (bits Q HQ). unfold add_small, add64. cbv zeta. rewrite Zplus_mod_idemp_l.
  destruct (Z_lt_le_dec s 0) as [N|N].
  - replace (s mod B) with (s + B) by (symmetry; rewrite <- (Z.mod_add s 1 B) by lia; apply Z.mod_small; lia).
    rewrite (Z.mod_small (s + Q)) by lia. rewrite Z.min_r by lia. rewrite Z.mod_small by lia. rewrite once_less by lia.
    replace (a + (s + Q)) with (a + s + 1 * Q) by ring. apply Z_mod_plus_full.
  - rewrite (Z.mod_small s), (Z.mod_small (s + Q)) by lia. rewrite Z.min_l by lia. rewrite Z.mod_small by lia.
    apply once_less. lia.
Qed.

Section Tables.
Variables root inverse_root : nat -> Z.
Variables factor inverse_factor : nat -> Z * Z.
Hypothesis Roots : forall node, stands_for Q (root node) (factor node).
Hypothesis InverseRoots : forall node, stands_for Q (inverse_root node) (inverse_factor node).
Variable count : nat.
Hypothesis Inverses : forall node, (0 < node < count)%nat -> cong Q (root node * inverse_root node) 1.

Definition back_step (node : nat) (x y : Z) := back (of_prime Q) x y (inverse_factor node).
Definition below (l : list Z) := Forall (fun v => 0 <= v < 2 * Q) l.
(* Numbers that are k times others. *)
Definition multiples (k : Z) := Forall2 (fun u v => cong Q u (k * v)).

Lemma level_below node low : forall high, length low = length high -> below low -> below high ->
  let '(l, h) := level (back_step node) low high in
  length l = length low /\ length h = length low /\ below l /\ below h.
Proof.
  induction low as [|a low IH]; intros [|b high] E Hl Hh; try discriminate; cbn [level].
  - repeat split; constructor.
  - inversion Hl as [|a' l' Ha Hl']; inversion Hh as [|b' h' Hb Hh']; subst. injection E as E.
    pose proof (back_correct Q HQ (inverse_root node) (inverse_factor node) a b (InverseRoots node) Ha Hb) as F.
    unfold back_step at 1. destruct (back (of_prime Q) a b (inverse_factor node)) as [s d]. destruct F as (F1 & F2 & _ & _).
    specialize (IH high E Hl' Hh'). destruct (level (back_step node) low high) as [l h]. destruct IH as (I1 & I2 & I3 & I4).
    cbn [length]. repeat split; try lia; constructor; assumption.
Qed.

(* One level forward, and back: twice what there was. *)
Lemma level_undone k node x : (0 < node < count)%nat -> forall y low high, length x = length y -> small Q x -> small Q y ->
  below low -> below high -> let '(l0, h0) := level (step Q factor node) x y in multiples k low l0 -> multiples k high h0 ->
  let '(l, h) := level (back_step node) low high in multiples (2 * k) l x /\ multiples (2 * k) h y.
Proof.
  intros Hn. induction x as [|a x IH]; intros [|b y] low high E Hx Hy Hl Hh; try discriminate; cbn [level].
  - intros Ml Mh. inversion Ml; inversion Mh; subst. cbn [level]. split; constructor.
  - inversion Hx as [|a' x' Ha Hx']; inversion Hy as [|b' y' Hb Hy']; subst. injection E as E.
    pose proof (butterfly_correct Q HQ (root node) (factor node) a b (Roots node) Ha Hb) as F. unfold step at 1.
    destruct (butterfly (of_prime Q) a b (factor node)) as [s d]. destruct F as (_ & _ & F3 & F4).
    specialize (IH y). destruct (level (step Q factor node) x y) as [l0 h0]. intros Ml Mh.
    inversion Ml as [|u s' us l0' Mu Mus]; inversion Mh as [|v d' vs h0' Mv Mvs]; subst.
    inversion Hl as [|u' us' Hu Hus]; inversion Hh as [|v' vs' Hv Hvs]; subst.
    specialize (IH us vs E Hx' Hy' Hus Hvs Mus Mvs). cbn [level].
    pose proof (back_correct Q HQ (inverse_root node) (inverse_factor node) u v (InverseRoots node) Hu Hv) as G.
    unfold back_step at 1. destruct (back (of_prime Q) u v (inverse_factor node)) as [s' d']. destruct G as (_ & _ & G3 & G4).
    destruct (level (back_step node) us vs) as [l h]. destruct IH as [I1 I2]. split; constructor; try assumption.
    + rewrite G3, Mu, Mv, F3, F4. exists 0. ring.
    + rewrite G4, Mu, Mv, F3, F4.
      replace (inverse_root node * (k * (a + root node * b) - k * (a - root node * b)))
        with (2 * k * b * (root node * inverse_root node)) by ring.
      rewrite (Inverses node Hn). exists 0. ring.
Qed.

Lemma in_table node levels : ((node + 1) * 2 ^ S levels <= 2 * count)%nat -> (node < count)%nat.
Proof. rewrite Nat.pow_succ_r'. intros H. pose proof (Nat.pow_nonzero 2 levels ltac:(lia)). nia. Qed.

(* bfv/kernel/loops.rs: inverse. At any depth numbers stay below 2 q, and values of a polynomial become its coefficients,
   2^levels times. *)
Theorem inverse_correct levels : forall node u a, (0 < node)%nat -> ((node + 1) * 2 ^ levels <= 2 * count)%nat ->
  length a = (2 ^ levels)%nat -> small Q a -> below u -> Forall2 (cong Q) u (forward (step Q factor) levels node a) ->
  let v := inverse back_step levels node u in
  length v = (2 ^ levels)%nat /\ below v /\ multiples (2 ^ Z.of_nat levels) v a.
Proof.
  induction levels as [|levels IH]; intros node u a Hn Hd L Ha Hu F; cbv zeta; cbn [forward inverse] in *.
  - split; [rewrite <- L; exact (Forall2_length F)|]. split; [exact Hu|]. unfold multiples. change (2 ^ Z.of_nat 0) with 1.
    clear L Ha Hu. induction F as [|x y us vs Hxy F IH]; constructor; [|exact IH]. rewrite Hxy. exists 0. ring.
  - destruct (halves_of levels a L) as (x & y & E & Ea & L1 & L2). rewrite E in F. subst a. apply Forall_app in Ha as [Hx Hy].
    pose proof (level_correct Q HQ root factor Roots node x y ltac:(lia) Hx Hy) as G.
    pose proof (level_undone (2 ^ Z.of_nat levels) node x (conj Hn (in_table _ _ Hd)) y) as U.
    destruct (level (step Q factor node) x y) as [l0 h0]. destruct G as (G1 & G2 & G3 & G4 & _).
    apply Forall2_app_inv_r in F as (u1 & u2 & F1 & F2 & ->). apply Forall_app in Hu as [Hu1 Hu2].
    destruct (IH (2 * node)%nat u1 l0 ltac:(lia) (child_0 count _ _ Hd) ltac:(lia) G3 Hu1 F1) as (A1 & A2 & A3).
    destruct (IH (2 * node + 1)%nat u2 h0 ltac:(lia) (child count _ _ 1 (le_n 1) Hd) ltac:(lia) G4 Hu2 F2) as (B1 & B2 & B3).
    assert (Lu : length u1 = length u2).
    { rewrite (Forall2_length F1), (Forall2_length F2).
      destruct (forward_correct Q HQ root factor Roots levels (2 * node) l0 ltac:(lia) ltac:(lia) G3) as [-> _].
      destruct (forward_correct Q HQ root factor Roots levels (2 * node + 1) h0 ltac:(lia) ltac:(lia) G4) as [-> _]. reflexivity. }
    rewrite (halve_app u1 u2 Lu).
    set (v1 := inverse back_step levels (2 * node) u1) in *. set (v2 := inverse back_step levels (2 * node + 1) u2) in *.
    specialize (U v1 v2 ltac:(lia) Hx Hy A2 B2 A3 B3). pose proof (level_below node v1 v2 ltac:(lia) A2 B2) as W.
    destruct (level (back_step node) v1 v2) as [l h]. destruct W as (W1 & W2 & W3 & W4). destruct U as [U1 U2].
    assert (P2 : 2 ^ Z.of_nat (S levels) = 2 * 2 ^ Z.of_nat levels) by (rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia; reflexivity).
    split; [rewrite app_length, Nat.pow_succ_r'; lia|]. split; [apply Forall_app; auto|]. rewrite P2. apply Forall2_app; assumption.
Qed.
End Tables.

(* prime.rs: new. A node's bits in reversed order. *)
Fixpoint reversed (bits node : nat) : nat :=
  match bits with O => 0 | S bits => (node mod 2) * 2 ^ bits + reversed bits (node / 2) end.
Definition power_of (g : Z) (bits node : nat) := (g ^ Z.of_nat (reversed bits node)) mod Q.
(* Constant::new *)
Definition constant (c : Z) := (c, D * c / Q).

Lemma constant_stands c : 0 <= c < Q -> stands_for Q c (constant c).
Proof. intros H. unfold stands_for, constant. cbn [fst snd]. auto. Qed.
Lemma power_stands g bits node : stands_for Q (power_of g bits node) (constant (power_of g bits node)).
Proof. apply constant_stands, Z.mod_pos_bound. lia. Qed.
Lemma power_cong g bits node : cong Q (power_of g bits node) (g ^ Z.of_nat (reversed bits node)).
Proof. apply cong_mod. lia. Qed.

Lemma reversed_more bits : forall node, (node < 2 ^ bits)%nat -> reversed (S bits) node = (2 * reversed bits node)%nat.
Proof.
  induction bits as [|bits IH]; intros node H.
  - assert (node = 0)%nat by (cbn in H; lia). subst. reflexivity.
  - assert (H2 : (node / 2 < 2 ^ bits)%nat) by (apply Nat.div_lt_upper_bound; [lia|]; rewrite Nat.pow_succ_r' in H; exact H).
    change (reversed (S (S bits)) node) with ((node mod 2) * 2 ^ S bits + reversed (S bits) (node / 2))%nat.
    rewrite (IH _ H2). change (reversed (S bits) node) with ((node mod 2) * 2 ^ bits + reversed bits (node / 2))%nat.
    rewrite Nat.pow_succ_r'. lia.
Qed.
Lemma reversed_left bits node : (node < 2 ^ bits)%nat -> (2 * reversed (S bits) (2 * node) = reversed (S bits) node)%nat.
Proof.
  intros H. rewrite (reversed_more bits node H). cbn [reversed]. f_equal.
  rewrite (Nat.mul_comm 2 node), Nat.mod_mul, Nat.div_mul by lia. lia.
Qed.
Lemma reversed_right bits node : (node < 2 ^ bits)%nat ->
  (2 * reversed (S bits) (2 * node + 1) = 2 ^ S bits + reversed (S bits) node)%nat.
Proof.
  intros H. rewrite (reversed_more bits node H). cbn [reversed].
  replace ((2 * node + 1) mod 2)%nat with 1%nat by (symmetry; rewrite Nat.add_comm, Nat.mul_comm; apply Nat.mod_add; lia).
  replace ((2 * node + 1) / 2)%nat with node by (symmetry; rewrite Nat.add_comm, Nat.mul_comm, Nat.div_add by lia; reflexivity).
  rewrite Nat.pow_succ_r'. lia.
Qed.

(* bfv/prime.rs: new. Powers of a root of order 2 n in the order of reversed bits are what transforms need. *)
Theorem roots_correct g h bits : (0 < bits)%nat -> cong Q (g ^ 2 ^ Z.of_nat bits) (-1) -> cong Q (g * h) 1 ->
  let root := power_of g bits in
  (forall node, (2 * node + 1 < 2 ^ bits)%nat -> cong Q (root (2 * node)%nat * root (2 * node)%nat) (root node)) /\
  (forall node, (2 * node + 1 < 2 ^ bits)%nat -> cong Q (root (2 * node + 1)%nat * root (2 * node + 1)%nat) (- root node)) /\
  cong Q (root 1%nat * root 1%nat) (-1) /\ (forall node, cong Q (root node * power_of h bits node) 1).
Proof.
  intros Hb Hg Hh root. destruct bits as [|bits]; [lia|].
  assert (Twice : forall n, g ^ Z.of_nat n * g ^ Z.of_nat n = g ^ Z.of_nat (2 * n)).
  { intros n. rewrite <- Z.pow_add_r by lia. f_equal. lia. }
  assert (Pow : 2 ^ Z.of_nat (S bits) = Z.of_nat (2 ^ S bits)) by (rewrite Nat2Z.inj_pow; reflexivity). rewrite Pow in Hg.
  assert (Right : forall node, (node < 2 ^ bits)%nat -> cong Q (root (2 * node + 1)%nat * root (2 * node + 1)%nat) (- root node)).
  { intros node H. unfold root. rewrite !power_cong, Twice, reversed_right by exact H.
    rewrite Nat2Z.inj_add, Z.pow_add_r, Hg by lia. exists 0. ring. }
  split; [|split; [|split]].
  - intros node H. unfold root. rewrite !power_cong, Twice, reversed_left by (rewrite Nat.pow_succ_r' in H; lia). reflexivity.
  - intros node H. apply Right. rewrite Nat.pow_succ_r' in H. lia.
  - pose proof (Nat.pow_nonzero 2 bits ltac:(lia)). rewrite (Right 0%nat ltac:(lia)). unfold root. rewrite power_cong.
    assert (Zero : forall b, reversed b 0 = 0%nat).
    { induction b as [|b IH]; [reflexivity|]. cbn [reversed]. change (0 mod 2)%nat with 0%nat. change (0 / 2)%nat with 0%nat. lia. }
    rewrite Zero. exists 0. reflexivity.
  - intros node. unfold root. rewrite !power_cong, <- Z.pow_mul_l.
    rewrite (cong_pow Q (g * h) 1) by (lia || exact Hh). rewrite Z.pow_1_l by lia. reflexivity.
Qed.

Lemma eval_mod f x : cong Q (eval (map (fun c => c mod Q) f) x) (eval f x).
Proof. induction f as [|c f IH]; cbn [map eval]; [reflexivity|]. rewrite IH, cong_mod by lia. reflexivity. Qed.

Lemma inverse_coprime i : cong D (i * Q) 1 -> rel_prime D Q.
Proof. intros [k E]. apply bezout_rel_prime. apply Bezout_intro with (- k) i. lia. Qed.

Definition residues (l : list Z) := Forall (fun v => 0 <= v < Q) l.
Definition multiply (i : Z) (xy : Z * Z) := multiply_add (of_prime Q) 0 i 0 (fst xy) (snd xy).

Lemma multiplied i a b points : cong D (i * Q) 1 -> forall xs ys, residues xs -> residues ys ->
  Forall2 (fun x p => cong Q x (D * eval a p)) xs points -> Forall2 (fun y p => cong Q y (eval b p)) ys points ->
  Forall2 (fun u p => 0 <= u < Q /\ cong Q u (eval a p * eval b p)) (map (multiply i) (combine xs ys)) points.
Proof.
  intros Hi. induction points as [|p points IH]; intros xs ys Rx Ry Fx Fy; inversion Fx; inversion Fy; subst; cbn [combine map].
  - constructor.
  - inversion Rx; inversion Ry; subst. constructor; [|apply IH; assumption]. unfold multiply. cbn [fst snd].
    destruct (multiply_add_correct Q HQ i 0 x x0 Hi ltac:(lia) ltac:(assumption) ltac:(assumption)) as [R C].
    split; [exact R|]. apply cong_cancel with D; [apply (inverse_coprime i Hi)|]. rewrite C.
    match goal with H : cong Q x _ |- _ => rewrite H end. match goal with H : cong Q x0 _ |- _ => rewrite H end.
    exists 0. ring.
Qed.

Lemma scaled_back c k v a : stands_for Q k c -> below v -> cong Q (k * 2 ^ Z.of_nat a) 1 -> forall xs, residues xs ->
  multiples (2 ^ Z.of_nat a) v xs -> map (fun x => scale (of_prime Q) x c) v = xs.
Proof.
  intros Hc Hv Hk xs Hx M. pose proof (bits Q HQ). revert Hv Hx. induction M as [|u x us xs Mu M IH]; intros Hv Hx; [reflexivity|].
  inversion Hv; inversion Hx; subst. cbn [map]. f_equal; [|apply IH; assumption].
  rewrite (scale_correct k c u Hc) by lia. apply cong_small with Q; [apply Z.mod_pos_bound; lia|assumption|].
  rewrite cong_mod, Mu by lia. rewrite Z.mul_assoc, Hk. exists 0. ring.
Qed.

(* bfv/kernel/loops.rs: inverse, multiply_add, scale. Products of polynomials modulo x^n + 1, exactly: transforms of both, the first
   one times 2^52, their products value by value, the transform back, and 1/n. *)
Theorem product_correct g h per_degree bits i a b xs ys : (0 < bits)%nat ->
  cong Q (g ^ 2 ^ Z.of_nat bits) (-1) -> cong Q (g * h) 1 -> 0 <= per_degree < Q -> cong Q (per_degree * 2 ^ Z.of_nat bits) 1 ->
  cong D (i * Q) 1 -> length a = (2 ^ bits)%nat -> length b = (2 ^ bits)%nat -> small Q a -> small Q b ->
  let table := fun g node => constant (power_of g bits node) in
  residues xs -> Forall2 (fun x v => cong Q x (D * v)) xs (forward (step Q (table g)) bits 1 a) ->
  residues ys -> Forall2 (cong Q) ys (forward (step Q (table g)) bits 1 b) ->
  map (fun v => scale (of_prime Q) v (constant per_degree))
    (inverse (back_step (table h)) bits 1 (map (multiply i) (combine xs ys))) =
  map (fun c => c mod Q) (wrapped (2 ^ bits) (mul_poly a b)).
Proof.
  intros Hb Hg Hh Hp Hn Hi La Lb Ha Hc table Rx Fx Ry Fy.
  destruct (roots_correct g h bits Hb Hg Hh) as (Left & Right & Top & Inv). set (root := power_of g bits) in *.
  assert (Roots : forall node, stands_for Q (root node) (table g node)) by (intros; apply power_stands).
  assert (Back : forall node, stands_for Q (power_of h bits node) (table h node)) by (intros; apply power_stands).
  assert (Hd : ((1 + 1) * 2 ^ bits <= 2 * 2 ^ bits)%nat) by lia.
  pose proof (fun f => values_correct Q HQ root (table g) Roots (2 ^ bits) (fun n _ => Left n) (fun n _ => Right n) bits 1 (-1) f
    ltac:(lia) Hd (fun _ => Top)) as V.
  destruct (points_correct Q root (2 ^ bits) (fun n _ => Left n) (fun n _ => Right n) bits 1 (-1) ltac:(lia) Hd (fun _ => Top))
    as [_ P].
  pose proof (V a La Ha) as Va. pose proof (V b Lb Hc) as Vb.
  set (c := map (fun c => c mod Q) (wrapped (2 ^ bits) (mul_poly a b))).
  assert (N : a <> []).
  { intros ->. cbn [length] in La. pose proof (Nat.pow_nonzero 2 bits ltac:(lia)). lia. }
  pose proof (mul_length a b N) as M1. pose proof (mul_most a b) as M2. rewrite La, Lb in *.
  assert (Lc : length c = (2 ^ bits)%nat) by (unfold c; rewrite map_length; apply wrapped_length; lia).
  assert (Rc : residues c).
  { unfold residues, c. apply Forall_forall. intros v Hv. apply in_map_iff in Hv as (x & <- & _). apply Z.mod_pos_bound. lia. }
  assert (Sc : small Q c) by (apply Forall_impl with (2 := Rc); cbv beta; lia).
  pose proof (V c Lc Sc) as Vc.
  assert (Xs : Forall2 (fun x p => cong Q x (D * eval a p)) xs (points root bits 1 (-1))).
  { apply (Forall2_compose _ _ _ _ _) with (2 := Fx) (3 := Va). cbv beta. intros x v p E1 E2. rewrite E1, E2. reflexivity. }
  assert (Ys : Forall2 (fun y p => cong Q y (eval b p)) ys (points root bits 1 (-1))).
  { apply (Forall2_compose _ _ _ _ _) with (2 := Fy) (3 := Vb). cbv beta. intros y v p E1 E2. rewrite E1, E2. reflexivity. }
  pose proof (multiplied i a b _ Hi xs ys Rx Ry Xs Ys) as U. set (u := map (multiply i) (combine xs ys)) in *.
  assert (Bu : below u).
  { unfold below. clear - U HQ. induction U as [|v p us ps [R _] U IH]; constructor; [lia|exact IH]. }
  assert (Fu : Forall2 (cong Q) u (forward (step Q (table g)) bits 1 c)).
  { assert (W : Forall2 (fun u p => cong Q u (eval c p)) u (points root bits 1 (-1))).
    { apply (Forall2_with _ _ _ _ _ U P). cbv beta. intros v p [_ Ev] Hx. unfold c.
      rewrite Ev, eval_mod, (eval_wrapped Q (2 ^ bits) _ p M1 Hx), eval_mul. reflexivity. }
    apply (fun H => Forall2_join _ _ (cong Q) _ _ H W _ Vc). cbv beta. intros ? ? ? -> ->. reflexivity. }
  destruct (inverse_correct root (power_of h bits) (table g) (table h) Roots Back (2 ^ bits) (fun n _ => Inv n)
    bits 1 u c ltac:(lia) Hd Lc Sc Bu Fu) as (_ & Bv & Mv).
  apply (scaled_back _ per_degree _ bits (constant_stands _ Hp) Bv Hn c Rc Mv).
Qed.
End Prime.

(* Modulo 17: 2 is a root of order 8 with inverse 9, and 1/4 is 13; 17 times [i] is 1 modulo 2^52. *)
Definition i_17 := 264917625139441.
Example inverse_example : let v := inverse (back_step 17 (fun node => constant 17 (power_of 17 9 2 node))) 2 1
    (forward (step 17 (fun node => constant 17 (power_of 17 2 2 node))) 2 1 [5; 67; 0; 9]) in
  map (fun x => x mod 17) v = map (fun x => (4 * x) mod 17) [5; 67; 0; 9].
Proof. vm_compute. reflexivity. Qed.
Example product_example : let t := fun g node => constant 17 (power_of 17 g 2 node) in
  let f := fun a => map (fun x => x mod 17) (forward (step 17 (t 2)) 2 1 a) in
  map (fun v => scale (of_prime 17) v (constant 17 13)) (inverse (back_step 17 (t 9)) 2 1
    (map (multiply 17 i_17) (combine (map (fun x => (D * x) mod 17) (f [5; 67; 0; 9])) (f [1; 2; 3; 4])))) =
  map (fun c => c mod 17) (wrapped (2 ^ 2) (mul_poly [5; 67; 0; 9] [1; 2; 3; 4])).
Proof.
  cbv zeta. apply (product_correct 17 prime_17 2 9 13 2 i_17 [5; 67; 0; 9] [1; 2; 3; 4]); try reflexivity; try lia; try all_small;
    try (apply cong_by_mod; [discriminate|vm_compute; reflexivity]);
    try (unfold residues; apply Forall_forall; intros v Hv; apply in_map_iff in Hv as (x & <- & _); apply Z.mod_pos_bound; lia).
  - vm_compute [combine]. repeat constructor; (apply cong_by_mod; [discriminate|vm_compute; reflexivity]).
  - repeat constructor; (apply cong_by_mod; [discriminate|vm_compute; reflexivity]).
Qed.
Example scale_example : scale (of_prime 17) (D - 1) (constant 17 13) = (13 * (D - 1)) mod 17.
Proof. apply (scale_correct 17 prime_17); [apply constant_stands|]; lia. Qed.
Example add_example : add_residues 17 16 16 = (16 + 16) mod 17. Proof. apply (add_correct 17 prime_17); lia. Qed.
Example subtract_example : subtract_residues 17 0 16 = (0 - 16) mod 17. Proof. apply (subtract_correct 17 prime_17); lia. Qed.
Example add_small_example : add_small 17 0 (-16 mod B) = (0 + -16) mod 17. Proof. apply (add_small_correct 17 prime_17); lia. Qed.
Example add_limbs_example : add_limbs (of_prime 17) 16 16 (constant 17 13) (constant 17 16) (constant 17 1) (D - 1) 5 (D - 1) =
  (16 + 16 + 13 * (D - 1) + 16 * 5 + 1 * (D - 1)) mod 17.
Proof. apply (add_limbs_correct 17 prime_17); try apply constant_stands; lia. Qed.
Example roots_example : cong 17 (power_of 17 2 2 1 * power_of 17 2 2 1) (-1).
Proof.
  apply (roots_correct 17 prime_17 2 9 2); [lia|..]; (apply cong_by_mod; [discriminate|vm_compute; reflexivity]).
Qed.
