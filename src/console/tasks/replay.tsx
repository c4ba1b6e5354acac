import type { Logged } from '#protocol';
import { lineOf } from './log.ts';

interface ReplayProps {
  readonly events: readonly Logged[];
  /** How many events the task has, also those that are not read yet. */
  readonly total: number;
  readonly isWhole: boolean;
  readonly at: number;
  readonly onMove: (at: number | undefined) => void;
}

/** The slider over the events. */
export function Replay({ events, total, isWhole, at, onMove }: ReplayProps) {
  const count = events.length;
  const isPast = at < count;
  const counted = (some: number): string => some.toLocaleString('en');
  const now = events[at - 1];
  if (!isWhole) {
    return (
      <section class="panel replay" aria-label="Replay">
        <p role="status">
          Reading the log: {counted(count)} of {counted(total)} events …
        </p>
      </section>
    );
  }
  return (
    <section class="panel replay" aria-label="Replay">
      <label>
        <span class="replay-words">
          {isPast ? `After event ${counted(at)} of ${counted(count)}` : `All ${counted(count)} events. Move the slider to replay them.`}
          {isPast && now !== undefined ? <strong>{lineOf(now.event).text}</strong> : null}
        </span>
        <input type="range" min={1} max={Math.max(1, count)} value={at} onInput={(event) => onMove(Number(event.currentTarget.value))} />
      </label>
      {isPast ? (
        <button type="button" class="small" onClick={() => onMove(undefined)}>
          Back to now
        </button>
      ) : null}
    </section>
  );
}
