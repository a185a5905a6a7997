//! The kernels' products of limbs at their edges: double precision compared with exact integers.

use hearith_cuda::EMULATED_DRIVER;
use libloading::Library;
use proptest::prelude::*;

type Fused = unsafe extern "C" fn(u64, u64, *mut u64);
type Exact = unsafe extern "C" fn(i32, u64, u64, *mut u64);

/// `x y` split into the halves that the kernels add to columns.
fn halves(x: u64, y: u64) -> [[u64; 2]; 3] {
    // SAFETY: the library is this crate's own, and these are the types of its functions.
    unsafe {
        let library = Library::new(EMULATED_DRIVER).unwrap();
        let fused: libloading::Symbol<'_, Fused> = library.get(b"hearith_cuda_product_fused\0").unwrap();
        let exact: libloading::Symbol<'_, Exact> = library.get(b"hearith_cuda_product_exact\0").unwrap();
        let mut found = [[0; 2]; 3];
        fused(x, y, found[0].as_mut_ptr());
        exact(0, x, y, found[1].as_mut_ptr());
        exact(1, x % (1 << 28), y % (1 << 28), found[2].as_mut_ptr());
        found
    }
}

const LIMB: u64 = 1 << 52;

fn check(x: u64, y: u64) {
    let product = u128::from(x) * u128::from(y);
    let wide = [product as u64 % LIMB, (product >> 52) as u64];
    let narrow = (x % (1 << 28)) * (y % (1 << 28));
    assert_eq!(halves(x, y), [wide, wide, [narrow, 0]], "{x:#x} times {y:#x}");
}

#[test]
fn boundary_limbs_are_multiplied_exactly() {
    let limbs = [0, 1, 2, 3, (1 << 26) - 1, 1 << 26, (1 << 26) + 1, LIMB / 2 - 1, LIMB / 2, LIMB - 2, LIMB - 1];
    limbs.iter().for_each(|&x| limbs.iter().for_each(|&y| check(x, y)));
}

proptest! {
    #[test]
    fn random_limbs_are_multiplied_exactly(x in 0..LIMB, y in 0..LIMB) {
        check(x, y);
    }
}
