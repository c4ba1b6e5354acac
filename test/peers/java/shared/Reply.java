package peer;

import java.util.List;

/** An answer, or one event of a stream (test/peers/talk.ts, Reply). */
record Reply(
        String taskId, String contextId, String state, List<String> texts, List<Say.File> files, List<Object> data, String note) {

    Reply withState(String given) {
        return new Reply(taskId, contextId, given, texts, files, data, note);
    }

    /** The agent's turn is over: it is done, or it waits for its caller. */
    boolean endsTurn() {
        return state != null && !state.equals("submitted") && !state.equals("working");
    }
}
