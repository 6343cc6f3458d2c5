#!/usr/bin/env bash
# Gets Linux 6.12 and the QEMU that it needs into target/guest, from Debian's backports to bookworm, without installing them. Hosts of NVMe/TCP are tested with both
# kernels; btrfs in zones and files of zonefs need this one. To be called after fetch.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
base=$PWD/target/guest
lists=$base/backports
mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial" "$lists/packages" "$base/files-6.12" "$base/qemu"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm-backports main" >"$lists/sources.list"
options=(-o "Dir::State::lists=$lists/lists" -o "Dir::Cache=$lists/cache" -o "Dir::Etc::sourcelist=$lists/sources.list" -o Dir::Etc::sourceparts=-)
apt-get "${options[@]}" -qq update
kernel=$(apt-cache "${options[@]}" depends linux-image-amd64/bookworm-backports | sed -n 's/.*Depends: \(linux-image-6.*\)/\1/p' | head -n 1)
cd "$lists/packages"
for package in "$kernel" qemu-system-x86 qemu-system-common qemu-system-data; do
  ls "${package}"_*.deb >/dev/null 2>&1 || apt-get "${options[@]}" -qq download "$package/bookworm-backports"
done
dpkg -x "${kernel}"_*.deb "$base/files-6.12"
for package in qemu-system-x86 qemu-system-common qemu-system-data; do dpkg -x "${package}"_*.deb "$base/qemu"; done
# Programs are those of the older folder, and modules are listed as an installation would.
cp -r "$base/files/bin" "$base/files/sbin" "$base/files/usr" "$base/files-6.12"
mkdir -p "$base/files-6.12/lib" && cp -r "$base/files/lib/x86_64-linux-gnu" "$base/files-6.12/lib"
# Modules of devices that no guest has are half of the package.
for unused in drivers/gpu drivers/media drivers/net/ethernet drivers/net/wireless drivers/staging sound; do
  rm -rf "$base/files-6.12/lib/modules/${kernel#linux-image-}/kernel/$unused"
done
PATH=$PATH:/sbin:/usr/sbin depmod -b "$base/files-6.12" "${kernel#linux-image-}"
echo "target/guest: $kernel, qemu"
