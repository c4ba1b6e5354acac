import { useState } from 'preact/hooks';
import type { AdminTask } from '#protocol';
import { isTerminal } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { Sure, say } from '../ui/basic.tsx';

interface BulkProps {
  readonly picked: readonly AdminTask[];
  readonly onDone: () => void;
}

/** What can be done with the selected tasks at once. */
export function Bulk({ picked, onDone }: BulkProps) {
  const [doing, setDoing] = useState('');
  if (picked.length === 0) return null;
  const run = async (what: string, tasks: readonly AdminTask[], act: (id: string) => Promise<unknown>): Promise<void> => {
    let problem = '';
    let done = 0;
    for (const [at, { id }] of tasks.entries()) {
      setDoing(`${what}: ${at} of ${tasks.length} …`);
      try {
        await act(id);
        done += 1;
      } catch (thrown) {
        problem = wordsFor(thrown);
      }
    }
    setDoing('');
    say(problem === '' ? `${what}: ${done}` : `${what}: ${done} of ${tasks.length}. ${problem}`);
    onDone();
  };
  const running = picked.filter(({ state }) => !isTerminal(state));
  const ended = picked.filter(({ state }) => isTerminal(state));
  return (
    <div class="bulk" role="toolbar" aria-label="Selected tasks">
      <strong>{picked.length} selected</strong>
      {doing === '' ? null : <span role="status">{doing}</span>}
      <button type="button" disabled={running.length === 0 || doing !== ''} onClick={() => void run('Canceled', running, admin.cancel)}>
        Cancel {running.length > 0 ? running.length : ''}
      </button>
      <button type="button" disabled={ended.length === 0 || doing !== ''} onClick={() => void run('Sent again', ended, admin.retry)}>
        Retry {ended.length > 0 ? ended.length : ''}
      </button>
      {doing === '' ? <Sure label={`Delete ${picked.length}`} onYes={() => void run('Deleted', picked, admin.remove)} /> : null}
      <button type="button" class="quiet" onClick={onDone}>
        Clear the selection
      </button>
    </div>
  );
}
