// Decodes messages with Apache Kafka's own classes and answers with what those write again, one line for one line.
//
//   request KEY VERSION HEX       the request of an API, found by its number
//   response KEY VERSION HEX      the response of an API
//   class NAME VERSION HEX        any other message, by the name of its class
//   json NAME VERSION HEX         the same, answered in Kafka's JSON, in which records are told by their size
//
// A version VERSION>OTHER reads the one and writes the other. No HEX at all asks for a message as it is when just made.
// An answer is the message's bytes in hex, its JSON, or "refused" and why.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.message.ApiMessageType;

public class Echo {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(answer(line.split(" ", -1)));
            if (!in.ready()) out.flush();
        }
        out.flush();
    }

    private static String answer(String[] words) {
        try {
            Message message = blank(words[0], words[1]);
            String[] versions = words[2].split(">");
            if (words.length > 3) {
                ByteBuffer bytes = ByteBuffer.wrap(HEX.parseHex(words[3]));
                message.read(new ByteBufferAccessor(bytes), Short.parseShort(versions[0]));
                if (bytes.hasRemaining()) return "refused: " + bytes.remaining() + " bytes are left over";
            }
            short version = Short.parseShort(versions[versions.length - 1]);
            if (words[0].equals("json")) return json(words[1], message, version);
            ByteBuffer written = MessageUtil.toByteBufferAccessor(message, version).buffer();
            return HEX.formatHex(written.array(), written.arrayOffset(), written.arrayOffset() + written.limit());
        } catch (Throwable failure) {
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            return ("refused: " + cause).replace('\n', ' ');
        }
    }

    private static Message blank(String kind, String name) throws ReflectiveOperationException {
        switch (kind) {
            case "request": return type(name).newRequest();
            case "response": return type(name).newResponse();
            default: return (Message) Class.forName(name).getDeclaredConstructor().newInstance();
        }
    }

    private static ApiMessageType type(String key) {
        return ApiMessageType.fromApiKey(Short.parseShort(key));
    }

    private static String json(String name, Message message, short version) throws ReflectiveOperationException {
        Class<?> converter = Class.forName(name + "JsonConverter");
        Method write = converter.getMethod("write", message.getClass(), short.class, boolean.class);
        return write.invoke(null, message, version, false).toString();
    }
}
