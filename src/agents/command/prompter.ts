import { randomUUID } from 'node:crypto';
import type { Child } from '../process/child.ts';
import type { RunEvent } from '../run/events.ts';
import { YES_OR_NO } from '../run/events.ts';
import type { CommandOptions } from './options.ts';

/** A pattern of the operator's own may be slow: it is shown no more of a line than this. */
const LINE_CHARACTERS = 4096;

/**
 * Reads what a program writes, and finds where it asks as it would on a terminal. A question is usually the last line, and not ended:
 * the cursor stands behind it. Each is found once.
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
