(* Columns in registers and memory: an array is a function of the index. *)
From Arith Require Import words.

Definition put (t : nat -> Z) (c : nat) (v : Z) : nat -> Z := fun j => if (j =? c)%nat then v else t j.
(* Slices: an array from an index on, and an array with another one from there on. *)
Definition part (t : nat -> Z) (from : nat) : nat -> Z := fun j => t (from + j)%nat.
Definition within (t : nat -> Z) (from : nat) (u : nat -> Z) : nat -> Z := fun j => if (j <? from)%nat then t j else u (j - from)%nat.
(* Loops: so many turns at most while a condition holds, and indexes below a length, one for each step. *)
Fixpoint repeated {A : Type} (turns : nat) (more : A -> bool) (f : A -> A) (s : A) : A :=
  match turns with O => s | S turns => if more s then repeated turns more f (f s) else s end.
Definition steps (length step : nat) : list nat := map (fun i => step * i)%nat (seq 0 ((length + step - 1) / step)).
