package tidemark;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** An object that is put when it is closed, and refused then by the store where one is there already. */
final class ConditionalPut {

    private static final String IF_ABSENT = "fs.option.create.conditional.overwrite";

    private ConditionalPut() {}

    static FSDataOutputStream open(FileSystem system, Path path) throws IOException {
        return (FSDataOutputStream) system.createFile(path).overwrite(true).must(IF_ABSENT, true).build();
    }
}
