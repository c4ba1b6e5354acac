package peer;

import io.a2a.server.PublicAgentCard;
import io.a2a.server.requesthandlers.RequestHandler;
import io.a2a.server.util.async.Internal;
import io.a2a.spec.AgentCard;
import io.a2a.transport.grpc.handler.CallContextFactory;
import io.a2a.transport.grpc.handler.GrpcHandler;
import io.quarkus.grpc.GrpcService;
import jakarta.inject.Inject;
import java.util.concurrent.Executor;

/** The SDK's service for gRPC, on the port of HTTP. */
@GrpcService
public class Grpc extends GrpcHandler {
    @Inject
    RequestHandler handler;

    @Inject
    @PublicAgentCard
    AgentCard card;

    @Inject
    @Internal
    Executor executor;

    @Override
    protected RequestHandler getRequestHandler() {
        return handler;
    }

    @Override
    protected AgentCard getAgentCard() {
        return card;
    }

    @Override
    protected CallContextFactory getCallContextFactory() {
        return null;
    }

    @Override
    protected Executor getExecutor() {
        return executor;
    }
}
