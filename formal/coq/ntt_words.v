(* crates/ntt/src/engine/loops.rs: multiples of a prime, and a constant for products, in one lane. *)
From Coq Require Import ZArith.
Record moduli := Moduli { zero : Z; p : Z; p2 : Z; p4 : Z; p8 : Z; minus_p : Z }.
Record factor := Factor { value : Z; by_inverse : Z }.
