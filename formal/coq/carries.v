(* crates/arith/src/backend/ifma/across.rs: columns are carried up into limbs at once. What happens in a lane is translated; that the
   bits of all lanes are one number, and the comparisons that make them, are a model. *)
From Arith Require Import words lanes modular.
From Arith Require lazy.
From Arith Require Import vectors across.
From Generated Require Import across_lanes across_shapes across_steps ifma_constants.

Fixpoint bits (l : list bool) : Z := match l with [] => 0 | b :: l => Z.b2z b + 2 * bits l end.
(* Bits::carries *)
Definition carries (full over : list bool) := Z.lxor (bits full + bits over * 2 ^ HIGHER) (bits full).
Definition stepped (t : list Z) :=
  add_columns (map (fun c => snd (carry_lane ones c)) t) (up (map (fun c => fst (carry_lane ones c)) t)).
Definition settled (t : list Z) (carried : Z) :=
  zip_with (fun c i => settle_lane ones c (Z.b2z (Z.testbit carried i))) t (map Z.of_nat (seq 0 (length t))).
Definition carry_up (t : list Z) :=
  let t := stepped t in settled t (carries (map (fun c => c =? ones) t) (map (fun c => ones <? c) t)).

(* The first step: each column keeps its limb and gets the carry of the column below. *)
Fixpoint ripple (c : Z) (t : list Z) : list Z := match t with [] => [] | x :: t => x mod D + c :: ripple (x / D) t end.
Fixpoint top (c : Z) (t : list Z) : Z := match t with [] => c | x :: t => top (x / D) t end.
Lemma ripple_value t : forall c, value (ripple c t) + D ^ Z.of_nat (length t) * top c t = value t + c.
Proof.
  induction t as [|x t IH]; intros c; cbn [ripple top value length]; [change (D ^ Z.of_nat 0) with 1; lia|].
  specialize (IH (x / D)). rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. pose proof (lanes.halves x). lia.
Qed.
Lemma ripple_length t : forall c, length (ripple c t) = length t.
Proof. induction t; intros c; cbn [ripple length]; auto. Qed.
Lemma top_positive t : within 0 (2 ^ 63 - 1) t -> forall c, 0 <= c -> 0 <= top c t.
Proof. induction 1 as [|x t Hx _ IH]; intros c Hc; cbn [top]; [exact Hc|]. apply IH, Z.div_pos; lia. Qed.
Lemma ripple_range t : within 0 (2 ^ 63 - 1) t -> forall c, 0 <= c < 2048 -> within 0 (D + 2047) (ripple c t).
Proof.
  induction 1 as [|x t Hx _ IH]; intros c Hc; cbn [ripple]; constructor; [pose proof (low_range x); lia|].
  apply IH. split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; lia.
