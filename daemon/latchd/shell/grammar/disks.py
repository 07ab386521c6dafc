"""Programs that write disks below the file system: dd, mkfs, partitioners, wipers, mounts."""

from __future__ import annotations

from typing import Final

from latch_contracts.facts import Access, Argument, Operation
from latchd.shell.grammar.description import Context, Description, Target
from latchd.shell.grammar.options import Parsed, piece
from latchd.shell.grammar.program import Judge, aimed, program


def _dd(parsed: Parsed, _context: Context) -> Description:
    """dd: KEY=VALUE words; of= is written, whatever it is."""
    values = {word.value.partition("=")[0]: word for word in parsed.words if "=" in word.value}
    read = [piece(values["if"], 3)] if "if" in values else []
    written = [piece(values["of"], 3)] if "of" in values else []
    append = "append" in values["oflag"].value if "oflag" in values else False
    return Description(
        known=True,
        operations=(*((Operation.READ,) if read else ()), *((Operation.WRITE,) if written else ())),
        targets=(
            *aimed(Access.READ, read),
            *aimed(Access.APPEND if append else Access.WRITE, written),
        ),
        reads_stdin=not read,
        writes_stdout=not written,
    )


def _formats(parsed: Parsed, _context: Context) -> Description:
    """mkfs and wipers: the first operand is a device or an image; the rest are sizes."""
    devices = (
        tuple(word for word in parsed.operands if "/" in word.value or word.expands) or parsed.operands[:1]
    )
    return Description(
        known=True,
        operations=(Operation.DISK_WRITE, Operation.WRITE),
        targets=aimed(Access.WRITE, devices),
        details=("disk-loss",),
    )


def changes_disk(showing: str = "", *, verbs: str = "") -> Judge:
    """A partitioner: ``showing`` options only list; with ``verbs``, only those words change anything."""
    changing = frozenset(verbs.split())

    def judge(parsed: Parsed, context: Context) -> Description:
        if showing and parsed.has(*showing.split()):
            return Description(known=True)
        if changing and not changing & {word.value for word in parsed.words}:
            return Description(known=True)
        return _formats(parsed, context)

    return judge


def _images(parsed: Parsed, _context: Context) -> Description:
    """Images are made and copied all day; only one that is put on a device takes what was there."""
    named = (*parsed.operands, *parsed.values("output"))
    return Description(
        known=True,
        operations=(Operation.WRITE,),
        targets=aimed(Access.WRITE, tuple(word for word in named if word.value.startswith("/dev/"))),
    )


def _mounts(parsed: Parsed, _context: Context) -> Description:
    """mount without words lists; with them it changes what paths mean."""
    if not parsed.operands and not parsed.has("all"):
        return Description(known=True)
    places: tuple[Argument, ...] = parsed.operands[-1:] if len(parsed.operands) > 1 else ()
    return Description(
        known=True,
        operations=(Operation.CONFIG_CHANGE,),
        targets=tuple(Target(Access.METADATA, w) for w in places),
    )


