import type { Json, JsonObject } from '#protocol';
import { compact, isJsonObject, numberAt, objectAt, objectsAt, textAt } from '../process/json-line.ts';
import type { Job } from '../run/driver.ts';
import type { RunEvent } from '../run/events.ts';
import type { CliLineReader, NativeAdapter, NativeLaunch } from './native.ts';
import { option } from './native.ts';
import { pathsIn, titleOf, toolKind } from './tools.ts';

/** Cursor's CLI: `-p` with `stream-json`. It never asks for approval in this mode. */
export const cursor: NativeAdapter = {
  name: 'cursor',
  modes: ['plan', 'ask'],
  environment: ['CURSOR_*'],
  homePaths: ['.cursor', '.config/cursor', '.local/share/cursor-agent'],
  projectConfig: ['.cursor/mcp.json', '.cursor/cli.json', '.cursor/hooks.json', '.cursor/hooks'],
  launch,
  reader,
};

function launch({ prompt, folder, session, settings, isPermissive }: Job): NativeLaunch {
  const argv = [
    ...['cursor-agent', '-p', '--output-format', 'stream-json', '--stream-partial-output', '--trust', '--workspace', folder],
    ...option('--model', settings.model),
    ...option('--mode', settings.mode),
    ...option('--resume', session),
    ...(isPermissive ? ['--force'] : []),
    ...['--', prompt],
  ];
  return { argv };
}

function reader(): CliLineReader {
  let isStreamed = false;
  return (line) => {
    switch (textAt(line, 'type')) {
      case 'system': {
        const known = { sessionId: textAt(line, 'session_id'), model: textAt(line, 'model'), mode: textAt(line, 'permissionMode') };
        return textAt(line, 'subtype') === 'init' ? [{ kind: 'init', ...(compact(known) as object) }] : [];
      }
      case 'thinking':
        return textAt(line, 'subtype') === 'delta' ? [{ kind: 'thought', text: textAt(line, 'text') ?? '' }] : [];
      case 'assistant': {
        const text = objectsAt(objectAt(line, 'message'), 'content')
          .map((block) => textAt(block, 'text') ?? '')
          .join('');
        // Pieces have a timestamp. The whole text is then repeated without one.
        const isPiece = line['timestamp_ms'] !== undefined;
        const startsMessage = !isStreamed;
        const isRepeat = !isPiece && isStreamed;
        isStreamed = isPiece;
        return isRepeat || text === '' ? [] : [{ kind: 'text', text, startsMessage }];
      }
      case 'tool_call':
        return toolEvents(line);
      case 'result':
        return resultOf(line);
      default:
        return [];
    }
  };
}

/** `{"readToolCall": {"args", "result"}}`, or `{"function": {"name", "arguments"}}`. */
function toolEvents(line: JsonObject): readonly RunEvent[] {
  const id = textAt(line, 'call_id') ?? '';
  const [name = 'tool', call = {}] = Object.entries(objectAt(line, 'tool_call')).find(([, value]) => isJsonObject(value)) ?? [];
  const body: JsonObject = isJsonObject(call) ? call : {};
  const tool = name === 'function' ? (textAt(body, 'name') ?? 'tool') : name.replace(/ToolCall$/, '');
  if (textAt(line, 'subtype') === 'started') {
    const input: Json = body['args'] ?? body['arguments'] ?? {};
    return [{ kind: 'tool_use', id, tool, title: titleOf(tool, input), toolKind: toolKind(tool), input, paths: pathsIn(input) }];
  }
  const result = objectAt(body, 'result');
  const isError = result['success'] === undefined && Object.keys(result).length > 0;
  const told = result['success'] ?? result['error'] ?? result['rejected'] ?? '';
  const output = typeof told === 'string' ? told : (textAt(isJsonObject(told) ? told : {}, 'content') ?? JSON.stringify(told));
  return [{ kind: 'tool_result', id, tool, output, isError }];
}

/** The result line, with its usage. */
function resultOf(line: JsonObject): readonly RunEvent[] {
  const summary = textAt(line, 'result');
  if (line['is_error'] === true) return [{ kind: 'error', message: summary ?? 'the agent reported an error' }];
  const counted = objectAt(line, 'usage');
  const usage = compact({
    inputTokens: numberAt(counted, 'inputTokens'),
    outputTokens: numberAt(counted, 'outputTokens'),
    cachedTokens: numberAt(counted, 'cacheReadTokens'),
    durationMs: numberAt(line, 'duration_ms'),
  });
  return [
    { kind: 'usage', usage },
    { kind: 'done', ...(summary === undefined ? {} : { summary }) },
  ];
}
