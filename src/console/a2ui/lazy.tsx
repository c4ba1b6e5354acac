import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { JsonObject } from '#protocol';
import { JsonTree } from '../ui/json-tree.tsx';
import type { SurfaceClick } from './pen.tsx';
import type { DrawnSurface } from './surfaces.ts';

/** Surfaces of one batch, and the messages of it that can't be drawn. */
export interface SurfacesProps {
  readonly surfaces: readonly DrawnSurface[];
  readonly unread: readonly JsonObject[];
  /** Absent: nothing can be clicked. */
  readonly onClick?: ((surface: DrawnSurface, click: SurfaceClick) => void) | undefined;
}

type View = FunctionComponent<{ readonly surface: DrawnSurface; readonly onClick?: ((click: SurfaceClick) => void) | undefined }>;
let known: View | undefined;

/** Draws surfaces with code that is loaded when the first one is shown. Until then, and if it can't be loaded, they are JSON. */
export function Surfaces({ surfaces, unread, onClick }: SurfacesProps) {
  const [view, setView] = useState<{ readonly View: View } | undefined>(known === undefined ? undefined : { View: known });
  useEffect(() => {
    if (known !== undefined) return;
    import('./view.tsx').then(
      ({ SurfaceView }) => {
        known = SurfaceView;
        setView({ View: SurfaceView });
      },
      () => undefined, // the node has ended; the page says so elsewhere
    );
  }, []);
  const rest = view === undefined ? surfaces.map(({ id, components, data }) => ({ id, components: [...components.values()], data })) : [];
  return (
    <>
      {view === undefined
        ? null
        : surfaces.map((surface) => (
            <view.View
              key={`${surface.id} ${surface.batch}`}
              surface={surface}
              onClick={onClick === undefined ? undefined : (click) => onClick(surface, click)}
            />
          ))}
      {[...rest, ...unread].map((message, at) => (
        <div key={at} class="data">
          <JsonTree value={message} open={1} />
        </div>
      ))}
    </>
  );
}
