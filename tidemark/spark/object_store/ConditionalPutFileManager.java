package tidemark;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;

/**
 * How Delta writes the checksum file of a version. Spark's own way writes another file first and renames it, which in an
 * object store is some twenty requests; there a put is whole or not there by itself. Elsewhere it is the disk's way, or Spark's own.
 */
public class ConditionalPutFileManager extends DiskFileManager {

    private final Configuration configuration;

    public ConditionalPutFileManager(Path path, Configuration configuration) {
        super(path, configuration);
        this.configuration = configuration;
    }

    public CheckpointFileManager.CancellableFSDataOutputStream createAtomic(Path path, boolean overwrite) {
        if (!"s3a".equals(path.toUri().getScheme())) {
            return super.createAtomic(path, overwrite);
        }
        try {
            FileSystem system = path.getFileSystem(configuration);
            return new Put(overwrite ? system.create(path, true) : ConditionalPut.open(system, path));
        } catch (IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }

    /** What is cancelled is not put. */
    public static class Put extends CheckpointFileManager.CancellableFSDataOutputStream {

        private final FSDataOutputStream out;

        Put(FSDataOutputStream out) {
            super(out);
            this.out = out;
        }

        public void cancel() {
            out.abort();
        }
    }
}
