//! Reductions in encryptions with the keys of \[CMOOH13\]. Their two products are computed by
//! blocks of 128 points, or by transforms of up to 2048 by 2048 points if both factors are long.
//! The costs come from models that tests compare with simulation. Prints the least length, then
//! rows of the table in `rtl/dghv/README.md`.

use hearith_golden::integer_fft::encryption::{Encryptor, Step, Transforms};
use hearith_golden::integer_fft::sizes::{CMNT, CNT};

fn main() {
    let blocks = Encryptor::HALVES;
    let transforms = Encryptor { transforms: Some(Transforms::LONG), ..blocks };
    println!("least|{}", Transforms::LONG.least);
    for (scheme, sizes, quadratic) in [("CMNT", CMNT, true), ("CNT", CNT, false)] {
        for size in sizes {
            let lengths = size.lengths(quadratic);
            let steps =
                [blocks, transforms].map(|design| if quadratic { design.cmnt(&lengths) } else { design.cnt(&lengths) });
            let reductions = steps.each_ref().map(|steps| &steps[steps.len() - Encryptor::REDUCTION..]);
            let quotient = match reductions[0][3] {
                Step::Product { y, .. } => y,
                ref step => unreachable!("{step:?} in the quotient's place"),
            };
            let [by_blocks, by_transforms] = [(blocks, 0), (transforms, 1)]
                .map(|(design, k)| reductions[k].iter().map(|step| step.cycles(&design) + design.between).sum::<u64>());
            let whole = [blocks.cycles(&steps[0], 0), transforms.cycles(&steps[1], Encryptor::matrices(&steps[1]))];
            println!(
                "{scheme} {}|{}|{quotient}|{by_blocks}|{by_transforms}|{:.1}|{}|{:.3}",
                size.name,
                lengths.modulus.div_ceil(64),
                by_blocks as f64 / by_transforms as f64,
                Encryptor::matrices(&steps[1]),
                whole[1] as f64 / whole[0] as f64,
            );
        }
    }
}
