import type { JsonObject } from '#protocol';
import { compact, numberAt, objectAt, textAt } from '../process/json-line.ts';
import type { Job } from '../run/driver.ts';
import type { RunEvent } from '../run/events.ts';
import type { CliLineReader, NativeAdapter, NativeLaunch } from './native.ts';
import { option } from './native.ts';
import { createTally, pathsIn, titleOf, toolKind } from './tools.ts';

/**
 * OpenCode: `run --format json`. Texts and tools are reported when they are finished. Without `--auto`
 * it rejects what it would ask for.
 */
export const opencode: NativeAdapter = {
  name: 'opencode',
  modes: ['build', 'plan'],
  environment: ['OPENCODE_*', 'ANTHROPIC_*', 'OPENAI_*', 'GEMINI_*', 'GOOGLE_*', 'OPENROUTER_*', 'GROQ_*', 'XAI_*', 'AWS_*', 'AZURE_*'],
  homePaths: ['.config/opencode', '.local/share/opencode', '.local/state/opencode', '.cache/opencode', '.opencode'],
  projectConfig: ['opencode.json', 'opencode.jsonc', '.opencode'],
  launch,
  reader,
};

/** It allows everything by default. Reading and planning need no approval. */
const ASKS = Object.fromEntries([
  ['*', 'ask'],
  ...['read', 'list', 'glob', 'grep', 'lsp', 'todoread', 'todowrite', 'task', 'skill'].map((tool) => [tool, 'allow']),
]) as Readonly<Record<string, string>>;

export const OPENCODE_ASKS: Readonly<Record<string, string>> = { OPENCODE_PERMISSION: JSON.stringify(ASKS) };

function launch({ prompt, folder, session, settings, isPermissive, mayEdit }: Job): NativeLaunch {
  const argv = [
    ...['opencode', 'run', '--format', 'json', '--dir', folder],
    ...option('-m', settings.model),
    ...option('--agent', settings.mode),
    ...option('-s', session),
    ...(isPermissive ? ['--auto'] : []),
  ];
  const permission = mayEdit ? { ...ASKS, edit: 'allow' } : ASKS;
  return { argv, input: prompt, ...(isPermissive ? {} : { env: { OPENCODE_PERMISSION: JSON.stringify(permission) } }) };
}

function reader(): CliLineReader {
  const tally = createTally();
  let hasBegun = false;
  return (line) => {
    const before: RunEvent[] = [];
    const sessionId = textAt(line, 'sessionID');
    if (!hasBegun && sessionId !== undefined) {
      hasBegun = true;
      before.push({ kind: 'init', sessionId });
    }
    return [...before, ...eventsIn(line, tally)];
  };
}

function eventsIn(line: JsonObject, tally: ReturnType<typeof createTally>): readonly RunEvent[] {
  const part = objectAt(line, 'part');
  switch (textAt(line, 'type')) {
    case 'text':
      return [{ kind: 'text', text: textAt(part, 'text') ?? '', startsMessage: true }];
    case 'reasoning':
      return [{ kind: 'thought', text: textAt(part, 'text') ?? '' }];
    case 'tool_use':
      return toolEvents(part);
    case 'step_finish': {
      const tokens = objectAt(part, 'tokens');
      const usage = compact({
        inputTokens: numberAt(tokens, 'input'),
        outputTokens: numberAt(tokens, 'output'),
        cachedTokens: numberAt(objectAt(tokens, 'cache'), 'read'),
        costUsd: numberAt(part, 'cost'),
      });
      return [{ kind: 'usage', usage: tally(usage) }];
    }
    case 'error': {
      const error = objectAt(line, 'error');
      return [
        { kind: 'error', message: textAt(objectAt(error, 'data'), 'message') ?? textAt(error, 'name') ?? 'the agent reported an error' },
      ];
    }
    case 'done': {
      const rejected = Array.isArray(line['rejected']) ? line['rejected'].map(String) : [];
      const note: RunEvent[] =
        rejected.length === 0 ? [] : [{ kind: 'note', text: `Rejected, as nobody can be asked in this mode: ${rejected.join(', ')}` }];
      return [...note, { kind: 'done' }];
    }
    default:
      return [];
  }
}

function toolEvents(part: JsonObject): readonly RunEvent[] {
  const tool = textAt(part, 'tool') ?? 'tool';
  const state = objectAt(part, 'state');
  const id = textAt(part, 'callID') ?? '';
  const input = objectAt(state, 'input');
  const isError = textAt(state, 'status') === 'error';
  return [
    {
      kind: 'tool_use',
      id,
      tool,
      title: textAt(state, 'title') || titleOf(tool, input),
      toolKind: toolKind(tool),
      input,
      paths: pathsIn(input),
    },
    { kind: 'tool_result', id, tool, output: textAt(state, 'output') ?? textAt(state, 'error') ?? '', isError },
  ];
}
