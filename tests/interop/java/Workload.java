import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Produces numbers to a topic, one after the other with acks=all, until it is told to stop, and then reads the topic to
 * say which of the acknowledged ones are missing. A JSON array of a command and its arguments comes in on each line, its
 * answer goes out as JSON.
 */
public class Workload {
    private final String servers;
    private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    private volatile boolean isStopped;
    private volatile Exception failure;
    private Thread thread;

    private Workload(String servers) {
        this.servers = servers;
    }

    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        Workload workload = new Workload(args[0]);
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.println(json.writeValueAsString(workload.answer(json.readTree(line))));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private Object answer(JsonNode request) throws Exception {
        switch (request.get(0).asText()) {
            case "start" -> start(request.get(1).asText());
            case "await" -> awaitMore(request.get(1).asInt());
            case "stop" -> stop();
            case "missing" -> {
                return missing(request.get(1).asText());
            }
            default -> throw new IllegalArgumentException(request.toString());
        }
        return acknowledged.size();
    }

    private void start(String topic) {
        thread = new Thread(() -> produce(topic));
        thread.start();
    }

    private void produce(String topic) {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", servers, "acks", "all", "linger.ms", 0,
            "delivery.timeout.ms", 120_000, "request.timeout.ms", 5_000, "metadata.max.age.ms", 1_000);
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int i = 0; !isStopped; i++) {
                String value = String.valueOf(i);
                producer.send(new ProducerRecord<>(topic, value, value), (metadata, error) -> {
                    if (error == null) acknowledged.add(value);
                    else failure = error;
                });
                Thread.sleep(2);
            }
        } catch (Exception error) {
            failure = error;
        }
    }

    /** Return when so many more records than now have been acknowledged. */
    private void awaitMore(int count) throws Exception {
        int wanted = acknowledged.size() + count;
        while (acknowledged.size() < wanted) {
            if (failure != null) throw failure;
            Thread.sleep(10);
        }
    }

    private void stop() throws Exception {
        isStopped = true;
        thread.join();
        if (failure != null) throw failure;
    }

    private List<String> missing(String topic) {
        Map<String, Object> settings = Map.of("bootstrap.servers", servers, "auto.offset.reset", "earliest");
        Set<String> left = ConcurrentHashMap.newKeySet();
        left.addAll(acknowledged);
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                .map(info -> new TopicPartition(topic, info.partition())).toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
                consumer.poll(Duration.ofSeconds(1)).forEach(record -> left.remove(record.value()));
            }
        }
        return left.stream().sorted().limit(20).toList();
    }
}
