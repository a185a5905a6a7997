"""The checks of a release reject what they should, and packing the same files gives the
same bytes.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RELEASE = ROOT / "scripts/release"
sys.path.insert(0, str(RELEASE))
import by_crate
import provenance


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)


def shell(script, **environment):
    """Runs shell lines after the release's common functions."""
    return run("bash", "-c", f"set -euo pipefail; . {RELEASE}/common.sh; {script}", env=os.environ | environment)


def library(path, source, *options):
    """Makes a shared library without start files, which needs only what the test asks for."""
    command = ["cc", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-x", "none", "-o", str(path), *map(str, options)]
    subprocess.run(command, input=source, text=True, check=True)
    return path


def glibc(folder, version):
    """Makes a library that calls `newest` of a stand-in for glibc, with this version of the
    function.
    """
    (folder / "map").write_text(f"{version} {{ global: newest; }};")
    (folder / "stand-in").mkdir()
    stand_in = library(
        folder / "stand-in/libm.so.6",
        "int newest(void) { return 1; }",
        "-Wl,-soname,libm.so.6",
        f"-Wl,--version-script={folder}/map",
    )
    return library(folder / "user.so", "int newest(void); int user(void) { return newest(); }", stand_in)


@pytest.mark.parametrize(
    ("version", "accepted"),
    [
        ("GLIBC_2.28", True),
        ("GLIBC_2.3.4", True),
        ("GLIBC_2.29", False),
        ("GLIBC_2.100", False),
        ("GLIBC_PRIVATE", False),
    ],
)
def test_newer_symbols_of_glibc_are_rejected(version, accepted, tmp_path):
    file = glibc(tmp_path, version)
    result = run(RELEASE / "check_elf.py", "--glibc", "2.28", file)
    assert (result.returncode == 0) == accepted
    assert accepted or f"needs newest@{version}, which glibc 2.28 does not have" in result.stderr


def test_other_libraries_are_rejected(tmp_path):
    other = library(tmp_path / "libother.so", "int other;", "-Wl,-soname,libother.so.1")
    file = library(tmp_path / "user.so", "int user;", "-Wl,--no-as-needed", other)
    for libc in (["--glibc", "2.28"], ["--musl"]):
        result = run(RELEASE / "check_elf.py", *libc, file)
        assert result.returncode == 1
        assert "needs libother.so.1, which is not" in result.stderr


def test_symbols_that_nothing_promises_are_rejected(tmp_path):
    file = library(
        tmp_path / "user.so",
        "int PyLong_AsLong(void), secret(void), _PyLong_AsByteArray(void), PyType_GetBaseByToken(void), __register_frame_info(void);"
        "int u(void) { return PyLong_AsLong() + secret() + _PyLong_AsByteArray() + PyType_GetBaseByToken() + __register_frame_info(); }",
    )
    result = run(sys.executable, RELEASE / "check_elf.py", "--glibc", "2.28", "--python", "3.11", file)
    assert result.returncode == 1
    # Private, newer than that Python, and a hook that is not weak.
    for name in ("secret", "_PyLong_AsByteArray", "PyType_GetBaseByToken", "__register_frame_info"):
        assert f"needs {name}, " in result.stderr
    assert "PyLong_AsLong" not in result.stderr
    assert "needs PyLong_AsLong, " in run(RELEASE / "check_elf.py", "--glibc", "2.28", file).stderr


def test_symbols_that_musl_lacks_are_rejected(tmp_path):
    musl = library(tmp_path / "libc.so", "int there(void) { return 1; }", "-Wl,-soname,libc.so")
    good = library(tmp_path / "good.so", "int there(void); int u(void) { return there(); }", musl)
    bad = library(
        tmp_path / "bad.so", "int there(void); int absent(void); int u(void) { return there() + absent(); }", musl
    )
    command = [RELEASE / "check_elf.py", "--musl", "--exports", musl]
    assert run(*command, good).returncode == 0
    result = run(*command, good, bad)
    assert result.returncode == 1
    assert result.stderr == f"{bad}: needs absent, which this musl does not have\n"
    (tmp_path / "versioned").mkdir()
    assert "have no versions" in run(*command, glibc(tmp_path / "versioned", "GLIBC_2.28")).stderr


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["-Wl,-rpath,/opt/lib"], "has RUNPATH "),
        (["-Wl,-rpath,/opt/lib", "-Wl,--disable-new-dtags"], "has RPATH "),
        (["-Wl,--dynamic-linker=/opt/ld.so"], "needs the loader /opt/ld.so"),
        (["-c"], "is of type REL, neither a program nor a library"),
        ([], None),
    ],
)
def test_what_depends_on_the_machine_is_rejected(options, fault, tmp_path):
    file = tmp_path / "built"
    command = ["cc", "-x", "c", "-", "-o", str(file), *options]
    subprocess.run(command, input="int main(void) { return 0; }", text=True, check=True)
    result = run(RELEASE / "check_elf.py", "--glibc", "9.9", file)
    assert (result.returncode == 1 and fault in result.stderr) if fault else result.returncode == 0


