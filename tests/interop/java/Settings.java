// Without arguments, prints every setting of a node of Apache Kafka, one a line, the columns apart by tabs: name, type,
// default, allowed, internal, reload. No default at all is `<required>`, and null is `<null>`. With `check`, takes the
// settings of a node as a JSON object from each line, and answers `accepted` or why not.

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.QuotaConfig;

public class Settings {
    public static void main(String[] args) throws Exception {
        if (args.length == 0) list();
        else check();
    }

    private static void check() throws Exception {
        ObjectMapper json = new ObjectMapper();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(verdict(json.readValue(line, Map.class)));
            System.out.flush();
        }
    }

    private static String verdict(Map<?, ?> settings) {
        try {
            new KafkaConfig(settings, false);
            return "accepted";
        } catch (RuntimeException e) {
            return String.valueOf(e.getMessage()).replace('\n', ' ');
        }
    }

    private static void list() {
        ConfigDef definition = new ConfigDef(AbstractKafkaConfig.CONFIG_DEF);
        // These are no settings of a file, but of a running broker.
        QuotaConfig.brokerQuotaConfigs().configKeys().values().forEach(definition::define);
        Map<String, String> reloads = DynamicBrokerConfig.dynamicConfigUpdateModes();
        for (ConfigDef.ConfigKey key : new TreeMap<>(definition.configKeys()).values()) {
            String allowed = key.validator == null ? "" : key.validator.toString();
            System.out.println(String.join("\t", key.name, key.type.name(), defaultOf(key), allowed,
                String.valueOf(key.internalConfig), reloads.getOrDefault(key.name, "read-only")));
        }
    }

    private static String defaultOf(ConfigDef.ConfigKey key) {
        if (!key.hasDefault()) return "<required>";
        return key.defaultValue == null ? "<null>" : ConfigDef.convertToString(key.defaultValue, key.type);
    }
}
