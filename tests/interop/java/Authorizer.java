// Apache's StandardAuthorizer: takes a JSON object from each line, with `superUsers`, `isAllowedByDefault`, `acls` as
// lists of numbers and names in the order of an entry's fields, and `questions` as lists of principal, host, operation,
// resource type and name. Answers each line with a 0 or 1 for each question.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.SecurityUtils;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

public class Authorizer {
    record Asker(KafkaPrincipal principal, InetAddress clientAddress) implements AuthorizableRequestContext {
        public String listenerName() { return "CONTROLLER"; }
        public SecurityProtocol securityProtocol() { return SecurityProtocol.PLAINTEXT; }
        public int requestType() { return 3; }
        public int requestVersion() { return 0; }
        public String clientId() { return "test"; }
        public int correlationId() { return 0; }
    }

    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(verdicts(json.readTree(line)));
            System.out.flush();
        }
    }

    private static String verdicts(JsonNode asked) throws Exception {
        StandardAuthorizer authorizer = new StandardAuthorizer();
        authorizer.configure(Map.of(
            "super.users", asked.get("superUsers").asText(),
            "allow.everyone.if.no.acl.found", asked.get("isAllowedByDefault").asText()));
        authorizer.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
        for (JsonNode acl : asked.get("acls")) {
            authorizer.addAcl(Uuid.randomUuid(), new StandardAcl(
                ResourceType.fromCode((byte) acl.get(0).asInt()), acl.get(1).asText(),
                PatternType.fromCode((byte) acl.get(2).asInt()), acl.get(3).asText(), acl.get(4).asText(),
                AclOperation.fromCode((byte) acl.get(5).asInt()),
                AclPermissionType.fromCode((byte) acl.get(6).asInt())));
        }
        authorizer.completeInitialLoad();
        StringBuilder verdicts = new StringBuilder();
        for (JsonNode question : asked.get("questions")) {
            Asker asker = new Asker(SecurityUtils.parseKafkaPrincipal(question.get(0).asText()),
                InetAddress.getByName(question.get(1).asText()));
            ResourcePattern resource = new ResourcePattern(
                ResourceType.fromCode((byte) question.get(3).asInt()), question.get(4).asText(), PatternType.LITERAL);
            Action action = new Action(AclOperation.fromCode((byte) question.get(2).asInt()), resource, 1, false, false);
            boolean isAllowed = authorizer.authorize(asker, List.of(action)).get(0) == AuthorizationResult.ALLOWED;
            verdicts.append(isAllowed ? '1' : '0');
        }
        return verdicts.toString();
    }
}
