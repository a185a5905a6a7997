//! Generates messages, client and server from the protobuf file, without system tools.

use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

const PROTO: &str = "hearith/v1/paillier.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto/{PROTO}");
    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler.include_imports(true).include_source_info(true).open_file(PROTO)?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("hearith.bin"), compiler.encode_file_descriptor_set())?;
    tonic_prost_build::configure()
        .build_client(env::var_os("CARGO_FEATURE_CLIENT").is_some())
        .build_server(env::var_os("CARGO_FEATURE_SERVER").is_some())
        // Message fields keep the buffers that they arrived in.
        .bytes(".")
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
