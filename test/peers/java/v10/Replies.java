package peer;

import io.a2a.spec.DataPart;
import io.a2a.spec.FilePart;
import io.a2a.spec.FileWithBytes;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.Task;
import io.a2a.spec.TaskArtifactUpdateEvent;
import io.a2a.spec.TaskStatus;
import io.a2a.spec.TaskStatusUpdateEvent;
import io.a2a.spec.TextPart;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Reduces what the SDK 1.0 reads to replies, and makes its messages. */
final class Replies {
    static Message message(Say say) {
        List<Part<?>> parts = new ArrayList<>(List.of(new TextPart(say.text())));
        if (say.file() != null) {
            parts.add(new FilePart(new FileWithBytes(say.file().mediaType(), say.file().name(), say.file().base64())));
        }
        if (say.data() != null) parts.add(new DataPart(say.data()));
        return Message.builder()
                .role(Message.Role.ROLE_USER)
                .messageId(UUID.randomUUID().toString())
                .parts(parts)
                .contextId(say.contextId())
                .taskId(say.taskId())
                .build();
    }

    static Reply of(Object event) {
        if (event instanceof Task task) {
            List<Part<?>> parts = new ArrayList<>();
            if (task.artifacts() != null) task.artifacts().forEach(artifact -> parts.addAll(artifact.parts()));
            return reply(task.id(), task.contextId(), task.status(), parts);
        }
        if (event instanceof TaskStatusUpdateEvent update) {
            return reply(update.taskId(), update.contextId(), update.status(), List.of());
        }
        if (event instanceof TaskArtifactUpdateEvent update) {
            return reply(update.taskId(), update.contextId(), null, update.artifact().parts());
        }
        Message message = (Message) event;
        return reply(null, message.contextId(), null, message.parts()).withState("completed");
    }

    static String text(List<Part<?>> parts) {
        return String.join("", reply(null, null, null, parts).texts());
    }

    private static Reply reply(String taskId, String contextId, TaskStatus status, List<Part<?>> parts) {
        List<String> texts = new ArrayList<>();
        List<Say.File> files = new ArrayList<>();
        List<Object> data = new ArrayList<>();
        for (Part<?> part : parts) {
            if (part instanceof TextPart text) texts.add(text.text());
            else if (part instanceof DataPart found) data.add(found.data());
            else if (part instanceof FilePart file && file.file() instanceof FileWithBytes bytes) {
                files.add(new Say.File(bytes.name(), bytes.mimeType(), bytes.bytes()));
            }
        }
        String state = status == null ? null : status.state().name().replace("TASK_STATE_", "").toLowerCase().replace('_', '-');
        String note = status == null || status.message() == null ? null : text(status.message().parts());
        return new Reply(taskId, contextId, state, texts, files, data, note);
    }
}
