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
import org.apache.kafka.common.utils.Exit;

/**
 * Runs the main method of one class after another in this one JVM: a JSON array of its name and arguments comes in
 * on each line, a JSON object of its exit status and of what it printed goes out.
 */
public class Tools {
    /** What unwinds the stack of a tool that has asked to exit, so that it closes its clients on the way. */
    private static class Exited extends Error {
        Exited() {
            super("exited", null, false, false);
        }
    }

    /** Takes what the tool under way prints; what is left of an earlier one has nobody to tell. */
    private static class Printed extends PrintStream {
        Printed(ByteArrayOutputStream into) {
            super(into, false, StandardCharsets.UTF_8);
        }

        @Override
        public void write(byte[] bytes, int from, int count) {
            if (isOfTool()) super.write(bytes, from, count);
        }

        @Override
        public void write(int one) {
            if (isOfTool()) super.write(one);
        }

        private static boolean isOfTool() {
            ThreadGroup current = group;
            return current != null && current.parentOf(Thread.currentThread().getThreadGroup());
        }
    }

    private record Answer(int status, String out, String err) {}

    private static volatile CompletableFuture<Answer> ended;
    private static volatile ThreadGroup group;
    private static volatile ByteArrayOutputStream out;
    private static volatile ByteArrayOutputStream err;

    public static void main(String[] unused) throws Exception {
        // What a tool prints after its exit, such as that it was interrupted by it, is not its output.
        Exit.setExitProcedure((status, message) -> {
            if (message != null) System.err.println(message);
            ended.complete(answer(status));
            throw new Exited();
        });
        ObjectMapper json = new ObjectMapper();
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        PrintStream log = System.err;
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] words = json.readValue(line, String[].class);
            out = new ByteArrayOutputStream();
            err = new ByteArrayOutputStream();
            group = new ThreadGroup(words[0]);
            System.setOut(new Printed(out));
            System.setErr(new Printed(err));
            Answer answer = call(words[0], Arrays.copyOfRange(words, 1, words.length));
            System.setErr(log);
            answers.println(json.writeValueAsString(
                Map.of("status", answer.status, "out", answer.out, "err", answer.err)));
            answers.flush();
        }
    }

    private static Answer answer(int status) {
        System.out.flush();
        System.err.flush();
        return new Answer(status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    private static Answer call(String main, String[] args) throws Exception {
        Method method = Class.forName(main).getMethod("main", String[].class);
        CompletableFuture<Answer> result = new CompletableFuture<>();
        ended = result;
        Thread thread = new Thread(group, () -> {
            try {
                method.invoke(null, (Object) args);
                result.complete(answer(0));
            } catch (InvocationTargetException e) {
                if (!result.isDone()) {
                    e.getCause().printStackTrace();
                    result.complete(answer(1));
                }
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        Answer answer = result.get();
        // A tool that does not end after its exit costs this much, not the tests that come behind it.
        thread.join(10_000);
        return answer;
    }
}
