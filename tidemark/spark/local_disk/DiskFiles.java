package tidemark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * Hadoop's file system of this machine, with two differences. A file is durable when it is closed, so that a commit never
 * names a file that a power failure takes away. Permissions are set by Java: Hadoop starts `chmod` for each file.
 */
public class DiskFiles extends LocalFileSystem {

    public DiskFiles() {
        super(new Raw());
    }

    /** The files themselves, without Hadoop's checksums beside them. */
    public static class Raw extends RawLocalFileSystem {

        public FSDataOutputStream create(
            Path path, FsPermission permission, boolean overwrite, int bufferSize, short replication, long blockSize,
            Progressable progress) throws IOException {
            return new Durable(
                super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress));
        }

        public void setPermission(Path path, FsPermission permission) throws IOException {
            if (permission.getStickyBit()) {
                super.setPermission(path, permission);
                return;
            }
            String symbols = permission.getUserAction().SYMBOL + permission.getGroupAction().SYMBOL
                + permission.getOtherAction().SYMBOL;
            Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(symbols));
        }
    }

    /** A stream whose bytes are on the disk once it is closed. */
    public static class Durable extends FSDataOutputStream {

        private final FSDataOutputStream out;
        private boolean isClosed;

        Durable(FSDataOutputStream out) throws IOException {
            super(out, null, out.getPos());
            this.out = out;
        }

        public void close() throws IOException {
            if (isClosed) {
                return;
            }
            isClosed = true;
            try {
                out.hsync();
            } finally {
                super.close();
            }
        }
    }
}
