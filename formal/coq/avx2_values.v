(* crates/arith/src/backend/avx2/blocks.rs: values of products, squares and Montgomery's reductions of columns that are not carried.
   What happens in a lane is translated, blocks and places are read from the source; the loops over limbs are models. That no word
   wraps comes from columns.v: the lanes are shown to follow the exact columns there. *)
From Coq Require Import Bool.
From Arith Require Import words lanes.
From Arith Require Import places.
From Arith Require Import avx2 columns.
From Generated Require Import avx2_constants avx2_room avx2_lanes avx2_shapes.

(* 2^28: the base of a number's limbs; 2^32: what vpmuludq reads of a lane. *)
Notation E := 268435456.
Notation W := 4294967296.
Notation value := (in_base E).

Lemma land_ones x : Z.land x ones = x mod E.
Proof. apply land_limb. Qed.
Lemma mul32_small a b : 0 <= a < W -> 0 <= b < W -> mul32 a b = a * b.
Proof. intros. unfold mul32. rewrite !Z.mod_small by lia. reflexivity. Qed.
Lemma add_product_correct s a b : 0 <= a < W -> 0 <= b < W -> add_product s a b = (s + a * b) mod B.
Proof. intros. unfold add_product, add64. rewrite mul32_small by assumption. reflexivity. Qed.
Lemma below_words l : below LIMB l <-> all_below E l.
Proof. unfold below, all_below, LIMB, RADIX. change (2 ^ 28) with E. split; intros H; (eapply Forall_impl; [|exact H]); cbn beta; lia. Qed.
Lemma limbs_words l : all_below E l -> all_below W l.
Proof. intros H. eapply Forall_impl; [|exact H]. cbn beta. lia. Qed.

(* Columns as a number, from one on. *)
Fixpoint span (t : columns) (c n : nat) : Z := match n with O => 0 | S n => t c + E * span t (S c) n end.
Lemma span_ext t u n : forall c, (forall j, (c <= j)%nat -> t j = u j) -> span t c n = span u c n.
Proof. induction n as [|n IH]; intros c H; cbn [span]; [reflexivity|]. rewrite H, (IH (S c)) by (intros; try apply H; lia). reflexivity. Qed.
Lemma span_upd t p v : forall n c, (c <= p < c + n)%nat -> span (upd t p v) c n = span t c n + E ^ Z.of_nat (p - c) * v.
Proof.
  induction n as [|n IH]; intros c H; [lia|]. cbn [span]. destruct (Nat.eq_dec p c) as [->|N].
  - rewrite (span_ext (upd t c v) t n (S c)) by (intros j Hj; unfold upd; destruct (Nat.eqb_spec j c); [lia|reflexivity]).
    unfold upd. rewrite Nat.eqb_refl, Nat.sub_diag, Z.pow_0_r. lia.
  - rewrite IH by lia. unfold upd. destruct (Nat.eqb_spec c p); [lia|].
    replace (p - c)%nat with (S (p - S c)) by lia. rewrite pow_S. ring.
Qed.
Lemma span_row f x y : forall p c n t, (c <= p)%nat -> (p + length x <= c + n)%nat ->
  span (add_row f x y p t) c n = span t c n + E ^ Z.of_nat (p - c) * value (map (fun a => f a y) x).
Proof.
  induction x as [|a x IH]; intros p c n t H1 H2; cbn [add_row length map in_base] in *; [ring|].
  rewrite IH by lia. rewrite span_upd by lia. replace (S p - c)%nat with (S (p - c)) by lia. rewrite pow_S. ring.
Qed.
Lemma value_times y x : value (map (fun a => a * y) x) = value x * y.
Proof. induction x as [|a x IH]; cbn [map in_base]; [ring|]. rewrite IH. ring. Qed.
Lemma span_rows x ys : forall p c n t, (c <= p)%nat -> (p + length x + length ys <= c + n + 1)%nat ->
  span (multiply_block Z.mul x ys p t) c n = span t c n + E ^ Z.of_nat (p - c) * (value x * value ys).
Proof.
  induction ys as [|y ys IH]; intros p c n t H1 H2; cbn [multiply_block length in_base] in *; [ring|].
  rewrite IH by lia. rewrite span_row by lia. rewrite value_times. replace (S p - c)%nat with (S (p - c)) by lia. rewrite pow_S. ring.
Qed.
Lemma span_carried from t : forall n,
  span (carried from t) from (S n) + E ^ Z.of_nat (S n) * (t (from + n)%nat / E) = span t from (S n).
Proof.
  assert (G : forall n c, (from < c)%nat -> span (carried from t) c n + E ^ Z.of_nat n * (t (pred (c + n)) / E) = span t c n + t (pred c) / E).
  { induction n as [|n IH]; intros c H; cbn [span]; [rewrite Nat.add_0_r, Z.pow_0_r; lia|].
    specialize (IH (S c) ltac:(lia)). cbn [pred] in IH. rewrite pow_S. replace (pred (c + S n))%nat with (c + n)%nat by lia.
    replace (pred (S c + n))%nat with (c + n)%nat in IH by lia.
    unfold carried at 1. destruct (Nat.ltb_spec c from); [lia|]. destruct (Nat.eqb_spec c from); [lia|].
    change (2 ^ RADIX) with E. pose proof (Z.div_mod (t c) E ltac:(lia)). lia. }
  intros n. specialize (G n (S from) ltac:(lia)). cbn [pred] in G. replace (pred (S from + n))%nat with (from + n)%nat in G by lia.
  cbn [span]. unfold carried at 1. rewrite Nat.ltb_irrefl, Nat.eqb_refl. change (2 ^ RADIX) with E. rewrite pow_S.
  pose proof (Z.div_mod (t from) E ltac:(lia)). lia.
Qed.

(* Lanes follow the exact columns, from one column on: they are those modulo 2^64. *)
Definition tracks (from : nat) (s t : columns) := forall j, (from <= j)%nat -> s j = t j mod B.
Definition put (t : columns) (c : nat) (v : Z) : columns := fun j => if Nat.eqb j c then v else t j.
Fixpoint row (f : Z -> Z -> Z -> Z) (x : list Z) (y : Z) (c : nat) (t : columns) : columns :=
  match x with [] => t | a :: x => row f x y (S c) (put t c (f (t c) a y)) end.
(* slide!, for one block and all limbs of the multiplier. In Rust, columns slide through registers while limbs are added to them;
   here they stay where they stand. *)
Fixpoint multiply (x ys : list Z) (c : nat) (t : columns) : columns :=
  match ys with [] => t | y :: ys => multiply x ys (S c) (row slide_lane x y c t) end.
Definition adds (f : Z -> Z -> Z -> Z) := forall s a b, 0 <= a < W -> 0 <= b < W -> f s a b = (s + a * b) mod B.

Lemma tracks_put from c s t v w : tracks from s t -> v = (t c + w) mod B -> tracks from (put s c v) (upd t c w).
Proof. intros H E j Hj. unfold put, upd. destruct (Nat.eqb_spec j c); [subst; reflexivity|apply H, Hj]. Qed.
Lemma row_tracks f x y : adds f -> all_below W x -> 0 <= y < W -> forall from c s t, (from <= c)%nat -> tracks from s t ->
  tracks from (row f x y c s) (add_row Z.mul x y c t).
Proof.
  intros Hf Hx Hy. induction Hx as [|a x Ha _ IH]; intros from c s t Hc H; cbn [row add_row]; [exact H|].
  apply IH; [lia|]. apply tracks_put; [exact H|]. rewrite Hf, (H c Hc), Zplus_mod_idemp_l by assumption. reflexivity.
Qed.
Lemma slide_adds : adds slide_lane.
Proof. intros s a b Ha Hb. apply add_product_correct; assumption. Qed.
Lemma absorb_adds : adds (fun s l d => absorb_lane s d l).
Proof. intros s a b Ha Hb. unfold absorb_lane. rewrite add_product_correct by assumption. f_equal. ring. Qed.
Lemma multiply_tracks x ys : all_below W x -> all_below W ys -> forall from c s t, (from <= c)%nat -> tracks from s t ->
  tracks from (multiply x ys c s) (multiply_block Z.mul x ys c t).
Proof.
  intros Hx Hy. induction Hy as [|y ys Ha _ IH]; intros from c s t Hc H; cbn [multiply multiply_block]; [exact H|].
  apply IH; [lia|]. apply row_tracks; auto using slide_adds.
Qed.
Lemma tracks_exact live done s t held : tracks live s t -> fits live done (t, held) -> forall j, (live <= j)%nat -> s j = t j.
Proof. intros H F j Hj. rewrite (H j Hj). apply Z.mod_small. exact (fits_word _ _ _ _ j F Hj). Qed.
Lemma fits_ext live done s t held : (forall j, (live <= j)%nat -> s j = t j) -> fits live done (t, held) -> fits live done (s, held).
Proof. intros H [F1 F2]. split; [exact F1|]. intros j Hj. rewrite H by exact Hj. apply F2, Hj. Qed.

Lemma span_range live done t held n : fits live done (t, held) -> forall c, (live <= c)%nat -> 0 <= span t c n.
Proof.
  intros F. induction n as [|n IH]; intros c Hc; cbn [span]; [lia|]. pose proof (fits_word _ _ _ _ c F Hc). specialize (IH (S c) ltac:(lia)). lia.
Qed.

(* carry_once from a column on, and make_room. *)
Fixpoint carry_in (from i : nat) (t : columns) : Z :=
  match i with O => 0 | S i => snd (carry_once_lane (t (from + i)%nat) (carry_in from i t)) end.
Definition carry_once (from : nat) (t : columns) : columns := fun j =>
  if (j <? from)%nat then t j else fst (carry_once_lane (t j) (carry_in from (j - from) t)).
Definition room_for (from : nat) (more : Z) (s : held_columns) : held_columns :=
  let (t, held) := s in if ROOM <? held + more then (carry_once from t, HELD + more) else (t, held + more).

Lemma room_for_correct live done more s : 0 <= more <= ROOM -> fits live done s -> exists t held,
  room_for live more s = (t, held + more) /\ 0 <= held /\ held + more <= ROOM /\ fits live done (t, held) /\
  forall n, exists d, 0 <= d /\ span t live (S n) + E ^ Z.of_nat (S n) * d = span (fst s) live (S n).
Proof.
  intros Hm H. destruct (with_room_fits live done more s Hm H) as (t & held & Et & H0 & H1 & F). destruct s as [s h].
  unfold with_room in Et. unfold room_for. destruct (ROOM <? h + more) eqn:Full.
  - injection Et as <- Eh. assert (held = 0) by lia. subst held. exists (carry_once live s), 0.
    assert (X : forall j, (live <= j)%nat -> carry_once live s j = carried live s j).
    { intros j Hj. unfold carry_once, carried, carry_once_lane. destruct (Nat.ltb_spec j live); [lia|]. cbn [fst].
      pose proof (fits_word _ _ _ _ j H Hj) as Wj. unfold add64. rewrite land_ones. change (2 ^ RADIX) with E.
      destruct (Nat.eqb_spec j live) as [->|N].
      - rewrite Nat.sub_diag. cbn [carry_in]. apply Z.mod_small. pose proof (Z.mod_pos_bound (s live) E ltac:(lia)). lia.
      - replace (j - live)%nat with (S (pred j - live)) by lia. cbn [carry_in].
        replace (live + (pred j - live))%nat with (pred j) by lia. unfold carry_once_lane, shr. cbn [snd]. change (2 ^ 28) with E.
        pose proof (fits_word _ _ _ _ (pred j) H ltac:(lia)) as Wp. change (2 ^ 64) with B in *.
        pose proof (Z.mod_pos_bound (s j) E ltac:(lia)).
        assert (0 <= s (pred j) / E < 68719476736) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
        apply Z.mod_small. lia. }
    split; [reflexivity|]. split; [lia|]. split; [lia|]. split; [exact (fits_ext _ _ _ _ _ X F)|].
    intros n. exists (s (live + n)%nat / E). split; [|rewrite (span_ext _ _ _ _ X); apply span_carried].
    pose proof (fits_word _ _ _ _ (live + n)%nat H ltac:(lia)). apply Z.div_pos; lia.
  - injection Et as <- Eh. assert (held = h) by lia. subst held. exists s, h.
    split; [reflexivity|]. split; [lia|]. split; [lia|]. split; [exact F|]. intros n. exists 0. split; [lia|]. cbn [fst]. lia.
Qed.

(* Digits of a reduction one after another: digit_of, absorb, and before it, in the second of two reductions, the complement of the
   other digit. *)
Fixpoint steps (inverse m0 : Z) (m : list Z) (others : list (option Z)) (c : nat) (t : columns) : columns * list Z :=
  match others with
  | [] => (t, [])
  | o :: others =>
    let v := match o with None => t c | Some d => complement_lane (t c) d end in let d := digit_lane v inverse in
    let t := row (fun s l d => absorb_lane s d l) m d (S c) (put t (S c) (absorb_carry v (t (S c)) d m0)) in
    let '(t, digits) := steps inverse m0 m others (S c) t in (t, d :: digits)
  end.
Definition complement (o : option Z) := match o with None => 0 | Some d => E - 1 - d end.
Definition other_limb (o : option Z) := match o with None => True | Some d => 0 <= d < E end.

Lemma complement_correct v d : 0 <= d < E -> complement_lane v d = (v + (E - 1 - d)) mod B.
Proof.
  intros H. unfold complement_lane, add64, andnot, not64. rewrite land_ones.
  replace ((B - 1 - d) mod E) with (E - 1 - d); [reflexivity|]. apply Z.mod_unique with (B / E - 1); [lia|].
  change (B / E) with 68719476736. lia.
Qed.
Lemma mod_mod x a b : 0 < a -> 0 < b -> (b | a) -> (x mod a) mod b = x mod b.
Proof. intros. symmetry. apply Zmod_div_mod; assumption. Qed.

Lemma steps_tracks inverse m0 m : 0 <= inverse < W -> 0 <= m0 < E -> all_below E m -> forall others c s t,
  Forall other_limb others -> tracks c s t ->
  let '(t', digits, zeros) := reduce_steps inverse m0 m (map complement others) c t in Forall (fun v => 0 <= v < 2 ^ 64) zeros ->
  let '(s', digits') := steps inverse m0 m others c s in digits' = digits /\ tracks (c + length others) s' t'.
