import type { ComponentChildren } from 'preact';
import { Fragment } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type { Json } from '#protocol';
import { isObject } from '#protocol';
import { absolutePath, valueAt } from './paths.ts';
import type { ComponentProps, SurfacePen } from './pen.tsx';
import { itemsOf, resolved, words } from './values.ts';

/** More items of a list are not drawn. */
const ITEMS_MAX = 200;

/** Children by their ids, or one for each item of a list in the data. */
function childrenOf(children: Json | undefined, pen: SurfacePen): ComponentChildren {
  if (Array.isArray(children)) return children.map((id: Json) => pen.child(id));
  if (!isObject(children)) return null;
  const path = absolutePath(words(children['path']), pen.scope.item);
  const list = valueAt(pen.scope.data, path);
  // A list of 0.8 is an object with numbers as names.
  const names = Array.isArray(list) ? list.map((_, at) => String(at)) : isObject(list) ? Object.keys(list) : [];
  return (
    <>
      {names.slice(0, ITEMS_MAX).map((name) => (
        <Fragment key={name}>{pen.child(children['componentId'], `${path.replace(/\/$/, '')}/${name}`)}</Fragment>
      ))}
      {names.length > ITEMS_MAX ? <p class="dim">and {names.length - ITEMS_MAX} more</p> : null}
    </>
  );
}

const WORD = /^\w+$/;

/** The class for a word of the catalog. Other words have none. */
function wordClass(kind: string, word: Json | undefined): string {
  return typeof word === 'string' && WORD.test(word) ? `${kind}-${word}` : '';
}

/** A row or a column. */
export function Layout({ it, pen }: ComponentProps) {
  const direction = it['component'] === 'Row' ? 'surface-row' : 'surface-column';
  return (
    <div class={`${direction} ${wordClass('justify', it['justify'])} ${wordClass('align', it['align'])}`}>
      {childrenOf(it['children'], pen)}
    </div>
  );
}

export function ListView({ it, pen }: ComponentProps) {
  return (
    <div class={`surface-list ${it['direction'] === 'horizontal' ? 'surface-row' : 'surface-column'} ${wordClass('align', it['align'])}`}>
      {childrenOf(it['children'], pen)}
    </div>
  );
}

/** Arrow keys change the tab, as in every tab list. */
export function TabsView({ it, pen }: ComponentProps) {
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const tabs = itemsOf(it['tabs']).filter((tab) => isObject(tab));
  const box = useRef<HTMLDivElement>(null);
  const move = (by: number): void => {
    const next = (chosen + by + tabs.length) % tabs.length;
    setChosen(next);
    box.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <div class="surface-column">
      <div
        ref={box}
        class="surface-tabs"
        role="tablist"
        aria-label={`Tabs of ${words(it['id'])}`}
        onKeyDown={(event) => {
          if (event.key === 'ArrowRight') move(1);
          else if (event.key === 'ArrowLeft') move(-1);
        }}
      >
        {tabs.map((tab, at) => (
          <button
            key={at}
            type="button"
            role="tab"
            id={`${id}-${at}`}
            aria-selected={at === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={at === chosen ? 0 : -1}
            onClick={() => setChosen(at)}
          >
            {words(resolved(tab['title'], pen.scope))}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {pen.child(tabs[chosen]?.['child'])}
      </div>
    </div>
  );
}

/** The trigger opens the content above the page. */
export function ModalView({ it, pen }: ComponentProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the trigger inside is a button */}
      <div onClick={() => dialog.current?.showModal()}>{pen.child(it['trigger'])}</div>
      <dialog ref={dialog} class="surface" aria-label={words(it['id'])}>
        {pen.child(it['content'])}
        <button type="button" class="small" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </dialog>
    </>
  );
}
