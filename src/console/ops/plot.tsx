import { ago } from '../ui/basic.tsx';

interface PlotProps {
  readonly title: string;
  readonly values: readonly number[];
  /** When each value was measured, in milliseconds since 1970. */
  readonly times: readonly number[];
  readonly show: (value: number) => string;
  /** The minimum of the vertical axis's upper end. */
  readonly least?: number;
}

const WIDTH = 320;
const HEIGHT = 90;
const LINE_PX = 2;

/** The end of the vertical axis: a round number above the highest value, so that a constant is not a full box. */
function topOf(highest: number): number {
  const wanted = highest * 1.1;
  const unit = 10 ** Math.floor(Math.log10(wanted));
  return ([1, 2, 5].find((digit) => digit * unit >= wanted) ?? 10) * unit;
}

/** One number over time. Its last value is also text, for screen readers. */
export function Plot({ title, values, times, show, least = 1 }: PlotProps) {
  const top = topOf(Math.max(least, ...values));
  const last = values.at(-1) ?? 0;
  const [from = 0, to = 0] = [times[0], times.at(-1)];
  const across = (ms: number): number => (to === from ? WIDTH : ((ms - from) / (to - from)) * WIDTH);
  const down = (value: number): number => HEIGHT - LINE_PX - (value / top) * (HEIGHT - LINE_PX);
  const points = values.map((value, at) => `${across(times[at] ?? to).toFixed(1)},${down(value).toFixed(1)}`);
  return (
    <figure class="panel plot">
      <figcaption>
        <span class="dim">{title}</span>
        <strong>{show(last)}</strong>
      </figcaption>
      <div class="plot-box">
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
        <span class="plot-mark" aria-hidden="true">
          {show(top).replace(/\.0(?= )/, '')}
        </span>
        <span class="plot-mark half" aria-hidden="true" />
      </div>
      <span class="plot-times" aria-hidden="true">
        <span>{agoOf(from)}</span>
        <span>{agoOf((from + to) / 2)}</span>
        <span>now</span>
      </span>
    </figure>
  );
}

function agoOf(ms: number): string {
  return ms === 0 ? '' : ago(new Date(ms).toISOString());
}
