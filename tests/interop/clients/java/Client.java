import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Apache's producer, consumer and admin client: a JSON object comes in on each line, its answer goes out as JSON. */
public class Client {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long LIMIT_MS = 60_000;

    private final String servers;
    private final Admin admin;
    private final Map<String, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();

    private Client(String servers) {
        this.servers = servers;
        this.admin = Admin.create(Map.of("bootstrap.servers", servers));
    }

    public static void main(String[] args) throws Exception {
        Client client = new Client(args[0]);
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            Map<String, Object> answer = new HashMap<>();
            try {
                answer.put("answer", client.answer(JSON.readTree(line)));
            } catch (ExecutionException error) {
                answer.put("error", error.getCause().toString());
            } catch (Exception error) {
                answer.put("error", error.toString());
            }
            answers.println(JSON.writeValueAsString(answer));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private Object answer(JsonNode request) throws Exception {
        String topic = request.get("topic").asText();
        switch (request.get("do").asText()) {
            case "create" -> {
                NewTopic created = new NewTopic(topic, request.get("partitions").asInt(), (short) 1);
                admin.createTopics(List.of(created)).all().get();
                return "done";
            }
            case "delete" -> {
                admin.deleteTopics(List.of(topic)).all().get();
                return "done";
            }
            case "write" -> {
                return write(topic, request);
            }
            case "read" -> {
                return read(topic, request);
            }
            case "offset_at" -> {
                TopicPartition partition = new TopicPartition(topic, request.get("partition").asInt());
                try (KafkaConsumer<byte[], byte[]> consumer = consumer(false)) {
                    long timestamp = request.get("timestamp").asLong();
                    return consumer.offsetsForTimes(Map.of(partition, timestamp)).get(partition).offset();
                }
            }
            default -> throw new IllegalArgumentException(request.toString());
        }
    }

    private List<Long> write(String topic, JsonNode request) throws Exception {
        String codec = request.get("codec").asText();
        boolean isIdempotent = request.get("idempotent").asBoolean();
        KafkaProducer<byte[], byte[]> producer = producers.computeIfAbsent(codec + isIdempotent, kind -> {
            Map<String, Object> settings = Map.of(
                "bootstrap.servers", servers,
                "compression.type", codec,
                "enable.idempotence", isIdempotent,
                "acks", "all",
                "linger.ms", 20,
                "max.block.ms", 10_000,
                "request.timeout.ms", 9_000,
                "delivery.timeout.ms", 10_000,
                "max.request.size", 2_000_000);
            return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        });
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (JsonNode each : request.get("records")) {
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                topic, request.get("partition").asInt(), each.get("timestamp").asLong(), bytes(each.get("key")),
                bytes(each.get("value")));
            for (JsonNode header : each.get("headers")) {
                record.headers().add(header.get(0).asText(), bytes(header.get(1)));
            }
            sent.add(producer.send(record));
        }
        List<Long> offsets = new ArrayList<>();
        for (Future<RecordMetadata> each : sent) offsets.add(each.get().offset());
        return offsets;
    }

    private static byte[] bytes(JsonNode encoded) throws Exception {
        return encoded.isNull() ? null : encoded.binaryValue();
    }

    private List<Object> read(String topic, JsonNode request) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (JsonNode each : request.get("partitions")) partitions.add(new TopicPartition(topic, each.asInt()));
        List<Object> found = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(request.get("committed").asBoolean())) {
            consumer.assign(partitions);
            for (TopicPartition each : partitions) consumer.seek(each, request.get("offset").asLong());
            long deadline = System.currentTimeMillis() + LIMIT_MS;
            while (found.size() < request.get("count").asInt() && System.currentTimeMillis() < deadline) {
                for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofSeconds(1))) found.add(told(each));
            }
        }
        return found;
    }

    private KafkaConsumer<byte[], byte[]> consumer(boolean isCommitted) {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", servers,
            "isolation.level", isCommitted ? "read_committed" : "read_uncommitted",
            "max.poll.records", 100_000);
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static Map<String, Object> told(ConsumerRecord<byte[], byte[]> record) {
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            List<Object> pair = new ArrayList<>();
            pair.add(header.key());
            pair.add(header.value());
            headers.add(pair);
        }
        Map<String, Object> told = new HashMap<>();
        told.put("partition", record.partition());
        told.put("key", record.key());
        told.put("value", record.value());
        told.put("timestamp", record.timestamp());
        told.put("headers", headers);
        return told;
    }
}
