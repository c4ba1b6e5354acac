import { compact, numberAt, objectAt, textAt } from '../process/json-line.ts';
import type { Job } from '../run/driver.ts';
import type { CliLineReader, NativeAdapter, NativeLaunch } from './native.ts';
import { option } from './native.ts';
import { pathsIn, titleOf, toolKind } from './tools.ts';

/**
 * Gemini CLI: `--output-format stream-json`. It never asks for approval in this mode: tools that need
 * one are not available.
 */
export const gemini: NativeAdapter = {
  name: 'gemini',
  modes: ['default', 'auto_edit', 'plan'],
  environment: ['GEMINI_*', 'GOOGLE_*'],
  homePaths: ['.gemini'],
  projectConfig: ['.gemini/settings.json', '.gemini/.env', '.env', '.gemini/extensions', '.gemini/commands', '.gemini/hooks'],
  launch,
  reader,
};

/**
 * The folder's own configuration is hidden, or the operator trusts the folder. In both cases the CLI's
 * question about trust is answered.
 */
function launch({ prompt, session, settings, isPermissive, mayEdit }: Job): NativeLaunch {
  const mode = settings.mode ?? (isPermissive ? 'yolo' : mayEdit ? 'auto_edit' : 'default');
  const argv = [
    ...['gemini', '--output-format', 'stream-json', '--skip-trust', '--approval-mode', mode],
    ...option('-m', settings.model),
    ...option('--resume', session),
  ];
  return { argv, input: prompt };
}

function reader(): CliLineReader {
  let isInMessage = false;
  return (line) => {
    const type = textAt(line, 'type');
    if (type !== 'message') isInMessage = false;
    switch (type) {
      case 'init':
        return [{ kind: 'init', ...(compact({ sessionId: textAt(line, 'session_id'), model: textAt(line, 'model') }) as object) }];
      case 'message': {
        if (textAt(line, 'role') !== 'assistant') return [];
        const startsMessage = !isInMessage || line['delta'] !== true;
        isInMessage = true;
        return [{ kind: 'text', text: textAt(line, 'content') ?? '', startsMessage }];
      }
      case 'tool_use': {
        const tool = textAt(line, 'tool_name') ?? 'tool';
        const input = objectAt(line, 'parameters');
        const told = { tool, title: titleOf(tool, input), toolKind: toolKind(tool), input, paths: pathsIn(input) };
        return [{ kind: 'tool_use', id: textAt(line, 'tool_id') ?? '', ...told }];
      }
      case 'tool_result': {
        const output = textAt(line, 'output') ?? textAt(objectAt(line, 'error'), 'message') ?? '';
        return [{ kind: 'tool_result', id: textAt(line, 'tool_id') ?? '', output, isError: textAt(line, 'status') === 'error' }];
      }
      case 'error':
        return [{ kind: 'note', text: `${textAt(line, 'severity') ?? 'error'}: ${textAt(line, 'message') ?? ''}` }];
      case 'result': {
        const stats = objectAt(line, 'stats');
        const usage = compact({
          inputTokens: numberAt(stats, 'input_tokens'),
          outputTokens: numberAt(stats, 'output_tokens'),
          totalTokens: numberAt(stats, 'total_tokens'),
          cachedTokens: numberAt(stats, 'cached'),
          durationMs: numberAt(stats, 'duration_ms'),
        });
        const failed = textAt(line, 'status') === 'error';
        const message = textAt(objectAt(line, 'error'), 'message') ?? textAt(line, 'error') ?? 'the agent reported an error';
        return [{ kind: 'usage', usage }, failed ? { kind: 'error', message } : { kind: 'done' }];
      }
      default:
        return [];
    }
  };
}
