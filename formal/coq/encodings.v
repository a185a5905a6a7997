(* crates/paillier/src/encoding: signed integers and slots, as arithmetic over Z. Widths are those of the Rust source. *)
From Arith Require Import modular.
From Generated Require Import encodings.
Import ListNotations.

(* A negative number -x is n - x; numbers up to (n - 1) / 2 are positive. *)
Definition half (n : Z) := (n - 1) / 2.
Definition encode (n x : Z) := if x <? 0 then n - - x else x.
Definition decode (n r : Z) := if half n <? r then - (n - r) else r.

Lemma half_range n : 0 < n -> n mod 2 = 1 -> n = 2 * half n + 1 /\ 0 <= half n.
Proof.
  intros Hn Ho. unfold half. pose proof (Z.div_mod n 2 ltac:(lia)).
  assert (E : (n - 1) / 2 = n / 2) by (symmetry; apply Z.div_unique with 0; lia). rewrite E.
  pose proof (Z.div_pos n 2 ltac:(lia) ltac:(lia)). lia.
Qed.

Lemma encode_cong n x : cong n (encode n x) x.
Proof. unfold encode. destruct (Z.ltb_spec x 0); [exists 1; ring|reflexivity]. Qed.

Lemma decode_residue n x r : 0 < n -> n mod 2 = 1 -> - half n <= x <= half n -> 0 <= r < n -> cong n r x -> decode n r = x.
Proof.
  intros Hn Ho Hx Hr C. destruct (half_range n Hn Ho) as [E H]. unfold decode.
  destruct (Z.ltb_spec (half n) r).
  - destruct (Z_lt_le_dec x 0).
    + assert (r = x + n); [|lia]. apply cong_small with n; try lia. rewrite C. exists (-1). ring.
    + assert (r = x); [|lia]. apply cong_small with n; lia || exact C.
  - destruct (Z_lt_le_dec x 0).
    + assert (r = x + n); [|lia]. apply cong_small with n; try lia. rewrite C. exists (-1). ring.
    + apply cong_small with n; lia || exact C.
Qed.

(* paillier/integer.rs: encode_signed, decode_signed *)
Theorem signed_correct n x : 0 < n -> n mod 2 = 1 -> - half n <= x <= half n ->
  0 <= encode n x < n /\ decode n (encode n x) = x.
Proof.
  intros Hn Ho Hx. destruct (half_range n Hn Ho) as [E H].
  assert (R : 0 <= encode n x < n) by (unfold encode; destruct (Z.ltb_spec x 0); lia).
  split; [exact R|]. apply decode_residue; auto. apply encode_cong.
Qed.

Definition total (l : list Z) := fold_right Z.add 0 l.

Lemma total_encoded n xs : cong n (total (map (encode n) xs)) (total xs).
Proof.
  induction xs as [|x xs IH]; cbn [map]; [reflexivity|]. unfold total in *. cbn [fold_right].
  rewrite IH, encode_cong. reflexivity.
Qed.

(* paillier/integer.rs: encode_signed, decode_signed. A sum that fits decodes to the sum, whatever the terms. *)
Theorem signed_sum_correct n xs : 0 < n -> n mod 2 = 1 -> - half n <= total xs <= half n ->
  decode n (total (map (encode n) xs) mod n) = total xs.
Proof.
  intros Hn Ho Hx. apply decode_residue; auto.
  - apply Z.mod_pos_bound. lia.
  - rewrite cong_mod by lia. apply total_encoded.
Qed.

(* Slots of w bits: numbers one above the other. *)
Section Slots.
Variable w : Z.
Hypothesis Hw : 0 < w.

Fixpoint packed (l : list Z) : Z := match l with [] => 0 | v :: l => v + 2 ^ w * packed l end.
Definition middle := 2 ^ (w - 1).
Definition raise (l : list Z) := map (fun v => v + middle) l.
Definition slot (x : Z) (i : nat) := (x / 2 ^ (w * Z.of_nat i)) mod 2 ^ w.
Definition offset (k : nat) := packed (repeat middle k).
Definition pack (n : Z) (row : list Z) := (packed (raise row) - offset (length row)) mod n.
(* Nothing if bits lie beyond the slots: unpack. *)
Definition unpack (n : Z) (k : nat) (x : Z) : option (list Z) :=
  let r := (x + offset k) mod n in
  if 2 ^ (w * Z.of_nat k) <=? r then None else Some (map (fun i => slot r i - middle) (seq 0 k)).

Lemma pow_pos : 0 < 2 ^ w.
Proof. apply Z.pow_pos_nonneg; lia. Qed.

