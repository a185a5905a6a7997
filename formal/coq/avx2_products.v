(* crates/arith/src/backend/avx2.rs and avx2/blocks.rs: Montgomery's reductions of numbers of every even length, carries up into
   limbs, and products of lazily reduced residues with their ranges. *)
From Coq Require Import Bool.
From Arith Require Import words lanes.
From Arith Require Import places.
From Arith Require Import avx2 columns avx2_values.
From Generated Require Import avx2_constants avx2_room avx2_lanes avx2_shapes.

Definition reduce (inverse : Z) (m : list Z) (t : held_columns) : held_columns * list Z :=
  reduce_blocks inverse m (sizes (length m)) (repeat None (length m)) 0 t.
Definition reduce_pair (inverse : Z) (m : list Z) (t u : held_columns) : held_columns * list Z * held_columns * list Z :=
  let '(t, first) := reduce inverse m t in
  let '(u, second) := reduce_blocks inverse m (sizes (length m)) (map Some first) 0 u in (t, first, u, second).

Lemma reduction inverse m others t : 0 <= inverse < E -> cong E (inverse * hd 0 m) (-1) -> all_below E m ->
  Nat.Even (length m) -> length others = length m -> Forall other_limb others -> fits 0 0 t ->
  let R := E ^ Z.of_nat (length m) in let k := length m in
  span (fst t) 0 (2 * k) + value (map complement others) + R * value m < R * R ->
  let '(t', q) := reduce_blocks inverse m (sizes k) others 0 t in
  length q = k /\ all_below E q /\ fits k k t' /\
  R * span (fst t') k k = span (fst t) 0 (2 * k) + value (map complement others) + value q * value m.