def test_what_is_no_program_is_rejected(tmp_path):
    file = tmp_path / "text"
    file.write_text("#!/bin/sh\n")
    result = run(RELEASE / "check_elf.py", "--glibc", "2.28", file)
    assert result.returncode == 1
    assert "text: not an ELF file" in result.stderr


@pytest.mark.parametrize(
    ("symbol", "crate"),
    [
        ("_ZN7parquet4file6reader4read17h0123456789abcdefE", "parquet"),
        ("_ZN4core3ptr35drop_in_place$LT$rustls..Config$GT$17h0123456789abcdefE", "rustls"),
        (
            "_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$serde_core..Serialize$GT$3ser17h0123456789abcdefE",
            "serde_core",
        ),
        ("_ZN5alloc7raw_vec4grow17h0123456789abcdefE", "std"),
        ("_RINvMNtCsgEmfK2I1SDS_4core3stre9copy_withNtCsfEOYDRpO4Ta_11miniz_oxide5State", "miniz_oxide"),
        ("_RNvCs1234_7mycrate3foo", "mycrate"),
        ("ZSTD_compress", "C and assembly"),
    ],
)
def test_a_symbol_counts_for_its_crate(symbol, crate):
    assert by_crate.owner(symbol) == crate


def test_equal_functions_count_once(tmp_path):
    source = 'int one(void) { return 1; } int other(void) __attribute__((alias("one")));'
    file = library(tmp_path / "twins.so", source)
    (size,) = (int(line.split()[1], 16) for line in run("nm", "-S", file).stdout.splitlines() if line.endswith(" one"))
    assert by_crate.sizes(file) == {"C and assembly": size}


@pytest.fixture
def release(tmp_path):
    """Makes a folder as a release leaves it, unsigned."""
    folder = tmp_path / "release"
    folder.mkdir()
    for name in ("hearith-1.tar.gz", "hearith.deb"):
        (folder / name).write_bytes(name.encode() * 100)
    statement = provenance.statement(folder, [])
    (folder / "provenance.intoto.json").write_text(json.dumps(statement))
    list_sums(folder)
    return folder


def list_sums(folder):
    names = sorted(path.name for path in folder.iterdir() if path.name != "SHA256SUMS")
    digests = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / "SHA256SUMS").write_text("".join(digests))


def verify(folder):
    return run(RELEASE / "verify.py", folder)


def test_a_release_verifies(release):
    result = verify(release)
    assert result.returncode == 0
    assert "3 files match the release; no signature was verified" in result.stdout


def test_a_changed_byte_is_found(release):
    path = release / "hearith.deb"
    content = bytearray(path.read_bytes())
    content[57] ^= 1
    path.write_bytes(content)
    result = verify(release)
    assert result.returncode == 1
    assert result.stderr == "verify: hearith.deb: differs from the released file\n"


def test_missing_and_added_files_are_found(release):
    (release / "hearith.deb").unlink()
    (release / "extra.whl").write_text("")
    result = verify(release)
    assert result.returncode == 1
    assert "hearith.deb: is listed in SHA256SUMS but missing" in result.stderr
    assert "extra.whl: is not listed in SHA256SUMS" in result.stderr


def test_a_statement_about_other_files_is_found(release):
    (release / "hearith.deb").write_text("another build")
    list_sums(release)
    result = verify(release)
    assert result.returncode == 1
    assert "provenance.intoto.json: names another hearith.deb than SHA256SUMS" in result.stderr


def test_a_list_that_is_none_is_rejected(release):
    (release / "SHA256SUMS").write_text("0123  ../hearith.deb\n")
    assert "SHA256SUMS: invalid line" in verify(release).stderr


def test_a_list_with_two_digests_of_a_file_is_rejected(release):
    sums = release / "SHA256SUMS"
    sums.write_text(f"{'0' * 64}  hearith.deb\n" + sums.read_text())
    assert "SHA256SUMS: names hearith.deb twice" in verify(release).stderr


