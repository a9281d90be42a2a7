package tidemark;

import io.delta.storage.GCSLogStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Delta's log in Google Cloud Storage: Delta's own store puts a commit on the condition that no object is there (a
 * generation of 0). What it takes for another writer's commit is looked at here: it may be its own, whose answer was lost.
 */
public class GcsLogStore extends GCSLogStore {

    public GcsLogStore(Configuration conf) {
        super(conf);
    }

    public void write(Path path, Iterator actions, Boolean overwrite, Configuration conf) throws IOException {
        List lines = new ArrayList();
        while (actions.hasNext()) {
            lines.add(actions.next());
        }
        try {
            super.write(path, lines.iterator(), overwrite, conf);
        } catch (IOException refused) {
            if (overwrite.booleanValue()) {
                throw refused;
            }
            Commit.requireOwn(path.getFileSystem(conf), path, Commit.linesOf(lines.iterator()), refused);
        }
    }
}
