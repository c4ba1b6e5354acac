package peer;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What the test agent does with a message; test/peers/agent.ts answers to the same words. */
final class Behaviour {
    private static final Map<String, String> REMEMBERED = new ConcurrentHashMap<>();
    private static final Set<String> ASKED = ConcurrentHashMap.newKeySet();
    private static final Set<String> CANCELED = ConcurrentHashMap.newKeySet();

    /** What the test agent can say, in the types of one generation of the SDK. */
    interface Out {
        void text(String chunk, boolean isFirst);

        void ask(String question);

        void signIn(String request);

        void fail(String reason);

        /** Sends the file and data parts of the message back. */
        void echo();

        void complete();
    }

    static void cancel(String taskId) {
        CANCELED.add(taskId);
    }

    static void behave(String text, String contextId, String taskId, Out out) {
        String[] words = text.strip().split("\\s+", 2);
        String rest = words.length > 1 ? words[1] : "";
        if (ASKED.remove(taskId)) {
            out.text("You chose " + text + ".", true);
            out.complete();
            return;
        }
        switch (words[0]) {
            // Its server sends events in another order than the agent if they come at once.
            case "chunks" -> count(Integer.parseInt(rest), 20, taskId, out);
            case "work" -> count(600, 100, taskId, out);
            case "remember" -> {
                REMEMBERED.put(contextId, rest);
                out.text("I will remember " + rest + ".", true);
            }
            case "recall" -> out.text(REMEMBERED.getOrDefault(contextId, "nothing"), true);
            case "question" -> {
                ASKED.add(taskId);
                out.ask("Which color?");
                return;
            }
            case "sign-in" -> {
                ASKED.add(taskId);
                out.signIn("Sign in first.");
                return;
            }
            case "parts" -> out.echo();
            case "fail" -> {
                out.fail("it broke");
                return;
            }
            case "slow" -> {
                sleep(Integer.parseInt(rest) * 1000);
                out.text("waited " + rest + " s", true);
            }
            default -> out.text("echo: " + text, true);
        }
        if (!CANCELED.contains(taskId)) out.complete();
    }

    private static void count(int last, int pauseMs, String taskId, Out out) {
        for (int at = 1; at <= last && !CANCELED.contains(taskId); at += 1) {
            out.text(at + " ", at == 1);
            sleep(pauseMs);
        }
    }

    private static void sleep(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
