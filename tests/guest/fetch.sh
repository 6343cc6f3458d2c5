#!/usr/bin/env bash
# Gets what the virtual machines are made of into target/guest/files, from Debian's packages, without installing them.
set -euo pipefail
cd "$(dirname "$0")/../.."
.venv/bin/outlast torture guest-files target/guest/files
mkdir -p target/guest/packages
cd target/guest/packages
for package in mdadm nbd-client libnl-3-200 libnl-genl-3-200 nvme-cli libnvme1 f2fs-tools; do
  ls "${package}"_*.deb >/dev/null 2>&1 || apt-get download -qq "$package"
  dpkg -x "${package}"_*.deb ../files
done
echo "target/guest/files: kernel, busybox, mdadm, nbd-client, nvme, mkfs.f2fs"
