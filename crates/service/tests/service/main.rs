//! The service as its clients see it. One program, since each would link all of gRPC.

mod common;
mod faults;
mod operations;
mod processors;
mod standards;
