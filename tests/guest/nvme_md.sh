#!/bin/sh
# First process of a machine: Linux's own RAID-5 over four controllers of NVMe/TCP, one of whose drives loses a die.
. /start.sh
interface
modprobe nvme_tcp
modprobe raid456
mkdir -p /etc/nvme
echo nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555 >/etc/nvme/hostnqn
echo 11111111-2222-3333-4444-555555555555 >/etc/nvme/hostid
disks=
number=0
for port in $(echo "$ports" | tr , ' '); do
  must nvme connect -t tcp -a 10.0.2.2 -s "$port" -n "nqn.2026-11.org.outlast:d$number"
  until [ -b /dev/nvme${number}n1 ]; do sleep 0.1; done
  disks="$disks /dev/nvme${number}n1"
  number=$((number + 1))
done
# shellcheck disable=SC2086
mdadm --create /dev/md0 --run --assume-clean --level=5 --raid-devices=4 --chunk=64 --metadata=1.2 --bitmap=none $disks 2>&1 | sed 's/^/# /'
must /sbin/mke2fs -q -t ext4 /dev/md0
must mount -t ext4 /dev/md0 /mnt
dd if=/dev/urandom of=/mnt/data bs=1M count="$megabytes" 2>/dev/null
echo "written: $(hash_of /mnt/data)"

errors() {
  cat /sys/block/md0/md/dev-nvme*/errors | awk '{ sum += $1 } END { print sum }'
}
ask die
echo "first: $(hash_of /mnt/data)"
echo "errors: $(errors)"
echo "states: $(cat /sys/block/md0/md/dev-nvme*/state | tr '\n' ' ')"
echo "degraded: $(cat /sys/block/md0/md/degraded)"
echo "second: $(hash_of /mnt/data)"
echo "errors again: $(errors)"
for number in 0 1 2 3; do
  nvme smart-log /dev/nvme$number | sed -n "s/^critical_warning[^:]*: */warning $number: /p"
done
umount /mnt
echo check >/sys/block/md0/md/sync_action
while [ "$(cat /sys/block/md0/md/sync_action)" != idle ]; do sleep 0.2; done
echo "mismatches: $(cat /sys/block/md0/md/mismatch_cnt)"
/sbin/e2fsck -fn /dev/md0 >/dev/null 2>&1
echo "fsck: $?"
done_with
