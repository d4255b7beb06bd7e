#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/setup-host on made-up hosts: what each lacks is named with the command that mends it, --apply runs exactly
# these commands, --check runs none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
setup_host=$PWD/scripts/setup-host
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAIL: $*"; exit 1; }

# A host that has everything, in the folder $1.
make_host() {
    local root=$1
    mkdir -p "$root"/proc/{self,net,sys/kernel,sys/net/core} "$root"/sys/kernel/{btf,iommu_groups/0} \
        "$root"/sys/kernel/mm/hugepages/hugepages-2048kB "$root"/sys/bus/pci/{drivers/vfio-pci,drivers/ixgbe,devices} \
        "$root"/sys/class/net/eth0/queues/{rx-0,tx-0} "$root"/boot
    printf 'Name:\tcat\nCapEff:\t000001ffffffffff\n' >"$root/proc/self/status"
    printf 'Limit  Soft Limit  Hard Limit  Units\nMax locked memory         8388608  8388608  bytes\n' >"$root/proc/self/limits"
    echo 6.1.0-test >"$root/proc/sys/kernel/osrelease"
    echo 1 >"$root/proc/sys/net/core/bpf_jit_enable"
    printf 'CONFIG_BPF_SYSCALL=y\nCONFIG_XDP_SOCKETS=m\nCONFIG_DEBUG_INFO_BTF=y\n' >"$root/boot/config-6.1.0-test"
    echo 600 >"$root/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
    echo 512 >"$root/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"
    echo 1500 >"$root/sys/class/net/eth0/mtu"
    echo up >"$root/sys/class/net/eth0/operstate"
    mkdir -p "$root/sys/bus/pci/devices/0000:8a:00.0"
    ln -s ../../drivers/vfio-pci "$root/sys/bus/pci/devices/0000:8a:00.0/driver"
}

# Tools that only write down how they are called.
mkdir "$tmp/bin"
for tool in sysctl modprobe ip ethtool dpdk-devbind.py apt-get bpftool; do
    # shellcheck disable=SC2016
    printf '#!/bin/bash\necho "%s $*" >>"%s/calls"\n' "$tool" "$tmp" >"$tmp/bin/$tool"
    chmod +x "$tmp/bin/$tool"
done
export PATH="$tmp/bin:$PATH"

run() { # WANTED-EXIT ARGUMENTS...; the output goes to $tmp/out
    local want=$1 got=0
    shift
    rm -f "$tmp/calls"
    SETUP_HOST_ROOT=$tmp/host "$setup_host" "$@" >"$tmp/out" 2>&1 || got=$?
    [ $got = "$want" ] || fail "$*: exit $got: $(cat "$tmp/out")"
}
has() { grep -qF -- "$1" "$tmp/out" || fail "no \"$1\" in: $(cat "$tmp/out")"; }
hasnt() { ! grep -qF -- "$1" "$tmp/out" || fail "\"$1\" in: $(cat "$tmp/out")"; }
fresh() { rm -rf "$tmp/host"; make_host "$tmp/host"; }

# usage
run 2
has usage:
run 2 --frobnicate
run 2 --check --apply
run 2 --check --hugepages many
run 2 --check --pci
run 2 --check --pci 'x;y'
run 2 --check --netdev 'a b'
run 0 --help

# a good host
fresh
run 0 --check
has "nothing needed is missing"
hasnt LACKS
run 0 --check --netdev eth0 --pci 8a:00.0 --hugepages 512
has "PCI device 0000:8a:00.0: bound to vfio-pci"
has "hugepages: 512 of 600 free"

# one thing missing at a time
lack() { # TEXT COMMAND ARGUMENTS...
    local text=$1 fix=$2
    shift 2
    run 1 --check "$@"
    grep -A1 -F "LACKS $text" "$tmp/out" | grep -qF "fix: $fix" || fail "no \"$text\" with \"$fix\" in: $(cat "$tmp/out")"
    has "1 needed and missing"
    [ ! -e "$tmp/calls" ] || fail "--check ran: $(cat "$tmp/calls")"
    fresh
}
printf 'CapEff:\t0000000000004000\n' >"$tmp/host/proc/self/status"
lack "capabilities to open ports: cap_net_admin cap_net_raw cap_sys_admin" "by hand: start pitlaned as root"
printf 'CapEff:\t0000000000203000\n' >"$tmp/host/proc/self/status"
sed -i 's/8388608  8388608/unlimited  unlimited/' "$tmp/host/proc/self/limits"
lack "capabilities to open ports: cap_ipc_lock" "by hand: start pitlaned as root"
lack "hugepages: 512 of 2 MB are free, 1000 are needed" "sysctl -w vm.nr_hugepages=1088" --hugepages 1000
rm -r "$tmp/host/sys/kernel/mm/hugepages/hugepages-2048kB"
lack "hugepages: this kernel has none of 2 MB" "by hand: boot a kernel with CONFIG_HUGETLBFS" --hugepages 1
for option in BPF_SYSCALL XDP_SOCKETS DEBUG_INFO_BTF; do
    sed -i "s/^CONFIG_$option=.*/# CONFIG_$option is not set/" "$tmp/host/boot/config-6.1.0-test"
    lack "kernel: " "by hand: boot a kernel that has it"
