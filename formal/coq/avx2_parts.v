(* crates/arith/src/backend/avx2/blocks.rs: truncated products. Of the second factor each block meets a part only; which one is read from
   the source, the loop over blocks is a model. *)
From Coq Require Import Bool.
From Arith Require Import words lanes.
From Arith Require Import places.
From Arith Require Import avx2 columns avx2_values.
From Generated Require Import avx2_constants avx2_room avx2_lanes avx2_shapes.

(* For a block of so many limbs from one on: where its first product comes, and the part of the other factor. *)
Definition slices := nat -> nat -> nat * list Z.
Fixpoint add_parts (slice : slices) (sizes : list nat) (a : list Z) (c : nat) (s : held_columns) : held_columns :=
  match sizes with
  | [] => s
  | size :: sizes => let (t, held) := room_for 0 (room_parts (Z.of_nat size)) s in let '(place, y) := slice c size in
    add_parts slice sizes (skipn size a) (c + size) (multiply (firstn size a) y place t, held)
  end.
Fixpoint parts_value (slice : slices) (sizes : list nat) (a : list Z) (c : nat) : Z :=
  match sizes with
  | [] => 0
  | size :: sizes => let '(place, y) := slice c size in
    E ^ Z.of_nat place * (value (firstn size a) * value y) + parts_value slice sizes (skipn size a) (c + size)
  end.

