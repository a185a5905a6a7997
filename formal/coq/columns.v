(* The column loops of the vector kernels in one lane, crates/arith/src/backend/avx2/blocks.rs and ifma/blocks.rs:
   how many products come into a column, and that no column overflows. A model of the loops: each multiplier limb
   meets a block, column by column. Constants, and what make_room is told, are those of the Rust source. *)
From Coq Require Import ZArith List Lia Arith Bool.
Import ListNotations.
From Generated Require Import avx2_constants avx2_room.
From Generated Require ifma_constants.
From Arith Require Import avx2.
Open Scope Z_scope.

Notation columns := (nat -> Z).
Definition upd (t : columns) (c : nat) (v : Z) : columns := fun j => if Nat.eqb j c then t j + v else t j.
(* A block of multiplicand limbs meets one multiplier limb: slide!, absorb. *)
Fixpoint add_row (f : Z -> Z -> Z) (x : list Z) (y : Z) (c : nat) (t : columns) : columns :=
  match x with [] => t | xi :: x => add_row f x y (S c) (upd t c (f xi y)) end.
(* Multiplier limbs one after another, each a column further. *)
Fixpoint multiply_block (f : Z -> Z -> Z) (x y : list Z) (c : nat) (t : columns) : columns :=
  match y with [] => t | yl :: y => multiply_block f x y (S c) (add_row f x yl c t) end.

Section Rows.
Variables (f : Z -> Z -> Z) (w most_x most_y : Z).
Hypothesis Hf : forall a b, 0 <= a <= most_x -> 0 <= b <= most_y -> 0 <= f a b <= w.
Definition below most (l : list Z) := Forall (fun v => 0 <= v <= most) l.

Lemma add_row_bound x : forall y c t j, below most_x x -> 0 <= y <= most_y -> 0 <= w ->
  t j <= add_row f x y c t j <= t j + (if (c <=? j)%nat && (j <? c + length x)%nat then w else 0).
Proof.
  induction x as [|a x IH]; intros y c t j Hx Hy Hw; cbn [add_row length].
  - destruct (_ && _); lia.
  - inversion Hx as [|a' x' Ha Hx']; subst. specialize (IH y (S c) (upd t c (f a y)) j Hx' Hy Hw).
    pose proof (Hf a y Ha Hy). change (upd t c (f a y) j) with (if Nat.eqb j c then t j + f a y else t j) in IH.
    destruct (Nat.eqb_spec j c); destruct (Nat.leb_spec (S c) j); destruct (Nat.ltb_spec j (S c + length x));
      destruct (Nat.leb_spec c j); destruct (Nat.ltb_spec j (c + S (length x))); cbn [andb] in *; lia.
Qed.

(* At most as many products in a column as the block has limbs. *)
Lemma multiply_block_bound x y : forall c t j, below most_x x -> below most_y y -> 0 <= w ->
  t j <= multiply_block f x y c t j <= t j + w * Z.of_nat (Nat.min (length x) (j + 1 - c)).
Proof.
  induction y as [|b y IH]; intros c t j Hx Hy Hw; cbn [multiply_block].
  - assert (0 <= w * Z.of_nat (Nat.min (length x) (j + 1 - c))) by (apply Z.mul_nonneg_nonneg; lia). lia.
  - inversion Hy as [|b' y' Hb Hy']; subst. specialize (IH (S c) (add_row f x b c t) j Hx Hy' Hw).
    pose proof (add_row_bound x b c t j Hx Hb Hw) as A.
    assert (N : Z.of_nat (Nat.min (length x) (j + 1 - S c)) + (if (c <=? j)%nat && (j <? c + length x)%nat then 1 else 0) <=
      Z.of_nat (Nat.min (length x) (j + 1 - c))).
    { destruct (Nat.leb_spec c j); destruct (Nat.ltb_spec j (c + length x)); cbn [andb]; lia. }
    apply (Z.mul_le_mono_nonneg_l _ _ w Hw) in N. rewrite Z.mul_add_distr_l in N.
    destruct ((c <=? j)%nat && (j <? c + length x)%nat); lia.
