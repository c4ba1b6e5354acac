package peer;

import java.util.Map;

/** A message of a conversation (test/peers/talk.ts, Say), with the command that carries it. */
record Say(String op, String text, String contextId, String taskId, String url, File file, Map<String, Object> data) {
    record File(String name, String mediaType, String base64) {}
}
