(* Columns in registers: an array is a function of the index. *)
From Arith Require Import words.

Definition put (t : nat -> Z) (c : nat) (v : Z) : nat -> Z := fun j => if (j =? c)%nat then v else t j.
