(* crates/arith/src/backend/ifma.rs and ifma/blocks.rs: Montgomery's reduction by digits of columns that are not carried, and the
   ranges of lazily reduced residues. The digit is translated; rows of halves of products are a model, without wrapping: columns.v
   and ifma.v prove that none wraps. *)
From Arith Require Import words.
From Arith Require Export lanes modular.
From Generated Require Import ifma_digits ifma_starts ifma_constants.

Lemma radix : D = 2 ^ RADIX. Proof. reflexivity. Qed.
(* Columns as a number, and what k of them hold too much: MASK each. *)
Fixpoint value (t : list Z) : Z := match t with [] => 0 | x :: t => x + D * value t end.
Fixpoint masks (k : nat) : Z := match k with O => 0 | S k => D - 1 + D * masks k end.
Lemma masks_value k : masks k = D ^ Z.of_nat k - 1.
Proof. induction k as [|k IH]; [reflexivity|]. cbn [masks]. rewrite IH, Nat2Z.inj_succ, Z.pow_succ_r by lia. lia. Qed.

(* A digit times the limbs above the lowest one: low halves, and high halves one column above; [carry] goes into the first. *)
Fixpoint add_rows (carry d : Z) (m t : list Z) : list Z :=
  match t, m with
  | [], _ => []
  | x :: t, [] => x + carry :: t
  | x :: t, l :: m => x + carry + (d * l) mod D :: add_rows (d * l / D) d m t
  end.
Fixpoint reduce (inverse : Z) (m : list Z) (k : nat) (t : list Z) : list Z * list Z :=
  match k, t, m with
  | S k, v :: t, m0 :: m' => let d := (first_digit v inverse) mod D in
    let '(q, r) := reduce inverse m k (add_rows (v / D + d * m0 / D) d m' t) in (d :: q, r)
  | _, _, _ => ([], t)
  end.

Lemma add_rows_value d m : forall carry t, (length m < length t)%nat ->
  length (add_rows carry d m t) = length t /\ value (add_rows carry d m t) = value t + carry + d * value m.
Proof.
  induction m as [|l m IH]; intros carry [|x t] H; cbn [length] in H; try lia; cbn [add_rows value length].
  - split; lia.
  - destruct (IH (d * l / D) t ltac:(lia)) as [I1 I2]. rewrite I1, I2. pose proof (halves (d * l)). split; lia.
Qed.

(* blocks.rs: reduce, first_digit. Whatever the columns hold: the quotient's digits are limbs, and 2^(52 k) times what is left are
   the columns and the quotient times the modulus, exactly. *)
Theorem reduction_correct inverse m0 m : 0 <= inverse < D -> cong D (inverse * m0) (-1) ->
  forall k t, (k + length m < length t)%nat ->
  let '(q, r) := reduce inverse (m0 :: m) k t in
  length q = k /\ 0 <= value q < D ^ Z.of_nat k /\
  D ^ Z.of_nat k * value r = value t - masks k + value q * value (m0 :: m).
