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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Loads of named sets of topics: an idempotent producer with acks=all writes numbers to them in turn while a consumer
 * reads them, both until the load is stopped. A load knows where each record was acknowledged to be and what was read
 * there, and says in what the two differ. A JSON array of a command, a load and arguments comes in on each line, its
 * answer goes out as JSON.
 */
public class Workload {
    private static final long LIMIT_NANOS = 60_000_000_000L;
    private static final int SHOWN = 20;

    private record Place(String topic, int partition, long offset) {}

    private static final class Load {
        private final String servers;
        private final List<String> topics;
        private final Map<Place, String> acknowledged = new ConcurrentHashMap<>();
        private final Map<Place, String> consumed = new ConcurrentHashMap<>();
        private final Map<String, AtomicInteger> acknowledgedByTopic = new HashMap<>();
        private final Map<String, AtomicInteger> consumedByTopic = new HashMap<>();
        private final ConcurrentLinkedQueue<String> changed = new ConcurrentLinkedQueue<>();
        private final Thread producing = new Thread(this::produce);
        private final Thread consuming = new Thread(this::consume);
        private volatile boolean isProducing = true;
        private volatile boolean isConsuming = true;
        private volatile Exception failure;

        Load(String servers, List<String> topics) {
            this.servers = servers;
            this.topics = topics;
            for (String topic : topics) {
                acknowledgedByTopic.put(topic, new AtomicInteger());
                consumedByTopic.put(topic, new AtomicInteger());
            }
            producing.start();
            consuming.start();
        }

        private void produce() {
            Map<String, Object> settings = Map.of(
                "bootstrap.servers", servers, "acks", "all", "enable.idempotence", true, "linger.ms", 0,
                "delivery.timeout.ms", 120_000, "request.timeout.ms", 3_000, "metadata.max.age.ms", 1_000);
            try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
                for (int i = 0; isProducing; i++) {
                    String topic = topics.get(i % topics.size());
                    String value = String.valueOf(i);
                    producer.send(new ProducerRecord<>(topic, value, value), (metadata, error) -> {
                        if (error != null) {
                            failure = error;
                            return;
                        }
                        acknowledged.put(new Place(topic, metadata.partition(), metadata.offset()), value);
                        acknowledgedByTopic.get(topic).incrementAndGet();
                    });
                    Thread.sleep(3);
                }
            } catch (Exception error) {
                failure = error;
            }
        }

        private void consume() {
            Map<String, Object> settings = Map.of(
                "bootstrap.servers", servers, "auto.offset.reset", "earliest", "metadata.max.age.ms", 1_000,
                "request.timeout.ms", 3_000, "fetch.max.wait.ms", 200);
            try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
                List<TopicPartition> partitions = new ArrayList<>();
                for (String topic : topics) {
                    consumer.partitionsFor(topic).forEach(info -> partitions.add(new TopicPartition(topic, info.partition())));
                }
                consumer.assign(partitions);
                consumer.seekToBeginning(partitions);
                while (isConsuming) consumer.poll(Duration.ofMillis(200)).forEach(this::take);
            } catch (Exception error) {
                failure = error;
            }
        }

        private void take(ConsumerRecord<String, String> record) {
            Place place = new Place(record.topic(), record.partition(), record.offset());
            String before = consumed.put(place, record.value());
            if (before == null) consumedByTopic.get(record.topic()).incrementAndGet();
            else if (!before.equals(record.value())) changed.add(place + " was " + before + ", then " + record.value());
        }

        private void await(BooleanSupplier holds, String otherwise) throws Exception {
            long deadline = System.nanoTime() + LIMIT_NANOS;
            while (!holds.getAsBoolean()) {
                if (failure != null) throw failure;
                if (System.nanoTime() > deadline) throw new IllegalStateException(otherwise);
                Thread.sleep(10);
            }
        }

        /** Return when so many more records of a topic than now have been acknowledged, and as many been read. */
        void awaitMore(String topic, int count) throws Exception {
            for (AtomicInteger counter : List.of(acknowledgedByTopic.get(topic), consumedByTopic.get(topic))) {
                int wanted = counter.get() + count;
                await(() -> counter.get() >= wanted, topic + " stands still at " + counter.get());
            }
        }

        /** In what the records read differ from those acknowledged, once all those acknowledged by now may be read. */
        List<String> differences() throws Exception {
            Map<Place, String> kept = Map.copyOf(acknowledged);
            long deadline = System.nanoTime() + LIMIT_NANOS / 2;
            while (!consumed.keySet().containsAll(kept.keySet()) && System.nanoTime() < deadline) Thread.sleep(10);
            List<String> found = new ArrayList<>(changed);
            kept.forEach((place, value) -> {
                String read = consumed.get(place);
                if (!value.equals(read)) found.add(place + " was acknowledged as " + value + ", read as " + read);
            });
            return found;
        }

        /** The differences at the end: then nothing may have been read that was not acknowledged, either. */
        List<String> stop() throws Exception {
            isProducing = false;
            producing.join();
            List<String> found = differences();
            isConsuming = false;
            consuming.join();
            if (failure != null) throw failure;
            consumed.forEach((place, value) -> {
                if (!acknowledged.containsKey(place)) found.add(place + " was not acknowledged, but read as " + value);
            });
            return found;
        }
    }

    private final String servers;
    private final Map<String, Load> loads = new HashMap<>();

    private Workload(String servers) {
        this.servers = servers;
    }

    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        Workload workload = new Workload(args[0]);
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (String line = requests.readLine(); line != null; line = requests.readLine()) {
                answers.println(json.writeValueAsString(workload.answer(json.readTree(line))));
                answers.flush();
            }
        } catch (Exception error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0);
    }

    private Object answer(JsonNode request) throws Exception {
        String name = request.get(1).asText();
        Load load = loads.get(name);
        List<String> found = switch (request.get(0).asText()) {
            case "start" -> {
                List<String> topics = new ArrayList<>();
                for (int i = 2; i < request.size(); i++) topics.add(request.get(i).asText());
                loads.put(name, new Load(servers, topics));
                yield List.of();
            }
            case "await" -> {
                load.awaitMore(request.get(2).asText(), request.get(3).asInt());
                yield List.of();
            }
            case "differences" -> load.differences();
            case "stop" -> load.stop();
            default -> throw new IllegalArgumentException(request.toString());
        };
        return found.stream().limit(SHOWN).toList();
    }
}
