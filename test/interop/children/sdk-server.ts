import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TaskState } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import {
  AgentEvent,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import * as old02 from 'a2a-js-02/server';
import * as old03 from 'a2a-js-03/server';
import * as express03 from 'a2a-js-03/server/express';
import express from 'express';
import { directivesOf } from '../../support/memory-script.ts';

/** The official SDK's servers as their documentation has them: Express, tasks in memory, an agent that follows `script`'s directives. It is a separate process,
 * because under Vitest Express loads the wrong half of one of its own packages. */
const SKILLS = [{ id: 'script', name: 'Script', description: 'Obeys.', tags: ['test'], examples: [], inputModes: [], outputModes: [] }];
/** `unsaid`: the card does not declare streaming, and the SDK then refuses streams. */
const STREAMING = process.argv[3] === 'unsaid' ? {} : { streaming: true };
const MODES = { defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] };

const app = express();
const server = app.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const version = process.argv[2];
  if (version === '1.3.0') current(url);
  else if (version === '0.3.13') threeX(url);
  else twoX(url);
  process.stdout.write(`${JSON.stringify({ event: 'ready', url })}\n`);
});

function current(url: string): void {
  const face = (protocolBinding: string, path: string, protocolVersion: string) => ({
    ...{ url: `${url}${path}`, protocolBinding, protocolVersion, tenant: '' },
  });
  const card = {
    name: 'sdk',
    description: 'The official SDK.',
    version: '1.0.0',
    ...MODES,
    skills: SKILLS,
    supportedInterfaces: [
      face('JSONRPC', '/rpc', '1.0'),
      face('HTTP+JSON', '/rest', '1.0'),
      face('JSONRPC', '/rpc', '0.3'),
      face('HTTP+JSON', '/rest', '0.3'),
    ],
    capabilities: { ...STREAMING, pushNotifications: true, extendedAgentCard: true, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
  };
  const push = new InMemoryPushNotificationStore();
  const sender = new DefaultPushNotificationSender(push);
  const requestHandler = new DefaultRequestHandler(
    card as never,
    new InMemoryTaskStore(),
    new Script(),
    undefined,
    push,
    sender,
    card as never,
  );
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } };
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler(options));
  app.use('/rest', restHandler(options));
}

function threeX(url: string): void {
  const card = {
    name: 'sdk',
    description: 'The official SDK.',
    version: '1.0.0',
    protocolVersion: '0.3.0',
    ...MODES,
    skills: SKILLS,
    url: `${url}/rpc`,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [
      { url: `${url}/rpc`, transport: 'JSONRPC' },
      { url: `${url}/rest`, transport: 'HTTP+JSON' },
    ],
    capabilities: { ...STREAMING, pushNotifications: true },
    supportsAuthenticatedExtendedCard: true,
  };
  const push = new old03.InMemoryPushNotificationStore();
  const sender = new old03.DefaultPushNotificationSender(push);
  const store = new old03.InMemoryTaskStore();
  const requestHandler = new old03.DefaultRequestHandler(card, store, new OldScript() as never, undefined, push, sender, card);
  const options = { requestHandler, userBuilder: express03.UserBuilder.noAuthentication };
  app.use('/.well-known/agent-card.json', express03.agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', express03.jsonRpcHandler(options));
  app.use('/rest', express03.restHandler(options));
}

function twoX(url: string): void {
  const card = {
    name: 'sdk',
    description: 'The official SDK.',
    version: '1.0.0',
    protocolVersion: '0.2.5',
    ...MODES,
    skills: SKILLS,
    url: `${url}/`,
    capabilities: { ...STREAMING, pushNotifications: true },
  };
  const requestHandler = new old02.DefaultRequestHandler(card, new old02.InMemoryTaskStore(), new OldScript() as never);
  new old02.A2AExpressApp(requestHandler).setupRoutes(app as never);
}

/** The directives in a message's text. */
function wanted(text: string): ReturnType<typeof directivesOf> {
  return directivesOf({ parts: [{ text }] } as never);
}

class Script implements AgentExecutor {
  readonly #canceled = new Set<string>();

  readonly execute = async ({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const text = userMessage.parts.map((part) => (part.content?.$case === 'text' ? part.content.value : '')).join(' ');
    const { words, chunks, delayMs } = wanted(text);
    const part = (value: string) => ({ content: { $case: 'text' as const, value }, metadata: undefined, filename: '', mediaType: '' });
    const told = (value: string) => ({ ...userMessage, messageId: crypto.randomUUID(), role: 2, parts: [part(value)], contextId, taskId });
    const state = (state: TaskState, value?: string) => ({
      state,
      message: value === undefined ? undefined : told(value),
      timestamp: new Date().toISOString(),
    });
    const status = (...said: Parameters<typeof state>): void =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: state(...said), metadata: undefined }));
    if (words.has('message')) {
      bus.publish(AgentEvent.message({ ...told('said directly'), taskId: '' }));
      return bus.finished();
    }
    if (task === undefined) {
      bus.publish(
        AgentEvent.task({
          id: taskId,
          contextId,
          status: state(TaskState.TASK_STATE_SUBMITTED),
          artifacts: [],
          history: [userMessage],
          metadata: undefined,
        }),
      );
    }
    status(TaskState.TASK_STATE_WORKING);
    while (words.has('hang') && !this.#canceled.has(taskId)) await sleep(5);
    const chunk = (value: string, at: number): void => {
      const artifact = { artifactId: 'a', name: 'out', description: '', parts: [part(value)], metadata: undefined, extensions: [] };
      bus.publish(
        AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: at > 1, lastChunk: at === chunks, metadata: undefined }),
      );
    };
    if (this.#canceled.has(taskId)) status(TaskState.TASK_STATE_CANCELED);
    else if (words.has('ask')) status(TaskState.TASK_STATE_INPUT_REQUIRED, 'Which one?');
    else if (words.has('fail')) status(TaskState.TASK_STATE_FAILED, 'it went wrong');
    else {
      if (task !== undefined) chunk(`answer: ${text}`, 1);
      else
        for (let at = 1; at <= chunks; at += 1) {
          if (delayMs > 0) await sleep(delayMs);
          chunk(`chunk ${at}`, at);
        }
      status(TaskState.TASK_STATE_COMPLETED);
    }
    bus.finished();
  };

  readonly cancelTask = async (taskId: string): Promise<void> => void this.#canceled.add(taskId);
}

