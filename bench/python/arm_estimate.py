"""Estimates the cost of the portable engine on 64-bit ARM cores. Nothing here runs on an ARM core.

The engine's products are compiled on this machine to LLVM's intermediate code, which LLVM then
compiles for AArch64. LLVM's model of a core (llvm-mca) gives the cycles per iteration of the
innermost loops, assuming that memory and branches cost nothing. Cycles and instructions are per 64
by 64-bit product (`mul` and `umulh`).

Usage, from the project's folder, with Debian's package llvm-16 and, because it must hold the LLVM
of the Rust compiler, llvmlite 0.50 in an environment of its own:

    python bench/python/arm_estimate.py

Writes bench/results/arm.md.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

ROOT = Path(__file__).parents[2]
TRIPLE = "aarch64-unknown-linux-gnu"
LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32"
#: LLVM's and llvm-mca's name of each core, and its full name.
CORES = {"neoverse-n1": "Arm Neoverse N1", "neoverse-n2": "Arm Neoverse N2", "apple-m1": "Apple M1"}
#: The kernel's functions, with descriptions.
PRODUCTS = {
    "mul": "multiplication modulo m",
    "sqr": "squaring modulo m",
    "dual_mul": "multiplication modulo m^2, dual",
    "dual_sqr": "squaring modulo m^2, dual",
}
NAME = r'("[^"]+"|[\w.$]+)'
KERNEL = re.compile(r"serial\.\.Serial.*kernel\.\.Kernel\S*?\d(dual_mul|dual_sqr|mul|sqr)17h")


def intermediate(folder: str) -> str:
    """Returns the intermediate code of hearith-arith."""
    command = [
        "cargo",
        "rustc",
        "--release",
        "--quiet",
        "--package",
        "hearith-arith",
        "--lib",
        "--target-dir",
        folder,
        "--",
    ]
    options = ["--emit=llvm-ir", "-Ccodegen-units=1", "-Clto=off", "-Cdebuginfo=0"]
    subprocess.run([*command, *options], cwd=ROOT, check=True)
    (file,) = Path(folder).glob("release/deps/hearith_arith-*.ll")
    return file.read_text()


def declared(text: str) -> str:
    """Returns the declaration of what this line defines or declares."""
    signature = re.sub(r"^(define|declare)\s+", "", text)
    signature = re.sub(r"\s+personality .*$|\s*(local_)?unnamed_addr|\s*comdat|\s*\{$", "", signature)
    return "declare " + re.sub(r"^(internal|private|hidden|linkonce_odr)\s+", "", signature)


def extracted(text: str) -> str:
    """Returns a module for AArch64 of the kernel's products and the functions of this crate that
    they call, without anything specific to this machine.
    """
    definitions = {m[1]: m[0] for m in re.finditer(rf"^define[^\n]*?@{NAME}\(.*?^}}\n", text, re.MULTILINE | re.DOTALL)}
    declarations = {m[1]: m[0].rstrip() for m in re.finditer(rf"^declare[^\n]*?@{NAME}\([^\n]*\n", text, re.MULTILINE)}
    constants = {m[1] for m in re.finditer(rf"^@{NAME} = ", text, re.MULTILINE)}
    attributes = dict(re.findall(r"^attributes (#\d+) = (\{[^\n]*\})", text, re.MULTILINE))
    wanted = {name for name in definitions if KERNEL.search(name)}
    left, seen, module = set(wanted), set[str](), ""
    while left:
        name = left.pop()
        seen.add(name)
        if name in definitions and (name in wanted or "serial" in name or "natural" in name):
            module += definitions[name]
            used = set(re.findall(rf"@{NAME}", definitions[name]))
            left |= {
                other for other in used - seen if other in definitions or other in declarations or other in constants
            }
        elif name in constants:
            module += f"@{name} = external constant i8\n"
        else:
            module += declared((definitions.get(name) or declarations[name]).split("\n")[0]) + "\n"
    module = re.sub(r"^.*call void @llvm\.experimental\.noalias\.scope\.decl.*\n", "", module, flags=re.MULTILINE)
    module = re.sub(r", !\w+(\.\w+)* !\d+", "", module)
    module = re.sub(r",~\{(dirflag|fpsr|flags)\}", "", module)
    own = r'"(target-cpu|target-features|probe-stack)"="[^"]*"'
    for name in sorted(set(re.findall(r"#\d+", module))):
        module += f"attributes {name} = {re.sub(own, '', attributes.get(name, '{ nounwind }'))}\n"
    return f'target datalayout = "{LAYOUT}"\ntarget triple = "{TRIPLE}"\n{module}'


def assembly(module: str, core: str) -> list[str]:
    """Returns the module's assembly for a core."""
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=core, opt=3)
    return machine.emit_assembly(llvm.parse_assembly(module)).splitlines()


