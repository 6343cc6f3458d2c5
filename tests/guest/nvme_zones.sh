#!/bin/sh
# First process of a machine: a served drive with zones, as nvme-cli, blkzone, fio and zonefs use it.
. /start.sh
interface
modprobe nvme_tcp
mkdir -p /etc/nvme
echo nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555 >/etc/nvme/hostnqn
echo 11111111-2222-3333-4444-555555555555 >/etc/nvme/hostid
name=$(nvme discover -t tcp -a 10.0.2.2 -s "$ports" | sed -n 's/^subnqn: *//p')
must nvme connect -t tcp -a 10.0.2.2 -s "$ports" -n "$name"
until [ -b /dev/nvme0n1 ]; do sleep 0.1; done

queue=/sys/block/nvme0n1/queue
for field in zoned nr_zones chunk_sectors max_open_zones max_active_zones zone_append_max_bytes; do
  echo "$field: $(cat $queue/$field)"
done
echo "ro: $(cat /sys/block/nvme0n1/ro)"
zone=$(cat $queue/chunk_sectors)

conditions() { # of all zones, as the kernel reports them
  blkzone report /dev/nvme0n1 | sed -n 's/.*zcond: *[0-9]*(\(..\)).*/\1/p' | sort | uniq -c | awk '{ printf "%s%s=%s", s, $2, $1; s = " " }'
}
decoded() { # what nvme-cli prints, each line with the name of the command
  log=$1
  shift
  if nvme "$@" >/out 2>&1; then echo "$log ended: 0"; else echo "$log ended: $?"; fi
  sed "s/^/$log| /" /out
}
decoded ctrl zns id-ctrl /dev/nvme0
decoded ns zns id-ns /dev/nvme0n1 -H
echo "empty: $(conditions)"
# The kernel's own appends and writes, in as many zones as may be open.
if fio --name=zones --filename=/dev/nvme0n1 --ioengine=psync --thread --direct=1 --zonemode=zbd --rw=write --bs=64k \
  --size=$((4 * zone * 512)) --max_open_zones=4 --verify=crc32c --do_verify=1 --verify_fatal=1 >/out 2>&1; then echo "fio: 0"; else
  echo "fio: $?"
  sed 's/^/# /' /out
fi
echo "written: $(conditions)"
decoded report zns report-zones /dev/nvme0n1 -d 5
must nvme zns reset-zone /dev/nvme0n1 -s 0 -a >/dev/null
echo "reset: $(conditions)"
must nvme zns open-zone /dev/nvme0n1 -s $((zone / 8)) >/dev/null
dd if=/dev/urandom of=/data bs=64k count=16 2>/dev/null
nvme zns zone-append /dev/nvme0n1 -s $((zone / 8)) -z 65536 -d /data >/out 2>&1
echo "append: $? $(cat /out)"
must nvme zns finish-zone /dev/nvme0n1 -s $((zone / 8)) >/dev/null
echo "finished: $(conditions)"
must blkzone reset /dev/nvme0n1

# zonefs: one file for each zone behind that of its super block. Linux 6.1 refuses its own appends there, on any drive.
/sbin/dd if=/zonefs_super of=/dev/nvme0n1 bs=4096 count=1 oflag=direct 2>/dev/null
must blkzone finish -o 0 -c 1 /dev/nvme0n1
must mount -t zonefs /dev/nvme0n1 /mnt
echo "files: $(ls /mnt/seq | wc -l)"
if [ "$(uname -r | cut -c1-4)" != 6.1. ]; then
  for file in 0 1 2; do
    dd if=/dev/urandom of=/data bs=64k count=$((16 * (file + 1))) 2>/dev/null
    /sbin/dd if=/data of=/mnt/seq/$file bs=65536 oflag=direct,append conv=notrunc 2>/dev/null
    echo "file $file: $(sha256sum </data | cut -d' ' -f1)"
  done
  umount /mnt
  must mount -t zonefs /dev/nvme0n1 /mnt
  for file in 0 1 2; do
    echo "file $file again: $(sha256sum </mnt/seq/$file | cut -d' ' -f1)"
  done
  : >/mnt/seq/1
  echo "truncated: $(conditions)"
fi
umount /mnt

# btrfs in zones, of kernels for which that is no longer an experiment.
if [ "$(uname -r | cut -c1-4)" != 6.1. ]; then
  must blkzone reset /dev/nvme0n1
  modprobe btrfs
  must /sbin/mkfs.btrfs -q -O zoned -d single -m single /dev/nvme0n1
  must mount -t btrfs /dev/nvme0n1 /mnt
  dd if=/dev/urandom of=/mnt/data bs=1M count="$megabytes" conv=fsync 2>/dev/null
  echo "btrfs: $(sha256sum /mnt/data | cut -d' ' -f1)"
  umount /mnt
  must mount -t btrfs /dev/nvme0n1 /mnt
  echo "btrfs again: $(hash_of /mnt/data)"
  /sbin/btrfs device stats /mnt | awk '{ n += $2 } END { print "btrfs errors: " n }'
  umount /mnt
  echo "btrfs zones: $(conditions)"
fi
ask report
nvme disconnect -n "$name" >/dev/null
done_with