Proof.
  intros Hi C Lm Ev Lo Ho F. cbv zeta. intros Most. destruct (sizes_correct _ Ev) as [S1 S2].
  pose proof (reduce_blocks_correct inverse m ltac:(lia) C Lm (sizes (length m)) others 0 t (2 * length m) (even_blocks _ S1) Ho
    ltac:(lia) ltac:(lia) ltac:(lia) F) as H. cbv zeta in H. rewrite Lo in H.
  destruct (reduce_blocks inverse m (sizes (length m)) others 0 t) as [[t' held] q]. destruct H as (F' & Lq & Bq & d & Hd & V).
  cbn [Nat.add fst] in *. replace (2 * length m - length m)%nat with (length m) in V by lia.
  pose proof (in_base_range E q ltac:(lia) Bq) as Rq. rewrite Lq in Rq. pose proof (in_base_range E m ltac:(lia) Lm) as Rm.
  pose proof (span_range _ _ _ _ (length m) F' (length m) (le_n _)) as Rs.
  set (R := E ^ Z.of_nat (length m)) in *. set (s := span t' (length m) (length m)) in *.
  assert (value q * value m <= R * value m) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (d = 0); [|subst d; rewrite Z.mul_0_r, Z.add_0_r in V; auto].
  assert (s + R * d < R) by (apply Z.mul_lt_mono_pos_l with R; lia). destruct (Z.eq_dec d 0); [assumption|].
  assert (R * 1 <= R * d) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
Qed.

Lemma no_complements n : value (map complement (repeat None n)) = 0 /\ Forall other_limb (repeat None n).
Proof. induction n as [|n [I1 I2]]; cbn [repeat map in_base complement]; split; try constructor; cbn; auto; lia. Qed.
Lemma complements q : all_below E q -> value (map complement (map Some q)) = E ^ Z.of_nat (length q) - 1 - value q /\ Forall other_limb (map Some q).
Proof.
  induction 1 as [|x q Hx _ [I1 I2]]; cbn [map in_base complement length]; [rewrite Z.pow_0_r; split; [lia|constructor]|].
  rewrite I1, pow_S. split; [ring|constructor; assumption].
Qed.

(* avx2/blocks.rs: reduce. The quotient's digits are limbs; 2^(28 k) times what is left are the columns and the quotient times the
   modulus, exactly, also where make_room carries on the way. *)
Theorem reduction_correct inverse m t : 0 <= inverse < E -> cong E (inverse * hd 0 m) (-1) -> all_below E m ->
  Nat.Even (length m) -> fits 0 0 t -> let k := length m in let R := E ^ Z.of_nat k in
  span (fst t) 0 (2 * k) + R * value m < R * R ->
  let '(t', q) := reduce inverse m t in length q = k /\ all_below E q /\ fits k k t' /\
  R * span (fst t') k k = span (fst t) 0 (2 * k) + value q * value m.
Proof.
  intros Hi C Lm Ev F. cbv zeta. intros Most. destruct (no_complements (length m)) as [V0 L0].
  pose proof (reduction inverse m (repeat None (length m)) t Hi C Lm Ev (repeat_length _ _) L0 F) as H. cbv zeta in H.
  rewrite V0, Z.add_0_r in H. exact (H Most).
Qed.

(* avx2/blocks.rs: reduce_pair. The second reduction is that of u + R - 1 - Q with the quotient Q of the first. *)
Theorem reduction_pair_correct inverse m t u : 0 <= inverse < E -> cong E (inverse * hd 0 m) (-1) -> all_below E m ->
  Nat.Even (length m) -> fits 0 0 t -> fits 0 0 u -> let k := length m in let R := E ^ Z.of_nat k in
  span (fst t) 0 (2 * k) + R * value m < R * R -> span (fst u) 0 (2 * k) + R + R * value m < R * R ->
  let '(t', Q, u', q) := reduce_pair inverse m t u in
  length Q = k /\ all_below E Q /\ length q = k /\ all_below E q /\ fits k k t' /\ fits k k u' /\
  R * span (fst t') k k = span (fst t) 0 (2 * k) + value Q * value m /\
  R * span (fst u') k k = span (fst u) 0 (2 * k) + (R - 1 - value Q) + value q * value m.
Proof.
  intros Hi C Lm Ev Ft Fu. cbv zeta. intros Mt Mu. unfold reduce_pair.
  pose proof (reduction_correct inverse m t Hi C Lm Ev Ft Mt) as H. destruct (reduce inverse m t) as [t' Q]. destruct H as (H1 & H2 & H3 & H4).
  destruct (complements Q H2) as [V0 L0]. rewrite H1 in V0. pose proof (in_base_range E Q ltac:(lia) H2).
  pose proof (reduction inverse m (map Some Q) u Hi C Lm Ev ltac:(rewrite map_length; exact H1) L0 Fu) as G. cbv zeta in G. rewrite V0 in G.
  specialize (G ltac:(lia)). destruct (reduce_blocks inverse m (sizes (length m)) (map Some Q) 0 u) as [u' q]. destruct G as (G1 & G2 & G3 & G4).
  repeat split; assumption.
Qed.

(* normalise, carry: up from the lowest column. *)
Fixpoint carried_up (lane : Z -> Z -> Z * Z) (t : list Z) (carry : Z) : list Z :=
  match t with [] => [] | c :: t => let '(out, carry) := lane c carry in out :: carried_up lane t carry end.
Definition normalise (t : list Z) := carried_up normalise_lane t 0.
Definition carry (t : list Z) := carried_up carry_lane t 0.

Lemma normalise_lane_correct x c : 0 <= x + c < B -> normalise_lane x c = ((x + c) mod E, (x + c) / E).
Proof. intros H. unfold normalise_lane, add64, shr. rewrite land_ones, (Z.mod_small (x + c) B) by exact H. reflexivity. Qed.
Lemma carried_up_correct t : all_below (B - 68719476736) t -> forall c, 0 <= c < 68719476736 ->
  let out := carried_up normalise_lane t c in all_below E out /\ length out = length t /\
  exists top, 0 <= top /\ value out + E ^ Z.of_nat (length t) * top = value t + c.
Proof.
  induction 1 as [|x t Hx _ IH]; intros c Hc; cbv zeta; cbn [carried_up length in_base].
  - split; [constructor|]. split; [reflexivity|]. exists c. rewrite Z.pow_0_r. lia.
  - rewrite normalise_lane_correct by lia.
    assert (Hq : 0 <= (x + c) / E < 68719476736) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
    destruct (IH _ Hq) as (I1 & I2 & top & I3 & I4). pose proof (Z.mod_pos_bound (x + c) E ltac:(lia)). pose proof (Z.div_mod (x + c) E ltac:(lia)).
    cbn [in_base length]. split; [constructor; assumption|]. split; [rewrite I2; reflexivity|]. exists top. split; [exact I3|].
    rewrite pow_S. lia.
Qed.
Lemma columns_range k s : fits k k s -> forall n c, (k <= c)%nat -> all_below (B - 68719476736) (to_list (fst s) c n).
Proof.
  destruct s as [t held]. intros [F1 F2] n. unfold to_list. cbn [fst].
  induction n as [|n IH]; intros c Hc; cbn [seq map]; constructor; [|apply IH; lia].
  specialize (F2 c Hc). assert (held * PRODUCT <= ROOM * PRODUCT) by (apply Z.mul_le_mono_nonneg_r; [constants; lia|lia]).
  constants. destruct (_ <=? _)%nat; lia.
Qed.

(* avx2/blocks.rs: normalise. Columns that leave room for a carry become limbs with their value, if it fits. *)
Theorem normalise_correct t : all_below (2 ^ 64 - 2 ^ 36) t -> value t < E ^ Z.of_nat (length t) ->
  all_below E (normalise t) /\ length (normalise t) = length t /\ value (normalise t) = value t.
Proof.
  intros H Hv. destruct (carried_up_correct t H 0 ltac:(lia)) as (H1 & H2 & top & H3 & H4). fold (normalise t) in H1, H2, H4.
  split; [exact H1|]. split; [exact H2|]. pose proof (in_base_range E _ ltac:(lia) H1) as Rv. rewrite H2 in Rv.
  set (P := E ^ Z.of_nat (length t)) in *. destruct (Z.eq_dec top 0) as [->|N]; [lia|].
  assert (P * 1 <= P * top) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
Qed.

(* avx2/blocks.rs: carry. Also without what leaves the last limb. *)
Theorem carry_correct t : all_below (2 ^ 64 - 2 ^ 36) t ->
  all_below E (carry t) /\ length (carry t) = length t /\ value (carry t) = value t mod E ^ Z.of_nat (length t).
Proof.
  intros H. destruct (carried_up_correct t H 0 ltac:(lia)) as (H1 & H2 & top & H3 & H4).
  change (carried_up normalise_lane t 0) with (carry t) in H1, H2, H4. split; [exact H1|]. split; [exact H2|].
  pose proof (in_base_range E _ ltac:(lia) H1) as Rv. rewrite H2 in Rv. apply Z.mod_unique with top; lia.
Qed.

Definition start_high (m : list Z) := FIRST :: repeat 0 (length m - 1) ++ hd 0 m - LESS :: tl m.
Lemma odd_limb inverse m : cong E (inverse * hd 0 m) (-1) -> all_below E m -> 1 <= hd 0 m < E /\ (1 <= length m)%nat.
Proof.
  intros [j C] H. destruct m as [|x m]; cbn [hd length] in *; [lia|]. inversion H as [|y l Hx Hm]; subst.
  split; [|lia]. destruct (Z.eq_dec x 0) as [->|N]; [rewrite Z.mul_0_r in C; lia|lia].
Qed.
Lemma value_repeat n : value (repeat 0 n) = 0.
Proof. apply in_base_zeros. Qed.

(* avx2/blocks.rs: start_high. Limbs with the value R (m - 1) + 1, for any modulus with an inverse. *)
Theorem start_high_correct inverse m : cong E (inverse * hd 0 m) (-1) -> all_below E m ->
  all_below E (start_high m) /\ length (start_high m) = (2 * length m)%nat /\
  value (start_high m) = E ^ Z.of_nat (length m) * (value m - 1) + 1.
Proof.
  intros C H. destruct (odd_limb inverse m C H) as [Hh Hl]. destruct m as [|x m]; cbn [length] in Hl; [lia|]. cbn [hd] in Hh.
  unfold start_high, FIRST, LESS. cbn [length hd tl]. replace (S (length m) - 1)%nat with (length m) by lia.
  inversion H as [|y l Hx Hm]; subst. split; [|split].
  - constructor; [lia|]. apply Forall_app. split; [apply Forall_forall; intros z Hz; apply repeat_spec in Hz; lia|constructor; [lia|exact Hm]].
  - rewrite app_length, repeat_length. cbn [length]. lia.
  - cbn [in_base]. rewrite in_base_app, value_repeat, repeat_length, pow_S. cbn [in_base]. ring.
Qed.

(* avx2.rs: mul, sqr, dual_mul, dual_sqr. With the quotients, which the kernel does not give. *)
Definition upper (k : nat) (t : held_columns) := normalise (to_list (fst t) k k).
Definition multiplied (a b : list Z) (t : held_columns) := add_blocks 1 (sizes (length a)) a b 0 t.
Definition squared (a : list Z) (t : held_columns) := square_blocks (sizes (length a)) a (map twice_lane a) 0 t.
Definition zero_columns (k : nat) := of_list (repeat 0 (2 * k)).
Definition mul (inverse : Z) (m a b : list Z) : list Z * list Z :=
  let '(t, q) := reduce inverse m (multiplied a b (zero_columns (length m))) in (upper (Z.to_nat (upper_one (Z.of_nat (length m)))) t, q).
Definition sqr (inverse : Z) (m a : list Z) : list Z * list Z :=
  let '(t, q) := reduce inverse m (squared a (zero_columns (length m))) in (upper (Z.to_nat (upper_one (Z.of_nat (length m)))) t, q).
Definition dual (inverse : Z) (m : list Z) (t u : held_columns) : list Z * list Z * list Z * list Z :=
  let '(t, first, u, second) := reduce_pair inverse m t u in
  let k := Z.to_nat (upper_pair (Z.of_nat (length m))) in (upper k t, first, upper k u, second).
Definition dual_mul (inverse : Z) (m a b c d : list Z) :=
  dual inverse m (multiplied a c (zero_columns (length m))) (multiplied b c (multiplied a d (of_list (start_high m)))).
Definition dual_sqr (inverse : Z) (m a b : list Z) :=
  dual inverse m (squared a (zero_columns (length m)))
    (add_blocks 2 (sizes (length m)) b (map twice_lane a) 0 (of_list (start_high m))).

Lemma twice_lanes a : all_below E a -> map twice_lane a = map (fun l => 2 * l) a.
Proof.
  induction 1 as [|x a Hx _ IH]; cbn [map]; [reflexivity|]. rewrite IH. f_equal. unfold twice_lane, add64. rewrite Z.mod_small; lia.
Qed.

Section Products.
Variables (inverse : Z) (m : list Z).
Let k := length m.
Let M := value m.
Let R := E ^ Z.of_nat k.
Definition modulus_of (inverse : Z) (m : list Z) := all_below E m /\ Nat.Even (length m) /\ 0 <= inverse < E /\
  cong E (inverse * hd 0 m) (-1) /\ 256 * value m <= E ^ Z.of_nat (length m).
Hypothesis Hm : modulus_of inverse m.
Definition number (a : list Z) := all_below E a /\ length a = k.

Lemma modulus_facts : 1 <= M /\ 256 * M <= R /\ (1 <= k)%nat.
Proof.
  destruct Hm as (H1 & _ & _ & H4 & H5). destruct (odd_limb inverse m H4 H1) as [Hh Hl].
  split; [|split; [exact H5|exact Hl]]. unfold M. clear Hm H5. clear k M R. destruct m as [|x l]; cbn [length hd] in *; [lia|]. cbn [in_base].
  inversion H1; subst. pose proof (in_base_range E l ltac:(lia) ltac:(assumption)). lia.
Qed.
(* A sum that needs no more than the columns: nothing is dropped where they are carried. *)
Lemma not_dropped live done s x d : fits live done s -> 0 <= d -> x < R * R ->
  span (fst s) live (2 * k) + E ^ Z.of_nat (2 * k) * d = x -> span (fst s) live (2 * k) = x.
Proof.
  intros F Hd Hx H. destruct s as [t held]. cbn [fst] in *. pose proof (span_range _ _ _ _ (2 * k) F live (le_n _)).
  replace (Z.of_nat (2 * k)) with (Z.of_nat k + Z.of_nat k) in H by lia. rewrite Z.pow_add_r in H by lia. fold R in H.
  destruct (Z.eq_dec d 0) as [->|N]; [lia|]. assert (R * R * 1 <= R * R * d) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
Qed.
Lemma zero_start : fits 0 0 (zero_columns k) /\ span (fst (zero_columns k)) 0 (2 * k) = 0.
Proof.
  unfold zero_columns. split; [apply of_list_fits, Forall_forall; intros z Hz; apply repeat_spec in Hz; lia|].
  rewrite <- (repeat_length 0 (2 * k)) at 2. rewrite of_list_value. apply value_repeat.
Qed.
Lemma high_start : fits 0 0 (of_list (start_high m)) /\ span (fst (of_list (start_high m))) 0 (2 * k) = R * (M - 1) + 1.
Proof.
  destruct Hm as (H1 & _ & _ & H4 & _). destruct (start_high_correct inverse m H4 H1) as (S1 & S2 & S3).
  split; [apply of_list_fits, S1|]. fold k in S2. rewrite <- S2. rewrite of_list_value. exact S3.
Qed.
Lemma even_k : even_sizes (sizes k) /\ list_sum (sizes k) = k.
Proof. apply sizes_correct, Hm. Qed.
Lemma product_range a b x y : 0 <= a <= x -> 0 <= b <= y -> 0 <= a * b <= x * y.
Proof. intros. split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]. Qed.

(* avx2/blocks.rs: multiply, add_blocks. The sum of what the columns hold and the product. *)
Theorem multiply_correct a b s : number a -> number b -> fits 0 0 s -> span (fst s) 0 (2 * k) + value a * value b < R * R ->
  fits 0 0 (multiplied a b s) /\ span (fst (multiplied a b s)) 0 (2 * k) = span (fst s) 0 (2 * k) + value a * value b.
Proof.
  intros [La Ka] [Lb Kb] F Most. destruct even_k as [S1 S2]. destruct modulus_facts as (_ & _ & K1). unfold multiplied. rewrite Ka.
  assert (L1 : below (1 * LIMB) b) by (rewrite Z.mul_1_l; apply below_words, Lb).
  destruct (add_blocks_correct 1 b ltac:(lia) L1 (sizes k) a 0 s (2 * k) (even_blocks _ S1) La ltac:(lia) ltac:(lia) ltac:(lia) F) as (F' & d & Hd & V).
  split; [exact F'|]. rewrite Z.pow_0_r, Z.mul_1_l in V. exact (not_dropped _ _ _ _ d F' Hd Most V).
Qed.

(* avx2/blocks.rs: multiply_twice. The same, for limbs that are twice those of a number and are not carried. *)
Theorem multiply_twice_correct a b s : number a -> number b -> fits 0 0 s ->
  span (fst s) 0 (2 * k) + 2 * (value a * value b) < R * R -> let t := add_blocks 2 (sizes k) a (map twice_lane b) 0 s in
  fits 0 0 t /\ span (fst t) 0 (2 * k) = span (fst s) 0 (2 * k) + 2 * (value a * value b).
Proof.
  intros [La Ka] [Lb Kb] F Most. cbv zeta. destruct even_k as [S1 S2]. destruct modulus_facts as (_ & _ & K1).
  rewrite (twice_lanes b Lb). destruct (twice_below b Lb) as [L2 _].
  assert (V2 : value (map (fun l => 2 * l) b) = 2 * value b).
  { rewrite (map_ext _ (fun l => l * 2)) by (intros; ring). rewrite value_times. ring. }
  destruct (add_blocks_correct 2 (map (fun l => 2 * l) b) ltac:(lia) L2 (sizes k) a 0 s (2 * k) (even_blocks _ S1) La ltac:(lia)
    ltac:(rewrite map_length; lia) ltac:(lia) F) as (F' & d & Hd & V).
  split; [exact F'|]. rewrite Z.pow_0_r, Z.mul_1_l, V2 in V.
  apply (not_dropped _ _ _ _ d F' Hd Most). rewrite V. ring.
Qed.

(* avx2/blocks.rs: square, triangle. The sum of what the columns hold and the square. *)
Theorem square_correct a s : number a -> fits 0 0 s -> span (fst s) 0 (2 * k) + value a * value a < R * R ->
  fits 0 0 (squared a s) /\ span (fst (squared a s)) 0 (2 * k) = span (fst s) 0 (2 * k) + value a * value a.
Proof.
  intros [La Ka] F Most. destruct even_k as [S1 S2]. destruct modulus_facts as (_ & _ & K1). unfold squared. rewrite Ka, (twice_lanes a La).
  destruct (square_blocks_correct (sizes k) a 0 s (2 * k) S1 La ltac:(lia) ltac:(lia) ltac:(lia) F) as (F' & d & Hd & V).
  split; [exact F'|]. change (2 * 0)%nat with 0%nat in V. rewrite Z.pow_0_r, Z.mul_1_l in V. exact (not_dropped _ _ _ _ d F' Hd Most V).
Qed.

Lemma upper_correct s : fits k k s -> span (fst s) k k < R ->
  all_below E (upper k s) /\ length (upper k s) = k /\ value (upper k s) = span (fst s) k k.
Proof.
  intros F H. pose proof (columns_range k s F k k (le_n _)) as C.
  assert (L : length (to_list (fst s) k k) = k) by (unfold to_list; rewrite map_length, seq_length; reflexivity).
  destruct (normalise_correct (to_list (fst s) k k) C) as (N1 & N2 & N3); [rewrite L, to_list_value; exact H|].
  rewrite L, to_list_value in *. auto.
Qed.

(* The low part: columns with a value of at most R m. *)
Lemma low_part s x : fits 0 0 s -> span (fst s) 0 (2 * k) = x -> 0 <= x <= R * M ->
  let '(t, q) := reduce inverse m s in number (upper k t) /\ 0 <= value (upper k t) < 2 * M /\ all_below E q /\ length q = k /\
    R * value (upper k t) = x + value q * M.
Proof.
  intros F V Hx. destruct Hm as (H1 & H2 & H3 & H4 & _). destruct modulus_facts as (M1 & M2 & K1).
  assert (R * M * 256 <= R * R) by (replace (R * M * 256) with (R * (256 * M)) by ring; apply Z.mul_le_mono_nonneg_l; lia).
  assert (0 < R * M) by (apply Z.mul_pos_pos; lia).
  pose proof (reduction_correct inverse m s H3 H4 H1 H2 F) as H'. cbv zeta in H'. fold k R M in H'. specialize (H' ltac:(lia)).
  destruct (reduce inverse m s) as [t q]. destruct H' as (Q1 & Q2 & F' & V').
  pose proof (in_base_range E q ltac:(lia) Q2) as Rq. rewrite Q1 in Rq. fold R in Rq.
  assert (value q * M < R * M) by (apply Z.mul_lt_mono_pos_r; lia).
  destruct t as [t held]. pose proof (span_range _ _ _ _ k F' k (le_n _)) as S0. cbn [fst] in *.
  assert (S2 : span t k k < 2 * M) by (apply Z.mul_lt_mono_pos_l with R; lia).
  destruct (upper_correct (t, held) F' ltac:(cbn [fst]; lia)) as (U1 & U2 & U3). cbn [fst] in U3. rewrite U3.
  split; [split; assumption|]. split; [lia|]. split; [exact Q2|]. split; [exact Q1|]. lia.
Qed.

(* avx2.rs: mul. Of residues below 2 m; or one factor is what add_chunk makes, below R / 2. *)
Theorem mul_correct a b : number a -> number b -> 2 * value a < R -> value b < 2 * M ->
  let '(r, q) := mul inverse m a b in number r /\ 0 <= value r < 2 * M /\ R * value r = value a * value b + value q * M.
Proof.
  intros Ha Hb Ra Rb. destruct modulus_facts as (M1 & M2 & K1). destruct zero_start as [F0 V0].
  pose proof (in_base_range E a ltac:(lia) (proj1 Ha)). pose proof (in_base_range E b ltac:(lia) (proj1 Hb)).
  assert (P : 0 <= 2 * value a * value b <= R * (2 * M)) by (apply product_range; lia).
  assert (R * (256 * M) <= R * R) by (apply Z.mul_le_mono_nonneg_l; lia). assert (0 < R * M) by (apply Z.mul_pos_pos; lia).
  destruct (multiply_correct a b _ Ha Hb F0 ltac:(lia)) as [F V]. rewrite V0, Z.add_0_l in V.
  pose proof (low_part _ _ F V ltac:(lia)) as L. unfold mul, upper_one. rewrite Nat2Z.id. fold k. destruct (reduce inverse m _) as [t q].
  destruct L as (L1 & L2 & _ & _ & L3). auto.
Qed.

(* avx2.rs: sqr. Of a residue, or of a sum of two. *)
Theorem sqr_correct a : number a -> value a < 4 * M ->
  let '(r, q) := sqr inverse m a in number r /\ 0 <= value r < 2 * M /\ R * value r = value a * value a + value q * M.
Proof.
  intros Ha Ra. destruct modulus_facts as (M1 & M2 & K1). destruct zero_start as [F0 V0].
  pose proof (in_base_range E a ltac:(lia) (proj1 Ha)).
  assert (P : 0 <= value a * value a <= 4 * M * (4 * M)) by (apply product_range; lia).
  assert (256 * M * M <= R * M) by (apply Z.mul_le_mono_nonneg_r; lia). assert (R * (256 * M) <= R * R) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (0 < M * M) by (apply Z.mul_pos_pos; lia). assert (0 < R * M) by (apply Z.mul_pos_pos; lia).
  destruct (square_correct a _ Ha F0 ltac:(lia)) as [F V]. rewrite V0, Z.add_0_l in V.
  pose proof (low_part _ _ F V ltac:(lia)) as L. unfold sqr, upper_one. rewrite Nat2Z.id. fold k. destruct (reduce inverse m _) as [t q].
  destruct L as (L1 & L2 & _ & _ & L3). auto.
Qed.

(* Both parts: (a + b m) (c + d m), where x = a c and y = a d + b c. *)
Lemma dual_parts t u x y : fits 0 0 t -> span (fst t) 0 (2 * k) = x -> 0 <= x <= R * M ->
  fits 0 0 u -> span (fst u) 0 (2 * k) = R * (M - 1) + 1 + y -> 0 <= y <= R * M ->
  let '(r, Q, s, q) := dual inverse m t u in number r /\ 0 <= value r < 2 * M /\ number s /\ 0 <= value s < 3 * M /\
    R * value r = x + value Q * M /\ R * value s = y + R * M - value Q + value q * M.
Proof.
  intros Ft Vt Hx Fu Vu Hy. destruct Hm as (H1 & H2 & H3 & H4 & _). destruct modulus_facts as (M1 & M2 & K1).
  assert (R * M * 256 <= R * R) by (replace (R * M * 256) with (R * (256 * M)) by ring; apply Z.mul_le_mono_nonneg_l; lia).
  assert (R * 1 <= R * M) by (apply Z.mul_le_mono_nonneg_l; lia).
  pose proof (reduction_pair_correct inverse m t u H3 H4 H1 H2 Ft Fu) as P. cbv zeta in P. fold k R M in P. specialize (P ltac:(lia) ltac:(lia)).
  unfold dual, upper_pair. rewrite Nat2Z.id. destruct (reduce_pair inverse m t u) as [[[t' Q] u'] q]. destruct P as (Q1 & Q2 & Q3 & Q4 & Ft' & Fu' & V1 & V2). fold k.
  pose proof (in_base_range E Q ltac:(lia) Q2) as RQ. rewrite Q1 in RQ. pose proof (in_base_range E q ltac:(lia) Q4) as Rq. rewrite Q3 in Rq. fold R in RQ, Rq.
  assert (0 <= value Q * M < R * M) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_lt_mono_pos_r; lia]).
  assert (0 <= value q * M < R * M) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_lt_mono_pos_r; lia]).
  destruct t' as [t' ht], u' as [u' hu]. pose proof (span_range _ _ _ _ k Ft' k (le_n _)) as S1. pose proof (span_range _ _ _ _ k Fu' k (le_n _)) as S2.
  cbn [fst] in *. assert (B1 : span t' k k < 2 * M) by (apply Z.mul_lt_mono_pos_l with R; lia).
  assert (B2 : span u' k k < 3 * M) by (apply Z.mul_lt_mono_pos_l with R; lia).
  destruct (upper_correct (t', ht) Ft' ltac:(cbn [fst]; lia)) as (U1 & U2 & U3).
  destruct (upper_correct (u', hu) Fu' ltac:(cbn [fst]; lia)) as (W1 & W2 & W3). cbn [fst] in U3, W3. rewrite U3, W3.
  split; [split; assumption|]. split; [lia|]. split; [split; assumption|]. split; [lia|]. split; lia.
Qed.

(* avx2.rs: dual_mul. Of residues; or one factor is what add_chunk makes, and the other is canonical. *)
Theorem dual_mul_correct a b c d : number a -> number b -> number c -> number d -> value b < 3 * M ->
  value a < 2 * M /\ value c < 2 * M /\ value d < 3 * M \/ 2 * value a < R /\ value c < M /\ value d < M ->
  let '(r, Q, s, q) := dual_mul inverse m a b c d in number r /\ 0 <= value r < 2 * M /\ number s /\ 0 <= value s < 3 * M /\
  (value a + value b * M) * (value c + value d * M) =
    R * (value r + value s * M) + (value b * value d - R - value q) * (M * M).
Proof.
  intros Ha Hb Hc Hd Rb Range. destruct modulus_facts as (M1 & M2 & K1). destruct zero_start as [F0 V0]. destruct high_start as [F1 V1].
  pose proof (in_base_range E a ltac:(lia) (proj1 Ha)). pose proof (in_base_range E b ltac:(lia) (proj1 Hb)).
  pose proof (in_base_range E c ltac:(lia) (proj1 Hc)). pose proof (in_base_range E d ltac:(lia) (proj1 Hd)).
  assert (0 < M * M) by (apply Z.mul_pos_pos; lia). assert (256 * M * M <= R * M) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (R * (256 * M) <= R * R) by (apply Z.mul_le_mono_nonneg_l; lia). assert (0 < R * M) by (apply Z.mul_pos_pos; lia).
  assert (P : 0 <= value a * value c <= R * M /\ 0 <= value a * value d /\ 0 <= value b * value c /\
    value a * value d + value b * value c <= R * M).
  { destruct Range as [(A & C & D)|(A & C & D)].
    - pose proof (product_range (value a) (value c) (2 * M) (2 * M) ltac:(lia) ltac:(lia)).
      pose proof (product_range (value a) (value d) (2 * M) (3 * M) ltac:(lia) ltac:(lia)).
      pose proof (product_range (value b) (value c) (3 * M) (2 * M) ltac:(lia) ltac:(lia)). lia.
    - pose proof (product_range (2 * value a) (value c) R M ltac:(lia) ltac:(lia)).
      pose proof (product_range (2 * value a) (value d) R M ltac:(lia) ltac:(lia)).
      pose proof (product_range (value b) (value c) (3 * M) M ltac:(lia) ltac:(lia)). lia. }
  destruct (multiply_correct a c _ Ha Hc F0 ltac:(lia)) as [Ft Vt]. rewrite V0, Z.add_0_l in Vt.
  destruct (multiply_correct a d _ Ha Hd F1 ltac:(lia)) as [F2 V2]. destruct (multiply_correct b c _ Hb Hc F2 ltac:(lia)) as [Fu Vu].
  rewrite V2, V1 in Vu. unfold dual_mul. fold k.
  pose proof (dual_parts _ _ _ (value a * value d + value b * value c) Ft Vt ltac:(lia) Fu ltac:(lia) ltac:(lia)) as P'.
  destruct (dual inverse m _ _) as [[[r Q] s] q]. destruct P' as (P1 & P2 & P3 & P4 & P5 & P6).
  repeat (split; [assumption|]). clear - P5 P6.
  transitivity (value a * value c + (value a * value d + value b * value c) * M + value b * value d * (M * M)); [ring|].
  replace (value a * value c) with (R * value r - value Q * M) by lia.
  replace (value a * value d + value b * value c) with (R * value s - R * M + value Q - value q * M) by lia. ring.
Qed.

(* avx2.rs: dual_sqr *)
Theorem dual_sqr_correct a b : number a -> number b -> value a < 2 * M -> value b < 3 * M ->
  let '(r, Q, s, q) := dual_sqr inverse m a b in number r /\ 0 <= value r < 2 * M /\ number s /\ 0 <= value s < 3 * M /\
  (value a + value b * M) * (value a + value b * M) =
    R * (value r + value s * M) + (value b * value b - R - value q) * (M * M).
Proof.
  intros Ha Hb Ra Rb. destruct modulus_facts as (M1 & M2 & K1). destruct zero_start as [F0 V0]. destruct high_start as [F1 V1].
  pose proof (in_base_range E a ltac:(lia) (proj1 Ha)). pose proof (in_base_range E b ltac:(lia) (proj1 Hb)).
  assert (0 < M * M) by (apply Z.mul_pos_pos; lia). assert (256 * M * M <= R * M) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (R * (256 * M) <= R * R) by (apply Z.mul_le_mono_nonneg_l; lia). assert (0 < R * M) by (apply Z.mul_pos_pos; lia).
  pose proof (product_range (value a) (value a) (2 * M) (2 * M) ltac:(lia) ltac:(lia)).
  pose proof (product_range (value b) (value a) (3 * M) (2 * M) ltac:(lia) ltac:(lia)).
  destruct (square_correct a _ Ha F0 ltac:(lia)) as [Ft Vt]. rewrite V0, Z.add_0_l in Vt.
  destruct (multiply_twice_correct b a _ Hb Ha F1 ltac:(lia)) as [Fu Vu]. rewrite V1 in Vu. unfold dual_sqr. fold k.
  pose proof (dual_parts _ _ _ (2 * (value b * value a)) Ft Vt ltac:(lia) Fu ltac:(lia) ltac:(lia)) as P'.
  destruct (dual inverse m _ _) as [[[r Q] s] q]. destruct P' as (P1 & P2 & P3 & P4 & P5 & P6).
  repeat (split; [assumption|]). clear - P5 P6.
  transitivity (value a * value a + (2 * (value b * value a)) * M + value b * value b * (M * M)); [ring|].
  replace (value a * value a) with (R * value r - value Q * M) by lia.
  replace (2 * (value b * value a)) with (R * value s - R * M + value Q - value q * M) by lia. ring.
Qed.
End Products.
