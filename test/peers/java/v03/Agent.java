package peer;

import io.a2a.server.PublicAgentCard;
import io.a2a.server.agentexecution.AgentExecutor;
import io.a2a.server.agentexecution.RequestContext;
import io.a2a.server.events.EventQueue;
import io.a2a.server.tasks.TaskUpdater;
import io.a2a.spec.AgentCapabilities;
import io.a2a.spec.AgentCard;
import io.a2a.spec.AgentInterface;
import io.a2a.spec.AgentSkill;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.Task;
import io.a2a.spec.TaskState;
import io.a2a.spec.TaskStatus;
import io.a2a.spec.TextPart;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import java.util.List;

/** The test agent on the server of the Java SDK 0.3. PEER_BINDING names the only binding of its card; otherwise it has JSON-RPC and HTTP+JSON. */
@ApplicationScoped
public class Agent {
    @Produces
    @PublicAgentCard
    public AgentCard card() {
        String address = "127.0.0.1:" + System.getProperty("quarkus.http.port");
        String only = System.getenv("PEER_BINDING");
        List<AgentInterface> all = List.of(
                new AgentInterface("JSONRPC", "http://" + address),
                new AgentInterface("HTTP+JSON", "http://" + address),
                new AgentInterface("GRPC", address));
        List<AgentInterface> offered =
                all.stream().filter(each -> only == null ? !each.transport().equals("GRPC") : each.transport().equals(only)).toList();
        return new AgentCard.Builder()
                .name("peer-test")
                .description("The test agent of test/peers on the Java SDK.")
                .url(offered.get(0).url())
                .preferredTransport(offered.get(0).transport())
                .additionalInterfaces(offered)
                .version("1")
                .protocolVersion("0.3.0")
                .capabilities(new AgentCapabilities.Builder().streaming(true).build())
                .defaultInputModes(List.of("text/plain"))
                .defaultOutputModes(List.of("text/plain"))
                .skills(List.of(new AgentSkill.Builder().id("talk").name("talk").description("Talks.").tags(List.of("test")).build()))
                .build();
    }

    @Produces
    public AgentExecutor executor() {
        return new AgentExecutor() {
            @Override
            public void execute(RequestContext context, EventQueue queue) {
                if (context.getTask() == null) {
                    queue.enqueueEvent(new Task.Builder()
                            .id(context.getTaskId())
                            .contextId(context.getContextId())
                            .status(new TaskStatus(TaskState.SUBMITTED))
                            .history(context.getMessage())
                            .build());
                }
                TaskUpdater updater = new TaskUpdater(context, queue);
                updater.startWork();
                String text = Replies.text(context.getMessage().getParts());
                Behaviour.behave(text, context.getContextId(), context.getTaskId(), new Writer(updater, context.getMessage()));
            }

            @Override
            public void cancel(RequestContext context, EventQueue queue) {
                Behaviour.cancel(context.getTaskId());
                new TaskUpdater(context, queue).cancel();
            }
        };
    }

    private record Writer(TaskUpdater updater, Message message) implements Behaviour.Out {
        @Override
        public void text(String chunk, boolean isFirst) {
            updater.addArtifact(List.of(new TextPart(chunk)), "answer", null, null, !isFirst, false);
        }

        @Override
        public void ask(String question) {
            updater.requiresInput(said(question), true);
        }

        @Override
        public void signIn(String request) {
            updater.requiresAuth(said(request), true);
        }

        @Override
        public void fail(String reason) {
            updater.fail(said(reason));
        }

        @Override
        public void echo() {
            List<Part<?>> parts = message.getParts();
            updater.addArtifact(parts.stream().<Part<?>>filter(part -> !(part instanceof TextPart)).toList(), "answer", null, null);
        }

        @Override
        public void complete() {
            updater.complete();
        }

        private Message said(String text) {
            return updater.newAgentMessage(List.of(new TextPart(text)), null);
        }
    }
}
