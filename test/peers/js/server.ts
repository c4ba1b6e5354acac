import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { A2AService, UserBuilder as GrpcUserBuilder, grpcService } from '@a2a-js/sdk/server/grpc';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import * as old02 from 'a2a-js-02/server';
import * as old03 from 'a2a-js-03/server';
import * as express03 from 'a2a-js-03/server/express';
import express from 'express';
import { KindExecutor } from './executor-v0x.ts';
import { CurrentExecutor } from './executor-v10.ts';

/** The servers of @a2a-js/sdk as their documentation has them: `server.ts VERSION PORT`. With `PEER_BINDING=GRPC` the card of 1.x offers only gRPC. Prints `ready` when it accepts requests. */
const [, , version = '', port = ''] = process.argv;
const url = `http://127.0.0.1:${port}`;
const app = express();
const isGrpc = process.env['PEER_BINDING'] === 'GRPC';
const ABOUT = {
  name: 'peer-test',
  description: 'The test agent of test/peers on the JavaScript SDK.',
  version: '1',
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'talk', name: 'talk', description: 'Talks.', tags: ['test'], examples: [], inputModes: [], outputModes: [] }],
};

if (version.startsWith('1.')) await serveV10();
else if (version.startsWith('0.3')) serveV03();
else serveV02();
app.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));

async function serveV10(): Promise<void> {
  const face = (protocolBinding: string, path: string) => ({ url: `${url}${path}`, protocolBinding, protocolVersion: '1.0', tenant: '' });
  const card = {
    ...ABOUT,
    supportedInterfaces: [face('JSONRPC', '/rpc'), face('HTTP+JSON', '/rest')].slice(isGrpc ? 2 : 0),
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
  };
  const requestHandler = new DefaultRequestHandler(card as never, new InMemoryTaskStore(), new CurrentExecutor());
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler(options));
  app.use('/rest', restHandler(options));
  if (!isGrpc) return;
  const grpc = new Server();
  grpc.addService(A2AService, grpcService({ requestHandler, userBuilder: GrpcUserBuilder.noAuthentication }));
  const address = await new Promise<string>((resolve, reject) => {
    grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(`127.0.0.1:${bound}`) : reject(error),
    );
  });
  card.supportedInterfaces.push({ ...face('GRPC', ''), url: address });
}

function serveV03(): void {
  const card = {
    ...ABOUT,
    protocolVersion: '0.3.0',
    url: `${url}/rpc`,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [
      { url: `${url}/rpc`, transport: 'JSONRPC' },
      { url: `${url}/rest`, transport: 'HTTP+JSON' },
    ],
    capabilities: { streaming: true },
  };
  const requestHandler = new old03.DefaultRequestHandler(card, new old03.InMemoryTaskStore(), new KindExecutor() as never);
  const options = { requestHandler, userBuilder: express03.UserBuilder.noAuthentication };
  app.use('/.well-known/agent-card.json', express03.agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', express03.jsonRpcHandler(options));
  app.use('/rest', express03.restHandler(options));
}

function serveV02(): void {
  const card = { ...ABOUT, protocolVersion: '0.2.5', url: `${url}/`, capabilities: { streaming: true } };
  const requestHandler = new old02.DefaultRequestHandler(card, new old02.InMemoryTaskStore(), new KindExecutor() as never);
  new old02.A2AExpressApp(requestHandler).setupRoutes(app as never);
}
