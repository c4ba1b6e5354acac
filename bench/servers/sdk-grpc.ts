import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { A2AService, grpcService, UserBuilder } from '@a2a-js/sdk/server/grpc';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { SDK_CARD, SdkEcho } from './sdk-echo.ts';

/** The baseline with the official SDK over gRPC, as its documentation serves it: @grpc/grpc-js, tasks in memory. */
const handler = new DefaultRequestHandler(SDK_CARD as never, new InMemoryTaskStore(), new SdkEcho());
const server = new Server();
server.addService(A2AService, grpcService({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication }));
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  console.log(JSON.stringify({ event: 'ready', url: `http://127.0.0.1:${port}` }));
});
