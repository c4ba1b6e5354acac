import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import * as old02 from 'a2a-js-02/server';
import * as old03 from 'a2a-js-03/server';
import * as express03 from 'a2a-js-03/server/express';
import express from 'express';
import { KindExecutor } from './executor-v0x.ts';
import { CurrentExecutor } from './executor-v10.ts';

/** The servers of @a2a-js/sdk as their documentation has them: `server.ts VERSION PORT`. Prints `ready` when it accepts requests. */
const [, , version = '', port = ''] = process.argv;
const url = `http://127.0.0.1:${port}`;
const app = express();
const ABOUT = {
  name: 'peer-test',
  description: 'The test agent of test/peers on the JavaScript SDK.',
  version: '1',
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'talk', name: 'talk', description: 'Talks.', tags: ['test'], examples: [], inputModes: [], outputModes: [] }],
};

if (version.startsWith('1.')) serveV10();
else if (version.startsWith('0.3')) serveV03();
else serveV02();
app.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));

function serveV10(): void {
  const face = (protocolBinding: string, path: string) => ({ url: `${url}${path}`, protocolBinding, protocolVersion: '1.0', tenant: '' });
  const card = {
    ...ABOUT,
    supportedInterfaces: [face('JSONRPC', '/rpc'), face('HTTP+JSON', '/rest')],
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
