import { useState } from 'preact/hooks';
import type { AdminWholeTask } from '#protocol';
import { agents, clientFor } from '../agents/known.ts';
import { wordsFor } from '../api.ts';
import { go } from '../route.ts';
import { Problem, say } from '../ui/basic.tsx';
import { Choice, Menu } from '../ui/menu.tsx';

/** The address that shows two tasks side by side. */
export function comparison(one: string, other: string): string {
  return `/tasks/${encodeURIComponent(one)}?compare=${encodeURIComponent(other)}`;
}

/** Sends the first message of a task to an agent, as a new task, and compares the two. */
export function RunWith({ about }: { readonly about: AdminWholeTask }) {
  const [problem, setProblem] = useState('');
  const first = about.task.history?.find(({ role }) => role === 'ROLE_USER');
  if (first === undefined) return null;
  const run = async (name: string): Promise<void> => {
    try {
      const client = await clientFor({ name });
      const handle = client.send({ parts: first.parts, referenceTaskIds: [about.id] }, { returnImmediately: true });
      const { task } = await handle.result();
      if (task === undefined) throw new Error(`${name} answered with a message and made no task, so there is nothing to compare`);
      say(`The request was sent to ${name}.`);
      go(comparison(about.id, task.id));
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
  };
  return (
    <>
      <Menu label="Run with" name="Run with another agent">
        {(agents.value ?? []).map(({ name }) => (
          <Choice key={name} onChoose={() => void run(name)}>
            {name}
          </Choice>
        ))}
      </Menu>
      <a class="button" href={`/console${comparison(about.id, '')}`}>
        Compare
      </a>
      <Problem text={problem} />
    </>
  );
}
