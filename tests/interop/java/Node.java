import java.nio.file.Files;
import java.nio.file.Path;

/** A node of Apache Kafka that formats its storage where that is new: one JVM start where the two tools need two. */
public class Node {
    public static void main(String[] args) throws Exception {
        String properties = args[0];
        String clusterId = args[1];
        Path logDirectory = Path.of(args[2]);
        if (!Files.exists(logDirectory.resolve("meta.properties"))) {
            String[] format = {"format", "-t", clusterId, "-c", properties};
            int status = kafka.tools.StorageTool.execute(format, System.out);
            if (status != 0) System.exit(status);
        }
        kafka.Kafka.main(new String[] {properties});
    }
}
