import { isTerminal } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { placeOfConversation } from '../chat/conversations.tsx';
import { go } from '../route.ts';
import { Share } from '../share/button.tsx';
import { Copy, Sure, say } from '../ui/basic.tsx';
import { Menu } from '../ui/menu.tsx';
import { RunWith } from './again.tsx';
import type { TaskLog } from './log.ts';

/** What can be done with the task in its state. */
export function Actions({ log }: { readonly log: TaskLog }) {
  const about = log.about.value;
  if (about === undefined) return null;
  const run = async (what: () => Promise<void>): Promise<void> => {
    try {
      await what();
    } catch (thrown) {
      log.problem.value = wordsFor(thrown);
    }
  };
  const retry = async (): Promise<void> => {
    const { id } = await admin.retry(about.id);
    say('The last message was sent again, in a new task.');
    go(`/tasks/${encodeURIComponent(id)}`);
  };
  const remove = async (): Promise<void> => {
    await admin.remove(about.id);
    say('Task deleted.');
    go('/tasks');
  };
  const cancel = async (): Promise<void> => {
    await admin.cancel(about.id);
    await log.again();
  };
  const isOver = isTerminal(about.state);
  return (
    <div class="row task-actions">
      <a class="button" href={`/console${placeOfConversation(about)}`}>
        Open the conversation
      </a>
      {isOver ? (
        <button type="button" onClick={() => void run(retry)}>
          Retry
        </button>
      ) : (
        <button type="button" onClick={() => void run(cancel)}>
          Cancel
        </button>
      )}
      <RunWith about={about} />
      <Share
        id={about.id}
        onProblem={(text) => {
          log.problem.value = text;
        }}
      />
      <Menu label="More">
        <a class="button small" href={`/console/wire/rosetta?task=${encodeURIComponent(about.id)}`}>
          Show in every dialect
        </a>
        <Copy label="Copy JSON" text={() => JSON.stringify(about.task, null, 2)} />
      </Menu>
      <Sure label="Delete" onYes={() => void run(remove)} />
    </div>
  );
}
