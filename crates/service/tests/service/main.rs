//! The service as its clients see it. One program, since each would link all of gRPC.

mod common;
mod computers;
mod faults;
mod operations;
mod processors;
mod standards;