Proof.
  intros Hi Hm. induction k as [|k IH]; intros t Ht.
  - cbn [reduce value masks]. destruct t; cbn [length] in Ht; [lia|]. change (D ^ Z.of_nat 0) with 1. split; [reflexivity|]. split; lia.
  - destruct t as [|v t]; cbn [length] in Ht; [lia|]. cbn [reduce].
    set (d := (first_digit v inverse) mod D). assert (Hd : 0 <= d < D) by (apply Z.mod_pos_bound; lia).
    assert (Cd : cong D d (inverse * (v + 1))).
    { unfold d, first_digit, add_low. rewrite cong_mod by lia.
      pose proof (low_range (v * inverse)). rewrite (Z.mod_small (inverse + _) B) by lia. rewrite cong_mod by lia. exists 0. ring. }
    pose proof (low_range (d * m0)) as Hl. pose proof (halves (d * m0)) as Hh.
    assert (Carry : D * (v / D) = v - (D - 1) + (d * m0) mod D).
    { assert (Z0 : cong D (v - (D - 1) + (d * m0) mod D) 0).
      { rewrite (cong_mod D (d * m0)) by lia. rewrite Cd. replace (inverse * (v + 1) * m0) with (inverse * m0 * (v + 1)) by ring.
        rewrite Hm. exists (- 1). ring. }
      destruct Z0 as [j Hj]. assert (Ej : v / D = j); [|lia].
      symmetry. apply Z.div_unique with (D - 1 - (d * m0) mod D); lia. }
    destruct (add_rows_value d m (v / D + d * m0 / D) t ltac:(lia)) as [L V].
    specialize (IH (add_rows (v / D + d * m0 / D) d m t) ltac:(lia)).
    destruct (reduce inverse (m0 :: m) k (add_rows (v / D + d * m0 / D) d m t)) as [q r]. destruct IH as (I1 & I2 & I3).
    cbn [length value masks] in *. rewrite V in I3. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia.
    split; [lia|]. split; [lia|]. clear - I3 Carry Hh. lia.
Qed.

Fixpoint subtracted (u q : list Z) : list Z :=
  match u, q with x :: u, d :: q => x - d :: subtracted u q | _, _ => u end.
Lemma subtracted_value q : forall u, (length q <= length u)%nat ->
  length (subtracted u q) = length u /\ value (subtracted u q) = value u - value q.
Proof.
  induction q as [|d q IH]; intros [|x u] H; cbn [length] in H; try lia; cbn [subtracted value length]; try (split; lia).
  destruct (IH u ltac:(lia)) as [I1 I2]. rewrite I1, I2. split; lia.
Qed.

Definition start_high (m0 : Z) (m : list Z) := FIRST (D - 1) :: repeat (OTHERS (D - 1)) (length m) ++ m0 - 1 :: m.
(* blocks.rs: start_high. R m and what a reduction expects, without a negative column. *)
Theorem start_high_correct m0 m : let k := S (length m) in
  value (start_high m0 m) = masks k + D ^ Z.of_nat k * value (m0 :: m).
Proof.
  cbv zeta. unfold start_high, FIRST, OTHERS. assert (App : forall a b, value (a ++ b) = value a + D ^ Z.of_nat (length a) * value b).
  { induction a as [|x a IH]; intros b; cbn [app value length]; [change (D ^ Z.of_nat 0) with 1; lia|].
    rewrite IH, Nat2Z.inj_succ, Z.pow_succ_r by lia. ring. }
  assert (Twice : forall n, value (repeat (2 * (D - 1)) n) = 2 * masks n).
  { induction n as [|n IH]; cbn [repeat value masks]; lia. }
  cbn [value]. rewrite App, Twice, repeat_length. cbn [value masks]. rewrite masks_value, Nat2Z.inj_succ, Z.pow_succ_r by lia. ring.
Qed.

Section Lazy.
Variables inverse m0 : Z.
Variable above : list Z.
Hypothesis Hi : 0 <= inverse < D.
Hypothesis Hinv : cong D (inverse * m0) (-1).
Let limbs := m0 :: above.
Let k := length limbs.
Let m := value limbs.
Let R := D ^ Z.of_nat k.
Hypothesis Hm : 1 < m.
Hypothesis HR : 256 * m <= R.
Definition reduction (t : list Z) := reduce inverse limbs k t.

Lemma reduced_value t x : length t = (2 * k)%nat -> value t = masks k + x ->
  let '(q, r) := reduction t in length q = k /\ 0 <= value q < R /\ R * value r = x + value q * m.
Proof.
  intros L V. pose proof (reduction_correct inverse m0 above Hi Hinv k t) as H. unfold reduction. fold limbs in H.
  destruct (reduce inverse limbs k t) as [q r]. destruct H as (H1 & H2 & H3); [unfold k, limbs in *; cbn [length] in *; lia|].
  fold R m in H2, H3. split; [exact H1|]. split; [exact H2|]. lia.
