#!/usr/bin/env bash
# Compiles the GPU kernels into crates/cuda/images, which the program embeds. Usage:
#   scripts/gpu_kernels.sh [--check] [IMAGE...]
# --check compiles into a temporary folder and fails if an image in the repository differs. An image
# is ARITHMETIC_sm_NN (a cubin) or ARITHMETIC_ptx; all by default. The compiler comes from PyPI
# (half a gigabyte) into target/nvcc, or from HEARITH_NVCC, a folder with bin/nvcc. No card is
# needed. Registers and spills are written to crates/cuda/images/registers.tsv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# sm_80, 90 and 100 have fast double-precision units. Every other card uses the narrow kernels. For
# combinations that are not in this list, and unknown cards, the driver compiles the PTX.
all=(wide_sm_80 wide_sm_90 wide_sm_100 narrow_sm_86 narrow_sm_89 narrow_sm_120 wide_ptx narrow_ptx)
folder=crates/cuda/images
check=
if [ "${1:-}" = --check ]; then
    check=1
    shift
fi
images=("$@")
[ ${#images[@]} -gt 0 ] || images=("${all[@]}")

target=${CARGO_TARGET_DIR:-target}
venv=$target/nvcc
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
fi
"$venv/bin/python" -c 'import zstandard' 2>/dev/null || "$venv/bin/pip" install --quiet zstandard==0.25.0
if [ -z "${HEARITH_NVCC:-}" ]; then
    "$venv/bin/pip" install --quiet nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 \
        nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
    HEARITH_NVCC=$(echo "$PWD/$venv"/lib/python3*/site-packages/nvidia/cu13)
fi
export PATH=$HEARITH_NVCC/bin:$HEARITH_NVCC/nvvm/bin:$PATH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"
for image in "${images[@]}"; do
    arithmetic=${image%%_*} architecture=${image#*_}
    case $architecture in
        ptx) options=(-ptx -arch=compute_80) ;;
        *) options=(-cubin -arch="$architecture" -Xptxas -v) ;;
    esac
    # From inside the folder, so that an image contains no path of this machine.
    (cd crates/cuda/kernels && nvcc -std=c++17 -O3 "${options[@]}" "$arithmetic.cu" -o "$work/$image") 2>"$work/$image.log" || {
        cat "$work/$image.log" >&2
        exit 1
    }
    if [ -n "$check" ]; then
        "$venv/bin/python" - "$folder/$image.zst" "$work/$image" <<'PYTHON'
import sys, zstandard
kept = zstandard.ZstdDecompressor().decompress(open(sys.argv[1], "rb").read(), max_output_size=1 << 26)
sys.exit(0 if kept == open(sys.argv[2], "rb").read() else f"{sys.argv[1]} is not what the sources compile to: run `make gpu-kernels`")
PYTHON
        echo "$image: unchanged"
        continue
    fi
    "$venv/bin/python" - "$work/$image" "$folder/$image.zst" <<'PYTHON'
import sys, zstandard
data = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(zstandard.ZstdCompressor(level=22, write_checksum=True).compress(data))
PYTHON
    echo "$image: $(stat -c %s "$work/$image") bytes, $(stat -c %s "$folder/$image.zst") compressed"
    if [ "$architecture" != ptx ]; then
        scripts/gpu_registers.py "$image" "$work/$image.log"
    fi
done
if [ -z "$check" ] && [ ${#images[@]} -eq ${#all[@]} ]; then
    # A test compares it with the sources, so that these cannot change without the images.
    (cd crates/cuda/kernels && LC_ALL=C sha256sum ./*.cu ./*.cuh ./job.h ./sizes.h) >"$folder/sources.sha256"
fi
