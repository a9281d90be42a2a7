package tidemark;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.azurebfs.contracts.exceptions.KeyProviderException;
import org.apache.hadoop.fs.azurebfs.services.KeyProvider;

/** The account's key, from the variable where delta-rs finds it: settings are shown by Spark's pages and logs. */
public class AzureKey implements KeyProvider {

    private static final String VARIABLE = "AZURE_STORAGE_ACCOUNT_KEY";

    public String getStorageAccountKey(String account, Configuration conf) throws KeyProviderException {
        String key = System.getenv(VARIABLE);
        if (key == null || key.isEmpty()) {
            throw new KeyProviderException(
                "no key for " + account + ": set " + VARIABLE + " where this process, an executor maybe, is started");
        }
        return key;
    }
}
