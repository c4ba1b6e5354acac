import { useEffect, useState } from 'preact/hooks';
import { Ago, StateBadge } from '../ui/basic.tsx';
import type { Kinship, Relative } from './family.ts';
import { familyOf } from './family.ts';

const KIN: Readonly<Record<Kinship, string>> = { root: '', delegated: 'delegated', refers: 'follows' };

/** The tasks that this one came from and those that came from it. Nothing for a task that is alone. */
export function TaskTree({ id, state }: { readonly id: string; readonly state: string }) {
  const [tree, setTree] = useState<Relative | undefined>(undefined);
  useEffect(() => {
    let isLeft = false;
    familyOf(id).then(
      (found) => {
        if (!isLeft) setTree(found);
      },
      () => undefined, // the page itself says that the node does not answer
    );
    return () => {
      isLeft = true;
    };
  }, [id, state]);
  if (tree === undefined) return null;
  return (
    <section class="family" aria-label="Related tasks">
      <h2>Related tasks</h2>
      <ul class="panel">
        <Member one={tree} here={id} />
      </ul>
    </section>
  );
}

function Member({ one, here }: { readonly one: Relative; readonly here: string }) {
  const { id, task, words, kinship, children } = one;
  return (
    <li>
      <div class={id === here ? 'member here' : 'member'} {...(id === here ? { 'aria-current': 'true' } : {})}>
        {KIN[kinship] === '' ? null : <span class="kin">{KIN[kinship]}</span>}
        {task === undefined ? (
          <span class="dim">
            on another node: <code>{id}</code>
          </span>
        ) : (
          <>
            <StateBadge state={task.state} />
            <strong>{task.agent}</strong>
            <a href={`/console/tasks/${encodeURIComponent(id)}`}>{words === '' ? id : words}</a>
            <span class="dim">
              <Ago at={task.statusAt} />
            </span>
          </>
        )}
      </div>
      {children.length === 0 ? null : (
        <ul>
          {children.map((child) => (
            <Member key={child.id} one={child} here={here} />
          ))}
        </ul>
      )}
    </li>
  );
}
