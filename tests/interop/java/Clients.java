import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Apache Kafka's own clients at work: a JSON array of a command and its arguments comes in on each line, its answer
 * goes out as JSON. What is written depends on a seed alone; every topic has one partition.
 */
public class Clients {
    private static final String[] CODECS = {"none", "gzip", "snappy", "lz4", "zstd"};
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String servers;
    private final List<KafkaProducer<byte[], byte[]>> leftOpen = new ArrayList<>();

    private Clients(String servers) {
        this.servers = servers;
    }

    public static void main(String[] args) throws Exception {
        Clients clients = new Clients(args[0]);
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.println(JSON.writeValueAsString(clients.answer(JSON.readTree(line))));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private Object answer(JsonNode request) throws Exception {
        String command = request.get(0).asText();
        switch (command) {
            case "create" -> create(request.get(1).asText(), JSON.convertValue(request.get(2), Map.class));
            case "write" -> write(new Random(request.get(1).asLong()));
            case "write_transactions" -> writeTransactions(request.get(1).asText(), new Random(request.get(2).asLong()));
            case "write_compacted" -> writeCompacted(request.get(1).asText(), new Random(request.get(2).asLong()));
            case "delete_before" -> deleteBefore(request.get(1).asText(), request.get(2).asLong());
            case "use_groups" -> useGroups(request.get(1).asText());
            case "use_share_group" -> useShareGroup(request.get(1).asText());
            case "change_metadata" -> changeMetadata();
            case "leave_open" -> leaveOpen(request.get(1).asText(), request.get(2).asText());
            case "read" -> {
                return read(request.get(1).asText(), request.get(2).asText());
            }
            default -> throw new IllegalArgumentException(command);
        }
        return "done";
    }

    private Map<String, Object> settings(Object... pairs) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", servers);
        for (int i = 0; i < pairs.length; i += 2) settings.put(pairs[i].toString(), pairs[i + 1]);
        return settings;
    }

    private Admin admin() {
        return Admin.create(settings());
    }