done
lack "interface eth9: there is none of this name" "by hand: see ip -br link" --netdev eth9
echo down >"$tmp/host/sys/class/net/eth0/operstate"
lack "interface eth0: is down" "ip link set dev eth0 up" --netdev eth0
echo 9000 >"$tmp/host/sys/class/net/eth0/mtu"
lack "interface eth0: MTU 9000 is too large" "ip link set dev eth0 mtu 3300" --netdev eth0
mkdir "$tmp"/host/sys/class/net/eth0/queues/rx-{1,2,3}
lack "interface eth0: 4 receive queues, of which 2 are served" "ethtool -L eth0 combined 2" --netdev eth0 --workers 2
rm -r "$tmp/host/sys/bus/pci/drivers/vfio-pci"
lack "driver vfio-pci: not loaded" "modprobe vfio-pci" --pci 0000:8a:00.0
rm -r "$tmp/host/sys/kernel/iommu_groups/0"
lack "IOMMU: off" "by hand: switch it on" --pci 0000:8a:00.0
lack "PCI device 0000:8b:00.0: there is none" "by hand: see dpdk-devbind.py --status" --pci 0000:8b:00.0
ln -sfn ../../drivers/ixgbe "$tmp/host/sys/bus/pci/devices/0000:8a:00.0/driver"
lack "PCI device 0000:8a:00.0: bound to ixgbe" "dpdk-devbind.py --bind=vfio-pci 0000:8a:00.0" --pci 0000:8a:00.0
ln -sfn ../../drivers/ixgbe "$tmp/host/sys/bus/pci/devices/0000:8a:00.0/driver"
mkdir -p "$tmp/host/sys/bus/pci/devices/0000:8a:00.0/net/eth0"
lack "PCI device 0000:8a:00.0: is the interface eth0, which is up" "by hand: when nothing depends on it" --pci 0000:8a:00.0

# what is not needed is noted only
echo 0 >"$tmp/host/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"
echo 0 >"$tmp/host/proc/sys/net/core/bpf_jit_enable"
run 0 --check
has "advised: sysctl -w vm.nr_hugepages=512"
has "advised: sysctl -w net.core.bpf_jit_enable=1"
# off, and VFIO goes without it
rm -r "$tmp/host/sys/kernel/iommu_groups/0"
mkdir -p "$tmp/host/sys/module/vfio/parameters"
echo Y >"$tmp/host/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
run 0 --check --pci 0000:8a:00.0

# a kernel that keeps its configuration to itself
rm "$tmp/host/boot/config-6.1.0-test"
run 1 --check
has "3 needed and missing"
echo 2 >"$tmp/host/proc/sys/kernel/unprivileged_bpf_disabled"
printf 'protocol  size\nXDP       1088\n' >"$tmp/host/proc/net/protocols"
touch "$tmp/host/sys/kernel/btf/vmlinux"
run 0 --check

# --apply runs the commands that --check names, and no others
fresh
echo down >"$tmp/host/sys/class/net/eth0/operstate"
mkdir "$tmp"/host/sys/class/net/eth0/queues/rx-1
ln -sfn ../../drivers/ixgbe "$tmp/host/sys/bus/pci/devices/0000:8a:00.0/driver"
run 1 --apply --netdev eth0 --pci 0000:8a:00.0 --hugepages 513
sort >"$tmp/wanted" <<'CALLS'
sysctl -w vm.nr_hugepages=601
ip link set dev eth0 up
ethtool -L eth0 combined 1
dpdk-devbind.py --bind=vfio-pci 0000:8a:00.0
CALLS
sort "$tmp/calls" | diff "$tmp/wanted" - || fail "--apply ran other commands"
# mended by the commands: the second look finds nothing
# shellcheck disable=SC2016
printf '#!/bin/bash\necho 601 >"%s/host/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"\n' "$tmp" >"$tmp/bin/sysctl"
fresh
run 0 --apply --hugepages 601
has "LACKS hugepages"
has "nothing needed is missing"

# a configuration says what is needed
cat >"$tmp/bin/pitlaned" <<'DAEMON'
#!/bin/bash
[ "$*" = "-t -v -c good.conf" ] || { echo "bad.conf:1: faulty" >&2; exit 1; }
cat <<'CONF'
workers: {
    count = 2;
};
memory: {
    hugepages = "yes";
};
port: {
    a: {
        # device: not set
        netdev = "eth9";
    };
    b: {
        device = "8a:00.1,arg=1";
    };
    c: {
        device = "net_memif0,role=server";
    };
};
CONF
DAEMON
chmod +x "$tmp/bin/pitlaned"
fresh
PITLANED=$tmp/bin/pitlaned run 1 --check --conf good.conf
has "LACKS interface eth9"
has "LACKS PCI device 0000:8a:00.1"
has "ok    hugepages"
hasnt memif
PITLANED=$tmp/bin/pitlaned run 1 --check --conf bad.conf
has "bad.conf:1: faulty"
echo ok