def test_an_empty_key_is_not_the_absence_of_one(release):
    # With or without minisign; the tests below tell its verdicts apart.
    result = run(RELEASE / "verify.py", release, "--key", "")
    assert result.returncode == 1
    assert "SHA256SUMS.minisig: the signature" in result.stderr
    assert "no signature was verified" not in result.stdout


def verify_with(folder, minisign):
    """Verifies with a key, where PATH holds nothing or, unless it is None, this script as
    minisign.
    """
    programs = folder / "programs"
    programs.mkdir()
    if minisign is not None:
        (programs / "minisign").write_text(minisign)
        (programs / "minisign").chmod(0o755)
    command = [sys.executable, RELEASE / "verify.py", folder / "release", "--key", "RWQ"]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": str(programs)})


def test_a_missing_minisign_is_named(release):
    result = verify_with(release.parent, None)
    assert result.returncode == 1
    assert result.stderr == "verify: SHA256SUMS.minisig: the signature was not verified: minisign is not installed\n"


@pytest.mark.parametrize(
    ("minisign", "output"),
    [("exit 0", "the signature is valid"), ("echo no >&2; exit 1", "the signature is invalid: no")],
)
def test_the_verdict_is_minisigns(release, minisign, output):
    result = verify_with(release.parent, f"#!/bin/sh\n{minisign}\n")
    assert result.returncode == ("invalid" in output)
    assert output in result.stdout + result.stderr


def test_the_statement_is_of_the_slsa_form(release):
    statement = json.loads((release / "provenance.intoto.json").read_text())
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
    for subject in statement["subject"]:
        content = (release / subject["name"]).read_bytes()
        assert subject["digest"] == {"sha256": hashlib.sha256(content).hexdigest()}
    definition = statement["predicate"]["buildDefinition"]
    assert definition["buildType"].startswith("https://")
    assert statement["predicate"]["runDetails"]["builder"]["id"].startswith("https://")
    commit = run("git", "-C", ROOT, "rev-parse", "HEAD").stdout.strip()
    assert definition["resolvedDependencies"][0]["digest"] == {"gitCommit": commit}
    lock = next(entry for entry in definition["resolvedDependencies"] if entry.get("name") == "Cargo.lock")
    assert lock["digest"]["sha256"] == hashlib.sha256((ROOT / "Cargo.lock").read_bytes()).hexdigest()


def test_two_builds_are_compared(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "a.deb").write_text("same")
        # Both files differ with the key or machine.
        (folder / "SHA256SUMS.minisig").write_text(folder.name)
    result = run(RELEASE / "compare.py", first, second)
    assert result.returncode == 0
    assert "all 1 files are the same in both builds" in result.stdout
    (second / "a.deb").write_text("samf")
    (first / "b.whl").write_text("")
    result = run(RELEASE / "compare.py", first, second)
    assert result.returncode == 1
    assert "DIFFERENT  a.deb" in result.stdout
    assert "ONLY IN THE FIRST  b.whl" in result.stdout
    assert "2 of 2 files differ" in result.stderr
    assert run(RELEASE / "compare.py", first, second, "--only", "b.*").returncode == 1
    assert "there are no files to compare" in run(RELEASE / "compare.py", first, second, "--only", "none").stderr


def test_archives_depend_on_contents_alone(tmp_path):
    archives = []
    for number, names in enumerate((["b", "a"], ["a", "b"])):
        folder = tmp_path / str(number) / "content"
        folder.mkdir(parents=True)
        for name in names:
            (folder / name).write_text(name)
            (folder / name).chmod(0o644)
            os.utime(folder / name, (number, 1_000_000 * number))
        folder.chmod(0o755)
        archive = tmp_path / f"{number}.tar.gz"
        assert shell(f"pack {archive} {folder.parent} content", SOURCE_DATE_EPOCH="1700000000").returncode == 0
        archives.append(archive.read_bytes())
    assert archives[0] == archives[1]
    assert run("tar", "-tvzf", tmp_path / "0.tar.gz").stdout.count(" 0/0 ") == 3


