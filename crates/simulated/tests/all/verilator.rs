//! Without Verilator every test of a simulated device is left out; on a machine that must have it,
//! this one fails then.

#[test]
fn verilator_is_there_where_it_must_be() {
    assert_eq!(hearith_testing::has("verilator", cfg!(verilator)), cfg!(verilator));
}
