import { DefaultRequestHandler, InMemoryTaskStore } from 'a2a-js-03/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from 'a2a-js-03/server/express';
import express from 'express';
import { CodingExecutor } from './executor.ts';

/** coding-agent-a2a 0.1.0 on @a2a-js/sdk 0.3.13: `server.ts PORT`. Prints `ready` when it accepts requests. */
const port = Number(process.argv[2]);
const card = {
  name: 'coding-agent-a2a (cursor)',
  description: 'Delegates coding tasks to the cursor agent and streams results back via the A2A protocol.',
  protocolVersion: '0.3.0',
  version: '0.1.0',
  url: `http://127.0.0.1:${port}/a2a/jsonrpc`,
  capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain', 'application/json'],
  skills: [
    { id: 'code-task', name: 'Execute coding task', description: 'Runs a coding task.', tags: ['coding', 'refactor', 'edit', 'test'] },
  ],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new CodingExecutor());
const app = express();
app.get('/health', (_request, response) => void response.json({ status: 'ok', adapter: 'cursor' }));
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/a2a/jsonrpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(port, '127.0.0.1', () => process.stdout.write('ready\n'));