Qed.
End Rows.

(* AVX2: 28-bit limbs, whole products. *)
Definition LIMB := 2 ^ RADIX - 1.
(* carry_once from a column on. *)
Definition carried (from : nat) (t : columns) : columns := fun j =>
  if (j <? from)%nat then t j else t j mod 2 ^ RADIX + (if Nat.eqb j from then 0 else t (pred j) / 2 ^ RADIX).

(* Columns, and the products that make_room counts. *)
Definition held_columns := (columns * Z)%type.
Definition with_room (from : nat) (more : Z) (s : held_columns) : held_columns :=
  let (t, held) := s in if ROOM <? held + more then (carried from t, more) else (t, held + more).

(* From column [live] on, a column is worth at most what it started from or what carry_once left, the products held, and
   what reduce brings: the carry of the column before, up to column [done]. *)
Definition fits (live done : nat) (s : held_columns) := let (t, held) := s in 0 <= held <= ROOM /\
  forall j, (live <= j)%nat -> 0 <= t j <= CARRIED + held * PRODUCT + (if (j <=? done)%nat then 2 ^ 36 else 0).

Ltac constants :=
  unfold CARRIED, PRODUCT, LIMB, ROOM, BLOCK, RADIX in *;
  change (2 ^ 36) with 68719476736 in *; change (2 ^ 28) with 268435456 in *; change (2 ^ 32) with 4294967296 in *;
  change (2 ^ 64) with 18446744073709551616 in *.

Lemma fits_word live done t held j : fits live done (t, held) -> (live <= j)%nat -> 0 <= t j < 2 ^ 64.
Proof. intros [Hh H] Hj. specialize (H j Hj). constants. destruct (_ <=? _)%nat; lia. Qed.

Lemma with_room_fits live done more s : 0 <= more <= ROOM -> fits live done s ->
  exists t held, with_room live more s = (t, held + more) /\ 0 <= held /\ held + more <= ROOM /\ fits live done (t, held).
Proof.
  intros Hm H. destruct s as [t held]. unfold with_room. destruct (Z.ltb_spec ROOM (held + more)).
  - exists (carried live t), 0. rewrite Z.add_0_l. split; [reflexivity|]. split; [lia|]. split; [lia|].
    split; [unfold ROOM; lia|]. intros j Hj.
    assert (0 <= carried live t j <= CARRIED).
    { unfold carried. destruct (Nat.ltb_spec j live); [lia|].
      pose proof (fits_word _ _ _ _ j H Hj). destruct (Nat.eqb_spec j live).
      - pose proof (carry_once_fits (t j) 0 ltac:(lia) ltac:(lia)) as C.
        assert (0 <= t j mod 2 ^ RADIX) by (apply Z.mod_pos_bound; unfold RADIX; lia).
        change (0 / 2 ^ RADIX) with 0 in C. lia.
      - pose proof (fits_word _ _ _ _ (pred j) H ltac:(lia)).
        pose proof (carry_once_fits (t j) (t (pred j)) ltac:(lia) ltac:(lia)). lia. }
    destruct (_ <=? _)%nat; lia.
  - exists t, held. split; [reflexivity|]. destruct H as [H H']. split; [lia|]. split; [lia|]. split; [lia|exact H'].
Qed.

(* A block of a product: multiply, multiply_twice, multiply_from, multiply_below. Limbs of the multiplier weigh up to two. *)
Definition product_block (weight : Z) (x y : list Z) (c : nat) (s : held_columns) : held_columns :=
  let (t, held) := with_room 0 (room_blocks weight (Z.of_nat (length x))) s in (multiply_block Z.mul x y c t, held).

(* multiply_from and multiply_below ask for the room of a product by limbs. *)
Lemma parts_like_blocks SIZE : room_parts SIZE = room_blocks 1 SIZE.
Proof. unfold room_parts, room_blocks. lia. Qed.

Lemma product_bound weight a b : 0 <= a <= LIMB -> 0 <= b <= weight * LIMB -> 0 <= a * b <= weight * PRODUCT.
Proof.
  intros Ha Hb. split; [apply Z.mul_nonneg_nonneg; lia|]. unfold PRODUCT. fold LIMB.
  replace (weight * (LIMB * LIMB)) with (LIMB * (weight * LIMB)) by ring. apply Z.mul_le_mono_nonneg; lia.
