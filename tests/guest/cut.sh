#!/bin/sh
# First process of a machine: the kernel's NBD client over a drive that loses its power under a file system.
. /start.sh
online
connect() {
  nbd-client -N "$export" -timeout 30 -persist 10.0.2.2 "$ports" /dev/nbd0 >/dev/null 2>&1
}
connect || echo "# nbd0 does not connect"
must /sbin/mke2fs -q -t ext4 /dev/nbd0
must mount -t ext4 /dev/nbd0 /mnt
dd if=/dev/urandom of=/mnt/flushed bs=1M count="$megabytes" conv=fsync 2>/dev/null
echo "written: $(hash_of /mnt/flushed)"
# Writes are under way when the power goes.
dd if=/dev/urandom of=/mnt/open bs=64k count=64 2>/dev/null &
ask cut
wait
sync
echo "after: $(hash_of /mnt/flushed)"
dd if=/dev/urandom of=/mnt/later bs=1M count=1 conv=fsync 2>/dev/null && echo "later: $(hash_of /mnt/later)"
umount /mnt
/sbin/e2fsck -fn /dev/nbd0 >/dev/null 2>&1
echo "fsck: $?"
must mount -t ext4 /dev/nbd0 /mnt
echo "mounted: $(hash_of /mnt/flushed)"
umount /mnt
dmesg | grep -i -E 'nbd|ext4' | tail -20 | sed 's/^/# /'
done_with
