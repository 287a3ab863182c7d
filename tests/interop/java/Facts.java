// Prints the tables inside Apache Kafka's classes, one row a line, the columns apart by tabs: `Facts apis`, `Facts errors`,
// `Facts exceptions`, `Facts client-settings`.

import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ApiMessageType.ListenerType;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;

public class Facts {
    public static void main(String[] args) {
        if (args[0].equals("apis")) apis();
        else if (args[0].equals("exceptions")) exceptions();
        else if (args[0].equals("client-settings")) clientSettings();
        else errors();
    }

    private static void apis() {
        for (ApiKeys api : ApiKeys.values()) {
            if (!api.hasValidVersion()) continue;
            String listeners = "";
            for (ListenerType listener : List.of(ListenerType.BROKER, ListenerType.CONTROLLER))
                if (api.inScope(listener)) listeners += listener.toString().toLowerCase() + " ";
            String headers = "";
            for (short version = api.oldestVersion(); version <= api.messageType.highestSupportedVersion(true); version++)
                headers += api.requestHeaderVersion(version) + "/" + api.responseHeaderVersion(version) + " ";
            row(api.id, ((Enum<?>) api).name(), api.name, api.oldestVersion(), api.messageType.highestSupportedVersion(true),
                api.messageType.highestSupportedVersion(false), listeners.strip(), headers.strip());
        }
    }

    private static void errors() {
        for (Errors error : Errors.values())
            row(error.code(), error.name(), error.exception() instanceof RetriableException);
    }

    private static void exceptions() {
        for (Errors error : Errors.values())
            if (error != Errors.NONE) row(error.name(), error.exceptionName());
    }

    private static void clientSettings() {
        for (String name : ProducerConfig.configNames()) row("producer", name);
        for (String name : ConsumerConfig.configNames()) row("consumer", name);
    }

    private static void row(Object... columns) {
        StringBuilder line = new StringBuilder();
        for (Object column : columns) line.append(line.length() == 0 ? "" : "\t").append(column);
        System.out.println(line);
    }
}
