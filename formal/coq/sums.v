(* crates/dghv/src/sums/ifma.rs and sums/blocks.rs: sums of halves of products fit into 64 bits. What happens in a lane, when carries
   are moved away and how many terms are held before are translated or read from the source; the loops over terms are a model. *)
From Arith Require Import words lanes.
From Generated Require Import sums_lanes sums_constants sums_bounds.

Definition total (g : list (Z * Z)) := fold_right (fun '(v, f) s => v * f + s) 0 g.
Definition factors (v_most f_most : Z) (g : list (Z * Z)) := Forall (fun '(v, f) => 0 <= v < v_most /\ 0 <= f < f_most) g.
Definition count {A} (g : list A) := Z.of_nat (length g).

(* A column: its lower and its upper halves. *)
Definition add_terms (step : Z -> Z -> Z -> Z -> Z * Z) (g : list (Z * Z)) (s : Z * Z) :=
  fold_left (fun '(l, h) '(v, f) => step l h v f) g s.
Lemma products_positive v f g : 0 < v -> 0 < f -> factors v f g -> 0 <= total g <= count g * ((v - 1) * (f - 1)).
Proof.
  intros Hv Hf. unfold count. induction 1 as [|[a b] g [Ha Hb] _ IH]; cbn [total fold_right length]; [lia|].
  unfold total in IH. rewrite Nat2Z.inj_succ. assert (0 <= a * b) by (apply Z.mul_nonneg_nonneg; lia).
  assert (a * b <= (v - 1) * (f - 1)) by (apply Z.mul_le_mono_nonneg; lia). lia.
Qed.
Lemma terms_exact step : step = digit_step \/ step = term_step -> forall g l h, factors D D g -> 0 <= l -> 0 <= h ->
  l + count g * (D - 1) < B -> l + D * h + total g < D * B ->
  let '(l', h') := add_terms step g (l, h) in
  0 <= l' <= l + count g * (D - 1) /\ 0 <= h' < B /\ l' + D * h' = l + D * h + total g.
Proof.
  intros Hs. induction g as [|[v f] g IH]; intros l h Hg Hl Hh Room1 Room2; cbn [add_terms fold_left total fold_right] in *.
  - unfold count in *. cbn [length] in *. lia.
  - apply Forall_cons_iff in Hg as [[Hv Hf] Hg]. pose proof (products_positive D D g ltac:(lia) ltac:(lia) Hg) as P.
    unfold total in P. set (rest := fold_right _ 0 g) in *.
    assert (Ec : count ((v, f) :: g) = 1 + count g) by (unfold count; cbn [length]; lia). rewrite Ec in *.
    assert (0 <= count g) by (unfold count; lia).
    pose proof (low_range (v * f)) as L. pose proof (high_range v f Hv Hf) as H'. pose proof (halves (v * f)) as E.
    assert (S : step l h v f = (l + (v * f) mod D, h + v * f / D)).
    { destruct Hs as [-> | ->]; unfold digit_step, term_step, add_low, add_high; rewrite (Z.mod_small v D), (Z.mod_small f D) by lia;
        rewrite !(Z.mod_small _ B) by lia; reflexivity. }
    rewrite S. specialize (IH (l + (v * f) mod D) (h + v * f / D) Hg ltac:(lia) ltac:(lia) ltac:(lia) ltac:(unfold total; fold rest; lia)).
    unfold add_terms in *. destruct (fold_left _ g _) as [l' h']. unfold total in IH. fold rest in IH. lia.
Qed.

(* dghv/sums/ifma.rs: expand. A sequence's value is a sum of up to 2^LEVELS digits: products may read it. *)
Theorem sequences_fit digits : count digits <= 2 ^ LEVELS -> Forall (fun d => 0 <= d < 2 ^ DIGIT) digits ->
  0 <= fold_right Z.add 0 digits < D.
Proof.
  intros Hc Hd. assert (E : 0 <= fold_right Z.add 0 digits <= count digits * (2 ^ DIGIT - 1)).
  { clear Hc. unfold count. induction Hd as [|d l H _ IH]; cbn [fold_right length]; [lia|]. rewrite Nat2Z.inj_succ. lia. }
  assert (count digits * (2 ^ DIGIT - 1) <= 2 ^ LEVELS * (2 ^ DIGIT - 1)) by (apply Z.mul_le_mono_nonneg_r; [unfold DIGIT|]; lia).
  unfold LEVELS, DIGIT in *. change (2 ^ 3 * (2 ^ 48 - 1)) with 2251799813685240 in *. lia.
Qed.

(* Elements' products one group after another: [rows] elements of [taps] products each for a column. *)
Record column := Column { low : Z; high : Z; since : Z; carried : Z }.
Definition digits_group (taps : Z) (s : column) '((rows, g) : Z * list (Z * Z)) : column :=
  let s := if held (since s) rows >? most taps
    then Column 0 0 SINCE (carried s + (low s + high s * 2 ^ UPPER)) else s in
  let '(l, h) := add_terms digit_step g (low s, high s) in Column l h (since s + rows) (carried s).
Definition group_fits (taps : Z) '((rows, g) : Z * list (Z * Z)) :=
  0 <= rows <= GROUP /\ count g <= rows * taps /\ factors D D g.
Definition column_fits (taps sum : Z) (s : column) :=
  0 <= since s /\ since s * taps <= 4095 /\ 0 <= low s <= since s * taps * (D - 1) /\ 0 <= high s < B /\
  low s + D * high s <= since s * taps * ((D - 1) * (D - 1)) /\ 0 <= carried s /\ carried s + (low s + D * high s) = sum.

Lemma digits_group_fits taps sum s g : 0 < taps -> GROUP * taps <= 4095 -> column_fits taps sum s -> group_fits taps g ->
  column_fits taps (sum + total (snd g)) (digits_group taps s g).
Proof.
  destruct s as [l h n c], g as [rows g]. unfold column_fits, group_fits, digits_group. cbn [low high since carried snd].
  intros Ht Hg (N & Nt & L & H & T & C & S) (R & Cg & F).
  pose proof (products_positive D D g ltac:(lia) ltac:(lia) F) as P.
  assert (Rt : rows * taps <= GROUP * taps) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (K : 0 <= count g) by (unfold count; lia).
  assert (M : most taps * taps <= 4095) by (unfold most; rewrite Z.mul_comm; apply Z.mul_div_le; lia).
  assert (X : count g * ((D - 1) * (D - 1)) <= rows * taps * ((D - 1) * (D - 1))) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (Y : count g * (D - 1) <= rows * taps * (D - 1)) by (apply Z.mul_le_mono_nonneg_r; lia).
  unfold held, SINCE, UPPER in *. rewrite Z.gtb_ltb. change (2 ^ 52) with D.
  destruct (Z.ltb_spec (most taps) (n + rows)) as [Over|Under]; cbn [low high since carried].
  - pose proof (terms_exact digit_step (or_introl eq_refl) g 0 0 F ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)) as E.
    destruct (add_terms digit_step g (0, 0)) as [l' h']. cbn [low high since carried]. lia.
  - assert (U : (n + rows) * taps <= most taps * taps) by (apply Z.mul_le_mono_nonneg_r; lia).
    rewrite Z.mul_add_distr_r in *.
    pose proof (terms_exact digit_step (or_introl eq_refl) g l h F ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)) as E.
    destruct (add_terms digit_step g (l, h)) as [l' h']. cbn [low high since carried]. lia.
Qed.

(* dghv/sums/ifma.rs: accumulate, carry. No half overflows, and with what was carried away the column is the sum. *)
Theorem digit_sums_fit taps groups : 0 < taps -> GROUP * taps <= 4095 -> Forall (group_fits taps) groups ->
  let s := fold_left (digits_group taps) groups (Column 0 0 0 0) in
  0 <= low s < B /\ 0 <= high s < B /\ 0 <= carried s /\
  carried s + (low s + D * high s) = fold_right (fun g sum => total (snd g) + sum) 0 groups.
Proof.
  intros Ht Hg F. cbv zeta.
  assert (G : forall groups sum s, Forall (group_fits taps) groups -> column_fits taps sum s ->
    column_fits taps (sum + fold_right (fun g sum => total (snd g) + sum) 0 groups) (fold_left (digits_group taps) groups s)).
  { clear groups F. induction groups as [|g groups IH]; intros sum s F C; cbn [fold_left fold_right].
    - rewrite Z.add_0_r. exact C.
    - apply Forall_cons_iff in F as [Fg F]. rewrite Z.add_assoc. apply IH; [exact F|]. apply digits_group_fits; assumption. }
  specialize (G groups 0 (Column 0 0 0 0) F ltac:(unfold column_fits; cbn [low high since carried]; lia)).
  set (s := fold_left _ _ _) in *. clearbody s. unfold column_fits in G.
  assert (since s * taps * (D - 1) <= 4095 * (D - 1)) by (apply Z.mul_le_mono_nonneg_r; lia). lia.
Qed.

(* Blocks: up to ELEMENTS GROUPS terms at a time, and factors below 2^BITS. *)
Definition terms_group (s : Z * Z * Z) (g : list (Z * Z)) : Z * Z * Z :=
  let '(l, h, n) := s in
  let '(l, h, n) := if held_terms n (count g) 0 >? TERMS
    then let '(h, l) := normalise_step (2 ^ KEPT - 1) l h in (l, h, LEFT) else (l, h, n) in
  let '(l, h) := add_terms term_step g (l, h) in (l, h, held_terms n (count g) 0).
Definition terms_fit (sum : Z) (s : Z * Z * Z) :=
  let '(l, h, n) := s in 0 <= n <= TERMS /\ 0 <= l <= n * (D - 1) /\ 0 <= h < B /\ l + D * h = sum.

Lemma terms_group_fits sum s g : terms_fit sum s -> count g <= ELEMENTS * GROUPS -> factors D (2 ^ BITS) g ->
  sum + total g < D * B -> terms_fit (sum + total g) (terms_group s g).
Proof.
  destruct s as [[l h] n]. unfold terms_fit, terms_group, held_terms, ELEMENTS, GROUPS, TERMS, LEFT, KEPT.
  intros (N & L & H & S) C F Room. assert (K : 0 <= count g) by (unfold count; lia).
  assert (FD : factors D D g).
  { revert F. apply Forall_impl. intros [v f]. unfold BITS. change (2 ^ 49) with 562949953421312. lia. }
  pose proof (products_positive D D g ltac:(lia) ltac:(lia) FD) as P.
  rewrite Z.gtb_ltb. destruct (Z.ltb_spec 4095 (n + count g - 0)) as [Over|Under].
  - pose proof (Z.div_mod l D ltac:(lia)) as DM. pose proof (Z.mod_pos_bound l D ltac:(lia)) as MB.
    assert (0 <= l / D) by (apply Z.div_pos; lia).
    assert (E : normalise_step (2 ^ 52 - 1) l h = (h + l / D, l mod D)).
    { unfold normalise_step, add64, shr. change (2 ^ 52 - 1) with (Z.ones 52). rewrite Z.land_ones by lia. change (2 ^ 52) with D.
      rewrite Z.mod_small by lia. reflexivity. }
    rewrite E.
    pose proof (terms_exact term_step (or_intror eq_refl) g (l mod D) (h + l / D) FD ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)) as T.
    destruct (add_terms term_step g (l mod D, h + l / D)) as [l' h']. lia.
  - pose proof (terms_exact term_step (or_intror eq_refl) g l h FD ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)) as T.
    destruct (add_terms term_step g (l, h)) as [l' h']. lia.
