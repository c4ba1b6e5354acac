import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Json, JsonObject } from '#protocol';
import { isObject } from '#protocol';
import { JsonTree } from '../ui/json-tree.tsx';
import { Markdown } from '../ui/markdown.tsx';
import './a2ui.css';
import { CheckBoxView, ChoiceView, DateView, SliderView, TextFieldView } from './inputs.tsx';
import { Layout, ListView, ModalView, TabsView } from './layout.tsx';
import { MediaView, PictureView } from './media.tsx';
import { withValue } from './paths.ts';
import type { ComponentProps, SurfaceClick, SurfacePen } from './pen.tsx';
import { Complaints, OWN_INPUTS } from './pen.tsx';
import type { DrawnSurface, SurfaceEntry } from './surfaces.ts';
import { dataWith } from './surfaces.ts';
import type { SurfaceScope } from './values.ts';
import { failedChecks, resolved, words } from './values.ts';

interface SurfaceViewProps {
  readonly surface: DrawnSurface;
  /** Absent: nothing can be clicked. */
  readonly onClick?: ((click: SurfaceClick) => void) | undefined;
}

/** Draws a surface of A2UI's basic catalog. What is not in it is shown as JSON. */
export function SurfaceView({ surface, onClick }: SurfaceViewProps) {
  const [entries, setEntries] = useState<readonly SurfaceEntry[]>([]);
  const data = dataWith(surface, entries);
  const isActive = onClick !== undefined && !surface.isOver;
  const pen = penAt(
    {
      ...{ surface, isActive },
      enter: (path, value) =>
        setEntries((before) => [...before.filter((entry) => entry.path !== path), { path, value, after: surface.written.length }]),
      click: (click) => onClick?.({ ...click, data: withValue(data, OWN_INPUTS, undefined) }),
    },
    { data, item: '' },
    0,
  );
  return (
    <section class={`surface ${surface.isOver ? 'over' : ''}`} aria-label={`Form of the agent: ${surface.id}`}>
      {surface.components.has(surface.root) ? pen.child(surface.root) : <p class="dim">The agent has not sent this form yet.</p>}
    </section>
  );
}

/** A component that contains itself ends here. */
const DEPTH_MAX = 32;

/** The same pen for a component below, with the depth that was reached. */
function penAt(base: Omit<SurfacePen, 'child' | 'scope'>, scope: SurfaceScope, depth: number): SurfacePen {
  return {
    ...base,
    scope,
    child: (id, item = scope.item) => {
      const it = typeof id === 'string' ? base.surface.components.get(id) : undefined;
      if (it === undefined || depth > DEPTH_MAX) return null;
      const drawn = draw(it, penAt(base, { ...scope, item }, depth + 1));
      const { weight } = it;
      return typeof weight === 'number' && weight > 0 ? <div style={{ flexGrow: weight, flexBasis: 0, minWidth: 0 }}>{drawn}</div> : drawn;
    },
  };
}

function draw(it: JsonObject, pen: SurfacePen): ComponentChildren {
  switch (it['component']) {
    case 'Text':
      return <TextView it={it} pen={pen} />;
    case 'Image':
      return <PictureView it={it} pen={pen} />;
    case 'Icon':
    case 'Video':
    case 'AudioPlayer':
      return <MediaView it={it} pen={pen} />;
    case 'Row':
    case 'Column':
      return <Layout it={it} pen={pen} />;
    case 'List':
      return <ListView it={it} pen={pen} />;
    case 'Card':
      return <div class="surface-card">{pen.child(it['child'])}</div>;
    case 'Divider':
      return <hr class={it['axis'] === 'vertical' ? 'surface-upright' : ''} />;
    case 'Tabs':
      return <TabsView it={it} pen={pen} />;
    case 'Modal':
      return <ModalView it={it} pen={pen} />;
    case 'Button':
      return <ButtonView it={it} pen={pen} />;
    case 'TextField':
      return <TextFieldView it={it} pen={pen} />;
    case 'CheckBox':
      return <CheckBoxView it={it} pen={pen} />;
    case 'ChoicePicker':
      return <ChoiceView it={it} pen={pen} />;
    case 'Slider':
      return <SliderView it={it} pen={pen} />;
    case 'DateTimeInput':
      return <DateView it={it} pen={pen} />;
    default:
      return (
        <div class="data">
          <JsonTree value={it} open={1} />
        </div>
      );
  }
}

function TextView({ it, pen }: ComponentProps) {
  const text = words(resolved(it['text'], pen.scope));
  const variant = typeof it['variant'] === 'string' ? it['variant'] : 'body';
  return variant === 'body' ? <Markdown text={text} /> : <p class={`surface-${variant.replaceAll(/\W/g, '')}`}>{text}</p>;
}

/** A button tells the agent, or opens an address. It waits until its checks pass. */
function ButtonView({ it, pen }: ComponentProps) {
  const failed = failedChecks(it['checks'], pen.scope);
  const label = labelOf(it['child'], pen);
  const press = (): void => {
    const action = isObject(it['action']) ? it['action'] : {};
    const { event, functionCall } = action;
    if (isObject(event)) {
      const context = isObject(event['context']) ? event['context'] : {};
      const values = Object.entries(context).map(([name, value]) => [name, resolved(value, pen.scope) ?? null]);
      pen.click({ name: words(event['name']), sourceComponentId: words(it['id']), context: Object.fromEntries(values), label });
    } else if (isObject(functionCall) && functionCall['call'] === 'openUrl') {
      const args = isObject(functionCall['args']) ? functionCall['args'] : {};
      const url = words(resolved(args['url'], pen.scope));
      if (/^https?:\/\//.test(url)) open(url, '_blank', 'noopener,noreferrer');
    }
  };
  const kind = it['variant'] === 'primary' ? 'primary' : it['variant'] === 'borderless' ? 'plain' : '';
  return (
    <div class="surface-input">
      <button type="button" class={kind} disabled={!pen.isActive || failed.length > 0} onClick={press}>
        {pen.child(it['child'])}
      </button>
      {pen.isActive ? <Complaints texts={failed} /> : null}
    </div>
  );
}

/** The texts below a component. */
function labelOf(id: Json | undefined, pen: SurfacePen, depth = 0): string {
  const it = typeof id === 'string' ? pen.surface.components.get(id) : undefined;
  if (it === undefined || depth > DEPTH_MAX) return '';
  if (it['component'] === 'Text') return words(resolved(it['text'], pen.scope));
  const children = Array.isArray(it['children']) ? it['children'] : [it['child']];
  return children
    .map((child: Json | undefined) => labelOf(child, pen, depth + 1))
    .join(' ')
    .trim();
}
