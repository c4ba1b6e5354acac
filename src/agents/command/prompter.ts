import { randomUUID } from 'node:crypto';
import type { Child } from '../process/child.ts';
import type { RunEvent } from '../run/events.ts';
import { YES_OR_NO } from '../run/events.ts';
import type { CommandOptions } from './options.ts';

/** The operator's pattern may be slow, so it sees at most this much of a line. */
const LINE_CHARACTERS = 4096;

/**
 * Reads a program's output and finds its questions, as on a terminal. A question is usually an
 * unfinished last line, with the cursor behind it. Each is reported once.
 */
export function createPrompter({ approvePattern, approveWords }: CommandOptions, child: Child): (piece: string) => readonly RunEvent[] {
  if (approvePattern === undefined) return (piece) => [{ kind: 'text', text: piece }];
  const pattern = new RegExp(approvePattern.source, approvePattern.flags.replaceAll(/[gy]/g, ''));
  const { yes, no } = approveWords ?? { yes: 'y', no: 'n' };
  let line = '';
  let isAsked = false;
  const approval = (title: string): RunEvent => ({
    kind: 'approval',
    approval: {
      ...{ id: randomUUID(), tool: 'command', toolKind: 'execute', title, options: YES_OR_NO },
      answer: (optionId) => void child.write(`${optionId === 'allow' ? yes : no}\n`),
    },
  });
  return (piece) => {
    const events: RunEvent[] = [{ kind: 'text', text: piece }];
    for (const [at, part] of piece.split('\n').entries()) {
      if (at > 0) {
        line = '';
        isAsked = false;
      }
      line = (line + part).slice(-LINE_CHARACTERS);
      if (isAsked || !pattern.test(line)) continue;
      isAsked = true;
      events.push(approval(line.trim()));
    }
    return events;
  };
}