interface OldContext {
  readonly taskId: string;
  readonly contextId: string;
  readonly userMessage: { readonly parts: readonly { readonly kind: string; readonly text?: string }[] };
  readonly task?: unknown;
}

interface OldBus {
  publish(event: object): void;
  finished(): void;
}

/** The same for 0.3 and 0.2, whose events have a `kind`. */
class OldScript {
  readonly #canceled = new Set<string>();

  readonly execute = async ({ taskId, contextId, userMessage, task }: OldContext, bus: OldBus): Promise<void> => {
    const text = userMessage.parts.map((part) => part.text ?? '').join(' ');
    const { words, chunks, delayMs } = wanted(text);
    const place = { taskId, contextId };
    const told = (value: string) => ({
      kind: 'message',
      role: 'agent',
      messageId: crypto.randomUUID(),
      parts: [{ kind: 'text', text: value }],
      ...place,
    });
    const state = (name: string, value?: string) => ({
      state: name,
      ...(value === undefined ? {} : { message: told(value) }),
      timestamp: new Date().toISOString(),
    });
    const status = (name: string, final: boolean, value?: string): void =>
      bus.publish({ kind: 'status-update', ...place, status: state(name, value), final });
    if (words.has('message')) {
      bus.publish({ ...told('said directly'), taskId: undefined });
      return bus.finished();
    }
    if (task === undefined)
      bus.publish({ kind: 'task', id: taskId, contextId, status: state('submitted'), artifacts: [], history: [userMessage] });
    status('working', false);
    while (words.has('hang') && !this.#canceled.has(taskId)) await sleep(5);
    const chunk = (value: string, at: number): void => {
      const artifact = { artifactId: 'a', name: 'out', parts: [{ kind: 'text', text: value }] };
      bus.publish({ kind: 'artifact-update', ...place, artifact, append: at > 1, lastChunk: at === chunks });
    };
    if (this.#canceled.has(taskId)) status('canceled', true);
    else if (words.has('ask')) status('input-required', true, 'Which one?');
    else if (words.has('fail')) status('failed', true, 'it went wrong');
    else {
      if (task !== undefined) chunk(`answer: ${text}`, 1);
      else
        for (let at = 1; at <= chunks; at += 1) {
          if (delayMs > 0) await sleep(delayMs);
          chunk(`chunk ${at}`, at);
        }
      status('completed', true);
    }
    bus.finished();
  };

  readonly cancelTask = async (taskId: string): Promise<void> => void this.#canceled.add(taskId);
}
