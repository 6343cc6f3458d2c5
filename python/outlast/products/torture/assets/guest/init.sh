#!/bin/sh
# First process of a guest: the host's files, which nobody can change, under a layer in memory that takes what is written.
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
exec </dev/console >/dev/console 2>&1
for module in virtio_pci virtio_blk virtio_console 9p 9pnet_virtio overlay; do
  modprobe $module || exit 1
done
# Nobody changes what is read: it may be kept in memory, without asking the host again.
mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=512000 host /host || exit 1
mount -t tmpfs -o size=75% layer /layer || exit 1
mkdir /layer/upper /layer/work
mount -t overlay -o lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work overlay /root || exit 1
mount -t proc proc /root/proc
mount -t sysfs sys /root/sys
mount -t devtmpfs dev /root/dev
mkdir -p /root/dev/shm /root/dev/pts
mount -t tmpfs -o mode=1777 shm /root/dev/shm
mount -t devpts -o ptmxmode=666 pts /root/dev/pts
ln -s /proc/self/fd /root/dev/fd
ln -s /proc/self/fd/0 /root/dev/stdin
ln -s /proc/self/fd/1 /root/dev/stdout
ln -s /proc/self/fd/2 /root/dev/stderr
ip link set lo up
# The kernel looks for modules where the first process lives; these are of its own version, not of the host's.
mkdir -p /root/run/outlast/boot
mount --bind / /root/run/outlast/boot
cat >/root/run/outlast/modprobe <<end
#!/bin/sh
exec /run/outlast/boot/bin/chroot /run/outlast/boot /sbin/modprobe "\$@"
end
chmod 755 /root/run/outlast/modprobe
echo /run/outlast/modprobe >/proc/sys/kernel/modprobe
