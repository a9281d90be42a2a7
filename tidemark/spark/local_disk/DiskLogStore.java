package tidemark;

import io.delta.storage.HadoopFileSystemLogStore;
import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Delta's log on disk. A commit is written under a hidden name, is made durable, and gets its own name by a hard link,
 * which the file system refuses where the name is taken. delta-rs commits in the same way, so both may write one table.
 *
 * Delta's own store looks whether the name is taken and then renames: of two processes that do so at once, one loses its
 * commit without an error. It also starts three processes for each commit (chmod and readlink), which take longer than
 * everything else.
 */
public class DiskLogStore extends HadoopFileSystemLogStore {

    public DiskLogStore(Configuration conf) {
        super(conf);
    }

    public void write(Path path, Iterator actions, Boolean overwrite, Configuration conf) throws IOException {
        DiskWrite write = new DiskWrite(path);
        try {
            write.stream().write(Commit.linesOf(actions));
            write.makeDurable();
            write.publish(overwrite.booleanValue());
        } finally {
            write.cancel();
        }
        write.makeNameDurable();
    }

    /** A checkpoint is written by other code, straight to the name that it is given. */
    public Boolean isPartialWriteVisible(Path path, Configuration conf) {
        return Boolean.TRUE;
    }
}