def test_debug_information_is_split_off(tmp_path):
    program = tmp_path / "built"
    source = "int main(void) { return 0; }"
    command = ["cc", "-g", "-Wl,--build-id=sha1", "-x", "c", "-", "-o", str(program)]
    subprocess.run(command, input=source, text=True, env=os.environ | {"PWD": "/proc/self/cwd"}, check=True)
    machine = run("uname", "-m").stdout.strip()
    assert shell(f"split {machine}-unknown-linux-gnu {program} {tmp_path}/small").returncode == 0
    sections = run("readelf", "--wide", "--sections", tmp_path / "small").stdout
    assert ".debug_info" not in sections
    assert ".symtab" not in sections
    assert ".gnu_debuglink" in sections
    assert ".debug_info" in run("readelf", "--wide", "--sections", tmp_path / "small.debug").stdout
    identities = [run("readelf", "--notes", tmp_path / name).stdout for name in ("small", "small.debug")]
    assert len({text[text.index("Build ID") :].split("\n")[0] for text in identities}) == 1
    assert (tmp_path / "small").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    "through", ["compile x86_64-unknown-linux-gnu p", "$(zig_cargo x86_64-unknown-linux-gnu) rustc"]
)
def test_the_folder_of_a_build_does_not_show(through, tmp_path):
    """The compiler gets no flag that replaces the folder, as for zig's start files."""
    machine = run("uname", "-m").stdout.strip()
    program(tmp_path / "cargo-zigbuild", "sh -c 'cc -g -Wl,--build-id=sha1 main.c -o built'")
    for name in ("one", "another/longer"):
        folder = tmp_path / name
        (folder / "release-work/x86_64-unknown-linux-gnu").mkdir(parents=True)
        (folder / "main.c").write_text("int main(void) { return 0; }")
        split = f"split {machine}-unknown-linux-gnu {folder}/built {folder}/small"
        options = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CARGO_TARGET_DIR": str(folder)}
        done = shell(f"ROOT={folder}; cd {folder}; {through}; {split}", **options)
        assert done.returncode == 0, done.stderr
    for name in ("small", "small.debug"):
        one, another = (tmp_path / folder / name for folder in ("one", "another/longer"))
        assert one.read_bytes() == another.read_bytes()


def test_maturin_compiles_as_the_other_parts_do(tmp_path):
    """The cargo that maturin calls compiles with cargo-zigbuild and does all else itself."""
    triple = "aarch64-unknown-linux-gnu"
    (tmp_path / "release-work" / triple).mkdir(parents=True)
    for name in ("cargo-zigbuild", "own"):
        program(tmp_path / name, f'for one; do echo "{name} $CARGO $one"; done')
    made = shell(f"CARGO={tmp_path}/own; zig_cargo {triple}", CARGO_TARGET_DIR=str(tmp_path)).stdout.strip()
    options = {"env": os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}}
    told = run(made, "rustc", "--target", triple, f"--target={triple}", "--lib", f"/a/{triple}/b", **options).stdout
    words = ["rustc", "--target", f"{triple}.2.28", f"--target={triple}.2.28", "--lib", f"/a/{triple}/b"]
    assert told.splitlines() == [f"cargo-zigbuild {tmp_path}/own {word}" for word in words]
    assert run(made, "metadata", **options).stdout == f"own {tmp_path}/own metadata\n"


@pytest.mark.parametrize("place", ["folder", "file"])
def test_a_folder_of_this_machine_is_found(place, tmp_path):
    """An object from a cache names the folder in which it was compiled, or its source."""
    machine = run("uname", "-m").stdout.strip()
    other = tmp_path / "other (folder)"
    other.mkdir()
    (other / "part.c").write_text("int part(void) { return 0; }")
    (tmp_path / "main.c").write_text("int part(void); int main(void) { return part(); }")
    source, folder = {"folder": ("part.c", other), "file": (other / "part.c", "/proc/self/cwd")}[place]
    named = os.environ | {"PWD": str(folder)}
    subprocess.run(["cc", "-g", "-c", str(source), "-o", "part.o"], cwd=other, env=named, check=True)
    command = ["cc", "-g", "-Wl,--build-id=sha1", "main.c", str(other / "part.o"), "-o", "built"]
    subprocess.run(command, cwd=tmp_path, env=os.environ | {"PWD": "/proc/self/cwd"}, check=True)
    done = shell(f"split {machine}-unknown-linux-gnu {tmp_path}/built {tmp_path}/small")
    assert done.returncode == 1
    assert f"its debug information names {other if place == 'folder' else other / 'part.c'}\n" in done.stderr


