import { useState } from 'preact/hooks';
import type { AdminTask } from '#protocol';
import { isTerminal } from '#protocol';
import { admin } from '../api.ts';
import { commits } from '../ops/watch.ts';
import { usePolling } from '../poll.ts';
import { Ago } from '../ui/basic.tsx';

const AMONG = 200;
const EVERY_MS = 5000;

/** The newest tasks of the node, by agent. */
export function useRecent(): ReadonlyMap<string, readonly AdminTask[]> {
  const [recent, setRecent] = useState<ReadonlyMap<string, readonly AdminTask[]>>(new Map());
  usePolling(
    async () => {
      const { tasks } = await admin.tasks(new URLSearchParams({ pageSize: String(AMONG) }));
      setRecent(Map.groupBy(tasks, ({ agent }) => agent));
    },
    EVERY_MS,
    [commits.value],
  );
  return recent;
}

/** What an agent did lately, in one line. */
export function Recent({ tasks }: { readonly tasks: readonly AdminTask[] | undefined }) {
  const [newest] = tasks ?? [];
  if (tasks === undefined || newest === undefined) return <small class="recent">Not used lately</small>;
  const failed = tasks.filter(({ state }) => state === 'TASK_STATE_FAILED').length;
  const running = tasks.filter(({ state }) => !isTerminal(state)).length;
  return (
    <small class="recent" title={`Among the newest ${AMONG} tasks of the node`}>
      <Ago at={newest.statusAt} />, {tasks.length} {tasks.length === 1 ? 'task' : 'tasks'}
      {running === 0 ? '' : `, ${running} open`}
      {failed === 0 ? null : (
        <>
          , <b>{failed} failed</b>
        </>
      )}
    </small>
  );
}
