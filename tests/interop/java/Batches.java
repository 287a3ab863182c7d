// Reads and writes record batches with Apache Kafka's own classes.
//
//   read HEX                                          the batches and records in these bytes
//   write MAGIC CODEC LEVEL TYPE OFFSET TIME RECORDS  a batch of these records, in hex; LEVEL and TIME may be -
//
// A record is TIMESTAMP:KEY:VALUE:HEADERS, records are separated by ";", headers (NAME=VALUE) by ",". Bytes are in hex
// behind a "x", and null is "-". One line is answered with one line; what goes wrong is "error" and a text.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.ByteBufferOutputStream;
import org.apache.kafka.common.utils.Utils;

public class Batches {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", -1);
            try {
                out.println(words[0].equals("read") ? read(HEX.parseHex(words[1])) : write(words));
            } catch (Exception refused) {
                out.println("error " + refused.toString().replace('\n', ' '));
            }
        }
    }

    private static String read(byte[] data) {
        List<String> batches = new ArrayList<>();
        for (RecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(data)).batches()) {
            batch.ensureValid();
            List<String> records = new ArrayList<>();
            for (Record record : batch) {
                record.ensureValid();
                records.add(record.offset() + ":" + describe(record));
            }
            batches.add(String.join(" ",
                Integer.toString(batch.magic()),
                Long.toString(batch.lastOffset()),
                batch.compressionType().name,
                batch.timestampType().name,
                Long.toString(batch.maxTimestamp()),
                Integer.toString(batch.partitionLeaderEpoch()),
                Long.toString(batch.producerId()),
                Short.toString(batch.producerEpoch()),
                Integer.toString(batch.baseSequence()),
                Integer.toString(batch.lastSequence()),
                Boolean.toString(batch.isTransactional()),
                Boolean.toString(batch.isControlBatch()),
                batch.deleteHorizonMs().isPresent() ? Long.toString(batch.deleteHorizonMs().getAsLong()) : "-",
                String.join(";", records)));
        }
        return String.join("|", batches);
    }

    private static String describe(Record record) {
        List<String> headers = new ArrayList<>();
        for (Header header : record.headers())
            headers.add(text(header.key().getBytes(StandardCharsets.UTF_8)) + "=" + text(header.value()));
        byte[] key = record.hasKey() ? Utils.toArray(record.key()) : null;
        byte[] value = record.hasValue() ? Utils.toArray(record.value()) : null;
        return record.timestamp() + ":" + text(key) + ":" + text(value) + ":" + String.join(",", headers);
    }

    private static String write(String[] words) throws Exception {
        byte magic = Byte.parseByte(words[1]);
        TimestampType type = TimestampType.forName(words[4]);
        long time = words[6].equals("-") ? RecordBatch.NO_TIMESTAMP : Long.parseLong(words[6]);
        ByteBufferOutputStream out = new ByteBufferOutputStream(1024);
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(out, magic, compression(words[2], words[3]), type,
            Long.parseLong(words[5]), time, RecordBatch.NO_PRODUCER_ID, RecordBatch.NO_PRODUCER_EPOCH,
            RecordBatch.NO_SEQUENCE, false, false, RecordBatch.NO_PARTITION_LEADER_EPOCH, 1024);
        for (String record : words[7].split(";")) {
            String[] parts = record.split(":", -1);
            List<Header> headers = new ArrayList<>();
            if (!parts[3].isEmpty())
                for (String header : parts[3].split(",")) {
                    String[] pair = header.split("=", -1);
                    headers.add(new RecordHeader(new String(bytes(pair[0]), StandardCharsets.UTF_8), bytes(pair[1])));
                }
            builder.append(Long.parseLong(parts[0]), bytes(parts[1]), bytes(parts[2]), headers.toArray(new Header[0]));
        }
        return HEX.formatHex(Utils.toArray(builder.build().buffer()));
    }

    private static Compression compression(String codec, String level) {
        boolean isDefault = level.equals("-");
        switch (codec) {
            case "gzip":
                return isDefault ? Compression.gzip().build() : Compression.gzip().level(Integer.parseInt(level)).build();
            case "snappy":
                return Compression.snappy().build();
            case "lz4":
                return isDefault ? Compression.lz4().build() : Compression.lz4().level(Integer.parseInt(level)).build();
            case "zstd":
                return isDefault ? Compression.zstd().build() : Compression.zstd().level(Integer.parseInt(level)).build();
            default:
                return Compression.NONE;
        }
    }

    private static String text(byte[] data) {
        return data == null ? "-" : "x" + HEX.formatHex(data);
    }

    private static byte[] bytes(String text) {
        return text.equals("-") ? null : HEX.parseHex(text.substring(1));
    }
}
