#!/usr/bin/env bash
# Gets what the virtual machines are made of into target/guest/files, from Debian's packages, without installing them.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p target/guest/packages
cd target/guest/packages
kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ { print $2; exit }')
for package in "$kernel" busybox-static mdadm nbd-client libnl-3-200 libnl-genl-3-200; do
  ls "${package}"_*.deb >/dev/null 2>&1 || apt-get download -qq "$package"
  dpkg -x "${package}"_*.deb ../files
done
echo "target/guest/files: $kernel, busybox, mdadm, nbd-client"
