import type { AgentCard, Message, Part, TaskState } from '@a2a-js/sdk';
import { Role } from '@a2a-js/sdk';
import type { AgentExecutionEvent, AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import { AgentEvent } from '@a2a-js/sdk/server';
import type { AgentOutput, Turn } from '#protocol';
import { fromExecutor } from '../../src/agents/executor/from-executor.ts';
import { fakeTurn, outputs } from './turns.ts';

/** A card in the official SDK's form, with members that `fromExecutor` does not need: addresses, signatures, empty texts. */
export const CARD: AgentCard = {
  name: 'moved',
  description: 'Was written for the official SDK.',
  version: '3.1.4',
  supportedInterfaces: [{ url: 'http://127.0.0.1:1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  provider: { organization: 'Us', url: 'https://us.example' },
  documentationUrl: '',
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extensions: [{ uri: 'urn:x', description: '', required: false, params: { a: 1 } }],
  },
  securitySchemes: {
    oauth: {
      scheme: {
        $case: 'oauth2SecurityScheme',
        value: {
          description: '',
          oauth2MetadataUrl: '',
          flows: {
            flow: {
              $case: 'clientCredentials',
              value: { tokenUrl: 'https://us.example/token', refreshUrl: '', scopes: { read: 'Reads.' } },
            },
          },
        },
      },
    },
  },
  securityRequirements: [{ schemes: { oauth: { list: ['read'] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [
    { id: 's', name: 'S', description: 'Does.', tags: ['t'], examples: [], inputModes: [], outputModes: [], securityRequirements: [] },
  ],
  signatures: [{ protected: 'x', signature: 'y', header: undefined }],
};

export const words = (text: string): Part => ({
  content: { $case: 'text', value: text },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
});
export const says = (text: string, context: RequestContext): Message => ({
  messageId: 'said-1',
  role: Role.ROLE_AGENT,
  contextId: context.contextId,
  taskId: context.taskId,
  parts: [words(text)],
  metadata: {},
  extensions: [],
  referenceTaskIds: [],
});

export const update = (context: RequestContext, state: TaskState, text?: string): AgentExecutionEvent =>
  AgentEvent.statusUpdate({
    taskId: context.taskId,
    contextId: context.contextId,
    status: { state, message: text === undefined ? undefined : says(text, context), timestamp: new Date().toISOString() },
    metadata: {},
  });
export const chunk = (context: RequestContext, text: string, append: boolean, lastChunk: boolean): AgentExecutionEvent =>
  AgentEvent.artifactUpdate({
    taskId: context.taskId,
    contextId: context.contextId,
    artifact: { artifactId: 'a', name: 'answer', description: '', parts: [words(text)], metadata: {}, extensions: [] },
    append,
    lastChunk,
    metadata: {},
  });
export const task = (context: RequestContext, state: TaskState, more: object = {}): AgentExecutionEvent =>
  AgentEvent.task({
    id: context.taskId,
    contextId: context.contextId,
    status: { state, message: undefined, timestamp: undefined },
    history: [context.userMessage],
    artifacts: [],
    metadata: {},
    ...more,
  });

type Execute = AgentExecutor['execute'];

/** Runs the test's function, and records cancels. */
export class Executor implements AgentExecutor {
  readonly canceled: string[] = [];
  readonly execute: Execute;
  readonly #onCancel: (() => void) | undefined;

  constructor(execute: Execute, onCancel?: () => void) {
    this.execute = execute;
    this.#onCancel = onCancel;
  }

  cancelTask = async (taskId: string, _bus: ExecutionEventBus): Promise<void> => {
    this.canceled.push(taskId);
    this.#onCancel?.();
  };
}

/** The outputs of an agent with this executor. */
export const said = (execute: Execute, turn: Turn = fakeTurn('hello')): Promise<readonly AgentOutput[]> =>
  outputs(fromExecutor(new Executor(execute), CARD), turn);
