#!/bin/sh
# First process of a machine: file systems of a served drive, one filled to the last block, and read again once they have been unmounted.
. /start.sh
interface
modprobe nvme_tcp
mkdir -p /etc/nvme
echo nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555 >/etc/nvme/hostnqn
echo 11111111-2222-3333-4444-555555555555 >/etc/nvme/hostid
name=$(nvme discover -t tcp -a 10.0.2.2 -s "$ports" | sed -n 's/^subnqn: *//p')
must nvme connect -t tcp -a 10.0.2.2 -s "$ports" -n "$name"
until [ -b /dev/nvme0n1 ]; do sleep 0.1; done
dd if=/dev/urandom of=/data bs=1M count="$megabytes" 2>/dev/null

kept() { # files in the file system of type $1 until $2 are there or it is full; it has been made
  type=$1
  must mount -t "$type" /dev/nvme0n1 /mnt
  # Each file has the same bytes behind another first line; the last has what there was room for.
  number=0
  while [ $number -lt "$2" ] && { echo $number && cat /data; } >/mnt/$number 2>/dev/null; do number=$((number + 1)); done
  sync
  echo "$type files: $number"
  echo "$type: $(cat /mnt/[0-9]* | sha256sum | cut -d' ' -f1)"
  umount /mnt
  must mount -t "$type" /dev/nvme0n1 /mnt
  echo 3 >/proc/sys/vm/drop_caches
  echo "$type again: $(cat /mnt/[0-9]* | sha256sum | cut -d' ' -f1)"
  umount /mnt
}
# ext4 in a part of the drive, until it is full; XFS, which makes no file system below 300 MiB, with some files.
must /sbin/mke2fs -q -t ext4 /dev/nvme0n1 48M
kept ext4 1000
must /sbin/mkfs.xfs -q -f /dev/nvme0n1
kept xfs 6
if /sbin/xfs_repair -n /dev/nvme0n1 >/dev/null 2>&1; then echo "xfs check: 0"; else echo "xfs check: $?"; fi
nvme disconnect -n "$name" >/dev/null
done_with