Lemma packed_raise l : packed (raise l) = packed l + offset (length l).
Proof.
  unfold raise, offset. induction l as [|v l IH]; cbn [map packed length repeat]; [reflexivity|]. rewrite IH. ring.
Qed.

Definition in_slot v := 0 <= v < 2 ^ w.

Lemma packed_range l : Forall in_slot l -> 0 <= packed l < 2 ^ (w * Z.of_nat (length l)).
Proof.
  pose proof pow_pos. induction 1 as [|v l Hv _ IH]; cbn [packed length].
  - rewrite Z.mul_0_r, Z.pow_0_r. lia.
  - rewrite Nat2Z.inj_succ, Z.mul_succ_r, Z.add_comm, Z.pow_add_r by lia. unfold in_slot in Hv.
    assert (2 ^ w * packed l <= 2 ^ w * (2 ^ (w * Z.of_nat (length l)) - 1)) by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (0 <= 2 ^ w * packed l) by (apply Z.mul_nonneg_nonneg; lia). lia.
Qed.

Lemma slot_packed l : Forall in_slot l -> forall i, (i < length l)%nat -> slot (packed l) i = nth i l 0.
Proof.
  pose proof pow_pos. unfold slot. induction 1 as [|v l Hv Hl IH]; intros i Hi; cbn [length] in Hi; [lia|].
  unfold in_slot in Hv. destruct i as [|i]; cbn [packed nth].
  - rewrite Z.mul_0_r, Z.pow_0_r, Z.div_1_r, Z.mul_comm, Z_mod_plus_full. apply Z.mod_small. lia.
  - rewrite Nat2Z.inj_succ, Z.mul_succ_r, Z.add_comm with (m := w), Z.pow_add_r by lia.
    rewrite <- Z.div_div by (try apply Z.pow_pos_nonneg; lia).
    replace ((v + 2 ^ w * packed l) / 2 ^ w) with (packed l); [apply IH; lia|].
    apply Z.div_unique with v; lia.
Qed.

