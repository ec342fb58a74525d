#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# make.sh LINK: makes what a guest boots from, and lets LINK point to its folder: linux, initrd, bin/. All that is not of this folder comes
# from Debian 12's packages, which are downloaded and unpacked, and not installed. What was made is kept by its content, so that the same
# sources and packages are built once: in the folder that INCFORGE_CACHE names, or the user's cache.
set -euo pipefail
link=$1
here=$(cd "$(dirname "$0")" && pwd)
cache=${INCFORGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/incforge}/lab

# Programs that the kernel's build runs; what is in a guest, with the libraries that these need; what a guest's programs are linked with.
tools="flex bison m4 libsigsegv2 bc"
guest="busybox-static dash libc6 iproute2 libmnl0 libelf1 zlib1g libbpf1 libcap2 libbsd0 libmd0 libselinux1 libpcre2-8-0 libxtables12 \
    rdma-core libibverbs1 ibverbs-providers librdmacm1 libnl-3-200 libnl-route-3-200 perftest libibumad3 libpci3 libudev1"
develop="libibverbs-dev libnl-3-dev libnl-route-3-dev"
programs="bin/ip sbin/ip sbin/tc sbin/bridge sbin/rdma usr/sbin/rdma usr/bin/rdma usr/bin/ibv_devinfo usr/bin/ibv_devices usr/bin/ibv_rc_pingpong \
    usr/bin/ib_send_bw usr/bin/ib_send_lat usr/bin/ib_write_bw usr/bin/ib_write_lat usr/bin/ib_read_bw usr/bin/ib_read_lat"

die() { echo "make lab: $*" >&2; exit 3; }
for need in apt-get dpkg-deb gcc make xz zstd; do command -v $need >/dev/null || die "$need is missing"; done
[ "$(uname -m)" = x86_64 ] || die "guests are for x86_64"

# versions PACKAGE...: those that apt would fetch, a line each. One call: apt takes its time to read its lists.
versions() { LC_ALL=C apt-cache policy "$@" | awk '/^[^ ]/ {name = $1} /^  Candidate:/ && $2 != "(none)" {print name, $2}'; }
if [ -z "$(versions linux-source-6.1)" ]; then
    as_root=""; [ "$(id -u)" = 0 ] || as_root=sudo
    $as_root apt-get update -q </dev/null >&2
    [ -n "$(versions linux-source-6.1)" ] || die "apt has no linux-source-6.1: this takes Debian 12's packages"
fi

kernel_key=$({ cat "$here/kernel.sh" "$here/kernel.config"; versions linux-source-6.1; gcc -dumpfullversion; } | sha256sum | cut -c1-16)
guest_key=$({ echo "$kernel_key"; cat "$0" "$here/init" "$here/serve" "$here"/*.[ch]; versions $guest $develop; } | sha256sum | cut -c1-16)
folder=$cache/guest-$guest_key kernel=$cache/linux-$kernel_key
work=""
trap '[ -z "$work" ] || rm -rf "$work"' EXIT

# fetch FOLDER PACKAGE...: downloads packages and unpacks them.
fetch() {
    local to=$1 deb
    shift
    mkdir -p "$to" "$work/debs"
    (cd "$work/debs" && apt-get download -q "$@" 2>&1 | grep -v '^W: Download is performed unsandboxed' >&2 || true)
    for p in "$@"; do
        deb=$(ls "$work/debs/${p}"_*.deb 2>/dev/null) || die "apt does not give $p"
        dpkg-deb -x "$deb" "$to"
    done
}

# libraries ROOT FILE...: the shared libraries that ELF files need, those that these need, and the loader, as paths under ROOT.
libraries() {
    local root=$1 name found
    shift
    local -A has=()
    local queue=("$@")
    while [ ${#queue[@]} -gt 0 ]; do
        for name in $(readelf -d "${queue[0]}" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
            [ -z "${has[$name]:-}" ] || continue
            found=$(find "$root/lib" "$root/usr/lib" -name "$name" 2>/dev/null | head -n 1)
            [ -n "$found" ] || die "no package of the guest's brings $name, which ${queue[0]##*/} needs"
            has[$name]=$found
            queue+=("$found")
        done
        queue=("${queue[@]:1}")
    done
    echo "${has[@]}"
}

