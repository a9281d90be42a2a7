package tidemark;

import io.delta.storage.HadoopFileSystemLogStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.s3a.Listing;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3ListRequest;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;

/**
 * Delta's log in an object store: a commit is a put that the store itself refuses where the object is there already
 * (If-None-Match: *). It needs no other system, and delta-rs commits in the same way, so that both can write one table.
 *
 * Written so that Janino compiles it, which Spark ships: a JRE has no compiler. Janino knows no generics.
 */
public class ConditionalPutLogStore extends HadoopFileSystemLogStore {

    private static final int MOST_LISTED = 1000;
    private static final PathFilter ALL = new PathFilter() {
        public boolean accept(Path path) {
            return true;
        }
    };

    public ConditionalPutLogStore(Configuration conf) {
        super(conf);
    }

    public void write(Path path, Iterator actions, Boolean overwrite, Configuration conf) throws IOException {
        byte[] content = Commit.linesOf(actions);
        FileSystem system = path.getFileSystem(conf);
        if (overwrite.booleanValue()) {
            put(system.create(path, true), content);
            return;
        }
        try {
            put(ConditionalPut.open(system, path), content);
        } catch (IOException refused) {
            Commit.requireOwn(system, path, content, refused);
        }
    }

    /**
     * What is in a folder from one name on, in order. The store is asked from there on, not for the whole log: a table
     * has two files a version, and each thousand would be one more request for every look at the newest version. Delta
     * lists other folders by it, too: VACUUM those of the data, from the name of the character 0 on.
     */
    public Iterator listFrom(Path path, Configuration conf) throws IOException {
        Path log = path.getParent();
        FileSystem system = path.getFileSystem(conf);
        List found = new ArrayList();
        RemoteIterator listed = filesFrom((S3AFileSystem) system, log, path);
        while (listed.hasNext()) {
            FileStatus status = (FileStatus) listed.next();
            if (status.getPath().getName().compareTo(path.getName()) >= 0) {
                found.add(status);
            }
        }
        if (found.isEmpty()) {
            // Raises where there is no such log.
            system.getFileStatus(log);
        }
        Collections.sort(found);
        return found.iterator();
    }

    private static RemoteIterator filesFrom(S3AFileSystem system, Path log, Path first) throws IOException {
        String folder = system.pathToKey(log) + "/";
        String before = keyBefore(system.pathToKey(first));
        ListObjectsV2Request.Builder request =
            system.getRequestFactory().newListObjectsV2RequestBuilder(folder, "/", MOST_LISTED);
        request.startAfter(before);
        S3ListRequest asked = S3ListRequest.v2((ListObjectsV2Request) request.build());
        return system.getListing().createFileStatusListingIterator(
            log, asked, ALL, new Listing.AcceptAllButSelfAndS3nDirs(log), system.getActiveAuditSpan());
    }

    /** A key that sorts before a name, and behind all that are smaller by more than their last letter. */
    private static String keyBefore(String key) {
        int last = key.length() - 1;
        String most = key.substring(0, last);
        return key.charAt(last) == 0 ? most : most + (char) (key.charAt(last) - 1);
    }

    /** A file is visible when it is whole, or never. */
    public Boolean isPartialWriteVisible(Path path, Configuration conf) {
        return Boolean.FALSE;
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
}
