(* One lane of a vector: what IFMA's products add to a word, and Rust's portable words beside them. *)
From Arith Require Import words.

(* 2^52: half of the bits of a product. *)
Notation D := 4503599627370496.
Definition add_low (s a b : Z) := (s + (a * b) mod D) mod B.
Definition add_high (s a b : Z) := (s + (a mod D) * (b mod D) / D) mod B.

Lemma low_range x : 0 <= x mod D < D.
Proof. apply Z.mod_pos_bound. lia. Qed.

Lemma high_range a b : 0 <= a < D -> 0 <= b < D -> 0 <= a * b / D < D.
Proof.
  intros Ha Hb. assert (0 <= a * b) by (apply Z.mul_nonneg_nonneg; lia).
  split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; [lia|]. apply Z.mul_lt_mono_nonneg; lia.
Qed.

Lemma halves x : x = D * (x / D) + x mod D.
Proof. apply Z.div_mod. lia. Qed.
