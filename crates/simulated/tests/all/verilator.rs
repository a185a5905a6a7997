//! Without Verilator, every test of a simulated device is skipped. On a machine that must have
//! Verilator, this test then fails.

#[test]
fn verilator_is_there_where_it_must_be() {
    assert_eq!(hearith_testing::has("verilator", cfg!(verilator)), cfg!(verilator));
}
