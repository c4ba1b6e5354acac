import { useMemo, useState } from 'preact/hooks';
import type { AdminEvent, Dialect, Json, Task } from '#protocol';
import { DIALECTS } from '#protocol';
import { wordsFor } from '../api.ts';
import { Copy } from '../ui/basic.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { MAIN } from '../wire/dialects.ts';

interface SeenProps {
  /** The task at the chosen event. */
  readonly task: Task;
  /** The event that came last until then. */
  readonly last: AdminEvent | undefined;
  readonly count: number;
  /** The dialect in which the task was created. */
  readonly dialect: string;
}

/** What a client of a dialect had received until the chosen event: the newest frame of its stream, and the task if it asked for it. */
export function Seen({ task, last, count, dialect: own }: SeenProps) {
  const [id, setId] = useState(own);
  const dialect = DIALECTS.find((one) => one.id === id) ?? MAIN[0];
  const seen = useMemo(() => (dialect === undefined ? undefined : seenIn(dialect, task, last)), [dialect, task, last]);
  const choices = MAIN.some((one) => one.id === own) ? MAIN : [...DIALECTS.filter((one) => one.id === own), ...MAIN];
  return (
    <section aria-label="What a client had received">
      <div class="spread">
        <h2>What a client had received</h2>
        <label class="row">
          in{' '}
          <select value={id} onChange={(event) => setId(event.currentTarget.value)}>
            {choices.map((one) => (
              <option key={one.id} value={one.id}>
                {one.title}
                {one.id === own ? ', as its caller' : ''}
              </option>
            ))}
          </select>
        </label>
      </div>
      <div class="seen">
        <Side
          title={`Frame ${count.toLocaleString('en')} of the stream`}
          side={seen?.frame}
          none="This dialect has no frame for the event."
        />
        <Side title="The task, if it asks for it" side={seen?.task} none="This dialect can’t express the task." />
      </div>
    </section>
  );
}

type Written = { readonly json: Json } | { readonly problem: string };

interface SeenSides {
  readonly frame: Written | undefined;
  readonly task: Written | undefined;
}

function seenIn(dialect: Dialect, task: Task, last: AdminEvent | undefined): SeenSides {
  const { get, stream } = dialect.methods;
  return {
    frame: last === undefined || stream === undefined ? undefined : written(() => dialect.encode('event', last.event)),
    task: written(() => (get === undefined ? dialect.encode('send.result', { task }) : dialect.encode('get.result', task))),
  };
}

function written(encode: () => unknown): Written {
  try {
    return { json: JSON.parse(JSON.stringify(encode())) };
  } catch (thrown) {
    return { problem: wordsFor(thrown) };
  }
}

function Side({ title, side, none }: { readonly title: string; readonly side: Written | undefined; readonly none: string }) {
  return (
    <div class="panel seen-side">
      <div class="spread">
        <h3>{title}</h3>
        {side !== undefined && 'json' in side ? <Copy label="Copy JSON" text={() => JSON.stringify(side.json, null, 2)} /> : null}
      </div>
      {side === undefined || 'problem' in side ? (
        <p class="dim">{side === undefined ? none : side.problem}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        <section class="tree-box" tabIndex={0} aria-label={title}>
          <JsonTree value={side.json} open={3} />
        </section>
      )}
    </div>
  );
}
