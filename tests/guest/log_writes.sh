#!/bin/sh
# First process of a machine: Linux's own dm-log-writes over one disk, its log on a second.
. /start.sh
modprobe virtio_pci && modprobe virtio_blk
modprobe dm-log-writes
modprobe ext4
must dmsetup create logged --noudevsync --table "0 $(cat /sys/block/vda/size) log-writes /dev/vda /dev/vdb"
must dmsetup mknodes
must /sbin/mke2fs -q -t ext4 /dev/mapper/logged
must mount -t ext4 /dev/mapper/logged /mnt
must dmsetup message logged 0 mark outlast:begin
for number in 1 2 3 4 5 6; do
  dd if=/dev/urandom of=/mnt/file-$number bs=4k count=20 conv=fsync 2>/dev/null
  must dmsetup message logged 0 mark "$number"
done
umount /mnt
must dmsetup remove --noudevsync logged
sync
echo "done: yes"
done_with