def rustc(path, release, triples=()):
    """Makes a stand-in for a compiler of a release that has a standard library for some targets."""
    for triple in triples:
        (path.parent / triple).mkdir(parents=True, exist_ok=True)
        (path.parent / triple / "libstd-0.rlib").touch()
    path.write_text(
        f"""#!/bin/sh
case "$*" in
*-vV*) echo "release: {release}" ;;
*target-libdir*) for last; do :; done; echo {path.parent}/$last ;;
*sysroot*) echo {path.parent} ;;
esac
"""
    )
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("release", "triples", "sources", "expected"),
    [
        ("1.999.0", ["one"], False, "debian"),
        ("1.999.0", ["other"], True, "source"),
        ("1.999.0", ["other"], False, ""),
        ("1.63.0", ["one"], True, ""),
    ],
)
def test_a_standard_library_is_found_or_missed(release, triples, sources, expected, tmp_path):
    (tmp_path / "path").mkdir()
    for program in ("rustc", "rustup"):
        rustc(tmp_path / "path" / program, "1.999.0").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "debian").mkdir()
    debian = rustc(tmp_path / "debian/rustc", release, triples)
    if sources:
        source = tmp_path / "debian/lib/rustlib/src/rust/library/std"
        source.mkdir(parents=True)
        (source / "Cargo.toml").touch()
    result = shell("toolchain one", PATH=f"{tmp_path}/path:{os.environ['PATH']}", HEARITH_DEBIAN_RUSTC=str(debian))
    assert result.stdout.strip() == expected
    assert (result.returncode == 0) == bool(expected)


def functions(script, folder, **environment):
    """Runs shell lines after the functions of release.sh, whose results and notes go to a
    folder.
    """
    text = (ROOT / "scripts/release.sh").read_text()
    (folder / "functions.sh").write_text(text[: text.rindex("\n{\n")].replace('cd "$(', f'cd "{ROOT}" # "$('))
    options = os.environ | {"CARGO_TARGET_DIR": str(folder), "HEARITH_RELEASE_OUT": str(folder / "out"), **environment}
    lines = f'. {folder}/functions.sh; mkdir -p "$WORK" "$OUT"; COMMIT=$(source_commit); {script}'
    return run("bash", "-c", lines, env=options)


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "script",
    [
        # Each way to test a part, with something that fails.
        "try_program $(uname -m)-unknown-linux-gnu {failing} linux-x86_64",
        "cd {folder}; python3() {{ false; }}; try_wheel aarch64-unknown-linux-gnu w u wheel-linux-aarch64",
        "cd {folder}; has_musl() {{ :; }}; try_wheel x86_64-unknown-linux-musl w u wheel-musl-x86_64",
        "build_checksums",
        "minisign() {{ :; }}; HEARITH_MINISIGN_KEY=k HEARITH_MINISIGN_PUBLIC=k build_signature",
    ],
)
def test_a_test_that_fails_is_not_noted(script, tmp_path):
    failing = program(tmp_path / "failing", 'case "$1" in --version) echo hearith 1 ;; *) exit 1 ;; esac')
    # Stand-ins for the scripts that test wheels and signatures; each of them fails.
    (tmp_path / "scripts/release").mkdir(parents=True)
    for name in ("arm_python.sh", "load_musl.sh"):
        program(tmp_path / "scripts/release" / name, "exit 1")
    result = functions(script.format(failing=failing, folder=tmp_path), tmp_path)
    assert result.returncode != 0
    assert not (tmp_path / "release-work/tested.tsv").exists()


def test_what_was_tried_is_noted_with_its_commit(tmp_path):
    result = functions("tested one 'it ran'; tested two 'it ran too' 1234", tmp_path)
    assert result.returncode == 0, result.stderr
    one, two = (tmp_path / "release-work/tested.tsv").read_text().splitlines()
    assert one == f"one\t{provenance.source_commit()}\tit ran"
    assert two == "two\t1234\tit ran too"
    result = functions("COMMIT=another; tested three 'it ran'", tmp_path)
    assert result.returncode == 1
    assert "three: the sources changed during its build, from another" in result.stderr
    assert "three" not in (tmp_path / "release-work/tested.tsv").read_text()