    private KafkaProducer<byte[], byte[]> producer(Object... pairs) {
        // One request at a time: a broker that has just started may refuse a new producer's first batch, accept its
        // second, and then never take the first, as that is out of order.
        Map<String, Object> settings = settings(
            "linger.ms", 1000, "batch.size", 2000, "max.in.flight.requests.per.connection", 1);
        settings.putAll(settings(pairs));
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private void create(String topic, Map<String, String> configs) throws Exception {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1).configs(configs))).all().get();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Keys, values, headers and timestamps of every shape that a record may have. */
    private static ProducerRecord<byte[], byte[]> anyRecord(String topic, Random random, int i) {
        byte[] key = random.nextInt(4) == 0 ? null : bytes("key " + random.nextInt(40));
        byte[] value = switch (random.nextInt(6)) {
            case 0 -> null;
            case 1 -> new byte[0];
            default -> bytes(("value " + i + " grüße 😀 ").repeat(1 + random.nextInt(12)));
        };
        long timestamp = 1_700_000_000_000L + i * 1_000L - random.nextInt(5_000);
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, 0, timestamp, key, value);
        for (int n = random.nextInt(4); n > 1; n--) {
            record.headers().add("header " + random.nextInt(2), random.nextInt(3) == 0 ? null : bytes("h" + n));
        }
        return record;
    }

    /** A record that does not arrive ends the program, so that no test takes what is missing for what was written. */
    private static void send(KafkaProducer<byte[], byte[]> producer, ProducerRecord<byte[], byte[]> record) {
        producer.send(record, (metadata, error) -> {
            if (error != null) {
                error.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        });
    }

    private void write(Random random) throws Exception {
        for (String codec : CODECS) {
            boolean isIdempotent = !codec.equals("gzip");
            try (var producer = producer("compression.type", codec, "enable.idempotence", isIdempotent)) {
                for (int i = 0; i < 400; i++) {
                    send(producer, anyRecord("codec-" + codec, random, i));
                    if (codec.equals("lz4")) send(producer, anyRecord("append-time", random, i));
                    if (codec.equals("none")) send(producer, anyRecord("trimmed", random, i));
                }
            }
        }
    }

    /** Transactions of two producers, interleaved, committed and aborted, each over several batches. */
    private void writeTransactions(String topic, Random random) throws Exception {
        List<KafkaProducer<byte[], byte[]>> producers = new ArrayList<>();
        for (String codec : List.of("none", "zstd")) {
            var producer = producer("transactional.id", topic + "-" + codec, "compression.type", codec);
            producer.initTransactions();
            producers.add(producer);
        }
        for (int round = 0; round < 6; round++) {
            for (var producer : producers) producer.beginTransaction();
            for (int i = 0; i < 60; i++) {
                ProducerRecord<byte[], byte[]> record = anyRecord(topic, random, round * 60 + i);
                byte[] key = bytes("key " + random.nextInt(25));
                send(producers.get(random.nextInt(2)),
                    new ProducerRecord<>(topic, 0, record.timestamp(), key, record.value(), record.headers()));
                if (i % 20 == 19) for (var producer : producers) producer.flush();
            }
            for (var producer : producers) {
                if (random.nextInt(5) < 2) producer.abortTransaction();
                else producer.commitTransaction();
            }
        }
        for (var producer : producers) producer.close();
    }

    private void writeCompacted(String topic, Random random) throws Exception {
        try (var producer = producer("compression.type", "lz4")) {
            for (int i = 0; i < 1_000; i++) {
                byte[] value = random.nextInt(8) == 0 ? null : bytes("value " + i);
                send(producer, new ProducerRecord<>(topic, bytes("key " + random.nextInt(60)), value));
            }
        }
    }

    private void deleteBefore(String topic, long offset) throws Exception {
        try (Admin admin = admin()) {
            admin.deleteRecords(Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(offset))).all().get();
        }
    }

    private void useGroups(String topic) throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        for (String protocol : List.of("classic", "consumer")) {
            try (var consumer = consumer("group.id", protocol + "-group", "group.protocol", protocol,
                "auto.offset.reset", "earliest", "enable.auto.commit", false)) {
                consumer.subscribe(List.of(topic));
                while (consumer.poll(Duration.ofSeconds(1)).isEmpty()) continue;
                consumer.commitSync();
                consumer.commitSync(Map.of(partition, new OffsetAndMetadata(5, "read five")));
            }
        }
        try (var producer = producer("transactional.id", "offsets");
             var consumer = consumer("group.id", "in-a-transaction", "group.protocol", "classic")) {
            producer.initTransactions();
            for (long offset = 1; offset < 4; offset++) {
                producer.beginTransaction();
                producer.sendOffsetsToTransaction(Map.of(partition, new OffsetAndMetadata(offset)), consumer.groupMetadata());
                if (offset == 2) producer.abortTransaction();
                else producer.commitTransaction();
            }
        }
        try (Admin admin = admin()) {
            admin.deleteConsumerGroupOffsets("classic-group", java.util.Set.of(partition)).all().get();
            admin.deleteConsumerGroups(List.of("classic-group")).all().get();
        }
    }

    private void useShareGroup(String topic) throws Exception {
        ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, "share-group");
        try (Admin admin = admin()) {
            admin.incrementalAlterConfigs(Map.of(group, List.of(set("share.auto.offset.reset", "earliest")))).all().get();
        }
        try (var consumer = new KafkaShareConsumer<>(
            settings("group.id", "share-group"), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(topic));
            for (int seen = 0; seen < 100; seen += consumer.poll(Duration.ofSeconds(1)).count()) continue;
            consumer.commitSync();
        }
    }

    private static AlterConfigOp set(String name, String value) {
        return new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
    }

    /** Records of many types for the metadata log, and enough of them for a snapshot. */
    private void changeMetadata() throws Exception {
        try (Admin admin = admin()) {
            for (int i = 0; i < 5; i++) {
                String topic = "passing-" + i;
                admin.createTopics(List.of(new NewTopic(topic, 3, (short) 1))).all().get();
                ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
                admin.incrementalAlterConfigs(Map.of(resource, List.of(set("retention.ms", "100000")))).all().get();
                if (i % 2 == 0) admin.deleteTopics(List.of(topic)).all().get();
            }
            ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, "");
            admin.incrementalAlterConfigs(Map.of(broker, List.of(set("log.cleaner.threads", "1")))).all().get();
            ClientQuotaEntity entity = new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, "anna"));
            var quota = new ClientQuotaAlteration(entity, List.of(new ClientQuotaAlteration.Op("producer_byte_rate", 1e6)));
            admin.alterClientQuotas(List.of(quota)).all().get();
            var scram = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096);
            admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion("anna", scram, "secret"))).all().get();
        }
    }

    private void leaveOpen(String topic, String transactionalId) throws Exception {
        var producer = producer("transactional.id", transactionalId, "transaction.timeout.ms", 900_000);
        leftOpen.add(producer);
        producer.initTransactions();
        producer.beginTransaction();
        for (int i = 0; i < 5; i++) send(producer, new ProducerRecord<>(topic, bytes("key " + i), bytes("left open")));
        producer.flush();
    }

    private KafkaConsumer<byte[], byte[]> consumer(Object... pairs) {
        return new KafkaConsumer<>(settings(pairs), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Every record from the first to the end: offset, timestamp, leader epoch, key, value, headers. */
    private List<Object> read(String topic, String isolation) {
        List<Object> records = new ArrayList<>();
        TopicPartition partition = new TopicPartition(topic, 0);
        try (var consumer = consumer("isolation.level", isolation, "fetch.max.wait.ms", 1)) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            while (consumer.position(partition) < end) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) records.add(shown(record));
            }
        }
        return records;
    }

    private static List<Object> shown(ConsumerRecord<byte[], byte[]> record) {
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) headers.add(Arrays.asList(header.key(), hex(header.value())));
        return Arrays.asList(record.offset(), record.timestamp(), record.leaderEpoch().orElse(-1),
            hex(record.key()), hex(record.value()), headers);
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? null : HexFormat.of().formatHex(bytes);
    }
}
