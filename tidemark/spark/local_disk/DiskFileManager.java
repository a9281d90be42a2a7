package tidemark;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager;

/** How Delta writes the checksum file of a version to a disk: without the processes that Spark's own way starts. */
public class DiskFileManager extends FileContextBasedCheckpointFileManager {

    public DiskFileManager(Path path, Configuration configuration) {
        super(path, configuration);
    }

    public CheckpointFileManager.CancellableFSDataOutputStream createAtomic(Path path, boolean overwrite) {
        if (!"file".equals(path.toUri().getScheme())) {
            return super.createAtomic(path, overwrite);
        }
        try {
            return new Renamed(new DiskWrite(path), overwrite);
        } catch (IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }

    /** What is closed gets its name; what is cancelled is removed. */
    public static class Renamed extends CheckpointFileManager.CancellableFSDataOutputStream {

        private final DiskWrite write;
        private final boolean overwrite;
        private boolean isOver;

        Renamed(DiskWrite write, boolean overwrite) {
            super(write.stream());
            this.write = write;
            this.overwrite = overwrite;
        }

        public synchronized void close() throws IOException {
            if (isOver) {
                return;
            }
            isOver = true;
            try {
                super.close();
                write.publish(overwrite);
            } finally {
                write.cancel();
            }
        }

        public synchronized void cancel() {
            if (isOver) {
                return;
            }
            isOver = true;
            try {
                write.cancel();
            } catch (IOException error) {
                throw new java.io.UncheckedIOException(error);
            }
        }
    }
}
