import { signal } from '@preact/signals';
import { useMemo, useState } from 'preact/hooks';
import { wordsFor } from '../api.ts';
import { Events } from '../tasks/events.tsx';
import { taskAt } from '../tasks/log.ts';
import { Outcome } from '../tasks/outcome.tsx';
import { Replay } from '../tasks/replay.tsx';
import { spansOf } from '../tasks/spans.ts';
import { speakersIn } from '../tasks/speakers.ts';
import { Waterfall } from '../tasks/waterfall.tsx';
import { Problem, StateBadge, when } from '../ui/basic.tsx';
import { titleOfShared } from './html.ts';
import type { SharedFile, SharedTask } from './shared.ts';
import { readShared } from './shared.ts';
import '../tasks/tasks.css';

/** The file that was opened last. It stays in the page and is sent nowhere. */
const opened = signal<SharedFile | undefined>(undefined);

/** `/shared`: a file that a console exported. */
export function SharedPage() {
  const [problem, setProblem] = useState('');
  const file = opened.value;
  const open = async (given: File | undefined): Promise<void> => {
    if (given === undefined) return;
    try {
      opened.value = readShared(await given.text());
      setProblem('');
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
  };
  return (
    <div class="page">
      <p class="crumb">
        <a href="/console/tasks">Tasks</a> / shared file
      </p>
      <h1>{file === undefined ? 'Open a shared file' : titleOfShared(file)}</h1>
      <p class="lead">
        {file === undefined
          ? 'A task or a conversation that a console exported. The file is shown here and stored nowhere.'
          : `Exported ${when(file.exportedAt)}. Nothing of it is stored on this node.`}
      </p>
      <label class="panel shared-file">
        File{' '}
        <input
          type="file"
          accept=".html,.json,text/html,application/json"
          onChange={(event) => void open(event.currentTarget.files?.[0])}
        />
      </label>
      <Problem text={problem} />
      {(file?.tasks ?? []).map((shared) => (
        <SharedTaskView key={shared.about.id} shared={shared} />
      ))}
    </div>
  );
}

/** One task of the file, with its timeline and the replay of its log. */
function SharedTaskView({ shared: { about, task, events } }: { readonly shared: SharedTask }) {
  const [at, setAt] = useState<number | undefined>(undefined);
  const shownUpTo = at ?? events.length;
  const spans = useMemo(() => spansOf(events, 0), [events]);
  const then = useMemo(() => (at === undefined || at >= events.length ? task : taskAt(events, at)), [at, events, task]);
  return (
    <article aria-label={`Shared task of ${about.agent}`}>
      <h2 class="row">
        <StateBadge state={then?.status.state ?? about.state} /> {about.agent}
      </h2>
      <Replay events={events} total={events.length} at={shownUpTo} isWhole onMove={setAt} />
      <Waterfall spans={spans} shownUpTo={shownUpTo} onPick={setAt} />
      <div class="task-columns">
        <Events events={events} shownUpTo={shownUpTo} />
        <section aria-label="Result">
          {then === undefined ? null : <Outcome task={then} speakers={speakersIn(events, about.agent)} />}
        </section>
      </div>
    </article>
  );
}
