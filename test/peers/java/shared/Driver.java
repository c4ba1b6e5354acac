package peer;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Reads one JSON command a line from standard input, and writes one JSON result a line. */
final class Driver {
    private static final Gson GSON = new Gson();

    static void drive(Talker client) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(GSON.toJson(answer(client, GSON.fromJson(line, Say.class))));
        }
        System.exit(0);
    }

    private static Map<String, Object> answer(Talker client, Say command) {
        try {
            return Map.of("result", run(client, command));
        } catch (Throwable error) {
            Throwable cause = error instanceof java.util.concurrent.ExecutionException ? error.getCause() : error;
            Map<String, Object> failure = new HashMap<>(Map.of("message", String.valueOf(cause)));
            for (Throwable each = cause; each != null && failure.get("code") == null; each = each.getCause()) {
                failure.put("code", client.codeOf(each));
            }
            return Map.of("error", failure);
        }
    }

    private static Object run(Talker client, Say command) throws Exception {
        return switch (command.op()) {
            case "send" -> client.send(command);
            case "stream" -> stream(client, command).get();
            case "begin" ->
                    first(reply -> reply.taskId() != null, (each, ended) -> client.stream(command, each, ended)).get();
            case "subscribe" ->
                    first(reply -> !reply.texts().isEmpty(), (each, ended) -> client.subscribe(command.taskId(), each, ended)).get();
            case "push" -> {
                client.push(command.taskId(), command.url());
                yield Map.of();
            }
            case "get" -> client.get(command.taskId());
            case "cancel" -> client.cancel(command.taskId());
            default -> client.list(command.contextId());
        };
    }

    /** The transport for gRPC does not tell that a stream has ended, so the state of the task tells it. */
    private static CompletableFuture<List<Reply>> stream(Talker client, Say command) throws Exception {
        List<Reply> seen = new ArrayList<>();
        CompletableFuture<List<Reply>> whole = new CompletableFuture<>();
        client.stream(
                command,
                reply -> {
                    seen.add(reply);
                    if (reply.endsTurn()) whole.complete(seen);
                },
                error -> {
                    if (error == null) whole.complete(seen);
                    else whole.completeExceptionally(error);
                });
        return whole;
    }

    /** A call that reads a stream. */
    private interface Reading {
        void read(Consumer<Reply> each, Consumer<Throwable> ended) throws Exception;
    }

    /** The first event that fits. The stream is read on. */
    private static CompletableFuture<Reply> first(Predicate<Reply> fits, Reading stream) throws Exception {
        CompletableFuture<Reply> found = new CompletableFuture<>();
        stream.read(
                reply -> {
                    if (fits.test(reply)) found.complete(reply);
                },
                error -> found.completeExceptionally(error == null ? new IllegalStateException("the stream ended") : error));
        return found;
    }
}