Qed.

Lemma below_2m x q t : 0 <= x <= R * m -> 0 <= q < R -> R * t = x + q * m -> 0 <= t < 2 * m.
Proof. intros. assert (q * m < R * m) by (apply Z.mul_lt_mono_pos_r; lia). assert (0 <= q * m) by (apply Z.mul_nonneg_nonneg; lia). nia. Qed.

(* ifma.rs: mul *)
Theorem lazy_low a b t : length t = (2 * k)%nat -> value t = masks k + a * b -> 0 <= a < 2 * m -> 0 <= b < 2 * m ->
  let '(q, r) := reduction t in 0 <= value r < 2 * m /\ R * value r = a * b + value q * m.
Proof.
  intros L V Ha Hb. pose proof (reduced_value t _ L V) as H. destruct (reduction t) as [q r]. destruct H as (_ & H2 & H3).
  split; [|exact H3]. apply (below_2m (a * b) (value q)); [|assumption|assumption].
  assert (a * b <= 2 * m * (2 * m)) by (apply Z.mul_le_mono_nonneg; lia). assert (0 <= a * b) by (apply Z.mul_nonneg_nonneg; lia).
  assert (256 * m * m <= R * m) by (apply Z.mul_le_mono_nonneg_r; lia). assert (0 <= m * m) by (apply Z.mul_nonneg_nonneg; lia). lia.
Qed.

(* ifma.rs: mul. The low part of what add_chunk makes is below R / 2. *)
Theorem lazy_chunk a b t : length t = (2 * k)%nat -> value t = masks k + a * b -> 0 <= a -> 2 * a < R -> 0 <= b < 2 * m ->
  let '(q, r) := reduction t in 0 <= value r < 2 * m /\ R * value r = a * b + value q * m.
Proof.
  intros L V Ha Ha2 Hb. pose proof (reduced_value t _ L V) as H. destruct (reduction t) as [q r]. destruct H as (_ & H2 & H3).
  split; [|exact H3]. apply (below_2m (a * b) (value q)); [|assumption|assumption].
  assert (2 * a * b <= R * (2 * m)) by (apply Z.mul_le_mono_nonneg; lia). assert (0 <= a * b) by (apply Z.mul_nonneg_nonneg; lia). lia.
Qed.

(* ifma.rs: sqr *)
Theorem lazy_sum_squared a t : length t = (2 * k)%nat -> value t = masks k + a * a -> 0 <= a < 4 * m ->
  let '(q, r) := reduction t in 0 <= value r < 2 * m /\ R * value r = a * a + value q * m.
Proof.
  intros L V Ha. pose proof (reduced_value t _ L V) as H. destruct (reduction t) as [q r]. destruct H as (_ & H2 & H3).
  split; [|exact H3]. apply (below_2m (a * a) (value q)); [|assumption|assumption].
  assert (a * a <= 4 * m * (4 * m)) by (apply Z.mul_le_mono_nonneg; lia). assert (0 <= a * a) by (apply Z.mul_nonneg_nonneg; lia).
  assert (256 * m * m <= R * m) by (apply Z.mul_le_mono_nonneg_r; lia). assert (0 <= m * m) by (apply Z.mul_nonneg_nonneg; lia). lia.
Qed.