Proof.
  intros Hi H0 Hm. induction others as [|o others IH]; intros c s t Ho H; cbn [map reduce_steps steps length].
  - intros _. rewrite Nat.add_0_r. auto.
  - inversion Ho as [|o' os Ho1 Ho2]; subst. cbv zeta. set (v := t c + complement o).
    assert (V : match o with None => s c | Some d => complement_lane (s c) d end = v mod B).
    { unfold v. rewrite (H c (Nat.le_refl c)). destruct o as [d|]; cbn [complement other_limb] in *.
      - rewrite complement_correct, Zplus_mod_idemp_l by assumption. reflexivity.
      - rewrite Z.add_0_r. reflexivity. }
    rewrite V. set (d := columns.digit_of inverse v). pose proof (digit_range inverse v) as Hd. fold d in Hd.
    unfold LIMB, RADIX in Hd. change (2 ^ 28) with E in Hd.
    assert (Dd : digit_lane (v mod B) inverse = d).
    { unfold digit_lane, mul32, d, columns.digit_of. rewrite land_ones. rewrite (Z.mod_small inverse W) by lia.
      rewrite (mod_mod v B W) by (try lia; exists W; reflexivity). reflexivity. }
    rewrite Dd. set (zero := v + d * m0).
    specialize (IH (S c) (row (fun s l d => absorb_lane s d l) m d (S c) (put s (S c) (absorb_carry (v mod B) (s (S c)) d m0)))
      (add_row Z.mul m d (S c) (upd t (S c) (zero / 2 ^ RADIX))) Ho2).
    destruct (reduce_steps inverse m0 m (map complement others) (S c) _) as [[t' digits] zeros].
    destruct (steps inverse m0 m others (S c) _) as [s' digits'].
    intros Hz. inversion Hz as [|z zs Z1 Z2]; subst. fold zero in Z1. change (2 ^ 64) with B in Z1.
    destruct IH as [-> T]; [|exact Z2|split; [reflexivity|]; rewrite <- plus_n_Sm; exact T].
    apply row_tracks; [exact absorb_adds|apply limbs_words, Hm|lia|lia|]. apply tracks_put; [intros j Hj; apply H; lia|].
    unfold absorb_carry, add64, shr. rewrite add_product_correct by lia. rewrite Zplus_mod_idemp_l. fold zero.
    rewrite (Z.mod_small zero) by exact Z1. rewrite (H (S c)) by lia. rewrite Zplus_mod_idemp_l. reflexivity.
Qed.

Lemma steps_value inverse m0 m : cong E (inverse * m0) (-1) -> forall complements c t n,
  (length complements + S (length m) <= n)%nat ->
  let '(t', digits, zeros) := reduce_steps inverse m0 m complements c t in
  E ^ Z.of_nat (length complements) * span t' (c + length complements) (n - length complements) =
    span t c n + value complements + value digits * value (m0 :: m).
Proof.
  intros Hm. induction complements as [|e es IH]; intros c t n Hn; cbn [reduce_steps length].
  - rewrite Nat.add_0_r, Nat.sub_0_r, Z.pow_0_r. cbn [in_base]. ring.
  - cbv zeta. cbn [length] in Hn. destruct n as [|n]; [lia|]. set (v := t c + e). set (d := columns.digit_of inverse v). set (zero := v + d * m0).
    specialize (IH (S c) (add_row Z.mul m d (S c) (upd t (S c) (zero / 2 ^ RADIX))) n ltac:(lia)).
    destruct (reduce_steps inverse m0 m es (S c) _) as [[t' digits] zeros].
    rewrite span_row in IH by lia. rewrite span_upd in IH by lia. rewrite value_times, Nat.sub_diag, Z.pow_0_r in IH.
    replace (c + S (length es))%nat with (S c + length es)%nat by lia. replace (S n - S (length es))%nat with (n - length es)%nat by lia.
    rewrite pow_S. cbn [span in_base] in *. change (2 ^ RADIX) with E in IH.
    assert (Z0 : zero = E * (zero / E)).
    { assert (C : cong E zero 0).
      { unfold zero, d, columns.digit_of. change (2 ^ RADIX) with E. change (2 ^ 32) with (16 * E). rewrite cong_mod by lia.
        rewrite (cong_less E 16 (v mod (16 * E)) v) by (apply cong_mod; lia).
        replace (v + v * inverse * m0) with (v + v * (inverse * m0)) by ring. rewrite Hm. exists 0. ring. }
      destruct C as [j C]. rewrite Z.add_0_l in C. rewrite C, Z.div_mul by lia. ring. }
    assert (Vz : v = t c + e) by reflexivity. assert (Zv : zero = v + d * m0) by reflexivity. clearbody zero v d.
    replace (E * E ^ Z.of_nat (length es) * span t' (S c + length es) (n - length es)) with
      (E * (E ^ Z.of_nat (length es) * span t' (S c + length es) (n - length es))) by ring. rewrite IH.
    set (q := zero / E) in *. clearbody q. rewrite Zv, Vz in Z0.
    transitivity (E * span t (S c) n + E * q + E * value m * d + E * value es + E * (value digits * (m0 + E * value m))); [ring|].
    rewrite <- Z0. ring.
Qed.

(* reduce_block, reduce_block_pair, then the digits' products with the limbs above the block. *)
Definition reduce_block (inverse : Z) (m : list Z) (others : list (option Z)) (c : nat) (s : held_columns) : held_columns * list Z :=
  let size := length others in let (t, held) := room_for c (room_reduce (Z.of_nat size)) s in
  let '(t, digits) := steps inverse (hd 0 m) (tl (firstn size m)) others c t in
  ((multiply digits (skipn (Z.to_nat (rest_reduce (Z.of_nat size))) m) (c + size) t, held), digits).

Lemma below_part b n l : all_below b l -> all_below b (firstn n l) /\ all_below b (skipn n l).
Proof. intros H. rewrite <- (firstn_skipn n l) in H. apply Forall_app in H. exact H. Qed.
Lemma complements_below others : Forall other_limb others -> all_below E (map complement others).
Proof. induction 1 as [|[d|] os Ho _ IH]; cbn [map complement other_limb] in *; constructor; auto; lia. Qed.
Lemma tracks_self live done t held : fits live done (t, held) -> tracks live t t.
Proof. intros F j Hj. symmetry. apply Z.mod_small. exact (fits_word _ _ _ _ j F Hj). Qed.

Lemma reduce_block_correct inverse m others c s n : 0 <= inverse < W -> cong E (inverse * hd 0 m) (-1) -> all_below E m ->
  Forall other_limb others -> (1 <= length others)%nat -> Z.of_nat (length others) <= BLOCK -> (length others <= length m)%nat ->
  (length others + length m <= n)%nat -> fits c c s ->
  let size := length others in let '(s', digits) := reduce_block inverse m others c s in
  fits (c + size) (c + size) s' /\ length digits = size /\ all_below E digits /\
  exists d, 0 <= d /\ E ^ Z.of_nat size * (span (fst s') (c + size) (n - size) + E ^ Z.of_nat (n - size) * d) =
    span (fst s) c n + value (map complement others) + value digits * value m.
Proof.
  intros Hi C Lm Lo L1 LB Lk Ln F. cbv zeta. unfold reduce_block. set (size := length others) in *.
  assert (More : 0 <= room_reduce (Z.of_nat size) <= ROOM) by (unfold room_reduce, ROOM, BLOCK in *; lia).
  destruct (room_for_correct c c _ s More F) as (t & held & -> & H0 & H1 & Ft & V).
  set (low := firstn size m). unfold rest_reduce. rewrite Nat2Z.id. set (above := skipn size m).
  destruct (below_part E size m Lm) as [Llow Labove]. fold low in Llow. fold above in Labove.
  assert (Lenl : length low = size) by (apply firstn_length_le; exact Lk).
  assert (Lena : length above = (length m - size)%nat) by apply skipn_length.
  assert (Vm : value m = value low + E ^ Z.of_nat size * value above).
  { rewrite <- (firstn_skipn size m) at 1. rewrite in_base_app. fold low above. rewrite Lenl. reflexivity. }
  assert (Hm0 : hd 0 m = hd 0 low) by (unfold low; destruct size as [|z]; [lia|]; destruct m; reflexivity).
  rewrite Hm0 in *. clearbody low above. destruct low as [|m0 rest]; cbn [length hd tl] in *; [lia|].
  inversion Llow as [|x l Hm0' Lrest]; subst x l.
  assert (Hlimb : 0 <= m0 <= LIMB) by (unfold LIMB, RADIX; change (2 ^ 28) with E; lia).
  pose proof (reduction_block_fits inverse m0 rest above (map complement others) c (t, held) Hlimb
    (proj2 (below_words rest) Lrest) (proj2 (below_words above) Labove) (proj2 (below_words _) (complements_below _ Lo))) as S.
  rewrite map_length in S. fold size in S. specialize (S ltac:(lia) LB Ft). unfold reduction_block in S. rewrite map_length in S. fold size in S.
  unfold with_room in S. destruct (Z.ltb_spec ROOM (held + room_reduce (Z.of_nat size))); [lia|].
  pose proof (steps_tracks inverse m0 rest Hi Hm0' Lrest others c t t Lo (tracks_self c c t held Ft)) as T.
  pose proof (steps_value inverse m0 rest C (map complement others) c t n) as X. rewrite map_length in X. fold size in X, T.
  specialize (X ltac:(lia)).
  destruct (reduce_steps inverse m0 rest (map complement others) c t) as [[t' digits] zeros] eqn:Rs.
  destruct S as (S1 & S2 & S3). specialize (T S3). destruct (steps inverse m0 rest others c t) as [t'' digits'].
  destruct T as [-> T]. apply below_words in S2.
  assert (Ld : length digits = size).
  { pose proof (reduce_steps_bound inverse m0 rest Hlimb (proj2 (below_words rest) Lrest) (map complement others) c t
      (fun _ => CARRIED + held * PRODUCT) (proj2 (below_words _) (complements_below _ Lo))) as Bd. rewrite Rs, map_length in Bd. apply Bd.
    - intros j Hj. destruct Ft as [_ Ft]. specialize (Ft j Hj). destruct (Nat.leb_spec j c); destruct (Nat.eqb_spec j c); lia.
    - intros j Hj. fold size. assert ((held + Z.of_nat size) * PRODUCT <= ROOM * PRODUCT)
        by (apply Z.mul_le_mono_nonneg_r; [constants; lia|unfold room_reduce in H1; lia]). constants. lia. }
  pose proof (multiply_tracks digits above (limbs_words _ S2) (limbs_words _ Labove) (c + size)%nat (c + size)%nat t'' t' (le_n _) T) as Tm.
  pose proof (tracks_exact _ _ _ _ _ Tm S1) as Ex. split; [exact (fits_ext _ _ _ _ _ Ex S1)|]. split; [exact Ld|]. split; [exact S2|].
  destruct n as [|n]; [lia|]. destruct (V n) as (d & Hd & Vd). exists d. split; [exact Hd|]. cbn [fst]. rewrite (span_ext _ _ _ _ Ex).
  rewrite span_rows by lia. rewrite Nat.sub_diag, Z.pow_0_r, Z.mul_1_l, <- Vd.
  replace (Z.of_nat (S n)) with (Z.of_nat size + Z.of_nat (S n - size)) in * by lia. rewrite Z.pow_add_r by lia.
  rewrite Z.mul_add_distr_l, Z.mul_add_distr_l, X, Vm. cbn [in_base]. ring.
Qed.

(* All blocks; of a pair, the second reduction gets the digits of the first. *)
Fixpoint reduce_blocks (inverse : Z) (m : list Z) (sizes : list nat) (others : list (option Z)) (c : nat) (s : held_columns) :
  held_columns * list Z :=
  match sizes with
  | [] => (s, [])
  | size :: sizes => let '(s, digits) := reduce_block inverse m (firstn size others) c s in
    let '(s, quotient) := reduce_blocks inverse m sizes (skipn size others) (c + size) s in (s, digits ++ quotient)
  end.
Definition block_sizes (sizes : list nat) := Forall (fun size => (1 <= size)%nat /\ Z.of_nat size <= BLOCK) sizes.

Lemma reduce_blocks_correct inverse m : 0 <= inverse < W -> cong E (inverse * hd 0 m) (-1) -> all_below E m ->
  forall sizes others c s n, block_sizes sizes -> Forall other_limb others -> list_sum sizes = length others ->
  (length others <= length m)%nat -> (length others + length m <= n)%nat -> fits c c s ->
  let k := length others in let '(s', quotient) := reduce_blocks inverse m sizes others c s in
  fits (c + k) (c + k) s' /\ length quotient = k /\ all_below E quotient /\
  exists d, 0 <= d /\ E ^ Z.of_nat k * (span (fst s') (c + k) (n - k) + E ^ Z.of_nat (n - k) * d) =
    span (fst s) c n + value (map complement others) + value quotient * value m.
Proof.
  intros Hi C Lm. induction sizes as [|size sizes IH]; intros others c s n Hs Lo Sum Lk Ln F; cbv zeta; cbn [reduce_blocks].
  - destruct others; [|discriminate]. cbn [length map in_base]. rewrite Nat.add_0_r, Nat.sub_0_r, Z.pow_0_r.
    split; [exact F|]. split; [reflexivity|]. split; [constructor|]. exists 0. split; [lia|ring].
  - inversion Hs as [|x l [Hs1 HsB] Hs2]; subst x l. change (list_sum (size :: sizes)) with (size + list_sum sizes)%nat in Sum.
    assert (Lf : length (firstn size others) = size) by (apply firstn_length_le; lia).
    pose proof (skipn_length size others) as Lr. destruct (proj1 (Forall_app _ _ _) ltac:(rewrite firstn_skipn; exact Lo) : Forall other_limb (firstn size others) /\ Forall other_limb (skipn size others)) as [Lo1 Lo2].
    pose proof (reduce_block_correct inverse m (firstn size others) c s n Hi C Lm Lo1) as S1. cbv zeta in S1. rewrite Lf in S1.
    specialize (S1 Hs1 HsB ltac:(lia) ltac:(lia) F). destruct (reduce_block inverse m (firstn size others) c s) as [s1 digits].
    destruct S1 as (F1 & L1 & B1 & d1 & D1 & V1).
    specialize (IH (skipn size others) (c + size)%nat s1 (n - size)%nat Hs2 Lo2 ltac:(lia) ltac:(lia) ltac:(lia) F1). cbv zeta in IH.
    destruct (reduce_blocks inverse m sizes (skipn size others) (c + size) s1) as [s2 quotient]. destruct IH as (F2 & L2 & B2 & d2 & D2 & V2).
    set (k1 := length (skipn size others)) in *. assert (Ek : length others = (size + k1)%nat) by lia. rewrite Ek.
    rewrite Nat.add_assoc. split; [exact F2|]. split; [rewrite app_length; lia|]. split; [apply Forall_app; auto|].
    exists (d2 + d1). split; [lia|]. replace (n - (size + k1))%nat with (n - size - k1)%nat by lia.
    replace (map complement others) with (map complement (firstn size others) ++ map complement (skipn size others))
      by (rewrite <- map_app, firstn_skipn; reflexivity).
    rewrite !in_base_app, map_length, Lf, L1. rewrite Nat2Z.inj_add, Z.pow_add_r by lia.
    replace (Z.of_nat (n - size)) with (Z.of_nat k1 + Z.of_nat (n - size - k1)) in V1 by lia. rewrite Z.pow_add_r in V1 by lia.
    set (P := E ^ Z.of_nat size) in *. set (P1 := E ^ Z.of_nat k1) in *. set (P2 := E ^ Z.of_nat (n - size - k1)) in *.
    transitivity (P * (P1 * (span (fst s2) (c + size + k1) (n - size - k1) + P2 * d2)) + P * P1 * P2 * d1); [ring|]. rewrite V2.
    transitivity (P * (span (fst s1) (c + size) (n - size) + P1 * P2 * d1) + P * value (map complement (skipn size others)) + P * value quotient * value m); [ring|].
    rewrite V1. ring.
Qed.

(* add_blocks: the blocks of a, each with all limbs of b. *)
Fixpoint add_blocks (weight : Z) (sizes : list nat) (a b : list Z) (c : nat) (s : held_columns) : held_columns :=
  match sizes with
  | [] => s
  | size :: sizes => let (t, held) := room_for 0 (room_blocks weight (Z.of_nat size)) s in
    add_blocks weight sizes (skipn size a) b (c + size) (multiply (firstn size a) b c t, held)
  end.

Lemma add_blocks_correct weight b : 1 <= weight <= 2 -> below (weight * LIMB) b -> forall sizes a c s n, block_sizes sizes ->
  all_below E a -> list_sum sizes = length a -> (c + length a + length b <= n + 1)%nat -> (1 <= n)%nat -> fits 0 0 s ->
  let s' := add_blocks weight sizes a b c s in fits 0 0 s' /\
  exists d, 0 <= d /\ span (fst s') 0 n + E ^ Z.of_nat n * d = span (fst s) 0 n + E ^ Z.of_nat c * (value a * value b).
Proof.
  intros Hw Lb. assert (Wb : all_below W b).
  { eapply Forall_impl; [|exact Lb]. cbn beta. unfold LIMB, RADIX. change (2 ^ 28) with E. intros x H.
    assert (weight * (E - 1) <= 2 * (E - 1)) by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
  induction sizes as [|size sizes IH]; intros a c s n Hs La Sum Ln Hn F; cbv zeta; cbn [add_blocks].
  - destruct a; [|discriminate]. cbn [in_base]. split; [exact F|]. exists 0. split; [lia|ring].
  - inversion Hs as [|x l [Hs1 HsB] Hs2]; subst x l. change (list_sum (size :: sizes)) with (size + list_sum sizes)%nat in Sum.
    assert (Lf : length (firstn size a) = size) by (apply firstn_length_le; lia). pose proof (skipn_length size a) as Lr.
    destruct (below_part E size a La) as [La1 La2].
    assert (More : 0 <= room_blocks weight (Z.of_nat size) <= ROOM).
    { unfold room_blocks, ROOM, BLOCK in *. split; [apply Z.mul_nonneg_nonneg; lia|].
      assert (weight * Z.of_nat size <= 2 * 6) by (apply Z.mul_le_mono_nonneg; lia). lia. }
    destruct (room_for_correct 0 0 _ s More F) as (t & held & -> & H0 & H1 & Ft & V).
    pose proof (product_block_fits weight (firstn size a) b c (t, held) Hw) as P. rewrite Lf in P.
    specialize (P HsB (proj2 (below_words _) La1) Lb Ft). unfold product_block in P. rewrite Lf in P. unfold with_room in P.
    destruct (Z.ltb_spec ROOM (held + room_blocks weight (Z.of_nat size))); [lia|]. destruct P as [P _].
    pose proof (multiply_tracks (firstn size a) b (limbs_words _ La1) Wb 0%nat c t t (Nat.le_0_l c) (tracks_self _ _ _ _ Ft)) as T.
    pose proof (tracks_exact _ _ _ _ _ T P) as Ex.
    destruct (IH (skipn size a) (c + size)%nat (multiply (firstn size a) b c t, held + room_blocks weight (Z.of_nat size)) n Hs2 La2
      ltac:(lia) ltac:(lia) Hn (fits_ext _ _ _ _ _ Ex P)) as (I1 & d & Hd & I2).
    split; [exact I1|]. cbn [fst] in I2. rewrite (span_ext _ _ _ _ Ex), span_rows, Nat.sub_0_r in I2 by lia.
    destruct n as [|n]; [lia|]. destruct (V n) as (d' & Hd' & V'). exists (d + d'). split; [lia|].
    replace (value a) with (value (firstn size a) + E ^ Z.of_nat size * value (skipn size a))
      by (rewrite <- Lf at 2; rewrite <- in_base_app, firstn_skipn; reflexivity).
    rewrite <- V'. rewrite Nat2Z.inj_add, Z.pow_add_r in I2 by lia.
    rewrite Z.mul_add_distr_l, Z.add_assoc, I2. ring.
Qed.

(* triangle: a column of a block's square. No limb from the block's end on takes part: the other limb would lie above it. *)
Definition triangle_step (x twice : list Z) (size column : nat) (sum : Z) (i : nat) : Z :=
  if same (Z.of_nat i) =? Z.of_nat column then same_lane sum (nth i x 0)
  else if (lower (Z.of_nat i) <? Z.of_nat column) && (other (Z.of_nat column) (Z.of_nat i) <? Z.of_nat size)
    then other_lane sum (nth i x 0) (nth (Z.to_nat (other (Z.of_nat column) (Z.of_nat i))) twice 0) else sum.
Definition triangle (x twice : list Z) (c : nat) (t : columns) : columns := fun j =>
  let size := length x in if (c <=? j)%nat && (j <? c + (2 * size - 1))%nat
    then fold_left (triangle_step x twice size (j - c)) (seq 0 size) (t j) else t j.
Definition terms (x twice : list Z) (column : nat) : Z :=
  sum (term (fun i => nth i x 0) (fun i => nth i twice 0) (length x) column) (length x).

Lemma nth_below b l i : 0 < b -> all_below b l -> 0 <= nth i l 0 < b.
Proof. intros Hb H. destruct (nth_in_or_default i l 0) as [I | ->]; [|lia]. exact (proj1 (Forall_forall _ _) H _ I). Qed.

Lemma triangle_column x twice column s : all_below W x -> all_below W twice -> 0 <= s < B ->
  fold_left (triangle_step x twice (length x) column) (seq 0 (length x)) s = (s + terms x twice column) mod B.
Proof.
  intros Hx Ht. unfold terms, sum. generalize (seq 0 (length x)) as l. intros l. revert s.
  induction l as [|i l IH]; intros s Hs; cbn [fold_left fold_right]; [rewrite Z.add_0_r, Z.mod_small by exact Hs; reflexivity|].
  assert (St : triangle_step x twice (length x) column s i =
    (s + term (fun i => nth i x 0) (fun i => nth i twice 0) (length x) column i) mod B).
  { unfold triangle_step, term, same, lower, other. pose proof (nth_below W x i ltac:(lia) Hx).
    destruct (Z.eqb_spec (2 * Z.of_nat i) (Z.of_nat column)); destruct (Nat.eqb_spec (2 * i) column); try lia.
    - apply add_product_correct; assumption.
    - destruct (Z.ltb_spec (2 * Z.of_nat i) (Z.of_nat column)); destruct (Nat.ltb_spec (2 * i) column); try lia; cbn [andb].
      + destruct (Z.ltb_spec (Z.of_nat column - Z.of_nat i) (Z.of_nat (length x))); destruct (Nat.ltb_spec (column - i) (length x)); try lia.
        * replace (Z.to_nat (Z.of_nat column - Z.of_nat i)) with (column - i)%nat by lia.
          apply add_product_correct; [assumption|apply nth_below; [lia|exact Ht]].
        * rewrite Z.add_0_r, Z.mod_small by exact Hs. reflexivity.
      + rewrite Z.add_0_r, Z.mod_small by exact Hs. reflexivity. }
  rewrite St, IH by (apply Z.mod_pos_bound; lia). rewrite Zplus_mod_idemp_l. f_equal. ring.
Qed.

Lemma add_row_at f x y : forall c t j,
  add_row f x y c t j = t j + (if (c <=? j)%nat && (j <? c + length x)%nat then f (nth (j - c) x 0) y else 0).
Proof.
  induction x as [|a x IH]; intros c t j; cbn [add_row length].
  - destruct (Nat.leb_spec c j), (Nat.ltb_spec j (c + 0)); cbn [andb]; lia.
  - rewrite IH. unfold upd. destruct (Nat.eqb_spec j c) as [->|N].
    + destruct (Nat.leb_spec (S c) c); [lia|]. destruct (Nat.leb_spec c c); [|lia]. destruct (Nat.ltb_spec c (c + S (length x))); [|lia].
      rewrite Nat.sub_diag. cbn [andb nth]. lia.
    + destruct (Nat.leb_spec (S c) j), (Nat.ltb_spec j (S c + length x)), (Nat.leb_spec c j), (Nat.ltb_spec j (c + S (length x)));
        cbn [andb]; try lia. replace (j - c)%nat with (S (j - S c)) by lia. reflexivity.
Qed.

(* The exact columns of the triangle. *)
Definition all_terms (x twice : list Z) := map (terms x twice) (seq 0 (2 * length x - 1)).
Definition exact_triangle (x twice : list Z) (c : nat) (t : columns) := add_row (fun v _ => v) (all_terms x twice) 0 c t.
Lemma exact_triangle_at x twice c t j : exact_triangle x twice c t j =
  t j + (if (c <=? j)%nat && (j <? c + (2 * length x - 1))%nat then terms x twice (j - c) else 0).
Proof.
  unfold exact_triangle, all_terms. rewrite add_row_at, map_length, seq_length. destruct (Nat.leb_spec c j); [|reflexivity].
  destruct (Nat.ltb_spec j (c + (2 * length x - 1))); [|reflexivity]. cbn [andb]. f_equal.
  rewrite nth_indep with (d' := terms x twice 0) by (rewrite map_length, seq_length; lia). rewrite map_nth, seq_nth by lia. reflexivity.
Qed.
Lemma triangle_value x : In (length x) [2; 4; 6]%nat -> value (all_terms x (map (fun l => 2 * l) x)) = value x * value x.
Proof.
  intros H. unfold all_terms, terms, sum, term. generalize E as e. intros e.
  destruct H as [H|[H|[H|[]]]]; repeat (destruct x as [|? x]; cbn [length] in H; [discriminate|]); destruct x; try discriminate H; clear H;
    cbn [length map seq Nat.mul Nat.add Nat.sub Nat.eqb Nat.ltb Nat.leb andb fold_right nth in_base]; ring.
Qed.

(* square: of each block its own square, and its products with twice the limbs above it. *)
Fixpoint square_blocks (sizes : list nat) (a twice : list Z) (c : nat) (s : held_columns) : held_columns :=
  match sizes with
  | [] => s
  | size :: sizes => let (t, held) := room_for 0 (room_square (Z.of_nat size)) s in
    let x := firstn size a in let at_ := (Z.to_nat SQUARE * c)%nat in
    square_blocks sizes (skipn size a) (skipn size twice) (c + size)
      (multiply x (skipn (Z.to_nat (rest_square (Z.of_nat size))) twice) (at_ + size) (triangle x (firstn size twice) at_ t), held)
  end.
Definition even_sizes (sizes : list nat) := Forall (fun size => In size [2; 4; 6]%nat) sizes.

Lemma twice_below a : all_below E a -> below (2 * LIMB) (map (fun l => 2 * l) a) /\ all_below W (map (fun l => 2 * l) a).
Proof.
  unfold LIMB, RADIX. change (2 ^ 28) with E. induction 1 as [|x a Hx _ [I1 I2]]; cbn [map]; split; constructor; auto; lia.
Qed.

Lemma square_blocks_correct : forall sizes a c s n, even_sizes sizes -> all_below E a -> list_sum sizes = length a ->
  (2 * c + 2 * length a <= n)%nat -> (1 <= n)%nat -> fits 0 0 s ->
  let s' := square_blocks sizes a (map (fun l => 2 * l) a) c s in fits 0 0 s' /\
  exists d, 0 <= d /\ span (fst s') 0 n + E ^ Z.of_nat n * d = span (fst s) 0 n + E ^ Z.of_nat (2 * c) * (value a * value a).
Proof.
  induction sizes as [|size sizes IH]; intros a c s n Hs La Sum Ln Hn F; cbv zeta; cbn [square_blocks].
  - destruct a; [|discriminate]. cbn [in_base]. split; [exact F|]. exists 0. split; [lia|ring].
  - inversion Hs as [|x l Hs1 Hs2]; subst x l. change (list_sum (size :: sizes)) with (size + list_sum sizes)%nat in Sum.
    assert (Lf : length (firstn size a) = size) by (apply firstn_length_le; lia). pose proof (skipn_length size a) as Lr.
    assert (Small : (2 <= size <= 6)%nat) by (destruct Hs1 as [<-|[<-|[<-|[]]]]; lia).
    destruct (below_part E size a La) as [La1 La2].
    assert (More : 0 <= room_square (Z.of_nat size) <= ROOM) by (unfold room_square, ROOM; lia).
    destruct (room_for_correct 0 0 _ s More F) as (t & held & -> & H0 & H1 & Ft & V).
    unfold rest_square. rewrite Nat2Z.id. change (Z.to_nat SQUARE) with 2%nat.
    rewrite !skipn_map, !firstn_map. set (x := firstn size a) in *. set (above := skipn size a) in *. set (p := (2 * c)%nat).
    destruct (twice_below above La2) as [Tl Tw]. destruct (twice_below x La1) as [Xl Xw].
    set (twice := map (fun l => 2 * l) above) in *. set (x2 := map (fun l => 2 * l) x) in *.
    assert (Lt : length twice = length above) by apply map_length.
    set (t1 := exact_triangle x x2 p t). set (t2 := multiply_block Z.mul x twice (p + size) t1).
    assert (P0 : 0 <= PRODUCT) by (constants; lia).
    assert (Bx : forall i, 0 <= nth i x 0 <= LIMB).
    { intros i. unfold LIMB, RADIX. change (2 ^ 28) with E. pose proof (nth_below E x i ltac:(lia) La1). lia. }
    assert (B2 : forall i, 0 <= nth i x2 0 <= 2 * LIMB).
    { intros i. destruct (nth_in_or_default i x2 0) as [I | ->]; [exact (proj1 (Forall_forall _ _) Xl _ I)|constants; lia]. }
    assert (F2 : fits 0 0 (t2, held + room_square (Z.of_nat size))).
    { split; [lia|]. intros j _. pose proof (multiply_block_bound Z.mul (2 * PRODUCT) LIMB (2 * LIMB) (product_bound 2) x twice (p + size) t1 j
        (proj2 (below_words _) La1) Tl ltac:(lia)) as Bd. fold t2 in Bd. rewrite Lf in Bd.
      destruct Ft as [_ Ft]. specialize (Ft j (Nat.le_0_l j)). unfold t1 in Bd at 1 2. rewrite exact_triangle_at, Lf in Bd.
      assert (R0 : 0 <= room_square (Z.of_nat size) * PRODUCT) by (apply Z.mul_nonneg_nonneg; lia).
      destruct (Nat.lt_ge_cases j p) as [Lo|Lo].
      - destruct (Nat.leb_spec p j); [lia|]. cbn [andb] in Bd. replace (Nat.min size (j + 1 - (p + size))) with 0%nat in Bd by lia. lia.
      - destruct (Nat.lt_ge_cases j (p + 2 * size)) as [Hi|Hi].
        + pose proof (square_block_fits size (j - p) (fun i => nth i x 0) (fun i => nth i x2 0) Hs1 ltac:(lia) Bx B2) as [S1 S2].
          replace (j - p + 1 - size)%nat with (j + 1 - (p + size))%nat in S2 by lia. unfold terms in Bd. rewrite Lf in Bd.
          destruct (_ && _); lia.
        + destruct (Nat.ltb_spec j (p + (2 * size - 1))); [lia|]. rewrite andb_false_r in Bd. unfold room_square in *.
          replace (Nat.min size (j + 1 - (p + size))) with size in Bd by lia. lia. }
    assert (T1 : tracks 0 (triangle x x2 p t) t1).
    { intros j _. unfold t1, triangle. rewrite exact_triangle_at. pose proof (fits_word _ _ _ _ j Ft (Nat.le_0_l j)) as Wj. change (2 ^ 64) with B in Wj.
      destruct (_ && _); [|rewrite Z.add_0_r, Z.mod_small by lia; reflexivity].
      apply triangle_column; [apply limbs_words, La1|exact Xw|lia]. }
    pose proof (multiply_tracks x twice (limbs_words _ La1) Tw 0%nat (p + size)%nat _ _ (Nat.le_0_l _) T1) as T2. fold t2 in T2.
    pose proof (tracks_exact _ _ _ _ _ T2 F2) as Ex.
    destruct (IH above (c + size)%nat (multiply x twice (p + size) (triangle x x2 p t), held + room_square (Z.of_nat size)) n Hs2 La2
      ltac:(lia) ltac:(lia) Hn (fits_ext _ _ _ _ _ Ex F2)) as (I1 & d & Hd & I2).
    split; [exact I1|]. cbn [fst] in I2. rewrite (span_ext _ _ _ _ Ex) in I2. unfold t2, t1, exact_triangle in I2.
    rewrite span_rows in I2 by lia. rewrite span_row in I2 by (unfold all_terms; rewrite ?map_length, ?seq_length; lia).
    rewrite map_id, !Nat.sub_0_r in I2.
    assert (Tv : value (all_terms x x2) = value x * value x) by (apply triangle_value; rewrite Lf; exact Hs1). rewrite Tv in I2. fold twice in I2.
    replace (value twice) with (value above * 2) in I2 by
      (unfold twice; rewrite <- value_times; f_equal; apply map_ext; intros; ring).
    destruct n as [|n]; [lia|]. destruct (V n) as (d' & Hd' & V'). exists (d + d'). split; [lia|].
    replace (value a) with (value x + E ^ Z.of_nat size * value above)
      by (rewrite <- Lf at 1; unfold x, above; rewrite <- in_base_app, firstn_skipn; reflexivity).
    rewrite <- V'. replace (2 * (c + size))%nat with (p + size + size)%nat in I2 by (unfold p; lia).
    rewrite !Nat2Z.inj_add, !Z.pow_add_r in I2 by lia. fold p.
    rewrite Z.mul_add_distr_l, Z.add_assoc, I2. ring.
Qed.

(* blocks.rs: for_blocks! *)
Fixpoint blocks_of (fuel left : nat) : list nat :=
  match fuel, left with
  | S fuel, S _ => let size := Z.to_nat (if BLOCK <=? Z.of_nat left then BLOCK else if MIDDLE <=? Z.of_nat left then MIDDLE else LAST) in
    size :: blocks_of fuel (left - size)
  | _, _ => []
  end.
Definition sizes (k : nat) := blocks_of k k.
Lemma sizes_correct k : Nat.Even k -> even_sizes (sizes k) /\ list_sum (sizes k) = k.
Proof.
  unfold sizes. assert (G : forall fuel left, Nat.Even left -> (left <= fuel)%nat ->
    even_sizes (blocks_of fuel left) /\ list_sum (blocks_of fuel left) = left).
  { induction fuel as [|fuel IH]; intros left [h H] L; [split; [constructor|cbn; lia]|]. cbn [blocks_of]. destruct left as [|left']; [split; [constructor|reflexivity]|].
    set (left := S left') in *. set (size := Z.to_nat _).
    assert (Hs : In size [2; 4; 6]%nat /\ (size <= left)%nat).
    { unfold size, BLOCK, MIDDLE, LAST. destruct (Z.leb_spec 6 (Z.of_nat left)); [cbn; intuition lia|].
      destruct (Z.leb_spec 4 (Z.of_nat left)); cbn; intuition lia. }
    destruct Hs as [Hs Hl]. assert (Ev : exists g, size = (2 * g)%nat /\ (1 <= g)%nat).
    { destruct Hs as [<-|[<-|[<-|[]]]]; [exists 1%nat|exists 2%nat|exists 3%nat]; lia. }
    destruct Ev as (g & Eg & Hg). destruct (IH (left - size)%nat) as [I1 I2]; [exists (h - g)%nat; lia|lia|].
    split; [constructor; assumption|].
    change (list_sum (size :: blocks_of fuel (left - size))) with (size + list_sum (blocks_of fuel (left - size)))%nat. lia. }
  intros H. apply G; [exact H|lia].
Qed.
Lemma even_blocks l : even_sizes l -> block_sizes l.
Proof. intros H. eapply Forall_impl; [|exact H]. unfold BLOCK. intros s [<-|[<-|[<-|[]]]]; lia. Qed.

(* A number's limbs and others as columns, and back. *)
Definition of_list (l : list Z) : held_columns := (fun j => nth j l 0, 0).
Definition to_list (t : columns) (c n : nat) : list Z := map t (seq c n).
Lemma to_list_value t n : forall c, value (to_list t c n) = span t c n.
Proof. unfold to_list. induction n as [|n IH]; intros c; cbn [seq map in_base span]; [reflexivity|]. rewrite IH. reflexivity. Qed.
Lemma of_list_value l : span (fst (of_list l)) 0 (length l) = value l.
Proof.
  unfold of_list. cbn [fst]. assert (G : forall p, span (fun j => nth j (p ++ l) 0) (length p) (length l) = value l); [|apply (G [])].
  induction l as [|x l IH]; intros p; cbn [length span in_base]; [reflexivity|].
  rewrite app_nth2, Nat.sub_diag by lia. cbn [nth]. specialize (IH (p ++ [x])). rewrite app_length, <- app_assoc in IH. cbn [app length] in IH.
  rewrite Nat.add_1_r in IH. rewrite IH. reflexivity.
Qed.
Lemma of_list_fits l : all_below E l -> fits 0 0 (of_list l).
Proof.
  intros H. split; [unfold ROOM; lia|]. intros j _. cbn beta. pose proof (nth_below E l j ltac:(lia) H). constants. destruct (_ <=? _)%nat; lia.
Qed.