Lemma slots_packed l : Forall in_slot l -> map (slot (packed l)) (seq 0 (length l)) = l.
Proof.
  intros Hl. apply nth_ext with 0 0; rewrite map_length, seq_length; [reflexivity|]. intros i Hi.
  rewrite nth_indep with (d' := slot (packed l) 0) by (rewrite map_length, seq_length; exact Hi).
  rewrite map_nth, seq_nth by exact Hi. apply slot_packed; auto.
Qed.

(* Rows added up, slot by slot. *)
Fixpoint add_rows (a b : list Z) : list Z := match a, b with x :: a, y :: b => x + y :: add_rows a b | _, _ => [] end.
Definition sum_rows (k : nat) (rows : list (list Z)) := fold_right add_rows (repeat 0 k) rows.

Lemma add_rows_packed a : forall b, length a = length b -> packed (add_rows a b) = packed a + packed b /\
  length (add_rows a b) = length a.
Proof.
  induction a as [|x a IH]; intros [|y b] E; try discriminate; cbn [add_rows packed length] in *; [split; reflexivity|].
  destruct (IH b ltac:(lia)) as [P L]. rewrite P, L. split; [ring|reflexivity].
Qed.

Lemma sum_rows_length k rows : Forall (fun row => length row = k) rows -> length (sum_rows k rows) = k.
Proof.
  induction 1 as [|row rows E _ IH]; unfold sum_rows in *; cbn [fold_right]; [apply repeat_length|].
  cbv beta in E. rewrite (proj2 (add_rows_packed row (fold_right add_rows (repeat 0 k) rows) ltac:(lia))). exact E.
Qed.

Lemma sum_rows_packed n k rows : n <> 0 -> Forall (fun row => length row = k) rows ->
  cong n (total (map (pack n) rows)) (packed (sum_rows k rows)).
Proof.
  intros Hn. induction 1 as [|row rows E H IH]; cbv beta in *; unfold total, sum_rows in *; cbn [map fold_right].
  - assert (Z0 : forall k, packed (repeat 0 k) = 0) by (induction k0; cbn [repeat packed]; lia). rewrite Z0. reflexivity.
  - rewrite IH. unfold pack. rewrite cong_mod, packed_raise by exact Hn.
    pose proof (sum_rows_length k rows H) as L. unfold sum_rows in L.
    rewrite (proj1 (add_rows_packed row (fold_right add_rows (repeat 0 k) rows) ltac:(lia))).
    exists 0. ring.
Qed.

(* Each slot of a sum of rows is at most as many times the range. *)
Lemma sum_rows_range k range rows : 0 <= range -> Forall (fun row => Forall (fun v => Z.abs v <= range) row) rows ->
  Forall (fun v => Z.abs v <= Z.of_nat (length rows) * range) (sum_rows k rows).
Proof.
  intros Hr. induction 1 as [|row rows Hrow _ IH]; unfold sum_rows in *; cbn [fold_right length].
  - apply Forall_forall. intros v Hv. apply repeat_spec in Hv. subst. lia.
  - rewrite Nat2Z.inj_succ. revert IH. generalize (fold_right add_rows (repeat 0 k) rows) as b.
    induction Hrow as [|v row Hv _ IHr]; intros [|u b] Hb; cbn [add_rows]; try constructor.
    + inversion Hb; subst. lia.
    + apply IHr. inversion Hb; auto.
Qed.
End Slots.

(* paillier/slots.rs: pack, unpack, slot_bits, fitting. Sums of up to max_additions rows of numbers up to the range come back
   slot by slot, under every key whose n has so many bits. *)
Theorem slots_correct n key_bits k range max_additions value_bits addition_bits rows :
  2 ^ (key_bits - 1) <= n -> 0 <= range < 2 ^ value_bits -> 0 <= value_bits -> 0 <= addition_bits ->
  max_additions <= 2 ^ addition_bits -> let w := slot_bits value_bits addition_bits in
  Z.of_nat k <= (key_bits - KEPT) / w ->
  Z.of_nat (length rows) <= max_additions -> Forall (fun row => length row = k) rows ->
  Forall (fun row => Forall (fun v => Z.abs v <= range) row) rows ->
  unpack w n k (total (map (pack w n) rows) mod n) = Some (sum_rows k rows).
Proof.
  intros Hn Hr Hv Ha Hm w Hk Hrows Hlen Hrange.
  assert (Ew : w = value_bits + addition_bits + 1) by reflexivity. assert (Pw : 0 < w) by lia.
  unfold KEPT in Hk. clearbody w.
  assert (Mid : middle w = 2 ^ value_bits * 2 ^ addition_bits).
  { unfold middle. rewrite <- Z.pow_add_r by lia. f_equal. lia. }
  assert (Two : 2 ^ w = 2 * middle w).
  { unfold middle. rewrite <- Z.pow_succ_r by lia. f_equal. lia. }
  assert (P1 : 0 < 2 ^ value_bits) by (apply Z.pow_pos_nonneg; lia).
  assert (P2 : 0 < 2 ^ addition_bits) by (apply Z.pow_pos_nonneg; lia).
  assert (Kw : w * Z.of_nat k <= key_bits - 1).
  { pose proof (Z.mul_div_le (key_bits - 1) w Pw).
    assert (w * Z.of_nat k <= w * ((key_bits - 1) / w)) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
  assert (Room : 2 ^ (w * Z.of_nat k) <= n).
  { apply Z.le_trans with (2 ^ (key_bits - 1)); [apply Z.pow_le_mono_r; lia|exact Hn]. }
  assert (Pn : 0 < 2 ^ (w * Z.of_nat k)) by (apply Z.pow_pos_nonneg; [lia|apply Z.mul_nonneg_nonneg; lia]).
  pose proof (sum_rows_length w k rows Hlen) as L. pose proof (sum_rows_range k range rows ltac:(lia) Hrange) as B.
  pose proof (sum_rows_packed w Pw n k rows ltac:(lia) Hlen) as C. set (s := sum_rows k rows) in *. clearbody s.
  assert (In : Forall (in_slot w) (raise w s)).
  { unfold raise. apply Forall_map. revert B. apply Forall_impl. intros v Hv'. unfold in_slot. rewrite Two.
    assert (Z.of_nat (length rows) * range <= 2 ^ addition_bits * (2 ^ value_bits - 1))
      by (apply Z.mul_le_mono_nonneg; lia). lia. }
  assert (Lr : length (raise w s) = k) by (unfold raise; rewrite map_length; exact L).
  pose proof (packed_range w Pw _ In) as Rg. rewrite Lr in Rg.
  assert (V : (total (map (pack w n) rows) mod n + offset w k) mod n = packed w (raise w s)).
  { rewrite <- (Z.mod_small (packed w (raise w s)) n) by lia. apply cong_mod_eq; [lia|].
    rewrite cong_mod, C, (packed_raise w), L by lia. reflexivity. }
  unfold unpack. rewrite V. destruct (Z.leb_spec (2 ^ (w * Z.of_nat k)) (packed w (raise w s))); [lia|]. f_equal.
  pose proof (slots_packed w Pw _ In) as S. rewrite Lr in S.
  rewrite <- (map_map (slot w (packed w (raise w s))) (fun v => v - middle w)), S. unfold raise. rewrite map_map.
  rewrite <- (map_id s) at 2. apply map_ext. intros v. lia.
Qed.
