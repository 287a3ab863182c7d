// Builds images of the metadata with Apache Kafka's own classes and prints them, a line of JSON for a line of input.
//
//   log HEX       batches of a metadata log: the image that they come to and the records of its snapshot, in hex
//   versions      the levels of metadata.version and the record versions that each writes
//   features      the other features: default by level of metadata.version, and dependencies
//
// Every batch is published on its own.

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.loader.MetadataBatchLoader;
import org.apache.kafka.image.writer.ImageWriterOptions;
import org.apache.kafka.image.writer.RecordListWriter;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.ControllerRegistration;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.SupportedConfigChecker;
import org.apache.kafka.metadata.VersionRange;
import org.apache.kafka.raft.Batch;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.Feature;
import org.apache.kafka.server.common.FeatureVersion;
import org.apache.kafka.server.common.MetadataVersion;

public class Image {
    private static final HexFormat HEX = HexFormat.of();
    private static final LeaderAndEpoch LEADER = new LeaderAndEpoch(OptionalInt.of(1), 1);
    private static final MetadataRecordSerde SERDE = MetadataRecordSerde.INSTANCE;

    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            out.println(json.writeValueAsString(switch (words[0]) {
                case "log" -> log(HEX.parseHex(words[1]));
                case "versions" -> versions();
                default -> features();
            }));
            out.flush();
        }
    }

    private static Object log(byte[] bytes) {
        MetadataImage[] latest = {MetadataImage.EMPTY};
        List<String> faults = new ArrayList<>();
        MetadataBatchLoader loader = new MetadataBatchLoader(
            new LogContext(), Time.SYSTEM,
            (message, cause) -> {
                faults.add(message + ": " + cause);
                return null;
            },
            (delta, image, manifest) -> latest[0] = image, SupportedConfigChecker.TRUE);
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches()) {
            if (batch.isControlBatch()) continue;
            List<ApiMessageAndVersion> records = new ArrayList<>();
            for (Record record : batch)
                records.add(SERDE.read(new ByteBufferAccessor(record.value()), record.valueSize()));
            loader.loadBatch(Batch.data(batch.baseOffset(), batch.partitionLeaderEpoch(), batch.maxTimestamp(),
                batch.sizeInBytes(), records), LEADER);
            loader.maybeFlushBatches(LEADER, true);
        }
        MetadataImage image = latest[0];
        RecordListWriter writer = new RecordListWriter();
        image.write(writer, new ImageWriterOptions.Builder(image).build());
        return Map.of("faults", faults, "image", describe(image),
            "snapshot", writer.records().stream().map(Image::hex).toList(),
            "offset", image.provenance().lastContainedOffset(), "epoch", image.provenance().lastContainedEpoch());
    }

    private static String hex(ApiMessageAndVersion record) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(SERDE.recordSize(record, cache));
        SERDE.write(record, cache, new ByteBufferAccessor(buffer));
        return HEX.formatHex(buffer.array());
    }

    private static Map<String, Object> describe(MetadataImage image) {
        Map<String, Object> text = new TreeMap<>();
        Map<String, Object> features = new TreeMap<>(image.features().finalizedVersions());
        image.features().metadataVersion().ifPresent(
            version -> features.put(MetadataVersion.FEATURE_NAME, version.featureLevel()));
        text.put("features", features);
        Map<String, Object> brokers = new TreeMap<>(), controllers = new TreeMap<>();
        image.cluster().brokers().forEach((id, broker) -> brokers.put(id.toString(), broker(broker)));
        image.cluster().controllers().forEach((id, node) -> controllers.put(id.toString(), controller(node)));
        Map<String, Object> topics = new TreeMap<>(), ids = new TreeMap<>();
        image.topics().topicsById().forEach((id, topic) -> {
            Map<String, Object> partitions = new TreeMap<>();
            topic.partitions().forEach((index, partition) -> partitions.put(index.toString(), partition(partition)));
            topics.put(id.toString(), Map.of("name", topic.name(), "partitions", partitions));
        });
        image.topics().topicsByName().forEach((name, topic) -> ids.put(name, topic.id().toString()));
        text.put("brokers", brokers);
        text.put("controllers", controllers);
        text.put("topics", topics);
        text.put("topic_ids", ids);
        Map<String, Object> configs = new TreeMap<>(), quotas = new TreeMap<>();
        image.configs().resourceData().forEach((resource, data) ->
            configs.put(resource.type().id() + ":" + resource.name(), data.toMap()));
        image.clientQuotas().entities().forEach((entity, data) -> {
            List<String> parts = new ArrayList<>();
            new TreeMap<>(entity.entries()).forEach((type, name) -> parts.add(name == null ? type : type + ":" + name));
            quotas.put(String.join(",", parts), data.quotas());
        });
        Map<String, Object> acls = new TreeMap<>(), scram = new TreeMap<>(), tokens = new TreeMap<>();
        image.acls().acls().forEach((id, acl) -> acls.put(id.toString(), List.of(
            acl.resourceType().code(), acl.resourceName(), acl.patternType().code(), acl.principal(), acl.host(),
            acl.operation().code(), acl.permissionType().code())));
        image.scram().mechanisms().forEach((mechanism, users) -> users.forEach((name, data) ->
            scram.put(mechanism.type() + ":" + name, List.of(HEX.formatHex(data.salt()),
                HEX.formatHex(data.storedKey()), HEX.formatHex(data.serverKey()), data.iterations()))));
        image.delegationTokens().tokens().forEach((id, data) -> {
            var token = data.tokenInformation();
            tokens.put(id, List.of(token.ownerAsString(), token.tokenRequesterAsString(),
                List.copyOf(token.renewersAsString()), token.issueTimestamp(), token.maxTimestamp(),
                token.expiryTimestamp()));
        });
        text.put("configs", configs);
        text.put("quotas", quotas);
        text.put("next_producer_id", image.producerIds().nextProducerId());
        text.put("acls", acls);
        text.put("scram", scram);
        text.put("tokens", tokens);
        return text;
    }

    private static Map<String, Object> broker(BrokerRegistration broker) {
        Map<String, Object> text = new HashMap<>();
        text.put("epoch", broker.epoch());
        text.put("incarnation", broker.incarnationId().toString());
        text.put("endpoints", endpoints(broker.listeners()));
        text.put("features", ranges(broker.supportedFeatures()));
        text.put("rack", broker.rack().orElse(null));
        text.put("fenced", broker.fenced());
        text.put("shutdown", broker.inControlledShutdown());
        text.put("directories", broker.directories().stream().map(Uuid::toString).toList());
        List<Uuid> cordoned = broker.cordonedDirectories();
        text.put("cordoned", cordoned == null ? null : cordoned.stream().map(Uuid::toString).toList());
        return text;
    }

    private static Map<String, Object> controller(ControllerRegistration controller) {
        return Map.of("incarnation", controller.incarnationId().toString(), "migration", controller.zkMigrationReady(),
            "endpoints", endpoints(controller.listeners()), "features", ranges(controller.supportedFeatures()));
    }

    private static Map<String, Object> endpoints(Map<String, Endpoint> listeners) {
        Map<String, Object> text = new TreeMap<>();
        listeners.forEach((name, at) -> text.put(name, List.of(at.host(), at.port(), at.securityProtocol().id)));
        return text;
    }

    private static Map<String, Object> ranges(Map<String, VersionRange> features) {
        Map<String, Object> text = new TreeMap<>();
        features.forEach((name, range) -> text.put(name, List.of(range.min(), range.max())));
        return text;
    }

    private static Map<String, Object> partition(PartitionRegistration partition) {
        Map<String, Object> text = new HashMap<>();
        text.put("replicas", partition.replicas);
        text.put("directories", Arrays.stream(partition.directories).map(Uuid::toString).toList());
        text.put("isr", partition.isr);
        text.put("removing", partition.removingReplicas);
        text.put("adding", partition.addingReplicas);
        text.put("elr", partition.elr);
        text.put("last_known_elr", partition.lastKnownElr);
        text.put("leader", partition.leader);
        text.put("recovery", partition.leaderRecoveryState.value());
        text.put("leader_epoch", partition.leaderEpoch);
        text.put("partition_epoch", partition.partitionEpoch);
        return text;
    }

    private static Object versions() {
        List<Object> rows = new ArrayList<>();
        for (MetadataVersion version : MetadataVersion.VERSIONS)
            if (version.isProduction())
                rows.add(List.of(version.featureLevel(), version.version(), version.shortVersion(),
                    version.didMetadataChange(), version.registerBrokerRecordVersion(),
                    version.partitionRecordVersion(), version.partitionChangeRecordVersion(),
                    version.isElrSupported(), version.isCordonedLogDirsSupported()));
        return rows;
    }

    private static Object features() {
        List<Object> rows = new ArrayList<>();
        for (Feature feature : Feature.PRODUCTION_FEATURES) {
            Map<String, Object> defaults = new TreeMap<>(), dependencies = new TreeMap<>();
            for (MetadataVersion version : MetadataVersion.VERSIONS)
                if (version.isProduction()) defaults.put(version.version(), feature.defaultLevel(version));
            for (FeatureVersion level : feature.featureVersions())
                dependencies.put(String.valueOf(level.featureLevel()), level.dependencies());
            rows.add(List.of(feature.featureName(), feature.latestProduction(), defaults, dependencies));
        }
        return rows;
    }
}
