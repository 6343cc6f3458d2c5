#!/bin/sh
# First process of a machine: F2FS over two served drives, the first for its metadata, the second for data, with zones or without; filled, and written again at
# random, until `megabytes` are written.
. /start.sh
interface
# One path to each drive, whose limits of zones F2FS is to see, and whose scheduler keeps the writes of a zone in order.
modprobe nvme_core multipath=0
modprobe nvme_tcp
modprobe f2fs
mkdir -p /etc/nvme
echo nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555 >/etc/nvme/hostnqn
echo 11111111-2222-3333-4444-555555555555 >/etc/nvme/hostid
number=0
for port in $(echo "$ports" | tr , ' '); do
  must nvme connect -t tcp -a 10.0.2.2 -s "$port" -n "nqn.2026-11.org.outlast:f$number"
  until [ -b /dev/nvme${number}n1 ]; do sleep 0.1; done
  number=$((number + 1))
done
zoned=
[ "$(cat /sys/block/nvme1n1/queue/zoned)" = host-managed ] && zoned=-m
for number in 0 1; do
  echo mq-deadline >/sys/block/nvme${number}n1/queue/scheduler
  # Zones of so few MiB would be opened one after another before the first is full.
  echo 8 >/sys/block/nvme${number}n1/queue/nr_requests
done
echo "zoned: $zoned"
/sbin/mkfs.f2fs -f $zoned -c /dev/nvme1n1 /dev/nvme0n1 >/out 2>&1 || {
  sed 's/^/# /' /out
  done_with
}
sed 's/^/# /' /out
must mount -t f2fs -o noatime /dev/nvme0n1 /mnt
df -m /mnt | sed 's/^/# /'

# Files that stay as they are, and one that is written again.
dd if=/dev/urandom of=/data bs=1M count=8 2>/dev/null
number=0
while [ $number -lt "$cold" ]; do
  cat /data >/mnt/cold.$number || break
  number=$((number + 1))
done
sync
echo "cold: $number"
fio --name=hot --directory=/mnt --ioengine=psync --thread --rw=write --bs=64k --size="${hot}M" --end_fsync=1 >/out 2>&1 || sed 's/^/# /' /out
df -m /mnt | sed 's/^/# /'
ask filled
if fio --name=hot --directory=/mnt --ioengine=psync --thread --rw=randwrite --bs=4k --size="${hot}M" --io_size="${megabytes}M" --norandommap --fsync=256 \
  --end_fsync=1 --verify=0 >/out 2>&1; then echo "fio: 0"; else
  echo "fio: $?"
fi
sed 's/^/# /' /out
ask written
umount /mnt
must mount -t f2fs /dev/nvme0n1 /mnt
number=0
wrong=0
while [ -f /mnt/cold.$number ]; do
  cmp -s /data /mnt/cold.$number || wrong=$((wrong + 1))
  number=$((number + 1))
done
echo "again: $number"
echo "wrong: $wrong"
umount /mnt
/sbin/fsck.f2fs --dry-run /dev/nvme0n1 >/out 2>&1
echo "fsck: $?"
sed 's/^/# /' /out
for number in 0 1; do nvme disconnect -n "nqn.2026-11.org.outlast:f$number" >/dev/null; done
done_with
