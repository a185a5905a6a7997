//! Every module whose comments say when an input must be stable, and where its tests change that
//! input at other times.

use std::path::Path;

use crate::parameters::modules;

enum Swept {
    /// This file calls [`super::change`], itself or through [`super::Module`].
    In(&'static str),
    /// The module exists only within this one, which changes the inputs from one operation to the
    /// next.
    Within(&'static str),
    /// The inputs are constant from reset to reset, or travel with a stream.
    Never,
}

use Swept::{In, Never, Within};

const LIST: &[(&str, Swept)] = &[
    ("block_accumulate", Never),
    ("block_divide", In("block_streams")),
    ("block_select", In("block_streams")),
    ("block_shift", In("block_streams")),
    ("cmnt_controller", Within("dghv_encryptor")),
    ("cnt_controller", Within("dghv_encryptor")),
    ("coefficient_carry", Within("four_step")),
    ("cond_sub", In("sums")),
    ("coproc_core_cios", In("montgomery")),
    ("coproc_core_digit", In("large_digits")),
    ("coproc_core_dual", In("dual_products")),
    ("digit_product", Within("mont_mul_digit")),
    ("div_exact", In("division")),
    ("div_restoring", In("division")),
    ("dual_lanes", In("dual")),
    ("dual_mul", In("dual_products")),
    ("element_sum", Within("cnt_controller")),
    ("four_step", In("four_step")),
    ("limb_reader", Within("cond_sub")),
    ("mark_prover", Within("encryptor_board")),
    ("mesa_branch", Within("mesa")),
    ("mesa_dual_branch", Within("mesa_dual")),
    ("mod_add", In("sums")),
    ("mod_exp_ladder", In("ladder")),
    ("mont_mul_cios", In("montgomery")),
    ("mont_mul_digit", In("large_digits")),
    ("mont_mul_radix2", In("montgomery")),
    ("mont_row", Within("mont_mul_cios")),
    ("noise_sum", Within("cnt_controller")),
    ("product_pairs", Within("super_product")),
    ("proof_challenge", In("challenges")),
    ("row_words", Within("long_product")),
    ("secret_power", Within("lockstep_power")),
    ("share_challenge", In("challenges")),
    ("share_prover", In("shares")),
    ("super_product", Within("dghv_encryptor")),
    ("super_reduce", Within("dghv_encryptor")),
    ("super_sum", Within("dghv_encryptor")),
    ("tile_compute", Within("four_step")),
    ("tile_loader", Within("four_step")),
    ("tile_writer", Within("four_step")),
    ("transform_product", Within("dghv_encryptor")),
    ("vote_processor", Never),
];

/// The comments of a source.
fn comments(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.split_once("//")).map(|(_, comment)| comment)
}

fn test_file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/all/{name}.rs"));
    std::fs::read_to_string(path).expect("a file of tests")
}

#[test]
fn inputs_that_may_change_are_changed_by_a_test() {
    let modules = modules();
    let words = |text: &str| {
        comments(text).any(|comment| comment.split(|c: char| !c.is_alphabetic()).any(|word| word == "stable"))
    };
    let found: Vec<&str> = modules.iter().filter(|(_, text)| words(text)).map(|(name, _)| name.as_str()).collect();
    let listed: Vec<&str> = LIST.iter().map(|(name, _)| *name).collect();
    assert_eq!(found, listed, "modules whose comments name stable inputs, and those of the list");
    for (name, swept) in LIST {
        match swept {
            In(file) => {
                assert!(test_file(file).contains("idle::"), "{name}: {file}.rs changes no input of a module at rest")
            }
            Within(outer) => {
                let (_, text) = modules.iter().find(|(module, _)| module == outer).expect("an outer module");
                let instance = format!("{name} #(");
                let plain = format!("{name} u_");
                assert!(text.contains(&instance) || text.contains(&plain), "{outer} contains no {name}");
            }
            Never => {}
        }
    }
}
