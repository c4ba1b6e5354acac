import type { JsonObject } from '#protocol';
import { objectAt, objectIn, objectsAt, textAt } from '../process/json-line.ts';
import type { Job } from '../run/driver.ts';
import type { RunEvent } from '../run/events.ts';
import type { CliLineReader, NativeAdapter, NativeLaunch } from './native.ts';
import { option } from './native.ts';
import { pathsIn, titleOf, toolKind } from './tools.ts';

/**
 * Mistral Vibe: `--output streaming`, one chat message per line. It has no last line: the end of the
 * process is the end.
 */
export const vibe: NativeAdapter = {
  name: 'vibe',
  modes: ['default', 'plan', 'accept-edits'],
  environment: ['MISTRAL_*', 'VIBE_*'],
  homePaths: ['.vibe'],
  projectConfig: ['.vibe'],
  launch,
  reader,
};

function launch({ prompt, folder, session, settings, isPermissive }: Job): NativeLaunch {
  const argv = [
    ...['vibe', `--prompt=${prompt}`, '--output', 'streaming', '--workdir', folder, '--trust'],
    ...option('--agent', settings.mode),
    ...option('--resume', session),
    ...option('--max-turns', settings.turnsMax),
    ...option('--max-price', settings.budgetUsd),
    ...(isPermissive ? ['--auto-approve'] : []),
  ];
  return { argv };
}

function reader(): CliLineReader {
  return (line) => {
    if (line['injected'] === true) return [];
    switch (textAt(line, 'role')) {
      case 'assistant': {
        const thought = textAt(line, 'reasoning_content') ?? '';
        const text = textAt(line, 'content') ?? '';
        const thoughts: RunEvent[] = thought === '' ? [] : [{ kind: 'thought', text: thought }];
        const texts: RunEvent[] = text === '' ? [] : [{ kind: 'text', text, startsMessage: true }];
        return [...thoughts, ...texts, ...objectsAt(line, 'tool_calls').map(useOf)];
      }
      case 'tool':
        return [{ kind: 'tool_result', id: textAt(line, 'tool_call_id') ?? '', output: textAt(line, 'content') ?? '', isError: false }];
      default:
        return [];
    }
  };
}

function useOf(call: JsonObject): RunEvent {
  const named = objectAt(call, 'function');
  const tool = textAt(named, 'name') ?? 'tool';
  const input = objectIn(textAt(named, 'arguments') ?? '') ?? {};
  return {
    kind: 'tool_use',
    id: textAt(call, 'id') ?? '',
    tool,
    title: titleOf(tool, input),
    toolKind: toolKind(tool),
    input,
    paths: pathsIn(input),
  };
}
