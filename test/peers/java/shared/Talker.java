package peer;

import java.util.List;
import java.util.function.Consumer;

/** The SDK's client, made alike for its generations. */
interface Talker {
    Reply send(Say message) throws Exception;

    /** Calls `each` for every event and `ended` at the end, with null or the reason. It may return before. */
    void stream(Say message, Consumer<Reply> each, Consumer<Throwable> ended) throws Exception;

    Reply get(String taskId) throws Exception;

    Reply cancel(String taskId) throws Exception;

    /** As {@code stream}, of a task that another stream began. */
    void subscribe(String taskId, Consumer<Reply> each, Consumer<Throwable> ended) throws Exception;

    /** Asks for notifications about a task at an address. */
    void push(String taskId, String url) throws Exception;

    List<String> list(String contextId) throws Exception;

    /** The number of an A2A error, or null. */
    Integer codeOf(Throwable error);
}
