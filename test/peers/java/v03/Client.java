package peer;

import io.a2a.A2A;
import io.a2a.client.ClientBuilder;
import io.a2a.client.ClientEvent;
import io.a2a.client.MessageEvent;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.transport.grpc.GrpcTransport;
import io.a2a.client.transport.grpc.GrpcTransportConfigBuilder;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfigBuilder;
import io.a2a.client.transport.rest.RestTransport;
import io.a2a.client.transport.rest.RestTransportConfigBuilder;
import io.a2a.client.transport.spi.ClientTransportConfig;
import io.a2a.client.transport.spi.ClientTransportConfigBuilder;
import io.a2a.client.transport.spi.interceptors.auth.AuthInterceptor;
import io.a2a.spec.AgentCard;
import io.a2a.spec.JSONRPCError;
import io.a2a.spec.PushNotificationConfig;
import io.a2a.spec.TaskIdParams;
import io.a2a.spec.TaskPushNotificationConfig;
import io.a2a.spec.TaskQueryParams;
import io.grpc.ManagedChannelBuilder;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** The client of the Java SDK 0.3: `Client URL JSONRPC|HTTP+JSON|GRPC`. */
public final class Client implements Talker {
    private final io.a2a.client.Client streaming;
    private final io.a2a.client.Client unary;

    private Client(AgentCard card, String binding) throws Exception {
        streaming = open(card, binding, true);
        unary = open(card, binding, false);
    }

    public static void main(String[] args) throws Exception {
        Driver.drive(new Client(A2A.getAgentCard(args[0]), args[1]));
    }

    private static io.a2a.client.Client open(AgentCard card, String binding, boolean isStreaming) throws Exception {
        ClientBuilder builder = io.a2a.client.Client.builder(card)
                .clientConfig(ClientConfig.builder().setStreaming(isStreaming).build());
        switch (binding) {
            case "JSONRPC" -> builder.withTransport(JSONRPCTransport.class, credentials(new JSONRPCTransportConfigBuilder()));
            case "HTTP+JSON" -> builder.withTransport(RestTransport.class, credentials(new RestTransportConfigBuilder()));
            default -> builder.withTransport(
                    GrpcTransport.class,
                    credentials(new GrpcTransportConfigBuilder()
                            .channelFactory(address -> ManagedChannelBuilder.forTarget(address).usePlaintext().build())));
        }
        return builder.build();
    }

    /** The SDK sends the token of PEER_TOKEN, if there is one, as the card's scheme says. */
    private static <T extends ClientTransportConfig<?>, B extends ClientTransportConfigBuilder<T, B>> T credentials(B builder) {
        String token = System.getenv("PEER_TOKEN");
        if (token != null) builder.addInterceptor(new AuthInterceptor((scheme, context) -> scheme.equals("bearer") ? token : null));
        return builder.build();
    }

    @Override
    public Reply send(Say message) throws Exception {
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        unary.sendMessage(Replies.message(message), List.of((event, card) -> answer.complete(reply(event))), error -> {}, null);
        return answer.get();
    }

    @Override
    public void stream(Say message, Consumer<Reply> each, Consumer<Throwable> ended) throws Exception {
        streaming.sendMessage(Replies.message(message), List.of((event, card) -> each.accept(reply(event))), ended, null);
    }

    @Override
    public void subscribe(String taskId, Consumer<Reply> each, Consumer<Throwable> ended) throws Exception {
        streaming.resubscribe(new TaskIdParams(taskId), List.of((event, card) -> each.accept(reply(event))), ended, null);
    }

    @Override
    public void push(String taskId, String url) throws Exception {
        PushNotificationConfig config = new PushNotificationConfig.Builder().id("peer").url(url).build();
        unary.setTaskPushNotificationConfiguration(new TaskPushNotificationConfig(taskId, config));
    }

    @Override
    public Reply get(String taskId) throws Exception {
        return Replies.of(unary.getTask(new TaskQueryParams(taskId)));
    }

    @Override
    public Reply cancel(String taskId) throws Exception {
        return Replies.of(unary.cancelTask(new TaskIdParams(taskId)));
    }

    @Override
    public List<String> list(String contextId) {
        throw new UnsupportedOperationException("this version has no list");
    }

    @Override
    public Integer codeOf(Throwable error) {
        return error instanceof JSONRPCError known ? known.getCode() : null;
    }

    private static Reply reply(ClientEvent event) {
        if (event instanceof TaskUpdateEvent update) return Replies.of(update.getUpdateEvent());
        return event instanceof TaskEvent task ? Replies.of(task.getTask()) : Replies.of(((MessageEvent) event).getMessage());
    }
}