(* The high part: the digits of the low part's quotient are subtracted, R m is added. *)
Lemma lazy_pair a b c d t u : length t = (2 * k)%nat -> length u = (2 * k)%nat -> value t = masks k + a * c ->
  value u = masks k + R * m + (a * d + b * c) -> 0 <= a * d + b * c -> 2 * (a * d + b * c) <= 2 * R * m ->
  let '(Q, r) := reduction t in let '(q, s) := reduction (subtracted u Q) in
  0 <= value s < 3 * m /\ R * value r = a * c + value Q * m /\
  (a + b * m) * (c + d * m) = R * (value r + value s * m) + (b * d - R - value q) * (m * m).
Proof.
  intros Lt Lu Vt Vu H0 H1. pose proof (reduced_value t _ Lt Vt) as H. destruct (reduction t) as [Q r]. destruct H as (LQ & HQ & EQ).
  destruct (subtracted_value Q u ltac:(lia)) as [L V]. rewrite Vu in V.
  pose proof (reduced_value (subtracted u Q) (R * m + (a * d + b * c) - value Q) ltac:(lia) ltac:(lia)) as H.
  destruct (reduction (subtracted u Q)) as [q s]. destruct H as (_ & Hq & Eq).
  assert (HRm : R <= R * m) by (rewrite <- (Z.mul_1_r R) at 1; apply Z.mul_le_mono_nonneg_l; lia).
  assert (Hqm : 0 <= value q * m < R * m) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_lt_mono_pos_r; lia]).
  split; [|split; [exact EQ|]].
  - split; [|apply Z.mul_lt_mono_pos_l with R; lia]. assert (- 1 < value s); [|lia]. apply Z.mul_lt_mono_pos_l with R; lia.
  - transitivity (a * c + (a * d + b * c) * m + b * d * (m * m)); [ring|].
    replace (a * c) with (R * value r - value Q * m) by lia.
    replace (a * d + b * c) with (R * value s - R * m + value Q - value q * m) by lia. ring.
Qed.

(* ifma.rs: dual_mul *)
Theorem lazy_high a b c d t u : length t = (2 * k)%nat -> length u = (2 * k)%nat -> value t = masks k + a * c ->
  value u = masks k + R * m + (a * d + b * c) -> 0 <= a < 2 * m -> 0 <= c < 2 * m -> 0 <= b < 3 * m -> 0 <= d < 3 * m ->
  let '(Q, r) := reduction t in let '(q, s) := reduction (subtracted u Q) in
  0 <= value s < 3 * m /\ R * value r = a * c + value Q * m /\
  (a + b * m) * (c + d * m) = R * (value r + value s * m) + (b * d - R - value q) * (m * m).
Proof.
  intros. assert (0 <= a * d <= 2 * m * (3 * m)) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]).
  assert (0 <= b * c <= 3 * m * (2 * m)) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]).
  assert (256 * m * m <= R * m) by (apply Z.mul_le_mono_nonneg_r; lia). assert (0 <= m * m) by (apply Z.mul_nonneg_nonneg; lia).
  apply lazy_pair; try assumption; lia.
Qed.

(* ifma.rs: dual_mul *)
Theorem lazy_high_chunk a b c d t u : length t = (2 * k)%nat -> length u = (2 * k)%nat -> value t = masks k + a * c ->
  value u = masks k + R * m + (a * d + b * c) -> 0 <= a -> 2 * a < R -> 0 <= b < 3 * m -> 0 <= c < m -> 0 <= d < m ->
  let '(Q, r) := reduction t in let '(q, s) := reduction (subtracted u Q) in
  0 <= value s < 3 * m /\ R * value r = a * c + value Q * m /\
  (a + b * m) * (c + d * m) = R * (value r + value s * m) + (b * d - R - value q) * (m * m).
Proof.
  intros. assert (0 <= 2 * a * d <= R * m) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]).
  assert (0 <= b * c <= 3 * m * m) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]).
  assert (256 * m * m <= R * m) by (apply Z.mul_le_mono_nonneg_r; lia). assert (0 <= m * m) by (apply Z.mul_nonneg_nonneg; lia).
  apply lazy_pair; try assumption; lia.
Qed.
End Lazy.

