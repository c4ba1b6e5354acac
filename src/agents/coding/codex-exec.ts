import type { JsonObject } from '#protocol';
import { compact, numberAt, objectAt, objectsAt, textAt } from '../process/json-line.ts';
import type { Job } from '../run/driver.ts';
import type { RunEvent, Usage } from '../run/events.ts';
import type { CliLineReader, NativeAdapter, NativeLaunch } from './native.ts';
import { option } from './native.ts';

/** Shared by both ways to start Codex. */
export const CODEX: Pick<NativeAdapter, 'environment' | 'homePaths' | 'projectConfig'> = {
  environment: ['OPENAI_*', 'CODEX_*'],
  homePaths: ['.codex'],
  projectConfig: ['.codex/config.toml', '.codex/hooks.json', '.codex/rules'],
};

/** `codex exec --json`: never asks for approval, and does only what its sandbox allows. */
export const codexExec: NativeAdapter = { name: 'codex-exec', ...CODEX, modes: ['read-only', 'workspace-write'], launch, reader };

function launch({ prompt, folder, session, settings, isPermissive }: Job): NativeLaunch {
  const mode = settings.mode ?? (isPermissive ? 'danger-full-access' : 'workspace-write');
  const argv = [
    ...['codex', 'exec', '--json', '--skip-git-repo-check', '-C', folder, '-s', mode, ...option('-m', settings.model)],
    ...option('resume', session),
    '-',
  ];
  return { argv, input: prompt };
}

function reader(): CliLineReader {
  const started = new Set<string>();
  return (line) => {
    switch (textAt(line, 'type')) {
      case 'thread.started':
        return [{ kind: 'init', sessionId: textAt(line, 'thread_id') ?? '' }];
      case 'item.started':
        started.add(textAt(objectAt(line, 'item'), 'id') ?? '');
        return startOf(objectAt(line, 'item'));
      case 'item.updated':
        return textAt(objectAt(line, 'item'), 'type') === 'todo_list' ? [planOf(objectAt(line, 'item'))] : [];
      case 'item.completed':
        return itemEvents(objectAt(line, 'item'), started);
      case 'turn.completed':
        return [{ kind: 'usage', usage: usageOf(objectAt(line, 'usage')) }, { kind: 'done' }];
      case 'turn.failed':
        return [{ kind: 'error', message: textAt(objectAt(line, 'error'), 'message') ?? 'the turn failed' }];
      case 'error':
        return [{ kind: 'note', text: textAt(line, 'message') ?? 'an error' }];
      default:
        return [];
    }
  };
}

function startOf(item: JsonObject): readonly RunEvent[] {
  const type = textAt(item, 'type') ?? '';
  if (type === 'todo_list') return [planOf(item)];
  return TOOLS.has(type) ? [useOf(item)] : [];
}

const TOOLS: ReadonlySet<string> = new Set(['command_execution', 'file_change', 'mcp_tool_call', 'collab_tool_call', 'web_search']);

/** The events of a complete item. Some items come without a start. */
function itemEvents(item: JsonObject, started: ReadonlySet<string>): readonly RunEvent[] {
  const type = textAt(item, 'type') ?? '';
  switch (type) {
    case 'agent_message':
      return [{ kind: 'text', text: textAt(item, 'text') ?? '', startsMessage: true }];
    case 'reasoning':
      return [{ kind: 'thought', text: textAt(item, 'text') ?? '' }];
    case 'todo_list':
      return [planOf(item)];
    case 'error':
      return [{ kind: 'note', text: textAt(item, 'message') ?? 'an error' }];
    case 'file_change':
      return started.has(textAt(item, 'id') ?? '') ? [resultOf(item)] : [useOf(item), resultOf(item)];
    default:
      return TOOLS.has(type) ? [resultOf(item)] : [];
  }
}

/** The start of a command, a patch, a search or another tool. */
function useOf(item: JsonObject): RunEvent {
  const id = textAt(item, 'id') ?? '';
  switch (textAt(item, 'type')) {
    case 'command_execution': {
      const command = textAt(item, 'command') ?? '';
      return { kind: 'tool_use', id, tool: 'shell', title: `shell: ${command}`, toolKind: 'execute', input: { command } };
    }
    case 'file_change': {
      const paths = objectsAt(item, 'changes').map((change) => textAt(change, 'path') ?? '');
      return { kind: 'tool_use', id, tool: 'apply_patch', title: `apply_patch: ${paths.join(', ')}`, toolKind: 'edit', paths };
    }
    case 'web_search':
      return { kind: 'tool_use', id, tool: 'web_search', toolKind: 'fetch', input: { query: textAt(item, 'query') ?? '' } };
    default: {
      const tool = [textAt(item, 'server'), textAt(item, 'tool')].filter((name) => name !== undefined).join('.') || 'tool';
      return { kind: 'tool_use', id, tool, toolKind: 'other', input: item['arguments'] ?? {} };
    }
  }
}

function resultOf(item: JsonObject): RunEvent {
  const status = textAt(item, 'status');
  const error = textAt(objectAt(item, 'error'), 'message');
  const changes = objectsAt(item, 'changes').map((change) => `${textAt(change, 'kind')} ${textAt(change, 'path')}`);
  const texts = objectsAt(objectAt(item, 'result'), 'content').map((block) => textAt(block, 'text') ?? '');
  const output = error ?? textAt(item, 'aggregated_output') ?? [...changes, ...texts].join('\n');
  const code = numberAt(item, 'exit_code') ?? 0;
  return { kind: 'tool_result', id: textAt(item, 'id') ?? '', output, isError: status === 'failed' || status === 'declined' || code !== 0 };
}

function planOf(item: JsonObject): RunEvent {
  const entries = objectsAt(item, 'items').map((entry) => ({
    content: textAt(entry, 'text') ?? '',
    status: entry['completed'] === true ? ('completed' as const) : ('pending' as const),
  }));
  return { kind: 'plan', entries };
}

function usageOf(usage: JsonObject): Usage {
  return compact({
    inputTokens: numberAt(usage, 'input_tokens'),
    outputTokens: numberAt(usage, 'output_tokens'),
    cachedTokens: numberAt(usage, 'cached_input_tokens'),
  });
}
