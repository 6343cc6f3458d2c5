#!/bin/sh
# First process of a machine: fio over a served drive, with and without digests, cut off by its own host and by the end of the server.
. /start.sh
interface
modprobe nvme_tcp
mkdir -p /etc/nvme
echo nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555 >/etc/nvme/hostnqn
echo 11111111-2222-3333-4444-555555555555 >/etc/nvme/hostid
name=$(nvme discover -t tcp -a 10.0.2.2 -s "$ports" | sed -n 's/^subnqn: *//p')

connect() {
  must nvme connect -t tcp -a 10.0.2.2 -s "$ports" -n "$name" --reconnect-delay 1 --ctrl-loss-tmo 120 "$@"
  until [ -b /dev/nvme0n1 ]; do sleep 0.1; done
}

load() { # a job of random writes
  fio --name=load --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=randwrite --bs=4k --iodepth=16 --thread --allow_mounted_write=1 "$@"
}

verified() { # writes, then reads all of it again
  if load --size="${megabytes}M" --verify=crc32c --verify_fatal=1 >/out 2>&1; then echo "$1: 0"; else echo "$1: $?"; sed 's/^/# /' /out; fi
}

connect
verified "verify"
nvme disconnect -n "$name" >/dev/null
connect --hdr-digest --data-digest
verified "verify with digests"
# The host goes away under load; what it has verified before is there when it comes again.
load --offset=96M --size=32M --time_based --runtime=60 >/dev/null 2>&1 &
sleep 3
nvme disconnect -n "$name" >/dev/null
wait
[ -e /dev/nvme0n1 ] && echo "disconnected: no" || echo "disconnected: yes"
connect
if load --size="${megabytes}M" --verify=crc32c --verify_only=1 >/out 2>&1; then echo "after the disconnect: 0"; else echo "after the disconnect: $?"; sed 's/^/# /' /out; fi
# The server is killed under load, and comes again at the same address.
for round in 1 2 3 4 5; do
  dd if=/dev/urandom of=/block bs=64k count=16 2>/dev/null
  dd if=/block of=/dev/nvme0n1 bs=64k count=16 seek=1024 conv=fsync 2>/dev/null
  wanted=$(sha256sum /block | cut -d' ' -f1)
  load --offset=96M --size=32M --time_based --runtime=8 >/out 2>&1 &
  sleep 2
  ask kill
  wait
  echo 3 >/proc/sys/vm/drop_caches
  found=$(dd if=/dev/nvme0n1 bs=64k count=16 skip=1024 2>/dev/null | sha256sum | cut -d' ' -f1)
  [ "$found" = "$wanted" ] && echo "kill $round: kept" || echo "kill $round: lost"
done
nvme disconnect -n "$name" >/dev/null
done_with