# initramfs ROOT: the listing of what is in it, for the kernel's gen_init_cpio.
initramfs() {
    local root=$1 d f name files=()
    for d in bin sbin etc etc/libibverbs.d dev proc sys tmp root share lib64 usr usr/bin usr/sbin usr/lib usr/lib/x86_64-linux-gnu \
        usr/lib/x86_64-linux-gnu/libibverbs; do
        echo "dir /$d 755 0 0"
    done
    echo "nod /dev/console 600 0 0 c 5 1"
    echo "nod /dev/null 666 0 0 c 1 3"
    echo "file /init $here/init 755 0 0"
    echo "file /sbin/serve $here/serve 755 0 0"
    echo "file /sbin/relay $work/relay 755 0 0"
    echo "file /bin/busybox $root/bin/busybox 755 0 0"
    echo "file /bin/sh $root/bin/dash 755 0 0"
    echo "file /etc/shrc $work/shrc 644 0 0"
    files+=("$root/bin/dash")
    for name in $("$root/bin/busybox" --list); do
        case $name in busybox | sh | ip | init | tc | bridge) ;; *) echo "slink /bin/$name busybox 777 0 0" ;; esac
    done
    for f in $programs; do
        [ -e "$root/$f" ] && [ ! -L "$root/$f" ] || continue
        files+=("$root/$f")
        echo "file /$f $root/$f 755 0 0"
    done
    f=usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so
    files+=("$root/$f")
    echo "file /$f $root/$f 644 0 0"
    echo "file /etc/libibverbs.d/rxe.driver $root/etc/libibverbs.d/rxe.driver 644 0 0"
    for f in $(libraries "$root" "${files[@]}"); do
        echo "file /usr/lib/x86_64-linux-gnu/${f##*/} $(readlink -f "$f") 755 0 0"
    done
    echo "slink /lib /usr/lib 777 0 0"
    echo "slink /lib64/ld-linux-x86-64.so.2 /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 777 0 0"
    echo "file /etc/passwd $work/passwd 644 0 0"
}

if [ ! -e "$folder/initrd" ]; then
    mkdir -p "$cache"
    work=$(mktemp -d "$cache/.work-XXXXXX")
    if [ ! -e "$kernel/linux" ]; then
        echo "make lab: the kernel, some four minutes on two idle processors" >&2
        fetch "$work/tools" $tools
        fetch "$work/source" linux-source-6.1
        mkdir -p "$work/linux" "$work/kernel"
        "$here/kernel.sh" "$work/source/usr/src/linux-source-6.1.tar.xz" "$work/tools" "$work/linux" "$work/kernel/linux"
        cp "$work/linux/usr/gen_init_cpio" "$work/kernel/"
        mv -T "$work/kernel" "$kernel" 2>/dev/null || [ -e "$kernel/linux" ] # another may have been faster
    fi
    echo "make lab: the guest's files" >&2
    fetch "$work/root" $guest
    fetch "$work/dev" $develop
    echo 'root:x:0:0:root:/root:/bin/sh' >"$work/passwd"
    echo 'alias ip=/bin/ip; PS1="$(hostname):\w# "' >"$work/shrc"
    gcc -O2 -Wall -Wextra -Werror -std=gnu11 -static -s "$here/relay.c" -o "$work/relay"
    mkdir -p "$work/out/bin"
    initramfs "$work/root" >"$work/list"
    "$kernel/gen_init_cpio" "$work/list" | zstd -q -10 >"$work/out/initrd"
    # Static, so that programs of a folder that all guests share do not depend on what is in the guest. The linker warns of getaddrinfo,
    # which nobody calls.
    for p in allreduce wrong; do
        gcc -O2 -Wall -Wextra -Werror -std=gnu11 -static -DRDMA_STATIC_PROVIDERS=rxe -I "$work/dev/usr/include" "$here/$p.c" "$here/rank.c" \
            -o "$work/out/bin/$p" -L "$work/dev/usr/lib/x86_64-linux-gnu" -L "$work/dev/lib/x86_64-linux-gnu" -Wl,--no-warnings \
            -Wl,--start-group -l:librxe-rdmav34.a -libverbs -lnl-route-3 -lnl-3 -Wl,--end-group
    done
    cp "$kernel/linux" "$work/out/linux"
    mv -T "$work/out" "$folder" 2>/dev/null || [ -e "$folder/initrd" ]
fi
mkdir -p "$(dirname "$link")"
ln -sfn "$folder" "$link"
echo "$link -> $folder"
