#!/bin/sh
# First process of a machine: fio's jobs with zones on a zoned null_blk and on QEMU's emulated drive with zones, with every request, and the zones afterwards.
. /start.sh
modprobe null_blk nr_devices=1 gb=1 bs=4096 zoned=1 zone_size=4 zone_capacity=3 zone_max_open=6 zone_max_active=8
modprobe nvme
until [ -b /dev/nullb0 ] && [ -b /dev/nvme0n1 ]; do sleep 0.1; done

for device in nullb0 nvme0n1; do
  queue=/sys/block/$device/queue
  echo "$device: $(for field in zoned nr_zones chunk_sectors max_open_zones max_active_zones; do cat $queue/$field; done | tr '\n' ' ')"
  for job in /*.fio; do
    name=$device-$(basename "$job" .fio)
    must blkzone reset /dev/$device
    cd /tmp && rm -f log.*
    if fio --filename=/dev/$device "$job" >/out 2>&1; then echo "$name ended: 0"; else
      echo "$name ended: $?"
      sed 's/^/# /' /out
    fi
    sed -n "s/.* \([0-9]*\) zone resets.*/$name resets| \1/p" /out
    for log in log.*; do sed -n "s/^[0-9]* [^ ]* \(read\|write\|trim\) /$name $log| \1 /p" "$log"; done
    blkzone report /dev/$device | sed -n "s/.*start: 0x\([0-9a-f]*\), len.* wptr 0x\([0-9a-f]*\).*zcond: *[0-9]*(\(..\)).*/$name zone| \1 \2 \3/p"
  done
done
done_with