Qed.
Lemma carry_parts c : 0 <= c < B -> carry_lane ones c = (c / D, c mod D).
Proof. intros H. unfold carry_lane, shr. change ones with (Z.ones 52). rewrite Z.land_ones by lia. reflexivity. Qed.
Lemma stepped_ripple t : within 0 (2 ^ 63 - 1) t -> stepped t = ripple 0 t.
Proof.
  intros H. destruct t as [|x t]; [reflexivity|].
  assert (G : forall t c, within 0 (2 ^ 63 - 1) t -> 0 <= c < 2048 ->
    add_columns (map (fun c => snd (carry_lane ones c)) t) (c :: firstn (length t - 1) (map (fun c => fst (carry_lane ones c)) t)) = ripple c t).
  { clear. induction t as [|x t IH]; intros c H Hc; [reflexivity|]. apply Forall_cons_iff in H as [Hx H].
    assert (Hq : 0 <= x / D < 2048) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
    cbn [map add_columns zip_with length ripple]. rewrite carry_parts by lia. cbn [fst snd]. f_equal.
    - unfold columns_lane, add64. pose proof (low_range x). apply Z.mod_small. lia.
    - rewrite <- (IH (x / D) H Hq). rewrite Nat.sub_1_r. cbn [Nat.pred]. destruct t as [|x' t]; [reflexivity|].
      change (length (x' :: t)) with (S (length t)). cbn [map firstn]. rewrite Nat.sub_1_r. reflexivity. }
  unfold stepped, up. change (Z.to_nat (8 - UP)) with 1%nat. rewrite map_length. change (repeat 0 1) with [0]. cbn [app].
  apply (G (x :: t) 0 H ltac:(lia)).
Qed.

(* The second step: the carries that an addition of bits finds. *)
Fixpoint chain (c : bool) (t : list Z) : list bool :=
  match t with [] => [c] | x :: t => c :: chain ((ones <? x) || ((x =? ones) && c))%bool t end.
Lemma lxor_bits a b x y : Z.lxor (Z.b2z a + 2 * x) (Z.b2z b + 2 * y) = Z.b2z (xorb a b) + 2 * Z.lxor x y.
Proof.
  apply Z.bits_inj'. intros n Hn. rewrite Z.lxor_spec. rewrite !(Z.add_comm (Z.b2z _)).
  destruct (Z.eq_dec n 0) as [->|E].
  - rewrite !Z.testbit_0_r. reflexivity.
  - replace n with (Z.succ (Z.pred n)) by lia. rewrite !Z.testbit_succ_r by lia. symmetry. apply Z.lxor_spec.
Qed.
Lemma chain_bits t : forall c, Z.lxor (bits (map (fun c => c =? ones) t) + bits (map (fun c => ones <? c) t) * 2 + Z.b2z c)
  (bits (map (fun c => c =? ones) t)) = bits (chain c t).
Proof.
  induction t as [|x t IH]; intros c; cbn [map bits chain].
  - rewrite Z.lxor_0_r. lia.
  - rewrite <- IH. set (f := bits (map _ t)). set (o := bits (map _ t)).
    set (f0 := x =? ones). set (o0 := ones <? x).
    assert (X : (o0 && f0)%bool = false) by (unfold o0, f0; destruct (Z.ltb_spec ones x), (Z.eqb_spec x ones); cbn; lia).
    clearbody f o f0 o0.
    replace (Z.b2z f0 + 2 * f + (Z.b2z o0 + 2 * o) * 2 + Z.b2z c) with
      (Z.b2z (xorb f0 c) + 2 * (f + o * 2 + Z.b2z (o0 || (f0 && c))%bool)) by (destruct f0, o0, c; cbn in *; try discriminate; lia).
    rewrite lxor_bits. f_equal. destruct f0, c; reflexivity.
Qed.
Lemma testbit_bits l : forall i, Z.testbit (bits l) (Z.of_nat i) = nth i l false.
Proof.
  induction l as [|b l IH]; intros i; cbn [bits]; [rewrite Z.testbit_0_l; destruct i; reflexivity|]. rewrite Z.add_comm.
  destruct i as [|i]; [apply Z.testbit_0_r|]. rewrite Nat2Z.inj_succ, Z.testbit_succ_r by lia. apply IH.
Qed.

Fixpoint with_carries (t : list Z) (l : list bool) : list Z :=
  match t, l with x :: t, b :: l => (x + Z.b2z b) mod D :: with_carries t l | _, _ => [] end.
Lemma settled_with t l : within 0 (D + 2047) t -> (length t <= length l)%nat -> settled t (bits l) = with_carries t l.
Proof.
  unfold settled. assert (G : forall t k l s, within 0 (D + 2047) t -> (forall i, nth (s + i) k false = nth i l false) -> (length t <= length l)%nat ->
    zip_with (fun c i => settle_lane ones c (Z.b2z (Z.testbit (bits k) i))) t (map Z.of_nat (seq s (length t))) = with_carries t l).
  { clear. induction t as [|x t IH]; intros k l s H K L; [reflexivity|]. destruct l as [|b l]; cbn [length] in L; [lia|].
    apply Forall_cons_iff in H as [Hx H]. cbn [length seq map zip_with with_carries]. f_equal.
    - rewrite testbit_bits. specialize (K 0%nat). rewrite Nat.add_0_r in K. rewrite K. cbn [nth].
      unfold settle_lane, add64. change ones with (Z.ones 52). rewrite Z.land_ones by lia. change (2 ^ 52) with D.
      rewrite Z.mul_1_l, (Z.mod_small _ B) by (destruct b; cbn; lia). reflexivity.
    - apply IH; [exact H| |lia]. intros i. specialize (K (S i)). rewrite <- plus_n_Sm in K. exact K. }
  intros H L. apply (G t l l 0%nat H); [reflexivity|exact L].
Qed.
Lemma chain_length t : forall c, length (chain c t) = S (length t).
Proof. induction t as [|x t IH]; intros c; cbn [chain length]; [reflexivity|]. rewrite IH. reflexivity. Qed.
Lemma with_carries_value t : within 0 (D + 2047) t -> forall c, exists out, 0 <= out /\
  value (with_carries t (chain c t)) + D ^ Z.of_nat (length t) * out = value t + Z.b2z c.
Proof.
  induction 1 as [|x t Hx _ IH]; intros c; cbn [chain with_carries value length].
  - exists (Z.b2z c). change (D ^ Z.of_nat 0) with 1. destruct c; cbn; lia.
  - destruct (IH ((ones <? x) || ((x =? ones) && c))%bool) as (out & Ho & E). exists out. split; [exact Ho|].
    rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia.
    assert (Q : x + Z.b2z c = D * Z.b2z ((ones <? x) || ((x =? ones) && c))%bool + (x + Z.b2z c) mod D).
    { pose proof (Z.div_mod (x + Z.b2z c) D ltac:(lia)) as DM. rewrite DM at 1. f_equal. f_equal. symmetry.
      set (b := Z.b2z (_ || _)%bool). apply Z.div_unique with (x + Z.b2z c - D * b); [left|lia]. subst b. change ones with (D - 1).
      destruct (Z.ltb_spec (D - 1) x), (Z.eqb_spec x (D - 1)), c; cbn [orb andb Z.b2z]; lia. }
    lia.
Qed.
Lemma with_carries_limbs t : forall l, Forall limb (with_carries t l).
Proof. induction t as [|x t IH]; intros [|b l]; cbn [with_carries]; constructor; [apply Z.mod_pos_bound; lia|apply IH]. Qed.
Lemma with_carries_length t : forall l, (length t <= length l)%nat -> length (with_carries t l) = length t.
Proof. induction t as [|x t IH]; intros [|b l] H; cbn [with_carries length] in *; try lia. rewrite IH; lia. Qed.

(* ifma/across.rs: carry_up, carries. No sum overflows, and the limbs have the columns' value. *)
Theorem carry_up_correct t : within 0 (2 ^ 63 - 1) t -> value t < D ^ Z.of_nat (length t) ->
  Forall limb (carry_up t) /\ length (carry_up t) = length t /\ value (carry_up t) = value t.
Proof.
  intros H Hv. unfold carry_up. rewrite stepped_ripple by exact H. set (r := ripple 0 t).
  pose proof (ripple_range t H 0 ltac:(lia)) as W. fold r in W. pose proof (ripple_value t 0) as V. fold r in V.
  pose proof (top_positive t H 0 ltac:(lia)) as T. assert (L : length r = length t) by apply ripple_length.
  assert (E : carries (map (fun c => c =? ones) r) (map (fun c => ones <? c) r) = bits (chain false r)).
  { unfold carries. change (2 ^ HIGHER) with 2. rewrite <- chain_bits. cbn [Z.b2z]. rewrite Z.add_0_r. reflexivity. }
  rewrite E, settled_with by (try exact W; rewrite chain_length; lia).
  destruct (with_carries_value r W false) as (out & Ho & Eo). cbn [Z.b2z] in Eo. rewrite L in Eo.
  split; [apply with_carries_limbs|]. split; [rewrite with_carries_length by (rewrite chain_length; lia); exact L|].
  pose proof (value_range _ (with_carries_limbs r (chain false r))) as R.
  assert (0 <= D ^ Z.of_nat (length t)) by (apply Z.pow_nonneg; lia). set (P := D ^ Z.of_nat (length t)) in *.
  assert (out + top 0 t = 0); [|nia]. assert (P * (out + top 0 t) < P) by lia. nia.
Qed.

Example carry_up_example : Forall limb (carry_up [D + 5; D - 1; D - 1; 7]) /\ length (carry_up [D + 5; D - 1; D - 1; 7]) = 4%nat /\
  value (carry_up [D + 5; D - 1; D - 1; 7]) = value [D + 5; D - 1; D - 1; 7].
Proof. apply carry_up_correct; [repeat constructor; vm_compute; intuition discriminate|vm_compute; reflexivity]. Qed.

Section Results.
Variables inverse m0 : Z.
Variable above : list Z.
Let m := m0 :: above.
Let n := length m.
Let M := value m.
Hypothesis Hm : Forall limb m.
Hypothesis Hinv : cong D (inverse * m0) (-1).
Variable b : list Z.
Let R := D ^ Z.of_nat (length b).
Hypothesis Lb : Forall limb b.
Hypothesis Nb : b <> [].
Hypothesis Hb : Z.of_nat (length b) <= 8 * MOST_REGISTERS.
Hypothesis Kb : (length b <= n)%nat.
Hypothesis HM : 1 < M.
Hypothesis HR : 256 * M <= R.

Lemma carried_up t : length t = n -> within 0 (2 ^ 63 - 1) t -> value t < R ->
  Forall limb (carry_up t) /\ value (carry_up t) = value t.
Proof.
  intros L W V. assert (R <= D ^ Z.of_nat n) by (apply Z.pow_le_mono_r; lia).
  destruct (carry_up_correct t W) as (C1 & _ & C3); [rewrite L; lia|]. auto.
Qed.

(* ifma/across.rs: product. Of residues: the limbs of a residue. *)
Theorem product_reduced a : Forall limb a -> length a = n -> value a < 2 * M -> value b < 2 * M ->
  let r := carry_up (product m inverse a b) in Forall limb r /\ 0 <= value r < 2 * M /\
  exists q, R * value r = value a * value b + q * M.
Proof.
  intros Ha La Va Vb. cbv zeta.
  destruct (product_correct inverse m0 above Hm Hinv a b Ha La Lb Nb Hb) as (L & W & q & Hq & E). fold m in L, W, E. fold n in L. fold M in E. fold R in Hq, E.
  pose proof (value_range a Ha) as Pa. pose proof (value_range b Lb) as Pb.
  assert (Q : 0 <= q * M < R * M) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_lt_mono_pos_r; lia]).
  assert (X : 0 <= value a * value b <= 2 * M * (2 * M)) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]).
  assert (Y : 256 * M * M <= R * M) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (0 <= M * M) by (apply Z.mul_nonneg_nonneg; lia).
  assert (V : 0 <= value (product m inverse a b) < 2 * M).
  { split; [assert (- 1 < value (product m inverse a b)); [|lia]|]; apply Z.mul_lt_mono_pos_l with R; lia. }
  destruct (carried_up _ L W ltac:(lia)) as [C1 C2]. rewrite C2. split; [exact C1|]. split; [exact V|]. exists q. exact E.
Qed.

(* ifma/across.rs: dual_product. Of dual residues: a dual residue, the product over R modulo m^2. *)
Theorem dual_reduced al ah bh : Forall limb al -> length al = n -> Forall limb ah -> length ah = n -> Forall limb bh ->
  length bh = length b -> value al < 2 * M -> value ah < 3 * M -> value b < 2 * M -> value bh < 3 * M ->
  let '(t, u) := dual_product m inverse al ah b bh in let r := carry_up t in let s := carry_up u in
  Forall limb r /\ Forall limb s /\ 0 <= value r < 2 * M /\ 0 <= value s < 3 * M /\
  exists x, (value al + value ah * M) * (value b + value bh * M) = R * (value r + value s * M) + x * (M * M).
Proof.
  intros Hal Lal Hah Lah Hbh Ebh V1 V2 V3 V4.
  pose proof (dual_product_correct inverse m0 above Hm Hinv al ah b bh Hal Lal Hah Lah Lb Nb Hbh Ebh Hb) as E. fold m in E.
  destruct (dual_product m inverse al ah b bh) as [t u]. destruct E as (Lt & Lu & Wt & Wu & Q & q & HQ & Hq & E1 & E2).
  fold R in HQ, Hq, E1, E2. fold m M in E1, E2.
  pose proof (value_range al Hal). pose proof (value_range ah Hah). pose proof (value_range b Lb). pose proof (value_range bh Hbh).
  assert (0 <= Q * M < R * M) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_lt_mono_pos_r; lia]).
  assert (0 <= q * M < R * M) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_lt_mono_pos_r; lia]).
  assert (X1 : 0 <= value al * value b <= 2 * M * (2 * M)) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]).
  assert (X2 : 0 <= value ah * value b <= 3 * M * (2 * M)) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]).
  assert (X3 : 0 <= value al * value bh <= 2 * M * (3 * M)) by (split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia]).
  assert (Y : 256 * M * M <= R * M) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (0 <= M * M) by (apply Z.mul_nonneg_nonneg; lia).
  assert (HRM : R <= R * M) by (rewrite <- (Z.mul_1_r R) at 1; apply Z.mul_le_mono_nonneg_l; lia).
  assert (Vt : 0 <= value t < 2 * M) by (split; [assert (- 1 < value t); [|lia]|]; apply Z.mul_lt_mono_pos_l with R; lia).
  assert (Vu : 0 <= value u < 3 * M) by (split; [assert (- 1 < value u); [|lia]|]; apply Z.mul_lt_mono_pos_l with R; lia).
  destruct (carried_up t Lt Wt ltac:(lia)) as [C1 C2]. destruct (carried_up u Lu Wu ltac:(lia)) as [C3 C4].
  cbv zeta. rewrite C2, C4. split; [exact C1|]. split; [exact C3|]. split; [exact Vt|]. split; [exact Vu|].
  exists (value ah * value bh - R - q). transitivity (value al * value b + (value al * value bh + value ah * value b) * M +
    value ah * value bh * (M * M)); [ring|].
  replace (value al * value b) with (R * value t - Q * M) by lia.
  replace (value al * value bh + value ah * value b) with (R * value u - R * M + Q - q * M) by lia. ring.
