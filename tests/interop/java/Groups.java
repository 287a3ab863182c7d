import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Members of groups by Apache Kafka's consumer, each polling in a thread of its own. A JSON array of a command and its
 * arguments comes in on each line, its answer goes out as JSON.
 */
public class Groups {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** One consumer; what it is asked happens between two polls. */
    private static class Member extends Thread {
        final KafkaConsumer<byte[], byte[]> consumer;
        final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        final CompletableFuture<Void> ended = new CompletableFuture<>();
        final Map<String, Integer> seen = new TreeMap<>();
        boolean isLeaving;

        Member(Map<String, Object> settings, List<String> topics) {
            String pattern = (String) settings.remove("pattern");
            consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            if (pattern == null) consumer.subscribe(topics);
            else consumer.subscribe(new SubscriptionPattern(pattern));
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                while (!isLeaving) {
                    consumer.poll(Duration.ofMillis(20)).forEach(record ->
                        seen.merge(record.topic() + "-" + record.partition(), 1, Integer::sum));
                    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) task.run();
                }
                consumer.close();
                ended.complete(null);
            } catch (Throwable error) {
                ended.completeExceptionally(error);
            }
        }

        Object ask(Callable<Object> question) throws Exception {
            CompletableFuture<Object> answer = new CompletableFuture<>();
            tasks.add(() -> {
                try {
                    answer.complete(question.call());
                } catch (Throwable error) {
                    answer.complete(error.getClass().getSimpleName());
                }
            });
            // A consumer that is fenced throws from its poll, and is asked in vain from then on.
            try {
                CompletableFuture.anyOf(answer, ended).get();
            } catch (ExecutionException error) {
                if (!answer.isDone()) return error.getCause().getClass().getSimpleName();
            }
            return answer.getNow("ended");
        }
    }

    private final Map<String, Member> members = new HashMap<>();
    private final String servers;

    private Groups(String servers) {
        this.servers = servers;
    }

    public static void main(String[] args) throws Exception {
        Groups groups = new Groups(args[0]);
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.println(JSON.writeValueAsString(groups.answer(JSON.readTree(line))));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private Object answer(JsonNode request) throws Exception {
        String name = request.get(1).asText();
        switch (request.get(0).asText()) {
            case "join" -> {
                join(name, JSON.convertValue(request.get(2), Map.class), JSON.convertValue(request.get(3), List.class));
                return "done";
            }
            case "assignment" -> {
                Member member = members.get(name);
                return member.ask(() -> {
                    TreeSet<String> names = new TreeSet<>();
                    for (TopicPartition partition : member.consumer.assignment()) names.add(partition.toString());
                    return names;
                });
            }
            case "seen" -> {
                Member member = members.get(name);
                return member.ask(() -> new TreeMap<>(member.seen));
            }
            case "member_id" -> {
                Member member = members.get(name);
                return member.ask(() -> member.consumer.groupMetadata().memberId());
            }
            case "generation" -> {
                Member member = members.get(name);
                return member.ask(() -> member.consumer.groupMetadata().generationId());
            }
            case "commit" -> {
                Member member = members.get(name);
                return member.ask(() -> {
                    member.consumer.commitSync();
                    return "done";
                });
            }
            case "leave" -> {
                Member member = members.remove(name);
                member.ask(() -> {
                    member.isLeaving = true;
                    return "done";
                });
                member.ended.get();
                return "done";
            }
            case "committed" -> {
                return committed(name);
            }
            default -> throw new IllegalArgumentException(request.toString());
        }
    }

    private void join(String name, Map<String, Object> chosen, List<String> topics) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", servers);
        settings.put("client.id", name);
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        if (!"consumer".equals(chosen.get("group.protocol"))) {
            settings.put("heartbeat.interval.ms", "200");
            settings.put("session.timeout.ms", "6000");
        }
        settings.putAll(chosen);
        Member member = new Member(settings, topics);
        members.put(name, member);
        member.start();
    }

    private Object committed(String group) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            Map<String, Long> offsets = new TreeMap<>();
            Map<TopicPartition, OffsetAndMetadata> found =
                admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
            found.forEach((partition, offset) -> offsets.put(partition.toString(), offset.offset()));
            return offsets;
        }
    }
}
