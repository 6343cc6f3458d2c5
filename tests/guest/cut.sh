#!/bin/sh
# First process of a machine: the kernel's NBD client over a drive that loses its power under a file system. To the machine
# that is an enclosure that goes away and comes back: what is open fails, what was flushed is there.
. /start.sh
online
connect() {
  nbd-client -N "$export" -timeout 30 10.0.2.2 "$ports" /dev/nbd0 >/dev/null 2>&1
}
must connect
must /sbin/mke2fs -q -t ext4 /dev/nbd0
must mount -t ext4 /dev/nbd0 /mnt
dd if=/dev/urandom of=/mnt/flushed bs=1M count="$megabytes" conv=fsync 2>/dev/null
echo "written: $(hash_of /mnt/flushed)"
# Writes are under way when the power goes.
dd if=/dev/urandom of=/mnt/open bs=64k count=256 conv=fsync 2>/dev/null &
ask cut
wait
umount /mnt
nbd-client -d /dev/nbd0 >/dev/null 2>&1
tries=0
until connect; do
  tries=$((tries + 1))
  [ $tries -lt 100 ] || must connect
  sleep 0.2
done
# The journal is played back.
must mount -t ext4 /dev/nbd0 /mnt
echo "after: $(hash_of /mnt/flushed)"
dd if=/dev/urandom of=/mnt/later bs=1M count=1 conv=fsync 2>/dev/null && echo "later: $(hash_of /mnt/later)"
umount /mnt
/sbin/e2fsck -fn /dev/nbd0 >/dev/null 2>&1
echo "fsck: $?"
must mount -t ext4 /dev/nbd0 /mnt
echo "mounted: $(hash_of /mnt/flushed)"
umount /mnt
done_with
