(* crates/rns/src/convert/serial.rs: numbers to residues and back, in the portable kernel, for every basis. [reduce] and
   [part_of] are translated; the loops over moduli and pieces of numbers are models. *)
From Arith Require Export natural modular.
From Generated Require Export residues rns_constants rns_parts.

(* serial.rs: Reciprocal *)
Definition reciprocal (q : Z) := (B2 - 1) / q.

(* The upper halves of a product of 128 bits by words. *)
Lemma high_product x0 x1 m0 m1 : word x0 -> word x1 -> word m0 -> word m1 ->
  (x0 + B * x1) * (m0 + B * m1) / B2 =
    x1 * m1 + x0 * m1 / B + x1 * m0 / B + (x0 * m0 / B + (x0 * m1) mod B + (x1 * m0) mod B) / B.
Proof.
  unfold word. intros. pose proof (Z.div_mod (x0 * m1) B ltac:(lia)). pose proof (Z.div_mod (x1 * m0) B ltac:(lia)).
  pose proof (Z.div_mod (x0 * m0) B ltac:(lia)). pose proof (Z.mod_pos_bound (x0 * m0) B ltac:(lia)).
  set (low := x0 * m0 / B + (x0 * m1) mod B + (x1 * m0) mod B).
  pose proof (Z.div_mod low B ltac:(lia)). pose proof (Z.mod_pos_bound low B ltac:(lia)).
  symmetry. apply Z.div_unique with (low mod B * B + (x0 * m0) mod B).
  - left. lia.
  - change B2 with (B * B). replace ((x0 + B * x1) * (m0 + B * m1)) with
      (x0 * m0 + B * (x0 * m1) + B * (x1 * m0) + B * B * (x1 * m1)) by ring.
    unfold low in *. lia.
Qed.

Lemma div_B x y : word x -> word y -> 0 <= x * y / B <= B - 2.
Proof.
  intros Hx Hy. pose proof (word_product x y Hx Hy). split; [apply Z.div_pos; lia|].
  enough (x * y / B < B - 1) by lia. apply Z.div_lt_upper_bound; lia.
Qed.

(* The quotient that comes out is at most one too small. *)
Lemma quotient_near q x : 1 < q < 2 ^ 63 -> 0 <= x < B2 ->
  let e := x * reciprocal q / B2 in e <= x / q <= e + 1 /\ 0 <= x - e * q < 2 * q.
Proof.
  intros Hq Hx e. unfold reciprocal in *.
  pose proof (Z.div_mod (B2 - 1) q ltac:(lia)) as M. pose proof (Z.mod_pos_bound (B2 - 1) q ltac:(lia)).
  set (m := (B2 - 1) / q) in *. set (rest := (B2 - 1) mod q) in *.
  pose proof (Z.div_mod (x * m) B2 ltac:(lia)) as E. fold e in E. pose proof (Z.mod_pos_bound (x * m) B2 ltac:(lia)).
  set (r := (x * m) mod B2) in *.
  (* B2 (x - e q) = x (B2 - m q) + r q, and 1 <= B2 - m q <= q. *)
  assert (I : B2 * (x - e * q) = x * (rest + 1) + r * q).
  { replace (x * (rest + 1)) with (x * B2 - x * m * q) by (replace (rest + 1) with (B2 - q * m) by lia; ring).
    rewrite E. ring. }
  assert (0 <= x * (rest + 1) <= (B2 - 1) * q).
  { split; [apply Z.mul_nonneg_nonneg; lia|]. apply Z.mul_le_mono_nonneg; lia. }
  assert (0 <= r * q <= (B2 - 1) * q).
  { split; [apply Z.mul_nonneg_nonneg; lia|]. apply Z.mul_le_mono_nonneg_r; lia. }
  assert (G : 0 <= x - e * q < 2 * q) by lia. split; [|exact G].
  split; [apply Z.div_le_lower_bound; lia|]. enough (x / q < e + 2) by lia. apply Z.div_lt_upper_bound; lia.
Qed.

Lemma minimum_reduces r q : 0 <= r < 2 * q -> 1 < q < 2 ^ 63 -> Z.min r ((r - q) mod B) = r mod q.
Proof.
  intros Hr Hq. change (2 ^ 63) with 9223372036854775808 in *. destruct (Z_lt_le_dec r q).
  - rewrite (Z.mod_small r q) by lia. rewrite <- (Z.mod_add _ 1 B) by lia. rewrite Z.mod_small by lia. lia.
  - rewrite (Z.mod_small (r - q) B) by lia.
    assert (E : r mod q = r - q) by (symmetry; apply Z.mod_unique with 1; lia). lia.
Qed.

