#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# kernel.sh SOURCE.tar.xz TOOLS WORK OUT: builds a guest's kernel, user-mode Linux, from Debian's source. TOOLS is a folder into which the
# packages of flex, bison, m4 and bc are unpacked; WORK is an empty folder that the caller removes.
set -euo pipefail
source=$1 tools=$2 work=$3 out=$4
here=$(cd "$(dirname "$0")" && pwd)
jobs=$(nproc)

PATH=$PATH:$tools/usr/bin
export M4=$tools/usr/bin/m4 BISON_PKGDATADIR=$tools/usr/share/bison
export LD_LIBRARY_PATH=$tools/usr/lib/x86_64-linux-gnu

# Nothing is read of the largest folders.
tar -xJf "$source" -C "$work" --strip-components=1 --exclude='*/drivers/gpu/drm/amd/include' --exclude='*/tools/testing' \
    --exclude='*/arch/arm/boot/dts' --exclude='*/arch/arm64/boot/dts'
cd "$work"

# change FILE OLD NEW: OLD must be there, or this script does not fit the source.
change() {
    grep -q -- "$2" "$1" || { echo "kernel.sh: $1 has no \"$2\"" >&2; exit 1; }
    sed -i "s/$2/$3/" "$1"
}
# Processors with AMX save 11 KB of registers; the buffer is for 2,696 words, and init would die at once.
change arch/x86/um/user-offsets.c 'HOST_FP_SIZE, 2696' 'HOST_FP_SIZE, 12288'
# rxe's timers count in ticks.
sed -i '/^config HZ$/,/default/s/default 100/default 250/' arch/um/Kconfig
grep -A3 '^config HZ$' arch/um/Kconfig | grep -q 'default 250'
# The kernel traces the guest's processes; they must end with it when it is killed.
change arch/um/os-Linux/skas/process.c 'PTRACE_O_TRACESYSGOOD)' 'PTRACE_O_TRACESYSGOOD + PTRACE_O_EXITKILL)'

um() { make -s ARCH=um SUBARCH=x86_64 KCONFIG_ALLCONFIG="$here/kernel.config" "$@"; }
um allnoconfig >/dev/null
# What an option needs and does not have, Kconfig drops without a word.
while read -r line; do
    case $line in
        CONFIG_*) grep -qxF -- "$line" .config || { echo "kernel.sh: the source does not take $line" >&2; exit 1; } ;;
    esac
done <"$here/kernel.config"
um -j"$jobs" linux
strip -o "$out" linux
