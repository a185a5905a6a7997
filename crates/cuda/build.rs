//! Compiles the emulated driver if the feature is on. `make gpu-kernels` compiles the kernels
//! themselves.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "emulated")]
    emulated();
}

/// Compiles shared libraries with the driver's interface: one over the kernels, compiled for this
/// CPU with both products, and one that reports an old version.
#[cfg(feature = "emulated")]
fn emulated() {
    use std::path::PathBuf;

    println!("cargo:rerun-if-changed=kernels");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let compile = |name: &str, sources: &[&str], options: &[&str]| {
        let objects: Vec<PathBuf> = sources
            .iter()
            .zip(0..)
            .map(|(source, number)| {
                let object = out.join(format!("{name}.{number}.o"));
                let fused = if *source == "fused" { &["-DHEARITH_FUSED", "-frounding-math"][..] } else { &[] };
                let file = if matches!(*source, "fused" | "exact") { "emulated" } else { source };
                // At this level the emulation compiles in a third of the time, and tests run
                // equally fast.
                let mut command = compiler().to_command();
                command.args(["-std=c++17", "-O1", "-fPIC", "-ffp-contract=off", "-Wall", "-Wextra", "-c"]);
                command.args(options).args(fused).arg(format!("kernels/{file}.cpp")).arg("-o").arg(&object);
                run(command);
                object
            })
            .collect();
        let library = out.join(format!("lib{name}.so"));
        let mut command = compiler().to_command();
        command.args(["-shared", "-o"]).arg(&library).args(&objects).arg("-lm");
        run(command);
        println!("cargo:rustc-env=HEARITH_{}={}", name.to_uppercase(), library.display());
    };
    compile("emulated_driver", &["exact", "fused", "driver"], &[]);
    compile("old_driver", &["driver"], &["-DHEARITH_OLD"]);

    fn compiler() -> cc::Tool {
        cc::Build::new().cpp(true).warnings(false).get_compiler()
    }

    fn run(mut command: std::process::Command) {
        let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        assert!(status.success(), "{command:?}: {status}");
    }
}
