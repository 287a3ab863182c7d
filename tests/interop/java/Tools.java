import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs the main method of one class after another in this one JVM: a JSON array of its name and arguments comes in
 * on each line, a JSON object of its exit status and of what it printed goes out.
 */
public class Tools {
    private static volatile CompletableFuture<Integer> ended;

    public static void main(String[] unused) throws Exception {
        // Nothing of a tool runs on once it has asked to exit: its thread rests for good.
        Exit.setExitProcedure((status, message) -> {
            if (message != null) System.err.println(message);
            ended.complete(status);
            while (true) LockSupport.park();
        });
        ObjectMapper json = new ObjectMapper();
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        PrintStream log = System.err;
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] words = json.readValue(line, String[].class);
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            System.setOut(new PrintStream(out, false, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(err, false, StandardCharsets.UTF_8));
            int status = call(words[0], Arrays.copyOfRange(words, 1, words.length));
            System.out.flush();
            System.err.flush();
            System.setErr(log);
            answers.println(json.writeValueAsString(Map.of(
                "status", status,
                "out", out.toString(StandardCharsets.UTF_8),
                "err", err.toString(StandardCharsets.UTF_8))));
            answers.flush();
        }
    }

    private static int call(String main, String[] args) throws Exception {
        Method method = Class.forName(main).getMethod("main", String[].class);
        CompletableFuture<Integer> result = new CompletableFuture<>();
        ended = result;
        Thread thread = new Thread(() -> {
            try {
                method.invoke(null, (Object) args);
                result.complete(0);
            } catch (InvocationTargetException e) {
                e.getCause().printStackTrace();
                result.complete(1);
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result.get();
    }
}
