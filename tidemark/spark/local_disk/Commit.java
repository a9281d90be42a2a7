package tidemark;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.Iterator;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** The content of one file of Delta's log. */
public final class Commit {

    private Commit() {}

    public static byte[] linesOf(Iterator actions) {
        StringBuilder lines = new StringBuilder();
        while (actions.hasNext()) {
            lines.append((String) actions.next()).append('\n');
        }
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Whose commit is there after a put was refused. The client sends a put again whose answer was lost; the store refuses
     * the second one. No two commits have the same content: each carries an id of its transaction.
     */
    public static void requireOwn(FileSystem system, Path path, byte[] content, IOException refused) throws IOException {
        FSDataInputStream in;
        try {
            in = system.open(path);
        } catch (FileNotFoundException absent) {
            throw refused;
        }
        try {
            if (!Arrays.equals(content, in.readAllBytes())) {
                throw new FileAlreadyExistsException(path.toString());
            }
        } finally {
            in.close();
        }
    }
}