(* The modulus 2^52 + 5 in three limbs; m0 inverse_5 = -1 modulo 2^52. *)
Definition inverse_5 := 900719925474099.
Lemma inverse_5_correct : cong D (inverse_5 * 5) (-1). Proof. exists 1. reflexivity. Qed.
Definition low_5 := [D - 1 + 9; D - 1 + 6; D - 1 + 1; 0; 0; 0].
(* start_high, and that square. *)
Definition high_5 := [2 * (D - 1) + 1 + 9; 2 * (D - 1) + 6; 2 * (D - 1) + 1; 4; 1; 0].
Example start_high_example : value (start_high 5 [1; 0]) = masks 3 + D ^ Z.of_nat 3 * value [5; 1; 0].
Proof. apply (start_high_correct 5 [1; 0]). Qed.
Ltac computed := first [reflexivity | (vm_compute; intuition discriminate)].
Example lazy_low_example : let '(q, r) := reduction inverse_5 5 [1; 0] low_5 in
  0 <= value r < 2 * value [5; 1; 0] /\ D ^ Z.of_nat 3 * value r = value [3; 1] * value [3; 1] + value q * value [5; 1; 0].
Proof. apply (lazy_low inverse_5 5 [1; 0] ltac:(computed) inverse_5_correct ltac:(computed) ltac:(computed)); computed. Qed.
Example lazy_chunk_example : let '(q, r) := reduction inverse_5 5 [1; 0] low_5 in
  0 <= value r < 2 * value [5; 1; 0] /\ D ^ Z.of_nat 3 * value r = value [3; 1] * value [3; 1] + value q * value [5; 1; 0].
Proof. apply (lazy_chunk inverse_5 5 [1; 0] ltac:(computed) inverse_5_correct ltac:(computed) ltac:(computed)); computed. Qed.
Example lazy_sum_example : let '(q, r) := reduction inverse_5 5 [1; 0] low_5 in
  0 <= value r < 2 * value [5; 1; 0] /\ D ^ Z.of_nat 3 * value r = value [3; 1] * value [3; 1] + value q * value [5; 1; 0].
Proof. apply (lazy_sum_squared inverse_5 5 [1; 0] ltac:(computed) inverse_5_correct ltac:(computed) ltac:(computed)); computed. Qed.
(* (3 + 2^52) (1 + m) (3 + 2^52) (1 + 0 m), whose high part is (3 + 2^52)^2. *)
Example lazy_high_example : let '(Q, r) := reduction inverse_5 5 [1; 0] low_5 in
  let '(q, s) := reduction inverse_5 5 [1; 0] (subtracted high_5 Q) in 0 <= value s < 3 * value [5; 1; 0] /\
  D ^ Z.of_nat 3 * value r = value [3; 1] * value [3; 1] + value Q * value [5; 1; 0] /\
  (value [3; 1] + value [3; 1] * value [5; 1; 0]) * (value [3; 1] + 0 * value [5; 1; 0]) =
    D ^ Z.of_nat 3 * (value r + value s * value [5; 1; 0]) +
    (value [3; 1] * 0 - D ^ Z.of_nat 3 - value q) * (value [5; 1; 0] * value [5; 1; 0]).
Proof.
  apply (lazy_high inverse_5 5 [1; 0] ltac:(computed) inverse_5_correct ltac:(computed) ltac:(computed)); computed.
Qed.
Example lazy_high_chunk_example : let '(Q, r) := reduction inverse_5 5 [1; 0] low_5 in
  let '(q, s) := reduction inverse_5 5 [1; 0] (subtracted high_5 Q) in 0 <= value s < 3 * value [5; 1; 0] /\
  D ^ Z.of_nat 3 * value r = value [3; 1] * value [3; 1] + value Q * value [5; 1; 0] /\
  (value [3; 1] + value [3; 1] * value [5; 1; 0]) * (value [3; 1] + 0 * value [5; 1; 0]) =
    D ^ Z.of_nat 3 * (value r + value s * value [5; 1; 0]) +
    (value [3; 1] * 0 - D ^ Z.of_nat 3 - value q) * (value [5; 1; 0] * value [5; 1; 0]).
Proof.
  apply (lazy_high_chunk inverse_5 5 [1; 0] ltac:(computed) inverse_5_correct ltac:(computed) ltac:(computed)); computed.
Qed.
