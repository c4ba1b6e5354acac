interface PlotProps {
  readonly title: string;
  readonly values: readonly number[];
  readonly show: (value: number) => string;
  /** Names of the ends of the time axis. */
  readonly ends?: readonly [from: string, to: string];
  /** The minimum of the vertical axis's upper end. */
  readonly least?: number;
}

const WIDTH = 320;
const HEIGHT = 90;

/** The end of the vertical axis: a round number above the highest value, so that a constant is not a full box. */
function topOf(highest: number): number {
  const wanted = highest * 1.1;
  const unit = 10 ** Math.floor(Math.log10(wanted));
  return ([1, 2, 5].find((digit) => digit * unit >= wanted) ?? 10) * unit;
}

/** One number over time. Its last value is also text, for screen readers. */
export function Plot({ title, values, show, least = 1, ends }: PlotProps) {
  const top = topOf(Math.max(least, ...values));
  const last = values.at(-1) ?? 0;
  const step = values.length < 2 ? WIDTH : WIDTH / (values.length - 1);
  const points = values.map((value, at) => `${(at * step).toFixed(1)},${(HEIGHT - (value / top) * (HEIGHT - 6) - 2).toFixed(1)}`);
  return (
    <figure class="panel plot">
      <figcaption>
        <span class="dim">{title}</span>
        <strong>{show(last)}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: now ${show(last)}, at most ${show(Math.max(0, ...values))}`}
      >
        {values.length === 0 ? null : (
          <>
            <polygon class="area" points={`0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`} />
            <polyline class="line" points={points.join(' ')} />
          </>
        )}
      </svg>
      <span class="plot-top" aria-hidden="true">
        {show(top)}
      </span>
      {ends === undefined ? null : (
        <span class="plot-ends" aria-hidden="true">
          <span>{ends[0]}</span>
          <span>{ends[1]}</span>
        </span>
      )}
    </figure>
  );
}
