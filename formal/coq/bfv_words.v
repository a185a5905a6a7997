(* crates/bfv/src/kernel/loops.rs: a prime with what goes with it, in one lane. *)
From Coq Require Import ZArith.
Record modulus := Modulus { q : Z; two_q : Z; negative : Z; mask : Z }.
