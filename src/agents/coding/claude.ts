import type { Choice, Json, JsonObject } from '#protocol';
import { compact, isJsonObject, numberAt, objectAt, objectsAt, textAt } from '../process/json-line.ts';
import type { Job } from '../run/driver.ts';
import type { FileDiff, RunEvent } from '../run/events.ts';
import type { CliLineReader, CliReply, NativeAdapter, NativeLaunch } from './native.ts';
import { option } from './native.ts';
import { pathsIn, titleOf, toolKind } from './tools.ts';

/**
 * Claude Code: `-p` with `stream-json` in both directions, which requires `--verbose`. Permissions
 * arrive as control requests.
 */
export const claude: NativeAdapter = {
  name: 'claude',
  modes: ['default', 'acceptEdits', 'plan', 'dontAsk'],
  environment: ['ANTHROPIC_*', 'CLAUDE_*', 'AWS_*', 'GOOGLE_APPLICATION_CREDENTIALS', 'CLOUD_ML_REGION', 'IS_SANDBOX', 'DISABLE_*'],
  homePaths: ['.claude', '.claude.json', '.config/claude'],
  projectConfig: ['.claude/settings.json', '.claude/settings.local.json', '.mcp.json'],
  ignoresProject: true,
  launch,
  reader,
};

/** Without trust, only the user's own settings apply, not those of the project. */
function launch({ prompt, session, settings, isTrusted, isPermissive }: Job): NativeLaunch {
  const argv = [
    ...['claude', '-p', '--output-format', 'stream-json', '--input-format', 'stream-json', '--verbose', '--include-partial-messages'],
    ...['--permission-prompt-tool', 'stdio'],
    ...(isTrusted ? [] : ['--setting-sources', 'user', '--strict-mcp-config']),
    ...option('--model', settings.model),
    // Not the mode of its settings, which may be one that asks for no approval.
    ...option('--permission-mode', settings.mode ?? (isPermissive ? undefined : 'default')),
    ...option('--max-budget-usd', settings.budgetUsd),
    ...option('--max-turns', settings.turnsMax),
    ...option('--resume', session),
  ];
  const turn = { type: 'user', message: { role: 'user', content: prompt }, parent_tool_use_id: null };
  return { argv, input: `${JSON.stringify(turn)}\n`, keepsInput: true };
}

/**
 * Reads the stream of JSON lines. Messages come in pieces and then whole; the whole is read only if no
 * piece came.
 */
function reader({ send }: CliReply): CliLineReader {
  const partial = new Set<string>();
  const requests = new Map<string, AbortController>();
  let streaming = '';
  return (line) => {
    // A sub-agent's text is not part of the answer, but its tool calls are shown.
    const isOwn = line['parent_tool_use_id'] === undefined || line['parent_tool_use_id'] === null;
    switch (textAt(line, 'type')) {
      case 'system':
        return textAt(line, 'subtype') === 'init' ? [initOf(line)] : [];
      case 'stream_event': {
        const event = objectAt(line, 'event');
        if (textAt(event, 'type') === 'message_start') streaming = textAt(objectAt(event, 'message'), 'id') ?? '';
        return isOwn ? deltaOf(event, streaming, partial) : [];
      }
      case 'assistant':
        return blocksOf(line, isOwn && !partial.has(textAt(objectAt(line, 'message'), 'id') ?? ''));
      case 'user':
        return resultsOf(line);
      case 'result':
        return endOf(line);
      case 'control_request':
        return permission(line, { requests, send });
      case 'control_cancel_request':
        requests.get(textAt(line, 'request_id') ?? '')?.abort(new DOMException('withdrawn', 'AbortError'));
        return [];
      default:
        return [];
    }
  };
}

function initOf(line: JsonObject): RunEvent {
  const { session_id: sessionId, model, permissionMode: mode } = line;
  return { kind: 'init', ...(compact({ sessionId, model, mode }) as { sessionId?: string; model?: string; mode?: string }) };
}

/**
 * Pieces of a message. `partial` remembers which messages came in pieces, so that the whole message is
 * not read again.
 */
function deltaOf(event: JsonObject, message: string, partial: Set<string>): readonly RunEvent[] {
  const delta = objectAt(event, 'delta');
  if (textAt(event, 'type') !== 'content_block_delta') return [];
  const startsMessage = !partial.has(message);
  const text = textAt(delta, 'text');
  const thinking = textAt(delta, 'thinking');
  if (text !== undefined) {
    partial.add(message);
    return [{ kind: 'text', text, startsMessage }];
  }
  return thinking === undefined ? [] : [{ kind: 'thought', text: thinking }];
}