def test_a_part_that_is_built_again_is_forgotten_first(tmp_path):
    names = {
        "source": "hearith-1-source.tar.gz",
        "sdist": "hearith-1.tar.gz",
        "linux-x86_64": "hearith-1-x86_64-unknown-linux-gnu.tar.gz",
        "deb-arm64": "hearith_1_arm64.deb",
        "wheel-linux-x86_64": "hearith-1-cp311-abi3-manylinux_2_28_x86_64.whl",
        "wheel-musl-x86_64": "hearith-1-cp311-abi3-musllinux_1_2_x86_64.whl",
        "sbom": "hearith-1-x86_64-unknown-linux-gnu.cdx.json",
        "signature": "SHA256SUMS.minisig",
    }
    notes = tmp_path / "release-work/tested.tsv"
    for part, name in names.items():
        (tmp_path / "out").mkdir(exist_ok=True)
        notes.parent.mkdir(exist_ok=True)
        for other in names.values():
            (tmp_path / "out" / other).touch()
        notes.write_text("".join(f"{other}\t1\tran\n" for other in names))
        result = functions(f"VERSION=1; forget {part}", tmp_path)
        assert result.returncode == 0, result.stderr
        left = {path.name for path in (tmp_path / "out").iterdir()}
        assert left == set(names.values()) - {name}
        assert [line.split("\t")[0] for line in notes.read_text().splitlines()] == [one for one in names if one != part]


def test_a_failure_leaves_nothing_of_a_part_or_of_what_was_made_of_it(tmp_path):
    files = ("hearith_1_amd64.deb", "hearith-1.tar.gz", "provenance.intoto.json", "SHA256SUMS", "SHA256SUMS.minisig")
    parts = ("deb-amd64", "sdist", "provenance", "checksums", "signature")
    (tmp_path / "out").mkdir()
    (tmp_path / "release-work").mkdir()
    for name in files:
        (tmp_path / "out" / name).touch()
    notes = tmp_path / "release-work/tested.tsv"
    notes.write_text("".join(f"{part}\t1\tran\n" for part in parts))
    script = """VERSION=1; missing() { :; }; debian() { touch "$OUT/hearith_1_amd64.deb"; false; }
trap - EXIT; main --only deb-amd64"""
    result = functions(script, tmp_path, HEARITH_RELEASE_DIRTY="1")
    assert result.returncode == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["hearith-1.tar.gz"]
    assert notes.read_text() == "sdist\t1\tran\n"


def test_files_without_a_note_are_not_stated(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "release-work").mkdir()
    (tmp_path / "release-work/tested.tsv").write_text("sdist\t1\tran\n")
    for name in ("hearith-1.tar.gz", "hearith_1_amd64.deb"):
        (tmp_path / "out" / name).touch()
    result = functions("VERSION=1; build_provenance", tmp_path)
    assert result.returncode == 1
    assert "contains files that no build of this commit noted: hearith_1_amd64.deb" in result.stderr
    assert not (tmp_path / "out/provenance.intoto.json").exists()


def test_other_files_in_the_folder_of_a_release_are_kept(tmp_path):
    (tmp_path / "out/own").mkdir(parents=True)
    (tmp_path / "out/own/text").touch()
    (tmp_path / "out/hearith-0.1.0.tar.gz").touch()
    result = functions("missing() { :; }; main", tmp_path, HEARITH_RELEASE_DIRTY="1")
    assert result.returncode == 1
    assert "noted: own; remove them" in result.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["own"]


def test_a_trial_from_changed_sources_says_so_and_is_not_signed(release, tmp_path, monkeypatch):
    assert "sourcesChanged" not in internal(release) or provenance.source_commit().endswith("with changes")
    monkeypatch.setattr(provenance, "source_commit", lambda: "cafe with changes")
    assert internal(release)["sourcesChanged"] is True
    (tmp_path / "out").mkdir()
    (tmp_path / "out/provenance.intoto.json").write_text(json.dumps(provenance.statement(release), indent=2))
    result = functions("HEARITH_MINISIGN_KEY=k; build_signature", tmp_path)
    assert result.returncode == 1
    assert "a trial from changed sources is not signed" in result.stderr


def internal(release):
    """Returns the statement's parameters that only the build determines."""
    return provenance.statement(release)["predicate"]["buildDefinition"]["internalParameters"]


