interface ReplayProps {
  readonly count: number;
  /** How many events the task has, also those that are not read yet. */
  readonly total: number;
  readonly isWhole: boolean;
  readonly at: number;
  readonly onMove: (at: number | undefined) => void;
}

/** The slider over the events. */
export function Replay({ count, total, isWhole, at, onMove }: ReplayProps) {
  const isPast = at < count;
  const counted = (events: number): string => events.toLocaleString('en');
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
        {isPast ? `After event ${counted(at)} of ${counted(count)}` : `All ${counted(count)} events. Move the slider to replay them.`}
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
