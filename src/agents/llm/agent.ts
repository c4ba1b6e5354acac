import type { Agent, AgentOutput, JsonObject, Message } from '#protocol';
import { getTextFromMessage, partsToLlmContent } from '#protocol';
import type { AgentConversation, ConversationLimits, TrimmedMessages } from '../conversation.ts';
import { defineAgent } from '../define.ts';
import { complete, text } from '../outputs.ts';
import type { BaseTurn } from '../turn.ts';
import { askModel } from './ask-model.ts';
import type { ToolApproval } from './call-tool.ts';
import { runCalls } from './call-tool.ts';
import type { ChatModel, ModelMessage, ModelRequest } from './model.ts';
import type { Step } from './steps.ts';
import { stepsIn, storeStep } from './steps.ts';
import type { LlmTool, LlmToolbox } from './tools.ts';

/** What `llmAgent` takes. Only the model is required. */
export interface LlmAgentOptions {
  /** Answers the messages: `openAiModel`, `anthropicModel` or `aiSdkModel` makes one. */
  readonly model: ChatModel;
  /** Default `llm`. */
  readonly name?: string;
  /** What the agent does, for its callers. Default: that it talks, and with which model. */
  readonly description?: string;
  /** Instructions for the model. */
  readonly system?: string;
  /** What the model may call. */
  readonly tools?: readonly LlmTool[] | LlmToolbox;
  /** Which calls the caller must allow first. Default `unless-read-only`. */
  readonly approval?: ToolApproval;
  /** How much of the conversation the model sees. Default: 100 messages, 262,144 characters, and the model summarises older ones. */
  readonly conversation?: ConversationLimits;
  /** Maximum number of answers of the model for one message. Default 16. */
  readonly stepsMax?: number;
}

const STEPS_MAX = 16;

/**
 * A language model as an agent. It remembers the conversation, streams its answer, and calls tools after
 * the caller has allowed it. The metadata of the finished task has the model and the used tokens.
 *
 * ```ts
 * export default llmAgent({ model: openAiModel({ baseUrl: 'http://127.0.0.1:11434/v1', model: 'llama3.2' }) });
 * ```
 */
export function llmAgent(options: LlmAgentOptions): Agent & AsyncDisposable {
  const { model, name = 'llm', description = `Talks with you, by the language model ${options.model.name}.` } = options;
  const toolbox = toolboxOf(options.tools);
  const agent = defineAgent({
    name,
    description,
    skills: [{ id: 'chat', name: 'Chat', description, tags: ['llm', 'chat'] }],
    inputModes: ['text/plain', 'application/json', '*/*'],
    // A repeated run continues after the steps that its task remembers.
    recovery: 'retry',
    conversation: { onTrim: (trimmed) => summarise(model, trimmed), ...options.conversation },
    run: (turn) => converse({ ...options, toolbox }, turn),
  });
  return {
    ...agent,
    ...(toolbox.runsCommands === true ? { runsCommands: true } : {}),
    [Symbol.asyncDispose]: async () => await toolbox[Symbol.asyncDispose]?.(),
  };
}

function toolboxOf(tools: LlmAgentOptions['tools']): LlmToolbox {
  if (tools === undefined) return { tools: async () => [] };
  return 'tools' in tools ? tools : { tools: async () => tools };
}

interface Talking extends LlmAgentOptions {
  readonly toolbox: LlmToolbox;
}

/** Asks the model, runs its calls, and asks again, until it answers without a call. */
async function* converse(options: Talking, turn: BaseTurn<unknown>): AsyncGenerator<AgentOutput> {
  const { model, toolbox, approval = 'unless-read-only', stepsMax = STEPS_MAX } = options;
  const [conversation, tools] = await Promise.all([turn.conversation(), toolbox.tools()]);
  const messages: ModelMessage[] = [...conversation.messages, turn.message].map(modelMessage);
  const known = stepsIn(turn.task.metadata, turn.message);
  const usage = { inputTokens: 0, outputTokens: 0 };
  const count = ({ inputTokens, outputTokens }: Step): void => {
    usage.inputTokens += inputTokens;
    usage.outputTokens += outputTokens;
  };
  for (let nth = 1; nth <= stepsMax; nth += 1) {
    const stored = known[nth - 1];
    if (stored !== undefined && stored.text !== '') yield text(stored.text);
    const step = stored ?? (yield* askModel(model, requestOf(options, conversation, { messages, tools }), turn.signal));
    count(step);
    if (step.calls.length === 0) {
      yield complete(undefined, usageOf(model, usage));
      return;
    }
    if (stored === undefined) yield storeStep(step, nth, { of: turn.message });
    yield* runCalls(step, { turn, tools, approval, nth });
    messages.push({ role: 'assistant', text: step.text, calls: step.calls });
    for (const call of step.calls)
      messages.push({ role: 'tool', call, text: call.result?.text ?? '', isError: call.result?.isError === true });
    if (step.text !== '') yield text('\n\n');
  }
  yield complete(`The model called tools ${stepsMax} times without an answer, so I stopped.`, usageOf(model, usage));
}

function requestOf(
  { system }: LlmAgentOptions,
  { summary }: AgentConversation,
  rest: Pick<ModelRequest, 'messages' | 'tools'>,
): ModelRequest {
  const instructions = [system, summary === undefined ? undefined : `A summary of the conversation before the first message:\n${summary}`];
  const said = instructions.filter((each) => each !== undefined).join('\n\n');
  return {
    ...(said === '' ? {} : { system: said }),
    messages: [...rest.messages],
    tools: rest.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  };
}

function modelMessage(message: Message): ModelMessage {
  if (message.role === 'ROLE_AGENT') return { role: 'assistant', text: wordsOf(message), calls: [] };
  return { role: 'user', content: partsToLlmContent(message.parts) };
}

/** The agent's answer as the model wrote it. Data and files of an answer are named only. */
function wordsOf(message: Message): string {
  const others = message.parts.filter((part) => part.text === undefined).map((part) => `[${part.filename ?? part.mediaType ?? 'data'}]`);
  return [getTextFromMessage(message), ...others].filter((each) => each !== '').join('\n');
}

function usageOf(model: ChatModel, { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }): JsonObject {
  return { model: model.name, usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens } };
}

const SUMMARISE =
  'Summarise this conversation for yourself, so that you can continue it: names, facts, decisions and open questions. At most 300 words.';

/** Lets the model summarise the messages that no longer fit. */
async function summarise(model: ChatModel, { messages, summary, signal }: TrimmedMessages): Promise<string> {
  const before = summary === undefined ? [] : [`Summary of what came before:\n${summary}`];
  const lines = messages.map((message) => `${message.role === 'ROLE_USER' ? 'User' : 'You'}: ${wordsOf(message)}`);
  const content = [{ kind: 'text', text: [...before, ...lines].join('\n\n') } as const];
  let said = '';
  for await (const chunk of model.stream({ system: SUMMARISE, messages: [{ role: 'user', content }], tools: [] }, signal)) {
    if (chunk.kind === 'text') said += chunk.text;
  }
  return said;
}