Qed.
End Results.

Example product_reduced_example : let r := carry_up (product [5; 1; 0; 0] lazy.inverse_5 [3; 1; 0; 0] [3; 1; 0]) in
  Forall limb r /\ 0 <= value r < 2 * value [5; 1; 0; 0] /\
  exists q, D ^ Z.of_nat 3 * value r = value [3; 1; 0; 0] * value [3; 1; 0] + q * value [5; 1; 0; 0].
Proof.
  apply (product_reduced lazy.inverse_5 5 [1; 0; 0] ltac:(computed) lazy.inverse_5_correct [3; 1; 0]); try lia; try computed.
Qed.
Example dual_reduced_example : let '(t, u) := dual_product [5; 1; 0] lazy.inverse_5 [3; 1; 0] [4; 1; 0] [3; 1; 0] [2; 1; 0] in
  let r := carry_up t in let s := carry_up u in Forall limb r /\ Forall limb s /\
  0 <= value r < 2 * value [5; 1; 0] /\ 0 <= value s < 3 * value [5; 1; 0] /\
  exists x, (value [3; 1; 0] + value [4; 1; 0] * value [5; 1; 0]) * (value [3; 1; 0] + value [2; 1; 0] * value [5; 1; 0]) =
    D ^ Z.of_nat 3 * (value r + value s * value [5; 1; 0]) + x * (value [5; 1; 0] * value [5; 1; 0]).
Proof.
  apply (dual_reduced lazy.inverse_5 5 [1; 0] ltac:(computed) lazy.inverse_5_correct [3; 1; 0]); computed.
Qed.
