#!/usr/bin/env python3
"""Builds the development environment of Containerfile, as an image or in a folder.

Usage: container.py build [NAME]                          with podman or docker   (hearith-dev)
       container.py root FOLDER [OPTION...] [-- COMMAND]  the same steps in a Debian root, as root, without an engine
       container.py steps                                 lists the steps

`root` makes FOLDER with debootstrap if it does not exist, performs every step of Containerfile
there in order, and then runs COMMAND in it. It tests the Containerfile where no container engine
can run. Options:

  --mount SOURCE[:TARGET]   shows a file or folder of this machine in the root, read-only, while the steps run
  --env NAME[=VALUE]        sets a variable for the steps; without a value, to that of this machine

Use the options to pass on the configuration of a machine that is behind registry mirrors or cannot
reach rustup's host. `--mount ~/.rustup --mount ~/.cargo/bin` provides cargo, which the step for
Rust then keeps. `--mount ~/.npmrc --env PIP_CERT=...` and the like configure npm and pip. Only
empty mount points remain in the root.
"""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "Containerfile"
RELEASE = "bookworm"
IMAGE = "debian:12"
#: Set by a container engine, but not by a chroot.
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
#: Instructions that concern only a container engine.
NO_STEP = {"CMD", "LABEL", "VOLUME"}
KNOWN = {"COPY", "ENV", "FROM", "RUN", "WORKDIR", *NO_STEP}


class Fault(Exception):
    """Stops the script with a one-line message."""


def parse(text, name="Containerfile"):
    """Parses a Containerfile into steps: line number, instruction, and argument as a shell reads
    it.
    """
    steps, pending, first = [], "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("#") or not line.strip():
            continue
        first = first or number
        if line.endswith("\\"):
            pending += line[:-1] + " "
            continue
        instruction, _, argument = (pending + line).strip().partition(" ")
        if instruction not in KNOWN:
            raise Fault(f"{name}:{first}: {instruction} is no instruction that this script performs")
        if not argument.strip():
            raise Fault(f"{name}:{first}: {instruction} has no argument")
        steps.append((first, instruction, argument.strip()))
        pending, first = "", 0
    if pending:
        raise Fault(f"{name}:{first}: the last step ends with a backslash")
    if not steps or steps[0][1:] != ("FROM", IMAGE):
        raise Fault(f"{name}: the first step must be FROM {IMAGE}, which debootstrap's {RELEASE} is")
    return steps


def expand(text, environment):
    """Replaces $NAME and ${NAME} in a text by their values."""
    return re.sub(r"\$(?:(\w+)|\{(\w+)\})", lambda match: environment.get(match[1] or match[2], ""), text)


def assignments(argument, environment):
    """Returns the variables that ENV sets."""
    found = {}
    for word in shlex.split(argument):
        name, equals, value = word.partition("=")
        if not equals:
            raise Fault(f"ENV {argument}: write NAME=VALUE")
        found[name] = expand(value, environment)
    return found


def copy(context, root, folder, argument):
    """Performs COPY: copies files or contents of folders of the context into a folder of the root,
    or one file to a name.
    """
    *sources, target = shlex.split(argument)
    if not sources or any(word.startswith("--") for word in sources):
        raise Fault(f"COPY {argument}: write COPY SOURCE... TARGET, without options")
    inside = Path(folder, target)
    place = root / inside.relative_to("/")
    into = target.endswith("/") or target in {".", ".."} or len(sources) > 1
    for source in sources:
        found = sorted(glob.glob(source, root_dir=context))
        if not found:
            raise Fault(f"COPY {argument}: there is no {source}")
        for name in found:
            path = context / name
            if path.is_dir():
                shutil.copytree(path, place, dirs_exist_ok=True, symlinks=True)
                continue
            to = place / path.name if into else place
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)


def inside(root, folder, environment, command, mounts=()):
    """Returns the command line that runs a command in the root, with /proc, /dev and mounts that
    end with the command.
    """
    lines = ["set -e", "mount --make-rprivate /"]
    lines += [f"mount --rbind {shlex.quote(path)} {shlex.quote(str(root) + path)}" for path in ("/dev", "/sys")]
    lines.append(f"mount -t proc proc {shlex.quote(str(root / 'proc'))}")
    for source, target in mounts:
        place = root / Path(target).relative_to("/")
        make = f"mkdir -p {shlex.quote(str(place))}"
        if not Path(source).is_dir():
            make = f"mkdir -p {shlex.quote(str(place.parent))} && touch {shlex.quote(str(place))}"
        lines.append(f"{make}\nmount --rbind {shlex.quote(str(source))} {shlex.quote(str(place))}")
        lines.append(f"mount -o remount,ro,bind {shlex.quote(str(place))}")
    variables = [f"{name}={value}" for name, value in environment.items()]
    script = f"cd {shlex.quote(folder)} && exec /bin/sh -c {shlex.quote(command)}"
    lines.append(shlex.join(["exec", "chroot", str(root), "/usr/bin/env", "-i", *variables, "/bin/sh", "-c", script]))
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", "\n".join(lines)]


