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

(* Masks, and the two words of 32 bits of a lane. *)
Definition test_mask (x y : Z) := if Z.land x y =? 0 then 0 else 1.
Definition maskz (k x : Z) := if k =? 0 then 0 else x.
Definition mul32 (a b : Z) := (a mod 4294967296) * (b mod 4294967296).
Definition by_halves (f : Z -> Z -> Z) (x y : Z) :=
  4294967296 * f (x / 4294967296) (y / 4294967296) + f (x mod 4294967296) (y mod 4294967296).
Definition sub32s := by_halves (fun x y => (x - y) mod 4294967296).
Definition min32s := by_halves Z.min.
(* Of masks only zeros and ones are modelled: others give no word. *)
Definition blend (a b mask : Z) := if mask =? 0 then a else if mask =? B - 1 then b else -1.
