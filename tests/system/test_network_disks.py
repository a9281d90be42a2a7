"""A file's disk is the one of the deepest mount that holds it."""

from pathlib import Path

import pytest

from tidemark.system.network_disks import network_disk

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
proc /proc proc rw 0 0
server:/export /mnt/shared nfs4 rw,vers=4.2 0 0
/dev/sdb1 /mnt/shared/local xfs rw 0 0
//server/share /mnt/two\\040words cifs rw 0 0
me@host: /home/me/remote fuse.sshfs rw 0 0
/dev/sdc1 /over ext4 rw 0 0
server:/over /over nfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "disk"),
    [
        ("/data/state.db", None),
        ("/mnt/shared/data/state.db", "nfs4 at /mnt/shared"),
        ("/mnt/shared/local/state.db", None),
        ("/mnt/sharedother/state.db", None),
        ("/mnt/two words/state.db", "cifs at /mnt/two words"),
        ("/home/me/remote/x/state.db", "fuse.sshfs at /home/me/remote"),
        ("/over/state.db", "nfs at /over"),
    ],
)
def test_the_disk_of_a_file(path: str, disk: str | None) -> None:
    assert network_disk(Path(path), MOUNTS) == disk


def test_without_a_list_of_mounts_nothing_is_refused() -> None:
    assert network_disk(Path("/data"), "") is None


def test_this_machines_own_list_is_read() -> None:
    assert network_disk(Path("/proc/self/mounts")) is None
