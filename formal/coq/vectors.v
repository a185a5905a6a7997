(* crates/arith/src/backend/ifma/across.rs: a number with its limbs side by side in the lanes of registers. A number is the list of
   its lanes; what happens in each lane is translated, and so is how far lanes are moved. *)
From Arith Require Import words lanes.
From Generated Require Import across_lanes across_shapes ifma_constants.

Fixpoint zip_with (f : Z -> Z -> Z) (a b : list Z) : list Z :=
  match a, b with x :: a, y :: b => f x y :: zip_with f a b | _, _ => [] end.
Definition zeros (like : list Z) : list Z := map (fun _ => 0) like.
Definition ones := 2 ^ RADIX - LESS.

Definition add_low (sum x : list Z) (digit : Z) := zip_with (fun s l => low_lane s l digit) sum x.
Definition add_high (sum x : list Z) (digit : Z) := zip_with (fun s l => high_lane s l digit) sum x.
Definition add_columns (sum x : list Z) := zip_with columns_lane sum x.
(* Lanes move down by DOWN, up by 8 - UP: vpalignq over neighbouring registers. *)
Definition down (x : list Z) := skipn (Z.to_nat DOWN) x ++ repeat 0 (Z.to_nat DOWN).
Definition up (x : list Z) := repeat 0 (Z.to_nat (8 - UP)) ++ firstn (length x - Z.to_nat (8 - UP)) x.
Definition double (x : list Z) :=
  add_columns (map (fun l => snd (double_lane ones l)) x) (up (map (fun l => fst (double_lane ones l)) x)).

(* The lowest lane: its sign counts where it is shifted. *)
Definition signed (w : Z) := if w <? B / 2 then w else w - B.
Definition sra_first (x : list Z) (n : Z) := (signed (nth 0 x 0) / 2 ^ n) mod B.
Definition add_first (x : list Z) (c : Z) := match x with [] => [] | l :: x => add64 l c :: x end.
Definition sub_first (x : list Z) (c : Z) := match x with [] => [] | l :: x => sub64 l c :: x end.
Definition digit_of (x : list Z) (inverse : Z) := digit_lane (nth 0 x 0) inverse.

(* Digits, each with the next one. *)
Definition digits (number : list Z) := combine number (skipn (Z.to_nat FROM) number ++ [LAST]).
Definition enumerate {A} (l : list A) := combine (seq 0 (length l)) l.