def test_new_files_are_changes(tmp_path, monkeypatch):
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert "with changes" not in provenance.source_commit()
    (tmp_path / ".gitignore").write_text("ignored\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "second"], check=True)
    (tmp_path / "ignored").touch()
    assert "with changes" not in provenance.source_commit()
    (tmp_path / "new.py").touch()
    assert provenance.source_commit().endswith(" with changes")


def test_the_statement_names_the_compilers_of_what_was_built(release, tmp_path):
    notes = []
    for triple in sorted(set(provenance.TRIPLES.values())):
        notes.append(tmp_path / triple)
        notes[-1].write_text(f"{triple}\tpath\trustc 1\n")
    built = ["source", "deb-arm64", "wheel-musl-x86_64"]
    statement = provenance.statement(release, notes, built)
    names = {entry.get("name", "") for entry in statement["predicate"]["buildDefinition"]["resolvedDependencies"]}
    found = {name for name in names if name.startswith("rustc for ")}
    assert found == {"rustc for aarch64-unknown-linux-gnu", "rustc for x86_64-unknown-linux-musl"}


def test_both_tables_of_targets_are_equal():
    script = "; ".join(f"triple_of {name}" for name in provenance.TRIPLES)
    assert shell(script).stdout.split() == list(provenance.TRIPLES.values())


def test_parts_of_another_commit_are_rejected(release, tmp_path):
    notes = tmp_path / "tested.tsv"
    notes.write_text("source\t1234\tran\nsdist\t5678\tran\n")
    options = {"env": {name: value for name, value in os.environ.items() if name != "HEARITH_RELEASE_DIRTY"}}
    command = [sys.executable, RELEASE / "provenance.py", release]
    for mode in (["--check"], []):
        result = run(*command, *mode, "--notes", notes, **options)
        assert result.returncode == 1
        assert "provenance: source was built from 1234; build it again" in result.stderr
        result = run(*command, *mode, "--notes", notes, "--again", "source", **options)
        assert "source was built" not in result.stderr
        assert "sdist was built from 5678" in result.stderr


def test_a_crate_that_no_list_names_is_found(tmp_path):
    source = "".join(f"int _RNvCs1234_{len(name)}{name}3foo(void) {{ return 1; }}" for name in ("hearith_cli", "md5"))
    file = library(tmp_path / "built", source + "int in_c(void) { return 1; }")
    crates = [(name, next(iter(locked(name)))) for name in ("hearith", "md-5")]
    (tmp_path / "list.json").write_text(listed(crates))
    command = [RELEASE / "check_sbom.py", "--target", "x86_64-unknown-linux-gnu", tmp_path / "list.json", file]
    result = run(*command)
    assert (result.returncode, result.stdout) == (0, "the list has all 2 crates in the program's symbols\n")
    (tmp_path / "list.json").write_text(listed(crates[:1]))
    result = run(*command)
    assert result.returncode == 1
    # Before this line, cargo may say that it waits for another.
    assert result.stderr.endswith("check_sbom: list.json: md5 is in the program but not in the list\n")
    assert "hearith_cli" not in result.stderr


def locked(name):
    """Returns the versions of a crate in Cargo.lock."""
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    return {package["version"] for package in packages if package["name"] == name}


def listed(crates):
    """Returns a list of dependencies with these crates, the first of which is the program."""
    program, *others = ({"name": name, "version": version} for name, version in crates)
    return json.dumps({"metadata": {"component": program}, "components": others})


def test_parts_are_listed_and_unknown_ones_rejected():
    parts = run(ROOT / "scripts/release.sh", "--list").stdout.split()
    assert {"linux-x86_64", "deb-arm64", "wheel-musl-aarch64", "sdist", "signature"} <= set(parts)
    result = run(ROOT / "scripts/release.sh", "--only", "linux-vax")
    assert result.returncode == 2
    assert "there is no part linux-vax" in result.stderr


def test_what_cannot_be_built_is_named(tmp_path):
    # Prevents installations and downloads.
    (tmp_path / "rustup").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "rustup").chmod(0o755)
    options = os.environ | {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "CARGO_TARGET_DIR": str(tmp_path),
        "HEARITH_RELEASE_OUT": str(tmp_path / "out"),
        "HEARITH_RELEASE_TOOLCHAIN": "path",
    }
    result = run(ROOT / "scripts/release.sh", "--only", "windows-x86_64", env=options)
    assert result.returncode == 1
    assert "windows-x86_64 cannot be built: the crates use Unix interfaces" in result.stderr
    options.pop("HEARITH_MINISIGN_KEY", None)
    result = run(ROOT / "scripts/release.sh", env=options | {"HEARITH_RELEASE_REQUIRE": "signature"})
    assert result.returncode == 1
    assert "signature cannot be built: " in result.stderr
    for words, unknown in (("linux-arm64", "linux-arm64"), ("source,sdist", "source,sdist"), ("source\n\n ALL", "ALL")):
        result = run(ROOT / "scripts/release.sh", env=options | {"HEARITH_RELEASE_REQUIRE": words})
        assert result.returncode == 1
        assert f"HEARITH_RELEASE_REQUIRE: there is no part {unknown}" in result.stderr
    # Nothing was begun.
    assert not list((tmp_path / "out").iterdir())


