import java.io.File;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.CleanerStats;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Times Apache Kafka's own recovery or cleaning of partition directories, one after the other in this JVM, and prints
 * the seconds of each: the first ones warm it up. A directory is changed by it, so each is given once.
 *
 * java LogWork recover|clean NAME=VALUE,... NOW_MS DIRECTORY...
 */
public class LogWork {
    private static final int MEGABYTE = 1024 * 1024;

    public static void main(String[] args) throws Exception {
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        Properties settings = new Properties();
        for (String setting : args[1].split(",")) {
            String[] pair = setting.split("=");
            settings.put(pair[0], pair[1]);
        }
        long nowMs = Long.parseLong(args[2]);
        for (int i = 3; i < args.length; i++) {
            boolean isRecovery = args[0].equals("recover");
            long started = System.nanoTime();
            UnifiedLog log = open(new File(args[i]), new LogConfig(settings), scheduler, !isRecovery);
            long opened = System.nanoTime();
            if (isRecovery) {
                System.out.println((opened - started) / 1e9);
            } else {
                System.out.println(clean(log, nowMs));
            }
            log.close();
        }
        scheduler.shutdown();
    }

    private static UnifiedLog open(File directory, LogConfig config, KafkaScheduler scheduler, boolean isClean)
        throws Exception {
        return UnifiedLog.create(directory, config, 0, isClean ? Long.MAX_VALUE : 0, scheduler, new BrokerTopicStats(),
            Time.SYSTEM, 900_000, new ProducerStateManagerConfig(86_400_000, false), 600_000,
            new LogDirFailureChannel(1), isClean, Optional.empty());
    }

    private static double clean(UnifiedLog log, long nowMs) throws Exception {
        log.updateHighWatermark(log.logEndOffset());
        Throttler unthrottled = new Throttler(Double.MAX_VALUE, 300, "cleaner-io", "bytes", Time.SYSTEM);
        // The sizes are the defaults of log.cleaner.dedupe.buffer.size, io.buffer.size and io.buffer.load.factor.
        Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(128 * MEGABYTE), MEGABYTE / 4, 10 * MEGABYTE, 0.9,
            unthrottled, Time.SYSTEM, partition -> { });
        long uncleanable = Math.min(log.activeSegment().baseOffset(), log.lastStableOffset());
        long started = System.nanoTime();
        LogToClean work = new LogToClean(log, 0, uncleanable, false);
        Map.Entry<Long, CleanerStats> cleaned = cleaner.doClean(work, nowMs);
        long ended = System.nanoTime();
        if (cleaned.getKey() != work.firstUncleanableOffset()) throw new IllegalStateException("cleaned to " + cleaned);
        return (ended - started) / 1e9;
    }
}
