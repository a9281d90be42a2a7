package tidemark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Date;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.azurebfs.extensions.CustomTokenProviderAdaptee;
import org.apache.hadoop.fs.azurebfs.oauth2.AzureADAuthenticator;
import org.apache.hadoop.fs.azurebfs.oauth2.AzureADToken;
import org.apache.hadoop.fs.azurebfs.services.ExponentialRetryPolicy;

/**
 * A token of Microsoft Entra for the user that delta-rs is, too, by the same variables: by a federated token (a
 * Kubernetes service account's), by a client's secret (both at once are refused before), else of the machine's identity.
 */
public class AzureToken implements CustomTokenProviderAdaptee {

    private static final int TRIES = 5;
    private static final String MICROSOFT = "https://login.microsoftonline.com";
    private static final String MACHINE = "http://169.254.169.254/metadata/identity/oauth2/token";

    private AzureADToken token;

    public void initialize(Configuration conf, String account) {
        AzureADAuthenticator.setTokenFetchRetryPolicy(new ExponentialRetryPolicy(TRIES));
    }

    public String getAccessToken() throws IOException {
        token = newToken();
        return token.getAccessToken();
    }

    public Date getExpiryTime() {
        return token.getExpiry();
    }

    private static AzureADToken newToken() throws IOException {
        String client = value("AZURE_CLIENT_ID");
        String tenant = value("AZURE_TENANT_ID");
        String secret = value("AZURE_CLIENT_SECRET");
        String file = value("AZURE_FEDERATED_TOKEN_FILE");
        boolean isNamed = client != null && tenant != null;
        if (isNamed && file != null) {
            // Read anew each time: Kubernetes replaces it within the hour.
            String assertion = new String(Files.readAllBytes(Paths.get(file)), StandardCharsets.UTF_8).trim();
            return AzureADAuthenticator.getTokenUsingJWTAssertion(authority(tenant), client, assertion);
        }
        if (isNamed && secret != null) {
            return AzureADAuthenticator.getTokenUsingClientCreds(authority(tenant), client, secret);
        }
        return AzureADAuthenticator.getTokenFromMsi(MACHINE, null, client, null, false);
    }

    private static String authority(String tenant) {
        String host = value("AZURE_AUTHORITY_HOST");
        String base = host == null ? MICROSOFT : host;
        return (base.endsWith("/") ? base : base + "/") + tenant + "/oauth2/v2.0/token";
    }

    private static String value(String variable) {
        String value = System.getenv(variable);
        return value == null || value.isEmpty() ? null : value;
    }
}
