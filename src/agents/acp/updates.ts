import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { Json } from '#protocol';
import { isJsonObject, textAt } from '../process/json-line.ts';
import type { FileDiff, RunEvent, ToolKind, Usage } from '../run/events.ts';

/** What is known about a tool call so far. Agents report it in pieces. */
export interface KnownCall {
  readonly tool: string;
  readonly title: string;
  readonly toolKind: ToolKind;
  readonly input: Json | undefined;
  readonly paths: readonly string[];
  /** Whether the call has completed or failed. */
  readonly isOver: boolean;
}

/** Agent Client Protocol: an agent's updates as our events. Updates `calls`. */
export function eventsOf(update: SessionUpdate, calls: Map<string, KnownCall>): readonly RunEvent[] {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      return textIn(update.content) === '' ? [] : [{ kind: 'text', text: textIn(update.content) }];
    case 'agent_thought_chunk':
      return [{ kind: 'thought', text: textIn(update.content) }];
    case 'tool_call':
    case 'tool_call_update':
      return callEvents(update, calls);
    case 'plan':
      return [{ kind: 'plan', entries: update.entries.map(({ content, status, priority }) => ({ content, status, priority })) }];
    case 'usage_update':
      return [{ kind: 'usage', usage: usageIn(update) }];
    case 'current_mode_update':
      return [{ kind: 'note', text: `Mode: ${update.currentModeId}` }];
    default:
      // Internal to the agent (its commands, titles), or of an unknown version.
      return [];
  }
}

/** Reports the start of a tool call once, and its end once. */
function callEvents(update: ToolCallUpdate, calls: Map<string, KnownCall>): readonly RunEvent[] {
  const before = calls.get(update.toolCallId);
  const call = knownCall(update, before);
  calls.set(update.toolCallId, call);
  const diffs = diffsIn(update.content ?? []);
  const events: RunEvent[] = [];
  if (before === undefined) {
    const { tool, title, toolKind, input, paths } = call;
    const toolUse = { ...{ tool, title, toolKind, paths, diffs }, ...(input === undefined ? {} : { input }) };
    events.push({ kind: 'tool_use', id: update.toolCallId, ...toolUse });
  }
  if (call.isOver && before?.isOver !== true) {
    const output = resultIn(update);
    events.push({ kind: 'tool_result', id: update.toolCallId, tool: call.tool, output, isError: update.status === 'failed', diffs });
  }
  return events;
}

/** The content of a call or a permission request, merged with what was known before. */
export function knownCall(update: ToolCallUpdate, before: KnownCall | undefined): KnownCall {
  const input = update.rawInput === undefined ? before?.input : (update.rawInput as Json);
  const title = update.title ?? before?.title ?? update.name ?? 'tool';
  const named = isJsonObject(input) ? [textAt(input, 'path'), textAt(input, 'file_path'), textAt(input, 'filePath')] : [];
  const paths = [...(update.locations ?? []).map(({ path }) => path), ...diffsIn(update.content ?? []).map(({ path }) => path), ...named];
  return {
    tool: update.name ?? before?.tool ?? update.kind ?? update.title ?? 'tool',
    title,
    toolKind: update.kind ?? before?.toolKind ?? 'other',
    input,
    paths: [...new Set([...(before?.paths ?? []), ...paths.filter((path) => path !== undefined)])],
    isOver: before?.isOver === true || update.status === 'completed' || update.status === 'failed',
  };
}

function diffsIn(content: readonly ToolCallContent[]): readonly FileDiff[] {
  return content.flatMap((item) => {
    if (item.type !== 'diff') return [];
    const { path, oldText, newText } = item;
    return [oldText === undefined || oldText === null ? { path, newText } : { path, oldText, newText }];
  });
}

function resultIn({ content, rawOutput }: ToolCallUpdate): string {
  const texts = (content ?? []).flatMap((item) => (item.type === 'content' ? [textIn(item.content)] : []));
  if (texts.length > 0) return texts.join('\n');
  if (rawOutput === undefined || rawOutput === null) return '';
  return typeof rawOutput === 'string' ? rawOutput : JSON.stringify(rawOutput);
}

type Block = Extract<SessionUpdate, { sessionUpdate: 'agent_message_chunk' }>['content'];

/** The text of a content block; the address if it has none. */
function textIn(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return block.uri;
    case 'resource':
      return 'text' in block.resource ? block.resource.text : block.resource.uri;
    default:
      return '';
  }
}

function usageIn({ used, cost }: Extract<SessionUpdate, { sessionUpdate: 'usage_update' }>): Usage {
  return { totalTokens: used, ...(cost?.currency === 'USD' ? { costUsd: cost.amount } : {}) };
}
