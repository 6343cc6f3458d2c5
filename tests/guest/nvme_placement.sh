#!/bin/sh
# First process of a machine: namespaces and flexible data placement of a served drive, as nvme-cli reads them.
. /start.sh
interface
modprobe nvme_tcp
mkdir -p /etc/nvme
echo nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555 >/etc/nvme/hostnqn
echo 11111111-2222-3333-4444-555555555555 >/etc/nvme/hostid
name=$(nvme discover -t tcp -a 10.0.2.2 -s "$ports" | sed -n 's/^subnqn: *//p')
must nvme connect -t tcp -a 10.0.2.2 -s "$ports" -n "$name"
until [ -b /dev/nvme0n1 ] && [ -b /dev/nvme0n2 ] && [ -b /dev/nvme0n3 ]; do sleep 0.1; done
device() { # of the namespace of this number: Linux 6.12 names them in the order in which it has found them
  for own in /sys/block/nvme0n*; do
    [ "$(cat "$own/nsid")" != "$1" ] || echo "/dev/${own##*/}"
  done
}
first=$(device 1)
second=$(device 2)
third=$(device 3)
for number in 1 2 3; do
  queue=/sys/block/$(device $number | cut -d/ -f3)
  echo "namespace $number: $(cat $queue/size) $(cat $queue/queue/logical_block_size) $(cat $queue/ro)"
done
must /sbin/mke2fs -q -t ext4 -b 4096 "$second"
must mount -t ext4 "$second" /mnt
dd if=/dev/urandom of=/mnt/data bs=1M count="$megabytes" conv=fsync 2>/dev/null
echo "written: $(sha256sum /mnt/data | cut -d' ' -f1)"
echo "read: $(hash_of /mnt/data)"
if fstrim /mnt; then echo "trimmed: 0"; else echo "trimmed: $?"; fi
echo "kernel: $(dmesg | grep -c 'nvme.*I/O Error')"
umount /mnt
/sbin/e2fsck -fn "$second" >/dev/null 2>&1
echo "fsck: $?"
dd if=/dev/zero of="$third" bs=4096 count=1 conv=fsync 2>/dev/null && echo "write-protected: no" || echo "write-protected: yes"

decoded() { # what nvme-cli prints, each line with the name of the log
  log=$1
  shift
  if nvme "$@" >/out 2>&1; then echo "$log ended: 0"; else echo "$log ended: $?"; fi
  sed "s/^/$log| /" /out
}
for handle in 0 1; do
  nvme fdp set-events "$first" -p $handle -e 1 -t 0,3 >/out 2>&1 || sed 's/^/# /' /out
done
dd if=/dev/urandom of=/block bs=4096 count=1 2>/dev/null
for value in 0 1 1 9; do
  must nvme write "$first" -s $((value * 8)) -c 7 -z 4096 -d /block --dir-type=2 --dir-spec=$value >/dev/null
done
must nvme flush "$first" >/dev/null
decoded update fdp update "$first" -p 1
sleep 2
decoded configs fdp configs /dev/nvme0 -e 1
decoded usage fdp usage /dev/nvme0 -e 1
decoded status fdp status "$first"
decoded events fdp events /dev/nvme0 -e 1 -E
decoded lost lba-status-log /dev/nvme0
decoded endurance endurance-log /dev/nvme0 -g 1
decoded directives dir-receive "$first" -D 0 -O 1 -H
decoded effects effects-log /dev/nvme0
decoded errors error-log /dev/nvme0
decoded firmware fw-log /dev/nvme0
decoded changed changed-ns-list-log /dev/nvme0
decoded namespace id-ns "$second" -H
decoded controller id-ctrl /dev/nvme0 -H
decoded smart smart-log /dev/nvme0
decoded ocp ocp smart-add-log /dev/nvme0
decoded stats fdp stats /dev/nvme0 -e 1
ask report
nvme disconnect -n "$name" >/dev/null
done_with