def test_the_workflow_requires_all_that_needs_no_other_system():
    text = (ROOT / ".github/workflows/release.yml").read_text()
    required = set(text.partition("HEARITH_RELEASE_REQUIRE: >-")[2].partition("HEARITH_BUILDER")[0].split())
    parts = set(run(ROOT / "scripts/release.sh", "--list").stdout.split())
    assert required == {part for part in parts if "macos" not in part and "windows" not in part} - {"signature"}


def test_the_files_of_a_part_are_named():
    patterns = run(ROOT / "scripts/release.sh", "--files", "linux-x86_64", "sbom").stdout.split()
    assert len(patterns) == 4
    assert patterns[1].endswith("-x86_64-unknown-linux-gnu-debug.tar.gz")
    assert run(ROOT / "scripts/release.sh", "--files", "linux-vax").returncode == 2


def test_the_report_holds_what_was_built_and_what_was_not(release, tmp_path):
    work = tmp_path / "release-work"
    work.mkdir()
    (release / "other.whl").write_text("wheel")
    (work / "tested.tsv").write_text("deb-amd64\tcafe\tit ran\n")
    for triple in ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"):
        (work / f"{triple}.toolchain").write_text(f"{triple}\tpath\trustc 1\n")
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in release.iterdir()}
    (work / "twice.txt").write_text(
        f"equal  {digests['hearith.deb']}  hearith.deb\n"
        f"DIFFERENT  hearith-1.tar.gz: {digests['hearith-1.tar.gz']} and 2\n"
        # From an earlier build.
        "equal  0  other.whl\n"
    )
    options = os.environ | {"CARGO_TARGET_DIR": str(tmp_path), "HEARITH_RELEASE_OUT": str(release)}
    for folder in ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"):
        (work / folder / "program").mkdir(parents=True)
        for name in ("hearith", "hearith.debug"):
            library(work / folder / "program" / name, "int one(void) { return 1; }")
    assert run(sys.executable, RELEASE / "report.py", tmp_path / "page.md", env=options).returncode == 0
    page = (tmp_path / "page.md").read_text()
    for name, state in (("hearith.deb", "equal"), ("hearith-1.tar.gz", "DIFFERENT"), ("other.whl", "not built twice")):
        digest = hashlib.sha256((release / name).read_bytes()).hexdigest()
        assert f"| {name} | 0.00 | {digest} | {state} |" in page
    assert "| deb-amd64 | it ran |" in page
    assert "| windows-x86_64 | the crates use Unix interfaces" in page
    # Whatever the reason, the page reports a part without a test.
    assert "| linux-aarch64 | " in page
    assert page.count("| deb-amd64 |") == 1
    compilers = page.partition("## Compilers")[2].partition("## Tests")[0]
    assert "| x86_64-unknown-linux-gnu | path | rustc 1 |" in compilers
    assert "aarch64" not in compilers
    assert "commit cafe." in page
    # This release contains only one of the two programs.
    sizes = page.partition("## Programs")[2].partition("## Composition")[0]
    assert "| x86_64-unknown-linux-gnu | 0.0" in sizes
    assert "aarch64" not in sizes
    (work / "tested.tsv").write_text("deb-amd64\tcafe\tit ran\nsource\tbeef\tit ran\n")
    result = run(sys.executable, RELEASE / "report.py", tmp_path / "page.md", env=options)
    assert result.returncode == 1
    assert "deb-amd64 from cafe; source from beef" in result.stderr
    assert (tmp_path / "page.md").read_text() == page


def test_a_script_that_is_edited_while_it_runs_ends_as_it_began(tmp_path):
    text = (ROOT / "scripts/release.sh").read_text()
    # The text after the functions, which are replaced by a step during which the file grows.
    tail = text[text.rindex("\n}\n", 0, text.rindex("main")) + 3 :]
    script = tmp_path / "script.sh"
    script.write_text(f"main() {{ sleep 1; }}\n{tail}")
    process = subprocess.Popen(["bash", script], stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)
    with script.open("r+") as file:
        file.write("# A longer first line than before: all that follows moves.\n" + "then\n" * 100)
    assert process.communicate()[1] == ""
    assert process.returncode == 0