Qed.

(* blocks.rs: add_blocks. No column overflows, whatever blocks have been multiplied before. *)
Theorem product_block_fits weight x y c s : 1 <= weight <= 2 -> Z.of_nat (length x) <= BLOCK ->
  below LIMB x -> below (weight * LIMB) y -> fits 0 0 s -> fits 0 0 (product_block weight x y c s) /\
  forall j, 0 <= fst (product_block weight x y c s) j < 2 ^ 64.
Proof.
  intros Hw Hx Lx Ly H. unfold product_block.
  assert (More : 0 <= room_blocks weight (Z.of_nat (length x)) <= ROOM).
  { unfold room_blocks, ROOM, BLOCK in *. split; [apply Z.mul_nonneg_nonneg; lia|].
    assert (weight * Z.of_nat (length x) <= 2 * 6) by (apply Z.mul_le_mono_nonneg; lia). lia. }
  destruct (with_room_fits 0 0 _ s More H) as (t & held & -> & H0 & H1 & [H2 H3]).
  assert (F : fits 0 0 (multiply_block Z.mul x y c t, held + room_blocks weight (Z.of_nat (length x)))).
  { split; [lia|]. intros j Hj. specialize (H3 j Hj).
    assert (PP : 0 <= PRODUCT) by (constants; lia).
    assert (W : 0 <= weight * PRODUCT) by (apply Z.mul_nonneg_nonneg; lia).
    pose proof (multiply_block_bound Z.mul (weight * PRODUCT) LIMB (weight * LIMB) (product_bound weight) x y c t j Lx Ly W) as B.
    assert (weight * PRODUCT * Z.of_nat (Nat.min (length x) (j + 1 - c)) <= weight * PRODUCT * Z.of_nat (length x))
      by (apply Z.mul_le_mono_nonneg_l; lia).
    unfold room_blocks in *. lia. }
  split; [exact F|]. intros j. cbn [fst]. exact (fits_word 0 0 _ _ j F ltac:(lia)).
Qed.

