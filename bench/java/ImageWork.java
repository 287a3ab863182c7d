import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * Times Apache Kafka's own classes at metadata: the seconds to load an image from the batches in a file, then the
 * seconds for each record of a second file when it is replayed and applied in a delta of its own. Rounds warm the JVM
 * up; the last one is printed.
 *
 * java ImageWork SNAPSHOT CHANGES ROUNDS
 */
public class ImageWork {
    private static final MetadataRecordSerde SERDE = MetadataRecordSerde.INSTANCE;

    public static void main(String[] args) throws Exception {
        byte[] snapshot = Files.readAllBytes(Path.of(args[0])), changes = Files.readAllBytes(Path.of(args[1]));
        List<ApiMessageAndVersion> changed = read(changes);
        double loading = 0, changing = 0;
        for (int round = 0; round < Integer.parseInt(args[2]); round++) {
            long started = System.nanoTime();
            MetadataDelta delta = new MetadataDelta.Builder().build();
            for (ApiMessageAndVersion record : read(snapshot)) delta.replay(record.message());
            MetadataImage image = delta.apply(MetadataProvenance.EMPTY);
            long loaded = System.nanoTime();
            for (ApiMessageAndVersion record : changed) {
                delta = new MetadataDelta.Builder().setImage(image).build();
                delta.replay(record.message());
                image = delta.apply(MetadataProvenance.EMPTY);
            }
            loading = (loaded - started) / 1e9;
            changing = (System.nanoTime() - loaded) / 1e9 / changed.size();
        }
        System.out.println(loading + " " + changing);
    }

    private static List<ApiMessageAndVersion> read(byte[] bytes) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches())
            for (Record record : batch)
                records.add(SERDE.read(new ByteBufferAccessor(record.value()), record.valueSize()));
        return records;
    }
}
