#!/bin/sh
# First process of a machine: Linux's own RAID-5 over four served drives, one of which loses a die.
. /start.sh
online
modprobe raid456
disks=
number=0
for port in $(echo "$ports" | tr , ' '); do
  nbd-client -N "$export" 10.0.2.2 "$port" /dev/nbd$number >/dev/null || echo "# nbd$number does not connect"
  disks="$disks /dev/nbd$number"
  number=$((number + 1))
done
# Drives that were never written read as zeroes, and the parity of zeroes is zero.
# shellcheck disable=SC2086
mdadm --create /dev/md0 --run --assume-clean --level=5 --raid-devices=4 --chunk=64 --metadata=1.2 --bitmap=none $disks 2>&1 | sed 's/^/# /'
must /sbin/mke2fs -q -t ext4 /dev/md0
must mount -t ext4 /dev/md0 /mnt
dd if=/dev/urandom of=/mnt/data bs=1M count="$megabytes" 2>/dev/null
echo "written: $(hash_of /mnt/data)"

errors() {
  cat /sys/block/md0/md/dev-nbd*/errors | awk '{ sum += $1 } END { print sum }'
}
ask die
echo "first: $(hash_of /mnt/data)"
echo "corrected: $(dmesg | grep -c 'read error corrected')"
echo "errors: $(errors)"
echo "states: $(cat /sys/block/md0/md/dev-nbd*/state | tr '\n' ' ')"
echo "degraded: $(cat /sys/block/md0/md/degraded)"
echo "second: $(hash_of /mnt/data)"
echo "errors again: $(errors)"
umount /mnt
echo check >/sys/block/md0/md/sync_action
while [ "$(cat /sys/block/md0/md/sync_action)" != idle ]; do sleep 0.2; done
echo "mismatches: $(cat /sys/block/md0/md/mismatch_cnt)"
/sbin/e2fsck -fn /dev/md0 >/dev/null 2>&1
echo "fsck: $?"
done_with