(* A square's block: each limb meets itself and twice those above it. *)
Definition term (x twice : nat -> Z) (size column i : nat) : Z :=
  if (2 * i =? column)%nat then x i * x i
  else if (2 * i <? column)%nat && (column - i <? size)%nat then x i * twice (column - i)%nat else 0.
Definition sum (g : nat -> Z) (n : nat) := fold_right (fun i v => g i + v) 0 (seq 0 n).
Definition weight_of (size column i : nat) : Z :=
  if (2 * i =? column)%nat then 1 else if (2 * i <? column)%nat && (column - i <? size)%nat then 2 else 0.

Lemma sum_bound g h n : (forall i, 0 <= g i <= h i) -> 0 <= sum g n <= sum h n.
Proof. intros H. unfold sum. induction (seq 0 n) as [|i l IH]; cbn [fold_right]; [lia|]. specialize (H i). lia. Qed.

(* blocks.rs: square. A column of a square's block gets at most the products that make_room is told: of the triangle, and of the
   limbs above the block, which come in from column [size] on. *)
Theorem square_block_fits size column x twice : In size [2; 4; 6]%nat -> (column < 2 * size)%nat ->
  (forall i, 0 <= x i <= LIMB) -> (forall i, 0 <= twice i <= 2 * LIMB) ->
  0 <= sum (term x twice size column) size /\
  sum (term x twice size column) size + 2 * PRODUCT * Z.of_nat (Nat.min size (column + 1 - size)) <=
    room_square (Z.of_nat size) * PRODUCT.
Proof.
  intros Hs Hc Hx Ht.
  assert (B : 0 <= sum (term x twice size column) size <= sum (fun i => weight_of size column i * PRODUCT) size).
  { apply sum_bound. intros i. unfold term, weight_of. specialize (Hx i) as Hi.
    destruct (_ =? _)%nat; [pose proof (product_bound 1 (x i) (x i)); lia|].
    destruct (_ && _); [|constants; lia]. specialize (Ht (column - i)%nat).
    pose proof (product_bound 2 (x i) (twice (column - i)%nat)). lia. }
  split; [apply B|]. destruct B as [_ B]. eapply Z.le_trans; [apply Z.add_le_mono_r, B|]. clear B Hx Ht x twice.
  unfold room_square. assert (PP : 0 <= PRODUCT) by (constants; lia). generalize dependent PRODUCT. intros P PP.
  assert (N : forall size, In size [2; 4; 6]%nat -> forall column, (column < 2 * size)%nat ->
    sum (weight_of size column) size + 2 * Z.of_nat (Nat.min size (column + 1 - size)) <= 2 * Z.of_nat size).
  { clear. intros size Hs column Hc.
    cut (forallb (fun column => sum (weight_of size column) size + 2 * Z.of_nat (Nat.min size (column + 1 - size)) <=?
      2 * Z.of_nat size) (seq 0 (2 * size)) = true).
    - intros F. rewrite forallb_forall in F. apply Z.leb_le. apply F. apply in_seq. lia.
    - destruct Hs as [<-|[<-|[<-|[]]]]; reflexivity. }
  specialize (N size Hs column Hc).
  assert (E : sum (fun i => weight_of size column i * P) size = sum (weight_of size column) size * P).
  { unfold sum. induction (seq 0 size) as [|i l IH]; cbn [fold_right]; [reflexivity|]. rewrite IH. ring. }
  rewrite E. apply (Z.mul_le_mono_nonneg_r _ _ P PP) in N. lia.
Qed.

(* A reduction: digit_of, absorb, and the complements of other digits that reduce_block_pair adds. Gives the columns, the
   digits, and the columns' values as they are when their carry is taken. *)
Definition digit_of (inverse v : Z) := (v mod 2 ^ 32 * inverse) mod 2 ^ RADIX.
Fixpoint reduce_steps (inverse m0 : Z) (m : list Z) (complements : list Z) (c : nat) (t : columns) : columns * list Z * list Z :=
  match complements with
  | [] => (t, [], [])
  | e :: complements =>
    let v := t c + e in let d := digit_of inverse v in let zero := v + d * m0 in
    let t := add_row Z.mul m d (S c) (upd t (S c) (zero / 2 ^ RADIX)) in
    let '(t, digits, zeros) := reduce_steps inverse m0 m complements (S c) t in (t, d :: digits, zero :: zeros)
  end.

(* How many of n digits, the first in column c, meet one of the limbs 1 to len in column j. *)
Fixpoint hits (n len c j : nat) : Z :=
  match n with O => 0 | S n => (if (S c <=? j)%nat && (j <? S c + len)%nat then 1 else 0) + hits n len (S c) j end.

Lemma hits_bound len n : forall c j, (c + n <= j)%nat -> 0 <= hits n len c j <= Z.of_nat (n - (j - c - len)).
Proof.
  induction n as [|n IH]; intros c j H; cbn [hits]; [lia|]. specialize (IH (S c) j ltac:(lia)).
  destruct (Nat.leb_spec (S c) j); destruct (Nat.ltb_spec j (S c + len)); cbn [andb]; lia.
Qed.

Lemma digit_range inverse v : 0 <= digit_of inverse v <= LIMB.
Proof. unfold digit_of, LIMB. pose proof (Z.mod_pos_bound (v mod 2 ^ 32 * inverse) (2 ^ RADIX) ltac:(unfold RADIX; lia)). lia. Qed.

Lemma reduce_steps_bound inverse m0 m : 0 <= m0 <= LIMB -> below LIMB m -> forall complements c t (T : columns),
  below LIMB complements ->
  (forall j, (c <= j)%nat -> 0 <= t j <= T j + (if Nat.eqb j c then 2 ^ 36 else 0)) ->
  (forall j, (c <= j)%nat -> T j + Z.of_nat (length complements) * PRODUCT + 2 ^ 36 + 2 ^ 28 < 2 ^ 64) ->
  let '(t', digits, zeros) := reduce_steps inverse m0 m complements c t in
  length digits = length complements /\ below LIMB digits /\ Forall (fun v => 0 <= v < 2 ^ 64) zeros /\
  forall j, (c + length complements <= j)%nat ->
    0 <= t' j <= T j + hits (length complements) (length m) c j * PRODUCT + (if Nat.eqb j (c + length complements) then 2 ^ 36 else 0).
Proof.
  intros H0 Lm. assert (PP : PRODUCT = LIMB * LIMB) by reflexivity.
  assert (P0 : 0 <= PRODUCT) by (constants; lia).
  induction complements as [|e es IH]; intros c t T Le Ht HT; cbn [reduce_steps length hits].
  - split; [reflexivity|]. split; [constructor|]. split; [constructor|]. intros j Hj. specialize (Ht j ltac:(lia)).
    rewrite Nat.add_0_r. lia.
  - inversion Le as [|e' es' He Les]; subst. cbv zeta. set (v := t c + e). set (d := digit_of inverse v).
    pose proof (digit_range inverse v) as Hd. fold d in Hd. set (zero := v + d * m0).
    pose proof (Ht c ltac:(lia)) as Hc. rewrite Nat.eqb_refl in Hc. pose proof (HT c ltac:(lia)) as HTc. cbn [length] in HTc.
    pose proof (product_bound 1 d m0 ltac:(lia) ltac:(lia)) as Pd.
    assert (P1 : PRODUCT <= Z.of_nat (S (length es)) * PRODUCT) by
      (rewrite Nat2Z.inj_succ; assert (0 <= Z.of_nat (length es) * PRODUCT) by (apply Z.mul_nonneg_nonneg; lia); lia).
    assert (Hz : 0 <= zero < 2 ^ 64).
    { unfold zero, v. unfold LIMB, RADIX in He. change (2 ^ 28) with 268435456 in *. lia. }
    assert (Hq : 0 <= zero / 2 ^ RADIX <= 2 ^ 36).
    { unfold RADIX. split; [apply Z.div_pos; lia|]. apply Z.div_le_upper_bound; [lia|].
      change (2 ^ 28 * 2 ^ 36) with (2 ^ 64). lia. }
    assert (Fm : forall a b, 0 <= a <= LIMB -> 0 <= b <= LIMB -> 0 <= a * b <= PRODUCT).
    { intros a b Ha Hb. pose proof (product_bound 1 a b Ha). lia. }
    set (t1 := upd t (S c) (zero / 2 ^ RADIX)).
    set (T' := fun j => T j + (if (S c <=? j)%nat && (j <? S c + length m)%nat then PRODUCT else 0)).
    specialize (IH (S c) (add_row Z.mul m d (S c) t1) T' Les).
    assert (A1 : forall j, (S c <= j)%nat -> 0 <= add_row Z.mul m d (S c) t1 j <= T' j + (if Nat.eqb j (S c) then 2 ^ 36 else 0)).
    { intros j Hj. pose proof (add_row_bound Z.mul PRODUCT LIMB LIMB Fm m d (S c) t1 j Lm Hd P0) as A.
      specialize (Ht j ltac:(lia)). unfold T'. 
      change (t1 j) with (if Nat.eqb j (S c) then t j + zero / 2 ^ RADIX else t j) in A.
      destruct (Nat.eqb_spec j (S c)); destruct (Nat.eqb_spec j c); try lia;
        destruct ((S c <=? j)%nat && (j <? S c + length m)%nat); lia. }
    assert (A2 : forall j, (S c <= j)%nat -> T' j + Z.of_nat (length es) * PRODUCT + 2 ^ 36 + 2 ^ 28 < 2 ^ 64).
    { intros j Hj. specialize (HT j ltac:(lia)). cbn [length] in HT. rewrite Nat2Z.inj_succ in HT. unfold T'.
      destruct ((S c <=? j)%nat && (j <? S c + length m)%nat); lia. }
    specialize (IH A1 A2).
    destruct (reduce_steps inverse m0 m es (S c) (add_row Z.mul m d (S c) t1)) as [[t' digits] zeros].
    destruct IH as (E & Ld & Lz & IH). cbn [length]. split; [lia|]. split; [constructor; auto|].
    split; [constructor; auto|]. intros j Hj. specialize (IH j ltac:(lia)). unfold T' in IH.
    replace (c + S (length es))%nat with (S c + length es)%nat by lia.
    destruct ((S c <=? j)%nat && (j <? S c + length m)%nat); lia.
Qed.

(* A block of a reduction, the columns below being done with: the lowest limbs of the modulus, then those above. *)
Definition reduction_block (inverse m0 : Z) (m above complements : list Z) (c : nat) (s : held_columns) :
  held_columns * list Z * list Z :=
  let (t, held) := with_room c (room_reduce (Z.of_nat (length complements))) s in
  let '(t, digits, zeros) := reduce_steps inverse m0 m complements c t in
  ((multiply_block Z.mul digits above (c + length complements) t, held), digits, zeros).

(* blocks.rs: reduce, reduce_pair. No column overflows, nor does one when its carry is taken; digits are limbs. *)
Theorem reduction_block_fits inverse m0 m above complements c s : 0 <= m0 <= LIMB -> below LIMB m -> below LIMB above ->
  below LIMB complements -> length complements = S (length m) -> Z.of_nat (length complements) <= BLOCK ->
  fits c c s ->
  let '(s', digits, zeros) := reduction_block inverse m0 m above complements c s in
  fits (c + length complements) (c + length complements) s' /\ below LIMB digits /\
  Forall (fun v => 0 <= v < 2 ^ 64) zeros.
Proof.
  intros H0 Lm La Lc E HB H. unfold reduction_block. set (size := length complements) in *.
  assert (More : 0 <= room_reduce (Z.of_nat size) <= ROOM) by (unfold room_reduce, ROOM, BLOCK in *; lia).
  destruct (with_room_fits c c _ s More H) as (t & held & -> & Hh & Hr & [_ F]). unfold room_reduce in *.
  pose proof (reduce_steps_bound inverse m0 m H0 Lm complements c t (fun _ => CARRIED + held * PRODUCT) Lc) as S.
  assert (A1 : forall j, (c <= j)%nat -> 0 <= t j <= CARRIED + held * PRODUCT + (if Nat.eqb j c then 2 ^ 36 else 0)).
  { intros j Hj. specialize (F j Hj). destruct (Nat.leb_spec j c); destruct (Nat.eqb_spec j c); lia. }
  assert (A2 : forall j, (c <= j)%nat -> CARRIED + held * PRODUCT + Z.of_nat (length complements) * PRODUCT + 2 ^ 36 + 2 ^ 28 < 2 ^ 64).
  { intros j Hj. fold size. assert ((held + Z.of_nat size) * PRODUCT <= ROOM * PRODUCT)
      by (apply Z.mul_le_mono_nonneg_r; [constants; lia|lia]). constants. lia. }
  specialize (S A1 A2). destruct (reduce_steps inverse m0 m complements c t) as [[t' digits] zeros].
  destruct S as (Ed & Ld & Lz & S). fold size in Ed, S. split; [|split; assumption].
  split; [lia|]. intros j Hj. specialize (S j Hj).
  assert (Fm : forall a b, 0 <= a <= LIMB -> 0 <= b <= LIMB -> 0 <= a * b <= PRODUCT).
  { intros a b Ha Hb. pose proof (product_bound 1 a b Ha). lia. }
  assert (P0 : 0 <= PRODUCT) by (constants; lia).
  pose proof (multiply_block_bound Z.mul PRODUCT LIMB LIMB Fm digits above (c + size) t' j Ld La P0) as B. rewrite Ed in B.
  pose proof (hits_bound (length m) size c j Hj) as Hits.
  assert (N : hits size (length m) c j + Z.of_nat (Nat.min size (j + 1 - (c + size))) <= Z.of_nat size) by lia.
  apply (Z.mul_le_mono_nonneg_r _ _ PRODUCT P0) in N.
  destruct (Nat.eqb_spec j (c + size)); destruct (Nat.leb_spec j (c + size)); lia.
Qed.

(* IFMA: 52-bit limbs, halves of products: the low half in a column, the high half in the one above. *)
Definition HALF := 2 ^ ifma_constants.RADIX - 1.
Definition low_half (a b : Z) := (a * b) mod 2 ^ ifma_constants.RADIX.
Definition high_half (a b : Z) := a * b / 2 ^ ifma_constants.RADIX.

Lemma halves a b : 0 <= a <= HALF -> 0 <= b <= HALF -> 0 <= low_half a b <= HALF /\ 0 <= high_half a b <= HALF.
Proof.
  unfold HALF, low_half, high_half, ifma_constants.RADIX. intros Ha Hb.
  pose proof (Z.mod_pos_bound (a * b) (2 ^ 52) ltac:(lia)).
  assert (0 <= a * b) by (apply Z.mul_nonneg_nonneg; lia).
  assert (a * b <= (2 ^ 52 - 1) * (2 ^ 52 - 1)) by (apply Z.mul_le_mono_nonneg; lia).
  split; [lia|]. split; [apply Z.div_pos; lia|].
  assert (a * b / 2 ^ 52 < 2 ^ 52); [|lia]. apply Z.div_lt_upper_bound; [lia|]. lia.
Qed.

(* One block meets all limbs of the multiplier. *)
Definition ifma_block (x y : list Z) (c : nat) (t : columns) : columns :=
  multiply_block high_half x y (S c) (multiply_block low_half x y c t).
(* All blocks of a product, as multiply goes through them. *)
Fixpoint ifma_product (blocks : list (list Z)) (y : list Z) (c : nat) (t : columns) : columns :=
  match blocks with [] => t | x :: blocks => ifma_product blocks y (c + length x) (ifma_block x y c t) end.

Lemma ifma_product_bound blocks y : forall c t j, Forall (below HALF) blocks -> below HALF y ->
  t j <= ifma_product blocks y c t j <= t j + 2 * Z.of_nat (length (concat blocks)) * HALF.
Proof.
  assert (H0 : 0 <= HALF) by (unfold HALF, ifma_constants.RADIX; lia).
  induction blocks as [|x blocks IH]; intros c t j Hx Hy; cbn [ifma_product concat].
  - cbn [length]. lia.
  - inversion Hx as [|x' b' Lx Lb]; subst. specialize (IH (c + length x)%nat (ifma_block x y c t) j Lb Hy).
    rewrite app_length, Nat2Z.inj_add. unfold ifma_block in *.
    pose proof (multiply_block_bound low_half HALF HALF HALF (fun a b Ha Hb => proj1 (halves a b Ha Hb)) x y c t j Lx Hy H0) as L.
    pose proof (multiply_block_bound high_half HALF HALF HALF (fun a b Ha Hb => proj2 (halves a b Ha Hb)) x y (S c)
      (multiply_block low_half x y c t) j Lx Hy H0) as U.
    assert (HALF * Z.of_nat (Nat.min (length x) (j + 1 - c)) <= HALF * Z.of_nat (length x)) by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (HALF * Z.of_nat (Nat.min (length x) (j + 1 - S c)) <= HALF * Z.of_nat (length x)) by (apply Z.mul_le_mono_nonneg_l; lia).
    lia.
Qed.

(* blocks.rs: multiply, multiply_add. Two products of k limbs put at most 4 k halves into a column: what ifma.v counts with. *)
Theorem ifma_products_fit k a b c d start j : length (concat a) = k -> length (concat c) = k ->
  Forall (below HALF) a -> Forall (below HALF) c -> below HALF b -> below HALF d -> 0 <= start j ->
  let sum := ifma_product c d 0 (ifma_product a b 0 start) j in
  start j <= sum <= start j + 4 * Z.of_nat k * HALF.
Proof.
  intros Ea Ec La Lc Lb Ld Hs sum. subst sum.
  pose proof (ifma_product_bound a b 0 start j La Lb) as A.
  pose proof (ifma_product_bound c d 0 (ifma_product a b 0 start) j Lc Ld) as C. rewrite Ea in A. rewrite Ec in C. lia.
Qed.
