"""Whether a file is on a network disk, where file locks do not work."""

import re
from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/self/mounts")
_NETWORK: Final = re.compile(
    r"nfs\d?|cifs|smb\w*|ncpfs|afs|ceph|lustre|gpfs|beegfs|glusterfs|ocfs2|gfs2|davfs|"
    r"fuse\.(sshfs|s3fs|gcsfuse|glusterfs|cephfs|ceph-fuse|juicefs|rclone|davfs2?|mfs|goofys|blobfuse2?)"
)
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")


def network_disk(path: Path, mounts: str | None = None) -> str | None:
    """The kind of network disk of a file (`nfs4 at /mnt/shared`); None for a disk of this machine.

    The file need not exist. `mounts` has a line for each mount, as in /proc/self/mounts. Without such a file the result
    is None.
    """
    if mounts is None:
        mounts = _MOUNTS.read_text(encoding="utf-8") if _MOUNTS.exists() else ""
    of_path: tuple[int, str, str] = (-1, "", "")
    resolved = path.resolve()
    for line in mounts.splitlines():
        _, point, kind, *_ = (*map(_unescaped, line.split()), "", "", "")
        if resolved.is_relative_to(point):
            # Of two mounts at one place, the later one is visible.
            of_path = max(of_path, (len(Path(point).parts), kind, point), key=lambda mount: mount[0])
            if of_path[2] == point:
                of_path = (of_path[0], kind, point)
    _, kind, point = of_path
    return f"{kind} at {point}" if _NETWORK.fullmatch(kind) else None


def _unescaped(word: str) -> str:
    """A path with its blanks, which are stored as octal numbers."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), word)