Qed.

(* dghv/sums/blocks.rs: add; dghv/sums/blocks/transform.rs: add, normalise. No half overflows for as many terms as are allowed. *)
Theorem term_sums_fit groups : Forall (fun g => count g <= ELEMENTS * GROUPS /\ factors D (2 ^ BITS) g) groups ->
  count (concat groups) <= 2 ^ MOST_TERMS ->
  let '(l, h, n) := fold_left terms_group groups (0, 0, 0) in
  0 <= l < B /\ 0 <= h < B /\ l + D * h = fold_right (fun g sum => total g + sum) 0 groups.
Proof.
  intros F C. assert (P0 : forall groups, Forall (fun g => count g <= ELEMENTS * GROUPS /\ factors D (2 ^ BITS) g) groups ->
    0 <= fold_right (fun g sum => total g + sum) 0 groups <= count (concat groups) * ((D - 1) * (2 ^ BITS - 1))).
  { clear. induction 1 as [|g groups [_ Hg] _ IH]; cbn [fold_right concat]; [unfold count; cbn [length]; lia|].
    pose proof (products_positive D (2 ^ BITS) g ltac:(lia) ltac:(unfold BITS; lia) Hg) as P.
    assert (E : count (g ++ concat groups) = count g + count (concat groups)) by (unfold count; rewrite app_length; lia).
    rewrite E. rewrite Z.mul_add_distr_r. lia. }
  assert (G : forall groups sum s, Forall (fun g => count g <= ELEMENTS * GROUPS /\ factors D (2 ^ BITS) g) groups ->
    sum + fold_right (fun g sum => total g + sum) 0 groups < D * B -> terms_fit sum s ->
    terms_fit (sum + fold_right (fun g sum => total g + sum) 0 groups) (fold_left terms_group groups s)).
  { clear groups F C. induction groups as [|g groups IH]; intros sum s F R T; cbn [fold_left fold_right] in *.
    - rewrite Z.add_0_r. exact T.
    - apply Forall_cons_iff in F as [[Hc Hf] F]. pose proof (P0 groups F) as P. rewrite Z.add_assoc in *.
      apply IH; [exact F|exact R|]. apply terms_group_fits; try assumption. lia. }
  pose proof (P0 groups F) as [_ P].
  assert (X : count (concat groups) * ((D - 1) * (2 ^ BITS - 1)) <= 2 ^ MOST_TERMS * ((D - 1) * (2 ^ BITS - 1))) by
    (apply Z.mul_le_mono_nonneg_r; [vm_compute; discriminate|exact C]).
  assert (Y : 2 ^ MOST_TERMS * ((D - 1) * (2 ^ BITS - 1)) < D * B) by (vm_compute; reflexivity).
  specialize (G groups 0 (0, 0, 0) F ltac:(lia) ltac:(unfold terms_fit, TERMS; lia)).
  destruct (fold_left terms_group groups (0, 0, 0)) as [[l h] n]. unfold terms_fit, TERMS in G. lia.
