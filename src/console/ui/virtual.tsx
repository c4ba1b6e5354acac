import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { keepTop, keptTop } from '../route.ts';

interface VirtualProps {
  readonly count: number;
  readonly rowPx: number;
  readonly label: string;
  /** Called when the rows from `first` to `last` become visible. */
  readonly onWanted?: (last: number) => void;
  /** Called with the visible rows when they change, and when one of them is replaced. */
  readonly onShown?: (first: number, last: number) => void;
  readonly row: (index: number) => ComponentChildren;
  readonly keyOf: (index: number) => string | number;
  /** Back and a reload find the place again. For the list that a page is about. */
  readonly isKept?: boolean;
}

const OVERSCAN = 8;
/** Browsers can lay out about 30 million pixels. Rows beyond that are reached by search. */
const HEIGHT_MAX = 30_000_000;

const KEEP_MS = 100;

/** Scrolls to the place that the history has, as soon as the list is long enough, and writes down where the reader stops. */
function useKeptTop(
  isKept: boolean,
  box: RefObject<HTMLDivElement | null>,
  { top, heightPx }: { readonly top: number; readonly heightPx: number },
): void {
  const wanted = useRef(isKept ? keptTop() : 0);
  useLayoutEffect(() => {
    if (wanted.current === 0 || box.current === null || heightPx <= wanted.current) return;
    box.current.scrollTop = wanted.current;
    wanted.current = 0;
  }, [heightPx]);
  useEffect(() => {
    if (!isKept || wanted.current !== 0) return;
    const timer = setTimeout(() => keepTop(box.current?.scrollTop ?? 0), KEEP_MS);
    return () => clearTimeout(timer);
  }, [top]);
}

/** A list that renders only its visible rows. Arrow keys move between rows. */
export function Virtual({ count, rowPx, label, onWanted, onShown, row, keyOf, isKept = false }: VirtualProps) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const node = box.current;
    if (node === null) return;
    const measure = new ResizeObserver(() => setHeight(node.clientHeight));
    measure.observe(node);
    return () => measure.disconnect();
  }, []);
  useKeptTop(isKept, box, { top, heightPx: count * rowPx });
  const first = Math.max(0, Math.floor(top / rowPx) - OVERSCAN);
  const last = Math.min(count, Math.ceil((top + height) / rowPx) + OVERSCAN);
  useEffect(() => onWanted?.(last), [last, onWanted]);
  const shown = `${first} ${last} ${keyOf(first)} ${keyOf(last - 1)}`;
  useEffect(() => onShown?.(first, last), [shown]);
  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between rows, which are links and buttons
    <div
      ref={box}
      class="virtual"
      onScroll={(event) => {
        const next = event.currentTarget.scrollTop;
        // Scrolling within a row changes nothing.
        if (Math.floor(next / rowPx) !== Math.floor(top / rowPx)) setTop(next);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
        const rows = [...(box.current?.querySelectorAll<HTMLElement>('a, button') ?? [])];
        const at = rows.indexOf(document.activeElement as HTMLElement);
        const next = rows[at + (event.key === 'ArrowDown' ? 1 : -1)];
        if (at === -1 || next === undefined) return;
        event.preventDefault();
        next.focus();
      }}
    >
      <ul aria-label={label} style={{ height: Math.min(count * rowPx, HEIGHT_MAX) }}>
        {indexes.map((index) => (
          <li key={keyOf(index)} aria-setsize={count} aria-posinset={index + 1} style={{ top: index * rowPx, height: rowPx }}>
            {row(index)}
          </li>
        ))}
      </ul>
    </div>
  );
}
