// Prints every setting of a node of Apache Kafka, one a line, the columns apart by tabs: name, type, default, allowed,
// internal, reload. No default at all is `<required>`, and null is `<null>`.

import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.QuotaConfig;

public class Settings {
    public static void main(String[] args) {
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
