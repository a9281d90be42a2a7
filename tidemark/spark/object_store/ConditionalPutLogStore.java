package tidemark;

import io.delta.storage.HadoopFileSystemLogStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Delta's log in an object store: a commit is a put that the store itself refuses where the object is there already
 * (If-None-Match: *). It needs no other system, and delta-rs commits in the same way, so that both can write one table.
 *
 * Written so that Janino compiles it, which Spark ships: a JRE has no compiler. Janino knows no generics.
 */
public class ConditionalPutLogStore extends HadoopFileSystemLogStore {

    public ConditionalPutLogStore(Configuration conf) {
        super(conf);
    }

    public void write(Path path, Iterator actions, Boolean overwrite, Configuration conf) throws IOException {
        byte[] content = linesOf(actions);
        FileSystem system = path.getFileSystem(conf);
        if (overwrite.booleanValue()) {
            put(system.create(path, true), content);
            return;
        }
        try {
            put(ConditionalPut.open(system, path), content);
        } catch (IOException refused) {
            // The client sends a put again whose answer was lost; the store refuses the second one. No two commits have
            // the same content: each carries an id of its transaction.
            if (!Arrays.equals(content, contentOf(system, path, refused))) {
                throw new FileAlreadyExistsException(path.toString());
            }
        }
    }

    /** A file is visible when it is whole, or never. */
    public Boolean isPartialWriteVisible(Path path, Configuration conf) {
        return Boolean.FALSE;
    }

    private static byte[] linesOf(Iterator actions) {
        StringBuilder lines = new StringBuilder();
        while (actions.hasNext()) {
            lines.append((String) actions.next()).append('\n');
        }
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void put(FSDataOutputStream out, byte[] content) throws IOException {
        boolean isWhole = false;
        try {
            out.write(content);
            isWhole = true;
        } finally {
            // What is closed is put: half of a commit must not be.
            if (!isWhole) {
                out.abort();
            }
        }
        out.close();
    }

    private static byte[] contentOf(FileSystem system, Path path, IOException refused) throws IOException {
        FSDataInputStream in;
        try {
            in = system.open(path);
        } catch (FileNotFoundException absent) {
            throw refused;
        }
        try {
            return in.readAllBytes();
        } finally {
            in.close();
        }
    }
}
