import type { ComponentChildren } from 'preact';
import type { Json, JsonObject } from '#protocol';
import { isObject } from '#protocol';
import { absolutePath, valueAt } from './paths.ts';
import type { DrawnSurface } from './surfaces.ts';
import type { SurfaceScope } from './values.ts';
import { resolved, words } from './values.ts';

/** A click that the agent wants to know of. */
export interface SurfaceClick {
  readonly name: string;
  readonly sourceComponentId: string;
  readonly context: JsonObject;
  /** The text of the button. */
  readonly label: string;
  /** The data of the surface as the user sees it. */
  readonly data: Json;
}

/** What components need to draw themselves. */
export interface SurfacePen {
  readonly surface: DrawnSurface;
  readonly scope: SurfaceScope;
  /** The surface takes input. */
  readonly isActive: boolean;
  /** Draws the component with an id. For a component of a list, with the path of its item. */
  child(id: Json | undefined, item?: string): ComponentChildren;
  enter(path: string, value: Json): void;
  click(click: Omit<SurfaceClick, 'data'>): void;
}

/** What every component gets. */
export interface ComponentProps {
  readonly it: JsonObject;
  readonly pen: SurfacePen;
}

/** Where inputs without a path keep their values. No agent can name it. */
export const OWN_INPUTS = '/\u0000inputs';

/** The value of an input, and how it is changed. */
export function boundTo({ it, pen }: ComponentProps, member: string): readonly [Json | undefined, (value: Json) => void] {
  const given = it[member];
  const isBound = isObject(given) && typeof given['path'] === 'string';
  const own = `${OWN_INPUTS}/${words(it['id'])}${pen.scope.item}`;
  const path = isBound ? absolutePath(words(given['path']), pen.scope.item) : own;
  const value = isBound ? resolved(given, pen.scope) : (valueAt(pen.scope.data, own) ?? resolved(given, pen.scope));
  return [value, (next) => pen.enter(path, next)];
}

/** Why a value is not accepted. */
export function Complaints({ texts }: { readonly texts: readonly string[] }) {
  const text = texts.join(' ').trim();
  return text === '' ? null : <p class="surface-complaint">{text}</p>;
}
