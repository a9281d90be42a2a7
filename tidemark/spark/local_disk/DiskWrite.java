package tidemark;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.CopyOption;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.UUID;
import org.apache.hadoop.fs.Path;

/** A file of Delta's log under a hidden name, until it is whole and gets its own. */
final class DiskWrite {

    private final java.nio.file.Path target;
    private final java.nio.file.Path hidden;
    private final FileOutputStream out;

    DiskWrite(Path path) throws IOException {
        target = new File(path.toUri().getPath()).toPath();
        hidden = beside("." + target.getFileName() + "." + UUID.randomUUID() + ".tmp");
        out = open();
    }

    FileOutputStream stream() {
        return out;
    }

    void makeDurable() throws IOException {
        out.getFD().sync();
    }

    /** Raises FileAlreadyExistsException where the name is taken, unless what is there is to be replaced. */
    void publish(boolean overwrite) throws IOException {
        out.close();
        // Hadoop reads a file by the checksums beside it, where there are some: of a file that had this name before.
        Files.deleteIfExists(beside("." + target.getFileName() + ".crc"));
        if (overwrite) {
            Files.move(hidden, target, new CopyOption[] {StandardCopyOption.ATOMIC_MOVE});
            return;
        }
        try {
            Files.createLink(target, hidden);
        } catch (UnsupportedOperationException impossible) {
            throw noLinks(impossible);
        } catch (FileSystemException refused) {
            String reason = refused.getReason();
            boolean isImpossible = reason != null && (reason.contains("not permitted") || reason.contains("not supported"));
            throw isImpossible ? noLinks(refused) : refused;
        }
    }

    void makeNameDurable() throws IOException {
        FileChannel folder = FileChannel.open(target.getParent(), new OpenOption[] {StandardOpenOption.READ});
        try {
            folder.force(true);
        } finally {
            folder.close();
        }
    }

    /** Leaves nothing but what was published. */
    void cancel() throws IOException {
        out.close();
        Files.deleteIfExists(hidden);
    }

    private FileOutputStream open() throws IOException {
        try {
            return new FileOutputStream(hidden.toFile());
        } catch (java.io.FileNotFoundException noFolder) {
            Files.createDirectories(target.getParent(), new FileAttribute[0]);
            return new FileOutputStream(hidden.toFile());
        }
    }

    private java.nio.file.Path beside(String name) {
        return target.resolveSibling(name);
    }

    private IOException noLinks(Exception cause) {
        return new IOException(
            "cannot commit to " + target + ": expected a file system with hard links, by which one of two writers gets a"
                + " version; found one without; move the lake to another file system, such as ext4, XFS or NFS",
            cause);
    }
}
