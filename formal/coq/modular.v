(* Congruences, and Fermat's little theorem. *)
From Coq Require Export ZArith Znumtheory Lia List Setoid Morphisms.
From Coq Require Import Zpow_facts Permutation.
Open Scope Z_scope.

Definition cong (n x y : Z) := exists k, x = y + k * n.

Global Instance cong_equivalence n : Equivalence (cong n).
Proof.
  split.
  - intros x. exists 0. ring.
  - intros x y [k ->]. exists (- k). ring.
  - intros x y z [k ->] [l ->]. exists (k + l). ring.
Qed.

Global Instance cong_add n : Proper (cong n ==> cong n ==> cong n) Z.add.
Proof. intros x x' [k ->] y y' [l ->]. exists (k + l). ring. Qed.

Global Instance cong_sub n : Proper (cong n ==> cong n ==> cong n) Z.sub.
Proof. intros x x' [k ->] y y' [l ->]. exists (k - l). ring. Qed.

Global Instance cong_mul n : Proper (cong n ==> cong n ==> cong n) Z.mul.
Proof. intros x x' [k ->] y y' [l ->]. exists (k * y' + x' * l + k * l * n). ring. Qed.

Global Instance cong_opp n : Proper (cong n ==> cong n) Z.opp.
Proof. intros x x' [k ->]. exists (- k). ring. Qed.

Lemma cong_pow n x y e : 0 <= e -> cong n x y -> cong n (x ^ e) (y ^ e).
Proof.
  intros He H. revert e He. apply natlike_ind.
  - reflexivity.
  - intros e He IH. rewrite !Z.pow_succ_r by lia. apply cong_mul; [exact H|exact IH].
Qed.

Lemma cong_by_mod n x y : n <> 0 -> x mod n = y mod n -> cong n x y.
Proof.
  intros Hn E. exists (x / n - y / n). pose proof (Z.div_mod x n Hn). pose proof (Z.div_mod y n Hn). lia.
Qed.

Lemma cong_divide n x y : cong n x y <-> (n | x - y).
Proof. split; intros [k H]; exists k; lia. Qed.

Lemma cong_mod n x : n <> 0 -> cong n (x mod n) x.
Proof. intros. exists (- (x / n)). pose proof (Z.div_mod x n). lia. Qed.

Lemma cong_mod_eq n x y : n <> 0 -> cong n x y -> x mod n = y mod n.
Proof. intros Hn [k ->]. apply Z_mod_plus_full. Qed.

Lemma cong_small n x y : 0 <= x < n -> 0 <= y < n -> cong n x y -> x = y.
Proof. intros Hx Hy H. rewrite <- (Z.mod_small x n), <- (Z.mod_small y n) by lia. apply cong_mod_eq; [lia|exact H]. Qed.

Lemma cong_less n d x y : cong (d * n) x y -> cong n x y.
Proof. intros [k ->]. exists (k * d). ring. Qed.

Lemma cong_cancel n a x y : rel_prime a n -> cong n (a * x) (a * y) -> cong n x y.
Proof.
  intros Ha H. apply cong_divide in H. apply cong_divide. apply Gauss with a.
  - replace (a * (x - y)) with (a * x - a * y) by ring. exact H.
  - apply rel_prime_sym, Ha.
Qed.

(* Both halves of a modulus with coprime parts. *)
Lemma cong_both p q x y : rel_prime p q -> cong p x y -> cong q x y -> cong (p * q) x y.
Proof.
  intros H Hp Hq. apply cong_divide in Hp. apply cong_divide in Hq. apply cong_divide.
  destruct Hp as [k Hk]. rewrite Hk in Hq.
  assert (D : (q | k)). { apply Gauss with p; [rewrite Z.mul_comm; exact Hq|apply rel_prime_sym, H]. }
  destruct D as [l Hl]. exists l. rewrite Hk, Hl. ring.
Qed.

Lemma pow_one_plus p k n : 0 <= n -> cong (p * p) ((1 + k * p) ^ n) (1 + n * k * p).
Proof.
  revert n. apply natlike_ind.
  - rewrite Z.pow_0_r. exists 0. ring.
  - intros n Hn IH. rewrite Z.pow_succ_r, IH by lia. unfold Z.succ. exists (n * k * k). ring.
Qed.

(* What is 1 modulo p is 1 modulo p^2 after its power p. *)
Lemma lift p x : 0 <= p -> cong p x 1 -> cong (p * p) (x ^ p) 1.
Proof.
  intros Hp [k ->]. rewrite (pow_one_plus p k p Hp). exists k. ring.
Qed.

(* The numbers from 1 to p - 1, and their product. *)
Definition units (p : Z) := map Z.of_nat (seq 1 (Z.to_nat (p - 1))).
Definition prod (l : list Z) := fold_right Z.mul 1 l.

Lemma in_units p x : 1 < p -> (In x (units p) <-> 1 <= x <= p - 1).
Proof.
  intros Hp. unfold units. rewrite in_map_iff. split.
  - intros (y & <- & H). apply in_seq in H. lia.
  - intros H. exists (Z.to_nat x). rewrite Z2Nat.id by lia. split; [reflexivity|]. apply in_seq. lia.
Qed.

Lemma prod_permutation l l' : Permutation l l' -> prod l = prod l'.
Proof. induction 1; cbn [prod fold_right] in *; unfold prod in *; cbn [fold_right]; try lia. Qed.

Lemma prod_scaled p a l : p <> 0 ->
  cong p (prod (map (fun x => (a * x) mod p) l)) (a ^ Z.of_nat (length l) * prod l).
Proof.
  intros Hp. induction l as [|x l IH]; cbn [map length].
  - exists 0. reflexivity.
  - unfold prod in *. cbn [fold_right]. rewrite IH, cong_mod by exact Hp.
    rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. exists 0. ring.
Qed.

Lemma units_coprime p l : prime p -> (forall x, In x l -> 1 <= x <= p - 1) -> rel_prime (prod l) p.
Proof.
  intros Hp. pose proof (prime_ge_2 p Hp). induction l as [|x l IH]; intros Hl; unfold prod; cbn [fold_right].
  - apply rel_prime_1.
  - apply rel_prime_sym, rel_prime_mult; apply rel_prime_sym.
    + apply rel_prime_sym, prime_rel_prime; auto. intros D. specialize (Hl x (or_introl eq_refl)).
      apply Z.divide_pos_le in D; lia.
    + apply IH. intros y Hy. apply Hl. right. exact Hy.
Qed.

Lemma fermat_little p a : prime p -> ~ (p | a) -> cong p (a ^ (p - 1)) 1.
Proof.
  intros Hp Ha. pose proof (prime_ge_2 p Hp) as H2.
  set (f := fun x => (a * x) mod p). set (L := units p).
  assert (Ra : rel_prime a p) by (apply rel_prime_sym, prime_rel_prime; auto).
  assert (Into : forall x, In x L -> 1 <= f x <= p - 1).
  { intros x Hx. apply in_units in Hx; [|lia]. unfold f. pose proof (Z.mod_pos_bound (a * x) p ltac:(lia)).
    assert ((a * x) mod p <> 0); [|lia]. intros E. apply Z.mod_divide in E; [|lia].
    assert (D : (p | x)) by (apply Gauss with a; [exact E|apply rel_prime_sym, Ra]).
    apply Z.divide_pos_le in D; lia. }
  assert (Perm : Permutation (map f L) L).
  { apply NoDup_Permutation_bis.
    - assert (Inj : forall l, NoDup l -> (forall x, In x l -> 1 <= x <= p - 1) -> NoDup (map f l)).
      { induction l as [|x l IH]; intros N Hl; cbn [map]; constructor.
        - inversion N; subst. rewrite in_map_iff. intros (y & E & Hy). apply H1.
          replace x with y; [exact Hy|]. apply cong_small with p.
          + specialize (Hl y (or_intror Hy)). lia.
          + specialize (Hl x (or_introl eq_refl)). lia.
          + apply cong_cancel with a; [exact Ra|]. unfold f in E.
            rewrite <- (cong_mod p (a * y)), E, cong_mod by lia. reflexivity.
        - apply IH; [inversion N; auto|]. intros y Hy. apply Hl. right. exact Hy. }
      apply Inj.
      + apply FinFun.Injective_map_NoDup; [intros x y; apply Nat2Z.inj|apply seq_NoDup].
      + intros x Hx. apply in_units in Hx; lia.
    - rewrite map_length. apply le_n.
    - intros y Hy. apply in_map_iff in Hy as (x & <- & Hx). apply in_units; [lia|]. apply Into, Hx. }
  apply prod_permutation in Perm. pose proof (prod_scaled p a L ltac:(lia)) as S. fold f in S. rewrite Perm in S.
  assert (Len : Z.of_nat (length L) = p - 1) by (unfold L, units; rewrite map_length, seq_length; lia).
  rewrite Len in S. apply cong_cancel with (prod L).
  - apply units_coprime; [exact Hp|]. intros x Hx. apply in_units in Hx; lia.
  - rewrite Z.mul_1_r. symmetry. rewrite Z.mul_comm. exact S.
Qed.