Qed.

Example sequences_example : 0 <= fold_right Z.add 0 (repeat (2 ^ DIGIT - 1) 8) < D.
Proof. apply sequences_fit; [vm_compute; discriminate|]. repeat constructor; vm_compute; intuition discriminate. Qed.
Example digit_sums_example :
  let s := fold_left (digits_group 1) [(4, repeat (D - 1, D - 1) 4); (3, repeat (5, 6) 3)] (Column 0 0 0 0) in
  0 <= low s < B /\ 0 <= high s < B /\ 0 <= carried s /\ carried s + (low s + D * high s) =
    fold_right (fun g sum => total (snd g) + sum) 0 [(4, repeat (D - 1, D - 1) 4); (3, repeat (5, 6) 3)].
Proof. apply (digit_sums_fit 1); [lia|vm_compute; discriminate|]. repeat constructor; vm_compute; intuition discriminate. Qed.
Example term_sums_example : let '(l, h, n) := fold_left terms_group [repeat (D - 1, 2 ^ BITS - 1) 32; [(5, 6)]] (0, 0, 0) in
  0 <= l < B /\ 0 <= h < B /\ l + D * h = fold_right (fun g sum => total g + sum) 0 [repeat (D - 1, 2 ^ BITS - 1) 32; [(5, 6)]].
Proof. apply term_sums_fit; [|vm_compute; discriminate]. repeat constructor; vm_compute; intuition discriminate. Qed.