def perform(steps, context, root, environment=None, mounts=(), run=subprocess.run):
    """Performs the steps in a root.

    Returns the final working folder and variables.
    """
    extra = environment or {}
    variables, folder = dict(ENVIRONMENT), "/"
    for number, (line, instruction, argument) in enumerate(steps, start=1):
        if instruction in {*NO_STEP, "FROM"}:
            continue
        print(f"container: {number}/{len(steps)} {instruction} {' '.join(argument.split())}", flush=True)
        if instruction == "ENV":
            variables |= assignments(argument, variables)
        elif instruction == "WORKDIR":
            folder = str(Path(folder, expand(argument, variables)))
            (root / Path(folder).relative_to("/")).mkdir(parents=True, exist_ok=True)
        elif instruction == "COPY":
            copy(context, root, folder, argument)
        else:
            done = run(inside(root, folder, {**variables, **extra}, argument, mounts), check=False)
            if done.returncode:
                raise Fault(f"{FILE.name}:{line}: RUN exited with {done.returncode}")
    return folder, variables


def bootstrap(root):
    """Makes a root from Debian's smallest set of packages, as in the image, in which no services
    start.
    """
    if (root / "etc/debian_version").exists():
        return
    if root.exists() and any(root.iterdir()):
        raise Fault(f"{root} is neither empty nor a Debian root")
    if not shutil.which("debootstrap"):
        raise Fault("debootstrap is missing: apt-get install --no-install-recommends debootstrap")
    subprocess.run(["debootstrap", "--variant=minbase", RELEASE, str(root)], check=True)
    policy = root / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)


def options(arguments):
    """Parses the folder, mounts, variables and command of `root`."""
    command = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, command = arguments[:at], arguments[at + 1 :]
    folder, mounts, environment, rest = None, [], {}, list(arguments)
    while rest:
        word = rest.pop(0)
        if word in {"--mount", "--env"} and not rest:
            raise Fault(f"{word} needs a value")
        if word == "--mount":
            source, _, target = rest.pop(0).partition(":")
            if not Path(source).exists():
                raise Fault(f"--mount {source}: there is no such file")
            source = os.path.abspath(source)
            mounts.append((source, target or source))
        elif word == "--env":
            name, equals, value = rest.pop(0).partition("=")
            if not equals and name not in os.environ:
                raise Fault(f"--env {name}: it has no value here")
            environment[name] = value if equals else os.environ[name]
        elif folder or word.startswith("-"):
            raise Fault(f"unknown argument {word}")
        else:
            folder = Path(word).absolute()
    if not folder:
        raise Fault("root needs a folder")
    return folder, mounts, environment, command


def build(name):
    """Builds the image with the first container engine that is installed."""
    engine = next(filter(shutil.which, ("podman", "docker")), None)
    if not engine:
        raise Fault("neither podman nor docker is installed; `scripts/container.py root FOLDER` needs no engine")
    ignore = ["--ignorefile", str(ROOT / ".containerignore")] if engine == "podman" else []
    subprocess.run([engine, "build", "--tag", name, "--file", str(FILE), *ignore, str(ROOT)], check=True)


def main():
    """Runs the chosen command."""
    what, rest = (sys.argv[1:] or [""])[0], sys.argv[2:]
    try:
        if what == "build" and len(rest) <= 1:
            build(*rest or ["hearith-dev"])
        elif what == "steps" and not rest:
            for line, instruction, argument in parse(FILE.read_text()):
                print(f"{line:3} {instruction} {' '.join(argument.split())}")
        elif what == "root":
            root, mounts, environment, command = options(rest)
            if os.geteuid() != 0:
                raise Fault("a root is made as root: call it with sudo")
            steps = parse(FILE.read_text())
            bootstrap(root)
            folder, variables = perform(steps, ROOT, root, environment, mounts)
            if command:
                line = inside(root, folder, {**variables, **environment}, shlex.join(command), mounts)
                sys.exit(subprocess.run(line, check=False).returncode)
            print(f"container: every step was performed in {root}")
        else:
            raise Fault(f"usage: {(__doc__ or '').partition('Usage: ')[2].partition(chr(10) + chr(10))[0]}")
    except Fault as fault:
        print(f"container: {fault}", file=sys.stderr)
        sys.exit(2)
    except subprocess.CalledProcessError as failed:
        print(f"container: {failed.cmd[0]} exited with {failed.returncode}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