/** Text, thoughts and tool calls of a message. */
function blocksOf(line: JsonObject, hasNewText: boolean): readonly RunEvent[] {
  return objectsAt(objectAt(line, 'message'), 'content').flatMap((block): readonly RunEvent[] => {
    const type = textAt(block, 'type');
    if (type === 'text' && hasNewText) return [{ kind: 'text', text: textAt(block, 'text') ?? '', startsMessage: true }];
    if (type === 'thinking' && hasNewText) return [{ kind: 'thought', text: textAt(block, 'thinking') ?? '' }];
    if (type !== 'tool_use' && type !== 'server_tool_use') return [];
    const tool = textAt(block, 'name') ?? 'tool';
    const input = block['input'];
    return [
      {
        ...{ kind: 'tool_use', id: textAt(block, 'id') ?? '', tool, title: titleOf(tool, input), toolKind: toolKind(tool) },
        ...{ paths: pathsIn(input), diffs: diffsIn(input) },
        ...(input === undefined ? {} : { input }),
      },
    ];
  });
}

function diffsIn(input: Json | undefined): readonly FileDiff[] {
  if (!isJsonObject(input)) return [];
  const path = textAt(input, 'file_path');
  const [oldText, newText, content] = [textAt(input, 'old_string'), textAt(input, 'new_string'), textAt(input, 'content')];
  if (path === undefined) return [];
  if (oldText !== undefined && newText !== undefined) return [{ path, oldText, newText }];
  return content === undefined ? [] : [{ path, newText: content }];
}

function resultsOf(line: JsonObject): readonly RunEvent[] {
  return objectsAt(objectAt(line, 'message'), 'content').flatMap((block): readonly RunEvent[] => {
    if (textAt(block, 'type') !== 'tool_result') return [];
    const texts = objectsAt(block, 'content').map((item) => textAt(item, 'text') ?? '');
    const output = textAt(block, 'content') ?? texts.join('\n');
    return [{ kind: 'tool_result', id: textAt(block, 'tool_use_id') ?? '', output, isError: block['is_error'] === true }];
  });
}

/** The result line, with its usage. */
function endOf(line: JsonObject): readonly RunEvent[] {
  const counted = objectAt(line, 'usage');
  const usage = compact({
    inputTokens: numberAt(counted, 'input_tokens'),
    outputTokens: numberAt(counted, 'output_tokens'),
    cachedTokens: numberAt(counted, 'cache_read_input_tokens'),
    turns: numberAt(line, 'num_turns'),
    durationMs: numberAt(line, 'duration_ms'),
    costUsd: numberAt(line, 'total_cost_usd'),
  });
  const subtype = textAt(line, 'subtype') ?? '';
  const summary = textAt(line, 'result');
  if (line['is_error'] === true || subtype.startsWith('error')) {
    const errors = Array.isArray(line['errors']) ? line['errors'].filter((error) => typeof error === 'string').join('; ') : '';
    return [
      { kind: 'usage', usage },
      { kind: 'error', message: summary ?? (errors || subtype.replaceAll('_', ' ')) },
    ];
  }
  const output = line['structured_output'];
  const result = { ...(summary === undefined ? {} : { summary }), ...(output === undefined ? {} : { output }) };
  return [
    { kind: 'usage', usage },
    { kind: 'done', stopReason: textAt(line, 'stop_reason') ?? 'end_turn', ...result },
  ];
}

interface Requests {
  readonly requests: Map<string, AbortController>;
  send(message: JsonObject): void;
}

const ALWAYS: Choice = { optionId: 'always', name: 'Always allow', kind: 'allow_always' };
const ALLOW: Choice = { optionId: 'allow', name: 'Allow', kind: 'allow_once' };
const REJECT: Choice = { optionId: 'reject', name: 'Reject', kind: 'reject_once' };

/** `can_use_tool` is a question for the caller. Other requests are not supported. */
function permission(line: JsonObject, { requests, send }: Requests): readonly RunEvent[] {
  const id = textAt(line, 'request_id') ?? '';
  const request = objectAt(line, 'request');
  if (textAt(request, 'subtype') !== 'can_use_tool') {
    send({ type: 'control_response', response: { subtype: 'error', request_id: id, error: 'not supported' } });
    return [];
  }
  const tool = textAt(request, 'tool_name') ?? 'tool';
  const input = objectAt(request, 'input');
  const suggestions = request['permission_suggestions'];
  const withdrawal = new AbortController();
  requests.set(id, withdrawal);
  const reply = (response: JsonObject): void =>
    send({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
  const blocked = textAt(request, 'blocked_path');
  return [
    {
      kind: 'approval',
      approval: {
        ...{ id, tool, toolKind: toolKind(tool), title: textAt(request, 'title') ?? titleOf(tool, input), input },
        paths: [...pathsIn(input), ...(blocked === undefined ? [] : [blocked])],
        options: suggestions === undefined ? [ALLOW, REJECT] : [ALLOW, ALWAYS, REJECT],
        withdrawn: withdrawal.signal,
        answer: (optionId) => {
          requests.delete(id);
          if (optionId === ALLOW.optionId) reply({ behavior: 'allow', updatedInput: input });
          else if (optionId === ALWAYS.optionId)
            reply(compact({ behavior: 'allow', updatedInput: input, updatedPermissions: suggestions }) as JsonObject);
          else reply({ behavior: 'deny', message: 'The user denied this.' });
        },
      },
    },
  ];
}