(* rns/convert/serial.rs: reduce. Barrett's reduction of 128 bits, for every modulus of up to 62 bits. *)
Theorem reduce_correct q x : 1 < q < 2 ^ 63 -> 0 <= x < B2 -> reduce q (reciprocal q) x = x mod q.
Proof.
  intros Hq Hx. unfold reduce. cbv zeta. set (m := reciprocal q).
  change (2 ^ 63) with 9223372036854775808 in *.
  assert (Hm : 0 <= m < B2).
  { unfold m, reciprocal. split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; lia. }
  unfold low64, shr, sub64, mul64, mul128, add128. change (2 ^ 64) with B.
  set (x0 := x mod B). set (x1 := x / B). set (m0 := m mod B). set (m1 := m / B).
  assert (W : word x0 /\ word x1 /\ word m0 /\ word m1).
  { unfold word, x0, x1, m0, m1. repeat split; try apply Z.mod_pos_bound; try apply Z.div_pos; try apply Z.div_lt_upper_bound; lia. }
  destruct W as (W0 & W1 & V0 & V1).
  assert (Ex : x = x0 + B * x1) by (unfold x0, x1; pose proof (Z.div_mod x B ltac:(lia)); lia).
  assert (Em : m = m0 + B * m1) by (unfold m0, m1; pose proof (Z.div_mod m B ltac:(lia)); lia).
  pose proof (word_product x0 m0 W0 V0). pose proof (word_product x0 m1 W0 V1).
  pose proof (word_product x1 m0 W1 V0). pose proof (word_product x1 m1 W1 V1).
  rewrite !(Z.mod_small (x0 * m0) B2), !(Z.mod_small (x0 * m1) B2), !(Z.mod_small (x1 * m0) B2), !(Z.mod_small (x1 * m1) B2) by lia.
  pose proof (div_B x0 m0 W0 V0). pose proof (div_B x0 m1 W0 V1). pose proof (div_B x1 m0 W1 V0).
  pose proof (Z.mod_pos_bound (x0 * m1) B ltac:(lia)). pose proof (Z.mod_pos_bound (x1 * m0) B ltac:(lia)).
  rewrite (Z.mod_small (x0 * m0 / B + (x0 * m1) mod B) B2) by lia.
  rewrite (Z.mod_small (x0 * m0 / B + (x0 * m1) mod B + (x1 * m0) mod B) B2) by lia.
  set (low := x0 * m0 / B + (x0 * m1) mod B + (x1 * m0) mod B) in *.
  pose proof (high_product x0 x1 m0 m1 W0 W1 V0 V1) as P. rewrite <- Ex, <- Em in P. fold low in P.
  destruct (quotient_near q x ltac:(lia) Hx) as [_ G]. fold m in G. set (e := x * m / B2) in *.
  assert (He : 0 <= e < B2).
  { unfold e. split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; [lia|]. apply Z.mul_lt_mono_nonneg; lia. }
  pose proof (Z.div_mod low B ltac:(lia)). pose proof (Z.mod_pos_bound low B ltac:(lia)).
  rewrite (Z.mod_small (x0 * m1 / B + x1 * m0 / B) B2) by lia.
  rewrite (Z.mod_small (x0 * m1 / B + x1 * m0 / B + x1 * m1) B2) by lia.
  replace (x0 * m1 / B + x1 * m0 / B + x1 * m1 + low / B) with e by lia.
  rewrite (Z.mod_small e B2) by lia. rewrite Z.mul_mod_idemp_l by lia.
  assert (Er : (x0 - (e * q) mod B) mod B = x - e * q).
  { unfold x0. rewrite <- Zminus_mod. apply Z.mod_small. lia. }
  rewrite Er, minimum_reduces by lia.
  replace (x - e * q) with (x + (- e) * q) by ring. apply Z.mod_add. lia.
Qed.

(* Numbers to residues: pieces of up to 15 limbs meet the residues of their weights. *)
Definition sum_of_products (limbs powers : list Z) := fold_right Z.add 0 (map (fun p => fst p * snd p) (combine limbs powers)).
Fixpoint residue_loop (q : Z) (pieces : list (list Z * list Z)) (residue : Z) : Z :=
  match pieces with
  | [] => residue
  | (limbs, powers) :: pieces =>
    residue_loop q pieces (reduce q (reciprocal q) (add128 (sum_of_products limbs powers mod B2) residue))
  end.
Fixpoint chunks (fuel n : nat) (l : list Z) : list (list Z) :=
  match fuel, l with
  | O, _ | _, [] => []
  | S fuel, _ => firstn n l :: chunks fuel n (skipn n l)
  end.
(* serial.rs: residue *)
Definition residue (q : Z) (powers row : list Z) :=
  residue_loop q (combine (chunks (length row) (Z.to_nat LIMBS) row) (chunks (length row) (Z.to_nat LIMBS) powers)) 0.

Fixpoint powers_of (q p : Z) (l : list Z) : Prop :=
  match l with [] => True | x :: l => x = p mod q /\ powers_of q (p * B) l end.

Lemma powers_skipn q n : forall p l, (n <= length l)%nat -> powers_of q p l -> powers_of q (p * R n) (skipn n l).
Proof.
  induction n as [|n IH]; intros p [|x l] Hn H; cbn [skipn length] in *; try lia.
  - rewrite R_0, Z.mul_1_r. exact I.
  - rewrite R_0, Z.mul_1_r. exact H.
  - destruct H as [_ H]. rewrite R_S. replace (p * (B * R n)) with (p * B * R n) by ring. apply IH; [lia|exact H].
Qed.

Lemma powers_firstn q n : forall p l, powers_of q p l -> powers_of q p (firstn n l).
Proof. induction n; intros p [|x l] H; cbn [firstn powers_of] in *; auto. destruct H. split; auto. Qed.

Lemma sum_of_products_value q limbs_ : forall p powers, 1 < q -> limbs limbs_ -> (length limbs_ <= length powers)%nat ->
  powers_of q p powers ->
  cong q (sum_of_products limbs_ powers) (p * val limbs_) /\
  0 <= sum_of_products limbs_ powers <= Z.of_nat (length limbs_) * ((B - 1) * (q - 1)).
Proof.
  unfold sum_of_products. induction limbs_ as [|x l IH]; intros p [|y powers] Hq Hl E Hp; cbn [length] in *; try lia;
    cbn [combine map fold_right val].
  - split; [exists 0; ring|lia].
  - split; [exists 0; ring|lia].
  - apply limbs_cons in Hl as [Hx Hl]. destruct Hp as [-> Hp].
    destruct (IH (p * B) powers Hq Hl ltac:(lia) Hp) as [C D]. cbn [fst snd]. split.
    + rewrite C, cong_mod by lia. exists 0. ring.
    + pose proof (Z.mod_pos_bound p q ltac:(lia)). unfold word in Hx.
      assert (0 <= x * (p mod q) <= (B - 1) * (q - 1)).
      { split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]. }
      rewrite Nat2Z.inj_succ, Z.mul_succ_l. lia.
