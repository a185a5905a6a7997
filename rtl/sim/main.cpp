// SPDX-License-Identifier: MIT OR Apache-2.0
// Clocks a bench until it ends by itself: $finish is success, $fatal and too many cycles are not.
#include <cstdio>

#include "Vbench.h"
#include "verilated.h"

int main(int argc, char** argv) {
    const long most = 2000000;
    Verilated::commandArgs(argc, argv);
    Vbench bench;
    for (long cycle = 0; cycle < most && !Verilated::gotFinish(); ++cycle) {
        bench.clk_i = 0;
        bench.eval();
        bench.clk_i = 1;
        bench.eval();
    }
    bench.final();
    if (!Verilated::gotFinish()) {
        std::fprintf(stderr, "bench: no end within %ld cycles\n", most);
        return 1;
    }
    return 0;
}