PROGRAMS: Final = (
    program(
        "dd gdd dcfldd pv",
        "~ L= s= B=",
        _dd,
        {
            "dd if=/dev/zero of=/dev/sda bs=1M": (
                "read write disk_write read:/dev/zero write:/dev/sda +disk-loss >none"
            ),
            "dd if=a of=b": "read write read:a write:b >none",
            "dd of=b": "write write:b <stdin >none",
            "dd if=a": "read read:a",
            "dd if=a of=b oflag=append": "read write read:a append:b >none",
        },
    ),
    program(
        "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs "
        "mkfs.exfat mkfs.f2fs mke2fs mkdosfs "
        "mkswap newfs newfs_hfs newfs_apfs mkntfs mkudffs",
        "~ t,type= L= b= m= N= i= n= F U= O= E= T=",
        changes_disk(),
        {
            "mkfs.ext4 /dev/sdb1": "disk_write write write:/dev/sdb1 +disk-loss",
            "mkfs -t xfs /dev/sdb": "disk_write write write:/dev/sdb +disk-loss",
            "mkswap /swapfile": "disk_write write write:/swapfile +disk-loss",
        },
    ),
    program(
        "wipefs",
        "~ a,all o,offset= t,types= n,no-act f,force b,backup",
        lambda parsed, context: (
            _formats(parsed, context)
            if parsed.has("all", "offset", "types") and not parsed.has("no-act")
            else Description(known=True)
        ),
        {"wipefs -a /dev/sdb": "disk_write write write:/dev/sdb +disk-loss", "wipefs /dev/sdb": ""},
    ),
    program(
        "blkdiscard badblocks nwipe scrub sfill sswap zerofree",
        "~ o= l= p=",
        changes_disk(),
        {"blkdiscard /dev/sdb": "disk_write write write:/dev/sdb +disk-loss"},
    ),
    program(
        "fdisk sfdisk cfdisk gdisk sgdisk cgdisk gparted partprobe",
        "~ l,list d,dump p,print s= u= b= n= t= c= i= o v",
        changes_disk("list dump print s v"),
        {
            "fdisk -l": "",
            "fdisk /dev/sda": "disk_write write write:/dev/sda +disk-loss",
            "sgdisk -p /dev/sda": "",
        },
    ),
    program(
        "parted",
        "~ l,list m,machine s,script f,fix a,align= j,json",
        changes_disk(
            "list",
            verbs="mklabel mktable mkpart rm resizepart set name toggle rescue disk_set type disk_toggle",
        ),
        {
            "parted -s /dev/sda rm 1": "disk_write write write:/dev/sda +disk-loss",
            "parted /dev/sda mklabel gpt": "disk_write write write:/dev/sda +disk-loss",
            "parted -s /dev/sda print": "",
            "parted -l": "",
        },
    ),
    program(
        "ddrescue",
        "~ b= c= f,force n d,idirect r= i= o= s= K= m= R",
        lambda parsed, _context: Description(
            known=True,
            operations=(Operation.READ, Operation.WRITE),
            targets=(*aimed(Access.READ, parsed.operands[:1]), *aimed(Access.WRITE, parsed.operands[1:3])),
        ),
        {"ddrescue /dev/sdb a.img a.map": "read write read:/dev/sdb write:a.img write:a.map"},
    ),
    program(
        "gpart asr flashrom tmutil timeshift snapper",
        "~ c,config= s= t= p,programmer= r,read= w,write= source= target= snapshot=",
        changes_disk(
            verbs="destroy create add delete recover bootcode restore --erase -w --write -E --delete "
            "--delete-all undochange rollback disable"
        ),
        {
            "gpart destroy -F da0": "disk_write write write:destroy +disk-loss",
            "gpart show": "",
            "timeshift --delete-all": "disk_write write +disk-loss",
            "timeshift --list": "",
            "tmutil delete /Volumes/x": "disk_write write write:/Volumes/x +disk-loss",
            "tmutil listbackups": "",
            "snapper list": "",
        },
    ),
    program(
        "qemu-img ntfsclone partclone.ext4 partclone.xfs partclone.btrfs partclone.ntfs partclone.restore",
        "~ f= O= o,output= s,source= r,restore c,clone q p",
        _images,
        {
            "qemu-img create -f raw /dev/sda 1G": "write disk_write write:/dev/sda +disk-loss",
            "qemu-img create -f qcow2 a.img 1G": "write",
        },
    ),
    program(
        "cryptsetup",
        "~ c= s= h= d= key-file= type=",
        changes_disk(verbs="luksFormat format erase luksErase luksRemoveKey luksKillSlot reencrypt"),
        {
            "cryptsetup luksFormat /dev/sdb": "disk_write write write:/dev/sdb +disk-loss",
            "cryptsetup status x": "",
        },
    ),
    program(
        "hdparm nvme",
        "~ n= s= namespace-id=",
        changes_disk(
            verbs="format sanitize delete-ns --security-erase --trim-sector-ranges --make-bad-sector"
        ),
        {"nvme format /dev/nvme0n1": "disk_write write write:/dev/nvme0n1 +disk-loss", "nvme list": ""},
    ),
    program(
        "diskutil hdiutil",
        "~",
        changes_disk(
            verbs="eraseDisk eraseVolume zeroDisk randomDisk secureErase partitionDisk reformat apfs "
            "deleteContainer deleteVolume erase"
        ),
        {
            "diskutil eraseDisk JHFS+ x /dev/disk2": "disk_write write write:/dev/disk2 +disk-loss",
            "diskutil list": "",
        },
    ),
    program(
        "lvremove vgremove pvremove lvreduce vgreduce",
        "~ f,force y,yes L= l=",
        changes_disk("help"),
        {"lvremove -f vg/a": "disk_write write write:vg/a +disk-loss"},
    ),
    program(
        "zpool zfs btrfs mdadm lvm dmsetup",
        "~ o= O= t=",
        changes_disk(
            verbs="destroy labelclear rollback delete --zero-superblock --stop --remove --fail remove "
            "wipe_table lvremove vgremove"
        ),
        {
            "zpool destroy tank": "disk_write write write:destroy +disk-loss",
            "zfs list": "",
            "btrfs subvolume delete /x": "disk_write write write:/x +disk-loss",
        },
    ),
    program(
        "fsck e2fsck resize2fs tune2fs xfs_repair debugfs fsck.ext4 lvcreate vgcreate pvcreate lvextend",
        "~ n t= b= L=",
        changes_disk("n"),
        {"fsck -n /dev/sda1": "", "e2fsck -y /dev/sda1": "disk_write write write:/dev/sda1 +disk-loss"},
    ),
    program(
        "lvs vgs pvs lvdisplay vgdisplay pvdisplay smartctl dumpe2fs xfs_info",
        "~ o= d=",
        lambda parsed, context: Description(known=True),
        {"lvs": ""},
    ),
    program(
        "mount umount losetup fusermount swapon swapoff sync eject udisksctl",
        "~ a,all t,types= o,options= L= U= O= T=",
        _mounts,
        {"mount": "", "mount -t tmpfs x /mnt": "config_change metadata:/mnt", "umount /mnt": "config_change"},
    ),
)
