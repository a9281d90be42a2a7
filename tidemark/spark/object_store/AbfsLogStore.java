package tidemark;

import io.delta.storage.AzureLogStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Delta's log in Azure Data Lake Storage: Delta's own store writes a commit beside the log and renames it on the condition
 * that no file is there, which a hierarchical namespace does at once and whole. delta-rs puts it on that condition. What
 * is taken for another writer's commit is looked at here: it may be its own, whose answer was lost.
 */
public class AbfsLogStore extends AzureLogStore {

    public AbfsLogStore(Configuration conf) {
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
