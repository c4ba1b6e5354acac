import { useState } from 'preact/hooks';
import type { Logged } from '#protocol';
import { JsonTree } from '../ui/json-tree.tsx';
import { Virtual } from '../ui/virtual.tsx';
import { lineOf } from './log.ts';
import { timeOf } from './spans.ts';

const ROW_PX = 34;
const TIMELINE_PX = 420;

/** All events. Only visible rows are in the page, so that long logs stay fast. */
export function Events({ events, shownUpTo }: { readonly events: readonly Logged[]; readonly shownUpTo: number }) {
  const [picked, setPicked] = useState<number | undefined>(undefined);
  return (
    <section aria-label="All events">
      <h2>Events</h2>
      <div class="timeline panel" style={{ height: Math.min(TIMELINE_PX, events.length * ROW_PX + 14) }}>
        <Virtual
          label="All events"
          count={events.length}
          rowPx={ROW_PX}
          keyOf={(index) => events[index]?.seq ?? index}
          row={(index) => (
            <EventRow
              logged={events[index]}
              isLater={index >= shownUpTo}
              isPicked={index === picked}
              onPick={() => setPicked(index === picked ? undefined : index)}
            />
          )}
        />
      </div>
      {picked === undefined || events[picked] === undefined ? null : (
        <div class="tree-box">
          <JsonTree value={events[picked]?.event} open={4} />
        </div>
      )}
    </section>
  );
}

interface EventRowProps {
  readonly logged: Logged | undefined;
  readonly isLater: boolean;
  readonly isPicked: boolean;
  readonly onPick: () => void;
}

/** One event on one line. */
function EventRow({ logged, isLater, isPicked, onPick }: EventRowProps) {
  if (logged === undefined) return null;
  const { kind, text } = lineOf(logged.event);
  const time = timeOf(logged.event);
  return (
    <button type="button" class={`event ${isLater ? 'later' : ''}`} aria-pressed={isPicked} onClick={onPick}>
      <span class="dim">{logged.seq}</span>
      <span class={`kind kind-${kind}`}>{kind}</span>
      <span class="event-text">{text}</span>
      <time class="dim">{time === undefined ? '' : new Date(time).toLocaleTimeString()}</time>
    </button>
  );
}