Qed.

Lemma residue_loop_value q : 1 < q < 2 ^ MOST_BITS -> forall fuel p row powers r, limbs row ->
  (length row <= fuel)%nat -> (length row <= length powers)%nat -> powers_of q p powers -> 0 <= r < q ->
  let n := Z.to_nat LIMBS in
  residue_loop q (combine (chunks fuel n row) (chunks fuel n powers)) r = (r + p * val row) mod q.
Proof.
  intros Hq fuel. cbv zeta. unfold MOST_BITS in Hq. change (2 ^ 60) with 1152921504606846976 in Hq.
  assert (Small : forall r p, 0 <= r < q -> r = (r + p * 0) mod q).
  { intros r p Hr. rewrite Z.mul_0_r, Z.add_0_r. symmetry. apply Z.mod_small, Hr. }
  set (n := Z.to_nat LIMBS). assert (Hn : (0 < n)%nat /\ Z.of_nat n <= 15) by (unfold n, LIMBS; lia). clearbody n.
  induction fuel as [|fuel IH]; intros p row powers r Hl Hf Hlen Hp Hr.
  - destruct row; [|cbn [length] in Hf; lia]. cbn [chunks combine residue_loop val]. apply Small, Hr.
  - destruct row as [|x row]; [cbn [chunks combine residue_loop val]; apply Small, Hr|].
    destruct powers as [|y powers]; [cbn [length] in Hlen; lia|].
    set (row' := x :: row) in *. set (powers' := y :: powers) in *.
    assert (E1 : chunks (S fuel) n row' = firstn n row' :: chunks fuel n (skipn n row')) by reflexivity.
    assert (E2 : chunks (S fuel) n powers' = firstn n powers' :: chunks fuel n (skipn n powers')) by reflexivity.
    rewrite E1, E2. cbn [combine residue_loop]. clear E1 E2.
    assert (L1 : (1 <= length row')%nat) by (unfold row'; cbn [length]; lia). clearbody row' powers'. clear x row y powers.
    pose proof (firstn_length n row') as F1. pose proof (firstn_length n powers') as F2. pose proof (skipn_length n row') as F3.
    pose proof (skipn_length n powers') as F4.
    destruct (sum_of_products_value q (firstn n row') p (firstn n powers') ltac:(lia) (limbs_firstn n row' Hl) ltac:(lia)
      (powers_firstn q n p powers' Hp)) as [C D].
    set (s := sum_of_products (firstn n row') (firstn n powers')) in *.
    assert (Hs : 0 <= s <= 15 * ((B - 1) * 1152921504606846976)).
    { split; [lia|]. eapply Z.le_trans; [apply D|]. apply Z.mul_le_mono_nonneg; try lia. }
    unfold add128. rewrite (Z.mod_small s B2) by lia. rewrite (Z.mod_small (s + r) B2) by lia.
    change (2 ^ 63) with 9223372036854775808 in *.
    rewrite reduce_correct by (change (2 ^ 63) with 9223372036854775808; lia).
    pose proof (Z.mod_pos_bound (s + r) q ltac:(lia)) as M.
    rewrite <- (firstn_skipn n row') at 2. rewrite val_app.
    destruct (Nat.le_gt_cases (length row') n) as [Short|Long].
    + rewrite (skipn_all2 row') by lia. destruct fuel; cbn [chunks combine residue_loop val].
      all: apply cong_mod_eq; [lia|]; rewrite C; exists 0; ring.
    + rewrite (IH (p * R n)); try lia.
      * apply cong_mod_eq; [lia|]. rewrite cong_mod by lia. rewrite C.
        replace (length (firstn n row')) with n by lia. exists 0. ring.
      * apply limbs_skipn, Hl.
      * apply powers_skipn; [lia|exact Hp].
Qed.

(* rns/convert/serial.rs: residue. For numbers of every length. *)
Theorem residue_correct q powers row : 1 < q < 2 ^ MOST_BITS -> limbs row -> (length row <= length powers)%nat ->
  powers_of q 1 powers -> residue q powers row = val row mod q.
Proof.
  intros Hq Hl E Hp. unfold residue. rewrite (residue_loop_value q Hq _ 1 row powers 0); try assumption; try lia.
  rewrite Z.mul_1_l, Z.add_0_l. reflexivity.
Qed.

(* serial.rs: new. y / q in units of 2^-FRACTION: the reciprocal, and the bits to be dropped, for q of [bits q] bits. *)
Definition bits (q : Z) := Z.log2 q + 1.
Definition part (q : Z) := (((2 ^ (WIDTH + bits q) - 1) / q) mod B, WIDTH + bits q - FRACTION).

(* rns/convert/serial.rs: part_of. Rounded down by less than 2. *)
Theorem part_of_correct q inverse y : 1 < q < 2 ^ MOST_BITS -> 0 <= y < q ->
  let p := part_of inverse (part q) y in
  0 <= p < 2 ^ FRACTION /\ p * q <= y * 2 ^ FRACTION < (p + 2) * q.
Proof.
  intros Hq Hy. unfold part_of, part, bits, WIDTH, FRACTION, MOST_BITS, low64, shr, mul128 in *. cbv zeta.
  destruct (Z.log2_spec q ltac:(lia)) as [L1 L2]. set (b := Z.log2 q) in *.
  assert (Hb : 0 <= b) by apply Z.log2_nonneg. unfold Z.succ in L2.
  replace (63 + (b + 1) - 48) with (b + 1 + 15) by ring. replace (63 + (b + 1)) with (b + 1 + 15 + 48) by ring.
  assert (Es : 2 ^ (b + 1 + 15 + 48) = 2 ^ (b + 1 + 15) * 2 ^ 48) by (apply Z.pow_add_r; lia).
  assert (Et : 2 ^ (b + 1 + 15) = 2 ^ b * 65536) by (rewrite !Z.pow_add_r by lia; change (2 ^ 15) with 32768; change (2 ^ 1) with 2; ring).
  rewrite (Z.pow_add_r 2 b 1) in L2 by lia. change (2 ^ 1) with 2 in L2.
  rewrite Es. set (T := 2 ^ (b + 1 + 15)) in *. set (P := 2 ^ b) in *. change (2 ^ 60) with 1152921504606846976 in *.
  change (2 ^ 48) with 281474976710656 in *. clearbody T P. clear Es Hb. clearbody b.
  pose proof (Z.div_mod (T * 281474976710656 - 1) q ltac:(lia)) as D.
  pose proof (Z.mod_pos_bound (T * 281474976710656 - 1) q ltac:(lia)) as M.
  set (rec := (T * 281474976710656 - 1) / q) in *. set (rest := (T * 281474976710656 - 1) mod q) in *. clearbody rec rest.
  assert (Hr : 0 <= rec < B).
  { split.
    - enough (-1 < rec) by lia. apply Z.mul_lt_mono_pos_r with q; lia.
    - apply Z.mul_lt_mono_pos_r with q; lia. }
  rewrite (Z.mod_small rec) by lia.
  pose proof (word_product y rec) as W. unfold word in W. specialize (W ltac:(lia) Hr).
  rewrite (Z.mod_small (y * rec)) by lia.
  pose proof (Z.div_mod (y * rec) T ltac:(lia)) as E. pose proof (Z.mod_pos_bound (y * rec) T ltac:(lia)) as F.
  set (p := y * rec / T) in *. set (u := (y * rec) mod T) in *. clearbody p u.
  assert (Yr : y * (rest + 1) <= y * q) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (Y0 : 0 <= y * (rest + 1)) by (apply Z.mul_nonneg_nonneg; lia).
  assert (Yq : y * q < T * q) by (apply Z.mul_lt_mono_pos_r; lia).
  (* T (y 2^48 - p q) = u q + y (rest + 1). *)
  assert (I : T * (y * 281474976710656 - p * q) = u * q + y * (rest + 1)).
  { replace (rest + 1) with (T * 281474976710656 - q * rec) by lia.
    replace (y * (T * 281474976710656 - q * rec)) with (y * T * 281474976710656 - y * rec * q) by ring. rewrite E. ring. }
  assert (U : 0 <= u * q <= T * q) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_r; lia]).
  assert (K : 0 <= y * 281474976710656 - p * q < 2 * q).
  { split; [apply Z.mul_le_mono_pos_l with T; lia|apply Z.mul_lt_mono_pos_l with T; lia]. }
  assert (P1 : p < 281474976710656) by (apply Z.mul_lt_mono_pos_r with q; lia).
  assert (P0 : 0 <= p). { enough (-1 < p) by lia. apply Z.mul_lt_mono_pos_l with T; [lia|]. pose proof (Z.mul_nonneg_nonneg y rec). lia. }
  rewrite (Z.mod_small p) by lia. lia.
Qed.

(* Residues to numbers. *)
Record modulus := Modulus { q : Z; cofactor : list Z; inverse : Z }.
Definition y_of (m : modulus) (r : Z) := reduce (q m) (reciprocal (q m)) (mul128 r (inverse m)).
(* The sums over all moduli, each with its residue: the row, what is carried out of it, and the quotient. *)
Fixpoint gather (pairs : list (modulus * Z)) (row : list Z) (top quotient : Z) :=
  match pairs with
  | [] => (row, top, quotient)
  | (m, r) :: pairs => let y := y_of m r in let '(c, row) := mac_row row (cofactor m) y in
    gather pairs row (add64 top c) (add64 quotient (part_of (inverse m) (part (q m)) y))
  end.
(* serial.rs: numbers *)
Definition number (product : list Z) (pairs : list (modulus * Z)) :=
  let '(row, top, quotient) := gather pairs (repeat 0 (length product)) 0 0 in
  let '(high, multiple) := mac_row (repeat 0 (length product)) product (shr quotient FRACTION) in
  let '(borrow, row) := sub_assign row multiple in
  snd (reduce_once row (sub64 (sub64 top high) borrow) product).

(* A modulus of a basis with the product Q, and its residue. *)
Definition member (k : nat) (Q : Z) (p : modulus * Z) := let (m, r) := p in
  1 < q m < 2 ^ MOST_BITS /\ limbs (cofactor m) /\ length (cofactor m) = k /\ val (cofactor m) * q m = Q /\
  0 <= inverse m < q m /\ cong (q m) (val (cofactor m) * inverse m) 1 /\ 0 <= r < q m.
Definition terms (pairs : list (modulus * Z)) := fold_right (fun p s => y_of (fst p) (snd p) * val (cofactor (fst p)) + s) 0 pairs.

Lemma y_of_correct k Q m r : member k Q (m, r) ->
  y_of m r = (r * inverse m) mod q m /\ 0 <= y_of m r < q m.
Proof.
  intros (Hq & _ & _ & _ & Hi & _ & Hr). unfold y_of, mul128, MOST_BITS in *. change (2 ^ 60) with 1152921504606846976 in *.
  assert (0 <= r * inverse m < 1152921504606846976 * 1152921504606846976).
  { split; [apply Z.mul_nonneg_nonneg; lia|]. apply Z.mul_lt_mono_nonneg; lia. }
  rewrite (Z.mod_small (r * inverse m)) by lia.
  rewrite reduce_correct by (change (2 ^ 63) with 9223372036854775808; lia).
  split; [reflexivity|]. apply Z.mod_pos_bound. lia.
Qed.

Lemma term_range k Q m r : 0 < Q -> member k Q (m, r) -> 0 <= y_of m r * val (cofactor m) < Q.
Proof.
  intros HQ Hm. destruct (y_of_correct k Q m r Hm) as [_ Hy]. destruct Hm as (Hq & Lc & _ & Ec & _).
  pose proof (val_range _ Lc). assert (val (cofactor m) <> 0) by (intros Z; rewrite Z in Ec; lia).
  split; [apply Z.mul_nonneg_nonneg; lia|]. rewrite <- Ec, (Z.mul_comm (y_of m r)). apply Z.mul_lt_mono_pos_l; lia.
Qed.

Lemma terms_range k Q pairs : 0 < Q -> Forall (member k Q) pairs -> 0 <= terms pairs <= Z.of_nat (length pairs) * Q.
Proof.
  intros HQ. induction 1 as [|[m r] pairs Hm _ IH]; unfold terms in *; cbn [fold_right length fst snd]; [lia|].
  pose proof (term_range k Q m r HQ Hm). rewrite Nat2Z.inj_succ, Z.mul_succ_l. lia.
Qed.

(* [S] and [P] are what the sums started from. *)
Lemma gather_correct k Q pairs : 0 < Q < R k -> Forall (member k Q) pairs -> forall row top quotient count,
  limbs row -> length row = k -> 0 <= top -> 0 <= quotient <= Z.of_nat count * 2 ^ FRACTION ->
  Z.of_nat (count + length pairs) <= MOST_MODULI -> val row + R k * top <= Z.of_nat count * Q ->
  let '(row', top', quotient') := gather pairs row top quotient in
  limbs row' /\ length row' = k /\ 0 <= top' /\ 0 <= quotient' <= Z.of_nat (count + length pairs) * 2 ^ FRACTION /\
  val row' + R k * top' = val row + R k * top + terms pairs /\
  0 <= terms pairs * 2 ^ FRACTION - (quotient' - quotient) * Q <= 2 * Z.of_nat (length pairs) * Q.
Proof.
  intros HQ. induction 1 as [|[m r] pairs Hm Hp IH]; intros row top quotient count Lr Er Ht Hq Hc Hs; cbn [gather length].
  - unfold terms. cbn [fold_right]. rewrite Nat.add_0_r. repeat split; auto; lia.
  - cbn [length] in Hc. destruct (y_of_correct k Q m r Hm) as [_ Hy]. pose proof (term_range k Q m r ltac:(lia) Hm) as T.
    set (y := y_of m r) in *. pose proof Hm as (Hm1 & Lc & Ec & Vc & _).
    assert (Wy : word y). { unfold word, MOST_BITS in *. change (2 ^ 60) with 1152921504606846976 in Hm1. lia. }
    pose proof (mac_row_correct row (cofactor m) y Lr Lc ltac:(lia) Wy) as M.
    destruct (mac_row row (cofactor m) y) as [c row1]. destruct M as (Lr1 & Er1 & Wc & Vr1). rewrite Er in *.
    pose proof (part_of_correct (q m) (inverse m) y Hm1 Hy) as P. cbv zeta in P.
    set (p := part_of (inverse m) (part (q m)) y) in *.
    pose proof (val_range row1 Lr1) as Rr1. rewrite Er1 in Rr1. unfold word in Wc.
    assert (Ht' : top + c < 513).
    { apply Z.mul_lt_mono_pos_l with (R k); [lia|]. unfold MOST_MODULI in *.
      assert (Z.of_nat count * Q <= 511 * Q) by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
    assert (Hq' : 0 <= quotient + p <= Z.of_nat (S count) * 2 ^ FRACTION) by (rewrite Nat2Z.inj_succ, Z.mul_succ_l; lia).
    assert (Small : Z.of_nat (S count) * 2 ^ FRACTION < B).
    { unfold FRACTION, MOST_MODULI in *. change (2 ^ 48) with 281474976710656. lia. }
    unfold add64. rewrite (Z.mod_small (top + c)) by lia. rewrite (Z.mod_small (quotient + p)) by lia.
    specialize (IH row1 (top + c) (quotient + p) (S count) Lr1 Er1 ltac:(lia) Hq' ltac:(lia)
      ltac:(rewrite Nat2Z.inj_succ, Z.mul_succ_l; lia)).
    destruct (gather pairs row1 (top + c) (quotient + p)) as [[row' top'] quotient'].
    destruct IH as (I1 & I2 & I3 & I4 & I5 & I6). unfold terms in *. cbn [fold_right fst snd].
    replace (count + S (length pairs))%nat with (S count + length pairs)%nat by lia.
    fold y. set (rest := fold_right _ 0 pairs) in *. clearbody rest.
    assert (K : 0 <= y * val (cofactor m) * 2 ^ FRACTION - p * Q <= 2 * Q).
    { rewrite <- Vc. set (C := val (cofactor m)) in *.
      assert (C0 : 0 <= C) by apply (val_range _ Lc).
      assert (0 <= C * (y * 2 ^ FRACTION - p * q m) <= C * (2 * q m)).
      { split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_l; lia]. }
      replace (y * C * 2 ^ FRACTION - p * (C * q m)) with (C * (y * 2 ^ FRACTION - p * q m)) by ring.
      replace (2 * (C * q m)) with (C * (2 * q m)) by ring. lia. }
    rewrite Nat2Z.inj_succ. repeat split; auto; lia.
Qed.

(* A basis: the product of its moduli is Q. *)
Definition whole (pairs : list (modulus * Z)) := fold_right (fun p s => q (fst p) * s) 1 pairs.

Lemma whole_app l1 l2 : whole (l1 ++ l2) = whole l1 * whole l2.
Proof. induction l1 as [|p l IH]; unfold whole in *; cbn [app fold_right]; [ring|]. rewrite IH. ring. Qed.

Lemma whole_part p l : In p l -> exists e, whole l = q (fst p) * e.
Proof.
  induction l as [|p' l IH]; intros H; [destruct H|]. destruct H as [->|H]; unfold whole in *; cbn [fold_right].
  - eexists. reflexivity.
  - destruct (IH H) as [e ->]. exists (q (fst p') * e). ring.
Qed.

(* The terms of other moduli are multiples of a modulus. *)
Lemma other_terms k Q m l : Forall (member k Q) l -> (forall p, In p l -> exists e, Q = q m * q (fst p) * e) ->
  cong (q m) (terms l) 0.
Proof.
  induction 1 as [|[m' r] l Hm _ IH]; intros H; unfold terms in *; cbn [fold_right fst snd]; [exists 0; ring|].
  rewrite IH by (intros p Hp; apply H; right; exact Hp).
  destruct (H (m', r) (or_introl eq_refl)) as [e He]. cbn [fst] in He. destruct Hm as (Hq & _ & _ & Vc & _).
  assert (E : val (cofactor m') = q m * e) by (apply Z.mul_reg_r with (q m'); lia).
  rewrite E. exists (y_of m' r * e). ring.
Qed.

Lemma terms_app l1 l2 : terms (l1 ++ l2) = terms l1 + terms l2.
Proof. induction l1 as [|p l IH]; unfold terms in *; cbn [app fold_right]; [ring|]. rewrite IH. ring. Qed.

Lemma terms_residue k Q l1 m r l2 : let l := l1 ++ (m, r) :: l2 in Forall (member k Q) l -> whole l = Q -> cong (q m) (terms l) r.
Proof.
  intros l H W. subst l. apply Forall_app in H as [H1 H2]. inversion H2 as [|p l' Hm H2']; subst p l'.
  rewrite whole_app in W. change (whole ((m, r) :: l2)) with (q m * whole l2) in W.
  rewrite terms_app. change (terms ((m, r) :: l2)) with (y_of m r * val (cofactor m) + terms l2).
  rewrite (other_terms k Q m l1 H1), (other_terms k Q m l2 H2').
  - destruct (y_of_correct k Q m r Hm) as [-> _]. destruct Hm as (Hq & _ & _ & _ & _ & Hi & _).
    rewrite cong_mod by lia. replace (r * inverse m * val (cofactor m)) with (r * (val (cofactor m) * inverse m)) by ring.
    rewrite Hi. exists 0. ring.
  - intros p Hp. destruct (whole_part p l2 Hp) as [e He]. exists (whole l1 * e). rewrite <- W, He. ring.
  - intros p Hp. destruct (whole_part p l1 Hp) as [e He]. exists (e * whole l2). rewrite <- W, He. ring.
Qed.

(* What all moduli divide, their product divides. *)
Lemma all_divide k Q l : Forall (member k Q) l -> forall d z, Q = d * whole l -> (forall p, In p l -> (q (fst p) | z)) -> (whole l | z).
Proof.
  induction 1 as [|[m r] l Hm Hl IH]; intros d z E H; [apply Z.divide_1_l|].
  change (whole ((m, r) :: l)) with (q m * whole l) in *. destruct Hm as (Hq & _ & _ & Vc & _ & Hi & _).
  assert (Dl : (whole l | z)).
  { apply (IH (d * q m)); [rewrite E; ring|]. intros p Hp. apply H. right. exact Hp. }
  assert (Dm : (q m | z)) by (apply (H (m, r)); left; reflexivity).
  assert (Ec : val (cofactor m) = d * whole l) by (apply Z.mul_reg_r with (q m); lia).
  assert (C : rel_prime (q m) (whole l)).
  { apply bezout_rel_prime. destruct Hi as [t Hi]. rewrite Ec in Hi. apply Bezout_intro with (- t) (d * inverse m). lia. }
  destruct Dm as [u Hu]. rewrite Hu in Dl.
  assert (Du : (whole l | u)).
  { apply Gauss with (q m); [rewrite Z.mul_comm; exact Dl|apply rel_prime_sym, C]. }
  destruct Du as [v Hv]. exists v. rewrite Hu, Hv. ring.
Qed.

(* The Chinese remainder theorem. *)
Lemma terms_number k Q pairs X : Forall (member k Q) pairs -> whole pairs = Q ->
  (forall m r, In (m, r) pairs -> cong (q m) X r) -> cong Q X (terms pairs).
Proof.
  intros Hm W Hr. apply cong_divide. rewrite <- W. apply (all_divide k Q pairs Hm 1); [rewrite W; ring|].
  intros [m x] Hp. cbn [fst]. apply cong_divide. rewrite (Hr m x Hp). symmetry.
  apply in_split in Hp as (l1 & l2 & ->). apply (terms_residue k Q l1 m x l2 Hm W).
Qed.

(* rns/convert/serial.rs: numbers. For every basis and every number below Q: its residues give it back. *)
Theorem numbers_correct product pairs X : limbs product -> whole pairs = val product ->
  Z.of_nat (length pairs) <= MOST_MODULI -> Forall (member (length product) (val product)) pairs ->
  0 <= X < val product -> (forall m r, In (m, r) pairs -> cong (q m) X r) -> val (number product pairs) = X.
Proof.
  intros Lp W Hc Hm HX Hr. set (k := length product) in *. set (Q := val product) in *.
  pose proof (val_range product Lp) as RQ. fold k Q in RQ.
  assert (Lz : length (repeat 0 k) = k) by apply repeat_length.
  pose proof (gather_correct k Q pairs ltac:(lia) Hm (repeat 0 k) 0 0 0 (limbs_zeros k) Lz ltac:(lia) ltac:(lia) Hc) as G.
  rewrite val_zeros in G. specialize (G ltac:(lia)). unfold number. fold k.
  destruct (gather pairs (repeat 0 k) 0 0) as [[row top] quotient]. destruct G as (Lr & Er & Ht & Hq & V & K).
  rewrite Z.mul_0_r, Z.add_0_l, Z.sub_0_r in *. cbn [Nat.add] in Hq. set (S := terms pairs) in *.
  pose proof (terms_range k Q pairs ltac:(lia) Hm) as RS. fold S in RS.
  assert (Hc' : 0 <= Z.of_nat (length pairs) <= 512) by (unfold MOST_MODULI in Hc; lia).
  set (count := Z.of_nat (length pairs)) in *. clearbody count.
  unfold shr. unfold FRACTION in *. change (2 ^ 48) with 281474976710656 in *.
  pose proof (Z.div_mod quotient 281474976710656 ltac:(lia)) as D. pose proof (Z.mod_pos_bound quotient 281474976710656 ltac:(lia)) as M.
  set (n := quotient / 281474976710656) in *. set (f := quotient mod 281474976710656) in *. clearbody n f.
  assert (Hn : 0 <= n <= 512) by lia.
  pose proof (mac_row_correct (repeat 0 k) product n (limbs_zeros k) Lp Lz ltac:(unfold word; lia)) as A.
  destruct (mac_row (repeat 0 k) product n) as [high multiple]. destruct A as (Lm & Em & Wh & Vm).
  rewrite Lz, val_zeros in *. fold Q in Vm.
  pose proof (sub_assign_correct row multiple Lr Lm ltac:(lia)) as A.
  destruct (sub_assign row multiple) as [borrow rest]. destruct A as (Ls & Es & Hb & Vs). rewrite Er in *.
  (* What is left: S - n Q, below 2 Q. *)
  assert (Left : 0 <= S - n * Q < 2 * Q).
  { assert (0 <= f * Q <= 281474976710655 * Q) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg_r; lia]).
    assert (count * Q <= 512 * Q) by (apply Z.mul_le_mono_nonneg_r; lia).
    rewrite D in K. lia. }
  pose proof (val_range rest Ls) as Rs. rewrite Es in Rs. unfold word in Wh.
  assert (E : val rest + R k * (top - high - borrow) = S - n * Q) by lia.
  assert (T : 0 <= top - high - borrow < 2).
  { split; [enough (-1 < top - high - borrow) by lia|]; apply Z.mul_lt_mono_pos_l with (R k); lia. }
  assert (T' : sub64 (sub64 top high) borrow = top - high - borrow).
  { unfold sub64. rewrite Zminus_mod_idemp_l. apply Z.mod_small. lia. }
  rewrite T'. pose proof (reduce_once_correct rest (top - high - borrow) product Ls Lp ltac:(lia) ltac:(unfold word; lia)) as F.
  rewrite Es in F. fold Q in F. specialize (F ltac:(lia)).
  destruct (reduce_once rest (top - high - borrow) product) as [s r]. destruct F as (_ & _ & Vr & Rr & _).
  cbn [snd]. rewrite E in Vr.
  apply cong_small with Q; [lia|exact HX|]. symmetry. transitivity S; [|exists (n + s); rewrite Vr; unfold Q; ring].
  apply (terms_number k Q pairs X Hm W Hr).
Qed.