def loops(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Returns the innermost loops with products, each with the name of its function."""
    found, function, labels = [], "", dict[str, int]()
    for at, line in enumerate(lines):
        if name := re.match(r"(_ZN\S+):", line):
            match = KERNEL.search(name[1])
            function = match[1] if match else ""
        elif label := re.match(r"(\.LBB\S+):", line):
            labels[label[1]] = at
        elif (branch := re.match(r"\s+(?:b\.\w+|b|cbn?z .*,|tbn?z .*,)\s+(\.LBB\S+)", line)) and branch[1] in labels:
            body = lines[labels[branch[1]] + 1 : at + 1]
            inner = not any(other.startswith(".LBB") for other in body)
            if function and inner and sum("umulh" in other for other in body) > 1:
                found.append((function, body))
    return found


def cost(body: list[str], core: str) -> tuple[int, float, float]:
    """Returns the products per iteration, and cycles and instructions per product."""
    code = "\n".join(line for line in body if not line.strip().startswith((".", "//")))
    code = "start:\n" + re.sub(r"\.LBB\S+", "start", code)
    command = ["llvm-mca-16", "-mtriple=aarch64", f"-mcpu={core}", "-iterations=200"]
    report = subprocess.run(command, input=code, capture_output=True, text=True, check=True).stdout
    figure = lambda name: int(re.search(rf"{name}:\s+(\d+)", report)[1])  # type: ignore[index]
    products = sum("umulh" in line for line in body)
    return products, figure("Total Cycles") / 200 / products, figure("Instructions") / 200 / products


def main() -> None:
    """Writes the table."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    with tempfile.TemporaryDirectory() as folder:
        module = extracted(intermediate(folder))
    rows = []
    for core, name in CORES.items():
        costs = [(function, *cost(body, core)) for function, body in loops(assembly(module, core))]
        for function, title in PRODUCTS.items():
            # Loops of a few products are for lengths without specialised code.
            of = [(cycles, count) for other, products, cycles, count in costs if other == function and products > 2]
            least, most = min(of), max(of)
            rows.append(f"| {name} | {title} | {least[0]:.1f} to {most[0]:.1f} | {least[1]:.1f} to {most[1]:.1f} |")
    version = ".".join(map(str, llvm.llvm_version_info))
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    text = f"""# 64-bit ARM, estimated

Made by `bench/python/arm_estimate.py`. **Nothing here was measured on an ARM core.**

- Compiler: {compiler}; llvmlite {llvmlite.__version__} with LLVM {version}; llvm-mca 16
- Method: the portable engine's products, compiled for AArch64 by LLVM's back end; their innermost loops for the usual lengths of moduli in LLVM's
  models of the cores, without memory accesses or branches. Costs are per 64 by 64-bit product; the loops of a function differ.

| core | operation | cycles per product | instructions per product |
| --- | --- | ---: | ---: |
{chr(10).join(rows)}
"""
    (ROOT / "bench/results/arm.md").write_text(text)


if __name__ == "__main__":
    main()
