import type { JsonObject } from '#protocol';
import { compact, numberAt, objectAt, textAt } from '../process/json-line.ts';
import type { Job } from '../run/driver.ts';
import type { RunEvent } from '../run/events.ts';
import type { CliLineReader, NativeAdapter, NativeLaunch } from './native.ts';
import { option } from './native.ts';
import { createTally, pathsIn, titleOf, toolKind } from './tools.ts';

/**
 * GitHub Copilot CLI: `-p` with `--output-format json`, the session's events. It never asks for
 * approval in this mode.
 */
export const copilot: NativeAdapter = {
  name: 'copilot',
  modes: [],
  environment: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST'],
  homePaths: ['.copilot', '.config/gh'],
  projectConfig: ['.copilot', '.github/copilot', '.mcp.json', '.vscode/mcp.json'],
  launch,
  reader,
};

function launch({ prompt, folder, session, settings, isPermissive, mayEdit }: Job): NativeLaunch {
  const argv = [
    ...['copilot', `--prompt=${prompt}`, '--output-format', 'json', '--stream', 'on', '--add-dir', folder, '--no-color'],
    ...option('--model', settings.model),
    ...(session === undefined ? [] : [`--resume=${session}`]),
    ...(isPermissive ? ['--allow-all-tools'] : mayEdit ? ['--allow-tool=write'] : []),
  ];
  return { argv };
}

function reader(): CliLineReader {
  const streamed = new Set<string>();
  const tally = createTally();
  return (line) => {
    const data = objectAt(line, 'data');
    // Events with an agentId come from a sub-agent, whose text is not part of the answer.
    const isOwn = textAt(line, 'agentId') === undefined;
    const id = textAt(data, 'messageId') ?? '';
    switch (textAt(line, 'type')) {
      case 'session.start':
        return [{ kind: 'init', ...(compact({ sessionId: textAt(data, 'sessionId'), model: textAt(data, 'selectedModel') }) as object) }];
      case 'assistant.message_delta': {
        if (!isOwn) return [];
        const startsMessage = !streamed.has(id);
        streamed.add(id);
        return [{ kind: 'text', text: textAt(data, 'deltaContent') ?? '', startsMessage }];
      }
      case 'assistant.message': {
        const text = textAt(data, 'content') ?? '';
        return isOwn && !streamed.has(id) && text !== '' ? [{ kind: 'text', text, startsMessage: true }] : [];
      }
      case 'assistant.reasoning_delta':
        return [{ kind: 'thought', text: textAt(data, 'deltaContent') ?? '' }];
      case 'session.error':
        return [{ kind: 'error', message: textAt(data, 'message') ?? textAt(data, 'errorType') ?? 'the agent reported an error' }];
      case 'abort':
        return [{ kind: 'error', message: `the agent stopped: ${textAt(data, 'reason') ?? 'aborted'}` }];
      case 'result':
        return resultOf(line);
      default:
        return toolEvents(textAt(line, 'type'), data, tally);
    }
  };
}

/** Tool calls, denied permissions and usage. */
function toolEvents(type: string | undefined, data: JsonObject, tally: ReturnType<typeof createTally>): readonly RunEvent[] {
  const id = textAt(data, 'toolCallId') ?? '';
  switch (type) {
    case 'tool.execution_start': {
      const tool = textAt(data, 'toolName') ?? 'tool';
      const input = objectAt(data, 'arguments');
      return [{ kind: 'tool_use', id, tool, title: titleOf(tool, input), toolKind: toolKind(tool), input, paths: pathsIn(input) }];
    }
    case 'tool.execution_complete': {
      const output = textAt(objectAt(data, 'result'), 'content') ?? textAt(objectAt(data, 'error'), 'message') ?? '';
      return [{ kind: 'tool_result', id, output, isError: data['success'] === false }];
    }
    case 'permission.completed': {
      const kind = textAt(objectAt(data, 'result'), 'kind') ?? '';
      return kind.startsWith('denied') ? [{ kind: 'note', text: `Denied, as nobody can be asked in this mode (${kind})` }] : [];
    }
    case 'assistant.usage': {
      const usage = compact({
        inputTokens: numberAt(data, 'inputTokens'),
        outputTokens: numberAt(data, 'outputTokens'),
        cachedTokens: numberAt(data, 'cacheReadTokens'),
        durationMs: numberAt(data, 'duration'),
      });
      return [{ kind: 'usage', usage: tally(usage) }];
    }
    default:
      return [];
  }
}

/** The last line also has the session id, which older versions have nowhere else. */
function resultOf(line: JsonObject): readonly RunEvent[] {
  const sessionId = textAt(line, 'sessionId') ?? textAt(objectAt(line, 'data'), 'sessionId');
  const code = numberAt(line, 'exitCode') ?? 0;
  const end: RunEvent = code === 0 ? { kind: 'done' } : { kind: 'error', message: `agent exited with code ${code}` };
  return sessionId === undefined ? [end] : [{ kind: 'init', sessionId }, end];
}