Lemma add_parts_correct slice n : (1 <= n)%nat -> forall sizes a c s, block_sizes sizes -> all_below E a -> list_sum sizes = length a ->
  (forall at_ size, (c <= at_)%nat -> (1 <= size)%nat -> (at_ + size <= c + length a)%nat ->
    all_below E (snd (slice at_ size)) /\ (fst (slice at_ size) + size + length (snd (slice at_ size)) <= n + 1)%nat) ->
  fits 0 0 s -> let s' := add_parts slice sizes a c s in fits 0 0 s' /\
  exists d, 0 <= d /\ span (fst s') 0 n + E ^ Z.of_nat n * d = span (fst s) 0 n + parts_value slice sizes a c.
Proof.
  intros Hn. induction sizes as [|size sizes IH]; intros a c s Hs La Sum Hy F; cbv zeta; cbn [add_parts parts_value].
  - split; [exact F|]. exists 0. split; [lia|ring].
  - inversion Hs as [|x l [Hs1 HsB] Hs2]; subst x l. change (list_sum (size :: sizes)) with (size + list_sum sizes)%nat in Sum.
    assert (Lf : length (firstn size a) = size) by (apply firstn_length_le; lia). pose proof (skipn_length size a) as Lr.
    destruct (below_part E size a La) as [La1 La2]. destruct (Hy c size (le_n _) Hs1 ltac:(lia)) as [Ly Ny].
    destruct (slice c size) as [place y]. cbn [fst snd] in Ly, Ny.
    assert (Lb : below (1 * LIMB) y) by (rewrite Z.mul_1_l; apply below_words, Ly).
    rewrite parts_like_blocks.
    assert (More : 0 <= room_blocks 1 (Z.of_nat size) <= ROOM) by (unfold room_blocks, ROOM, BLOCK in *; lia).
    destruct (room_for_correct 0 0 _ s More F) as (t & held & -> & H0 & H1 & Ft & V).
    pose proof (product_block_fits 1 (firstn size a) y place (t, held) ltac:(lia)) as P. rewrite Lf in P.
    specialize (P HsB (proj2 (below_words _) La1) Lb Ft). unfold product_block in P. rewrite Lf in P. unfold with_room in P.
    destruct (Z.ltb_spec ROOM (held + room_blocks 1 (Z.of_nat size))); [lia|]. destruct P as [P _].
    pose proof (multiply_tracks (firstn size a) y (limbs_words _ La1) (limbs_words _ Ly) 0%nat place t t (Nat.le_0_l place)
      (tracks_self _ _ _ _ Ft)) as T.
    pose proof (tracks_exact _ _ _ _ _ T P) as Ex.
    destruct (IH (skipn size a) (c + size)%nat (multiply (firstn size a) y place t, held + room_blocks 1 (Z.of_nat size)) Hs2 La2
      ltac:(lia)) as (I1 & d & Hd & I2).
    { intros at_ z G1 G2 G3. apply Hy; lia. }
    { exact (fits_ext _ _ _ _ _ Ex P). }
    split; [exact I1|]. cbn [fst] in I2. rewrite (span_ext _ _ _ _ Ex), span_rows, Nat.sub_0_r in I2 by lia.
    destruct n as [|n]; [lia|]. destruct (V n) as (d' & Hd' & V'). exists (d + d'). split; [lia|].
    rewrite <- V'. rewrite Z.mul_add_distr_l, Z.add_assoc, I2. ring.
Qed.

(* multiply_from, multiply_below *)
Definition slice_from (b : list Z) (from : nat) : slices := fun at_ size =>
  let skipped := ((from - Z.to_nat (beyond (Z.of_nat at_) (Z.of_nat size))) / 2 * 2)%nat in
  (Z.to_nat (place_from (Z.of_nat at_) (Z.of_nat skipped)), skipn skipped b).
Definition slice_below (b : list Z) : slices := fun at_ size =>
  (at_, firstn (Z.to_nat (kept (Z.of_nat (length b)) (Z.of_nat at_))) b).
Definition multiply_from (a b : list Z) (from : nat) (s : held_columns) := add_parts (slice_from b from) (sizes (length a)) a 0 s.
Definition multiply_below (a b : list Z) (s : held_columns) := add_parts (slice_below b) (sizes (length a)) a 0 s.

Lemma value_cut n l : (n <= length l)%nat -> value l = value (firstn n l) + E ^ Z.of_nat n * value (skipn n l).
Proof. intros H. rewrite <- (firstn_skipn n l) at 1. rewrite in_base_app, firstn_length_le by exact H. reflexivity. Qed.
Lemma value_below l : all_below E l -> 0 <= value l < E ^ Z.of_nat (length l).
Proof. apply in_base_range. lia. Qed.

Lemma parts_below b : all_below E b -> forall sizes a c, all_below E a -> list_sum sizes = length a -> (c + length a <= length b)%nat ->
  exists dropped, 0 <= dropped /\ 0 <= parts_value (slice_below b) sizes a c /\
  parts_value (slice_below b) sizes a c + E ^ Z.of_nat (length b) * dropped = E ^ Z.of_nat c * (value a * value b).
Proof.
  intros Lb. induction sizes as [|size sizes IH]; intros a c La Sum Hc; cbn [parts_value].
  - destruct a; [|discriminate]. exists 0. cbn [in_base]. split; [lia|]. split; [lia|ring].
  - change (list_sum (size :: sizes)) with (size + list_sum sizes)%nat in Sum. pose proof (skipn_length size a) as Lr.
    destruct (below_part E size a La) as [La1 La2]. destruct (IH (skipn size a) (c +
      size)%nat La2 ltac:(lia) ltac:(lia)) as (d & D0 & P0 & V).
    unfold slice_below, kept. replace (Z.to_nat (Z.of_nat (length b) - Z.of_nat c)) with (length b - c)%nat by lia.
    set (r := (length b - c)%nat). destruct (below_part E r b Lb) as [Lb1 Lb2].
    pose proof (value_below _ La1). pose proof (value_below _ Lb1). pose proof (value_below _ Lb2).
    assert (Pc : 0 <= E ^ Z.of_nat c) by (apply Z.pow_nonneg; lia).
    exists (d + value (firstn size a) * value (skipn r b)). split; [|split].
    + assert (0 <= value (firstn size a) * value (skipn r b)) by (apply Z.mul_nonneg_nonneg; lia). lia.
    + assert (0 <= E ^ Z.of_nat c * (value (firstn size a) * value (firstn r b))) by (repeat apply Z.mul_nonneg_nonneg; lia).
      unfold slice_below, kept in P0. lia.
    + rewrite (value_cut size a), (value_cut r b) by (unfold r; lia).
      assert (Pk : E ^ Z.of_nat (length b) = E ^ Z.of_nat c * E ^ Z.of_nat r) by (rewrite <- Z.pow_add_r by lia; f_equal; unfold r; lia).
      rewrite Nat2Z.inj_add, Z.pow_add_r in V by lia. rewrite (value_cut r b) in V by (unfold r; lia). unfold slice_below, kept in V.
      rewrite Z.mul_add_distr_l. set (rest := parts_value _ _ _ _) in *.
      replace rest with (E ^ Z.of_nat c * E ^ Z.of_nat size * (value (skipn size a) * (value (firstn r b) +
        E ^ Z.of_nat r * value (skipn r b))) -
        E ^ Z.of_nat (length b) * d) by lia. rewrite Pk. ring.
Qed.
Lemma parts_from b from : all_below E b -> (from <= length b)%nat -> forall sizes a c,
  block_sizes sizes -> all_below E a -> list_sum sizes = length a ->
  exists dropped, 0 <= dropped <= Z.of_nat (length sizes) * E ^ Z.of_nat (from + 1) /\ 0 <= parts_value (slice_from b from) sizes a c /\
  parts_value (slice_from b from) sizes a c + dropped = E ^ Z.of_nat c * (value a * value b).
Proof.
  intros Lb Hf. induction sizes as [|size sizes IH]; intros a c Hs La Sum; cbn [parts_value].
  - destruct a; [|discriminate]. exists 0. cbn [in_base length]. split; [lia|]. split; [lia|ring].
  - inversion Hs as [|x l [Hs1 HsB] Hs2]; subst x l. change (list_sum (size :: sizes)) with (size + list_sum sizes)%nat in Sum.
    pose proof (skipn_length size a) as Lr. assert (Lf : length (firstn size a) = size) by (apply firstn_length_le; lia).
    destruct (below_part E size a La) as [La1 La2]. destruct (IH (skipn size a) (c + size)%nat Hs2 La2 ltac:(lia)) as (d & D0 & P0 & V).
    unfold slice_from at 1 3. set (r := ((from - Z.to_nat (beyond (Z.of_nat c) (Z.of_nat size))) / 2 * 2)%nat).
    assert (Hr : (r <= from - (c + size - 1))%nat).
    { unfold r, beyond. replace (Z.to_nat (Z.of_nat c + Z.of_nat size - 1)) with (c + size - 1)%nat by lia. rewrite Nat.mul_comm.
      apply Nat.mul_div_le. lia. }
    unfold place_from. replace (Z.to_nat (Z.of_nat c + Z.of_nat r)) with (c + r)%nat by lia. destruct (below_part E r b Lb) as [Lb1 Lb2].
    assert (Lr' : length (firstn r b) = r) by (apply firstn_length_le; lia).
    pose proof (value_below _ La1) as R1. pose proof (value_below _ Lb1) as R2. pose proof (value_below _ Lb2) as R3. rewrite Lf in R1.
      rewrite Lr' in R2.
    assert (Pc : 0 <= E ^ Z.of_nat c) by (apply Z.pow_nonneg; lia). assert (Pr : 0 <= E ^ Z.of_nat (c + r)) by (apply Z.pow_nonneg; lia).
    exists (d + E ^ Z.of_nat c * (value (firstn size a) * value (firstn r b))). split; [|split].
    + assert (G : 0 <= E ^ Z.of_nat c * (value (firstn size a) * value (firstn r b)) <= E ^ Z.of_nat (from + 1)).
      { split; [repeat apply Z.mul_nonneg_nonneg; lia|]. destruct (Nat.eq_dec r 0) as [->|N].
        - cbn [firstn in_base]. rewrite !Z.mul_0_r. apply Z.pow_nonneg. lia.
        - transitivity (E ^ Z.of_nat c * (E ^ Z.of_nat size * E ^ Z.of_nat r)).
          + apply Z.mul_le_mono_nonneg_l; [exact Pc|]. apply Z.mul_le_mono_nonneg; lia.
          + rewrite <- !Z.pow_add_r by lia. apply Z.pow_le_mono_r; lia. }
      cbn [length]. rewrite Nat2Z.inj_succ. lia.
    + assert (0 <= E ^ Z.of_nat (c + r) * (value (firstn size a) * value (skipn r b))) by (repeat apply Z.mul_nonneg_nonneg; lia). lia.
    + rewrite (value_cut size a), (value_cut r b) by lia. rewrite Nat2Z.inj_add, Z.pow_add_r in V by lia.
      rewrite (value_cut r b) in V by lia. rewrite (Nat2Z.inj_add c r), Z.pow_add_r by lia. set (rest := parts_value _ _ _ _) in *.
      replace rest with (E ^ Z.of_nat c * E ^ Z.of_nat size * (value (skipn size a) * (value (firstn r b) +
        E ^ Z.of_nat r * value (skipn r b))) - d) by lia.
      ring.
Qed.

Lemma truncated (slice : slices) (a b : list Z) s : all_below E a -> Nat.Even (length b) -> (1 <= length b)%nat -> length a = length b ->
  (forall at_ size, (1 <= size)%nat -> (at_ + size <= length b)%nat ->
    all_below E (snd (slice at_ size)) /\ (fst (slice at_ size) + size + length (snd (slice at_ size)) <= 2 * length b + 1)%nat) ->
  fits 0 0 s -> let k := length b in let part := parts_value slice (sizes k) a 0 in span (fst s) 0 (2 * k) + part < E ^ Z.of_nat (2 * k) ->
  let t := add_parts slice (sizes k) a 0 s in fits 0 0 t /\ span (fst t) 0 (2 * k) = span (fst s) 0 (2 * k) + part.
Proof.
  intros La Ev H1 Lk Hy F k part Most t. destruct (sizes_correct k Ev) as [S1 S2].
  destruct (add_parts_correct slice (2 * k) ltac:(unfold k; lia) (sizes k) a 0 s (even_blocks _ S1) La ltac:(unfold k in *;
    lia)) as (F' & d & Hd & V).
  { intros at_ size G1 G2 G3. apply Hy; lia. }
  { exact F. }
  fold t part in F', V. split; [exact F'|]. destruct t as [t held]. cbn [fst] in *.
    pose proof (span_range _ _ _ _ (2 * k) F' 0%nat (le_n _)).
  destruct (Z.eq_dec d 0) as [->|N]; [lia|]. assert (E ^ Z.of_nat (2 * k) * 1 <= E ^ Z.of_nat (2 * k) * d)
    by (apply Z.mul_le_mono_nonneg_l; [apply Z.pow_nonneg|]; lia). lia.
Qed.

(* avx2/blocks.rs: multiply_below. What the columns hold and the product, but for a multiple of 2^(28 k). *)
Theorem multiply_below_correct a b s : all_below E a -> all_below E b -> Nat.Even (length b) -> (1 <= length b)%nat ->
  length a = length b -> fits 0 0 s -> let k := length b in span (fst s) 0 (2 * k) + value a * value b < E ^ Z.of_nat (2 * k) ->
  let t := multiply_below a b s in fits 0 0 t /\
  exists dropped, 0 <= dropped /\ span (fst t) 0 (2 * k) + E ^ Z.of_nat k * dropped = span (fst s) 0 (2 * k) + value a * value b.
Proof.
  intros La Lb Ev H1 Lk F k Most. destruct (sizes_correct k Ev) as [S1 S2].
  destruct (parts_below b Lb (sizes k) a 0 La ltac:(unfold k in *; lia) ltac:(lia)) as (d & D0 & P0 & V).
    rewrite Z.pow_0_r, Z.mul_1_l in V. fold k in V.
  assert (0 <= E ^ Z.of_nat k * d) by (apply Z.mul_nonneg_nonneg; [apply Z.pow_nonneg|]; lia). unfold multiply_below. rewrite Lk. fold k.
  destruct (truncated (slice_below b) a b s La Ev H1 Lk) as [F' V']; [|exact F|fold k; lia|].
  { intros at_ size G1 G2. unfold slice_below, kept. cbn [fst snd]. split; [apply below_part, Lb|]. rewrite firstn_length. lia. }
  cbv zeta. fold k in F', V'. split; [exact F'|]. exists d. split; [exact D0|]. lia.
Qed.

(* avx2/blocks.rs: multiply_from. What the columns hold and the product, less products of limbs below a column: what barrett.v allows to
   be left out. *)
Theorem multiply_from_correct a b from s : all_below E a -> all_below E b -> Nat.Even (length b) -> (from <= length b)%nat ->
  (1 <= length b)%nat -> length a = length b -> fits 0 0 s -> let k := length b in
  span (fst s) 0 (2 * k) + value a * value b < E ^ Z.of_nat (2 * k) -> let t := multiply_from a b from s in fits 0 0 t /\
  exists dropped, 0 <= dropped <= Z.of_nat k * E ^ Z.of_nat (from + 1) /\
    span (fst t) 0 (2 * k) + dropped = span (fst s) 0 (2 * k) + value a * value b.
Proof.
  intros La Lb Ev Hf H1 Lk F k Most. destruct (sizes_correct k Ev) as [S1 S2].
  destruct (parts_from b from Lb Hf (sizes k) a 0 (even_blocks _ S1) La ltac:(unfold k in *; lia)) as (d & D0 & P0 & V).
  rewrite Z.pow_0_r, Z.mul_1_l in V. unfold multiply_from. rewrite Lk. fold k.
  destruct (truncated (slice_from b from) a b s La Ev H1 Lk) as [F' V']; [|exact F|fold k; lia|].
  { intros at_ size G1 G2. unfold slice_from, beyond, place_from. set (r := (_ / 2 * 2)%nat). cbn [fst snd]. split; [apply below_part, Lb|].
    assert (Hr : (r <= from)%nat) by (unfold r; rewrite Nat.mul_comm; etransitivity; [apply Nat.mul_div_le; lia|lia]).
    rewrite skipn_length. lia. }
  cbv zeta. fold k in F', V'. split; [exact F'|]. exists d. split; [|lia]. split; [lia|]. etransitivity; [apply D0|].
  apply Z.mul_le_mono_nonneg_r; [apply Z.pow_nonneg; lia|]. pose proof (even_blocks _ S1) as Bs. clear - Bs S2.
  assert (G : forall l, block_sizes l -> (length l <= list_sum l)%nat).
  { induction 1 as [|x l [Hx _] _ IH]; [reflexivity|]. change (list_sum (x :: l)) with (x + list_sum l)%nat. cbn [length]. lia. }
  specialize (G _ Bs). lia.
Qed.
