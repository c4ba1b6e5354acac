import type { A2uiVersion, Json, JsonObject } from '#protocol';
import { isObject } from '#protocol';
import { currentComponent, currentData } from './legacy.ts';
import { pathsMeet, withValue } from './paths.ts';
import { itemsOf } from './values.ts';

/** A user interface of an agent, as its messages so far describe it. Components have the form of A2UI 0.9. */
export interface DrawnSurface {
  readonly id: string;
  readonly version: A2uiVersion;
  /** Which of the batches began it: there it is drawn. */
  readonly batch: number;
  readonly root: string;
  readonly components: ReadonlyMap<string, JsonObject>;
  readonly data: Json;
  /** The paths that the agent has written, in order. What a user entered there before is no longer shown. */
  readonly written: readonly string[];
  /** The agent wants the whole data model with every message. */
  readonly sendsData: boolean;
  /** A later batch has removed it, or shows another one with this id. */
  readonly isOver: boolean;
}

/** What a list of messages shows. */
export interface ReadSurfaces {
  readonly surfaces: readonly DrawnSurface[];
  /** Messages of unknown versions or kinds, by batch. They are shown as JSON. */
  readonly unread: readonly { readonly batch: number; readonly message: JsonObject }[];
}

/** Components and surfaces of one conversation are bounded, because an agent may be broken. */
const COMPONENTS_MAX = 2000;
const SURFACES_MAX = 200;

/**
 * Reads the messages of A2UI 0.8, 0.9 and 0.9.1. A batch is what an agent sent in one turn. A surface that a later batch begins anew is another one,
 * so that a form which an agent shows again appears below the messages between.
 */
export function readSurfaces(batches: readonly (readonly JsonObject[])[]): ReadSurfaces {
  const ended: DrawnSurface[] = [];
  const shown = new Map<string, DrawnSurface>();
  const unread: { readonly batch: number; readonly message: JsonObject }[] = [];
  for (const [batch, messages] of batches.entries()) {
    for (const message of messages) {
      const step = stepOf(message);
      if (step === undefined) {
        unread.push({ batch, message });
        continue;
      }
      const before = shown.get(step.surfaceId);
      const isAnother = before === undefined || before.isOver || (step.begins && before.batch !== batch);
      const next = step.apply(isAnother ? undefined : before, batch, before);
      if (before !== undefined && next !== undefined && next.batch !== before.batch) ended.push({ ...before, isOver: true });
      if (next !== undefined && (shown.has(step.surfaceId) || shown.size < SURFACES_MAX)) shown.set(step.surfaceId, next);
    }
  }
  return { surfaces: [...ended, ...shown.values()], unread };
}

interface Step {
  readonly surfaceId: string;
  /** The message begins a surface. */
  readonly begins: boolean;
  /** The surface after the message. `earlier` is the one of another batch with the same id. */
  apply(before: DrawnSurface | undefined, batch: number, earlier: DrawnSurface | undefined): DrawnSurface | undefined;
}

const CURRENT: ReadonlySet<unknown> = new Set(['v0.9', 'v0.9.1', '0.9', '0.9.1']);

/** Undefined: the message is of no known kind. */
function stepOf(message: JsonObject): Step | undefined {
  const version = message['version'];
  if (version === undefined || version === 'v0.8') return legacyStep(message);
  if (!CURRENT.has(version)) return undefined;
  return currentStep(message, version === 'v0.9' || version === '0.9' ? 'v0.9' : 'v0.9.1');
}

function currentStep(message: JsonObject, version: A2uiVersion): Step | undefined {
  const create = bodyOf(message, 'createSurface');
  if (create !== undefined) {
    const sendsData = create.body['sendDataModel'] === true;
    return {
      ...create,
      begins: true,
      apply: (before, batch) => ({ ...(before ?? emptySurface(create.surfaceId, version, batch)), sendsData }),
    };
  }
  const update = bodyOf(message, 'updateComponents');
  if (update !== undefined)
    return changing(update.surfaceId, version, (surface) => withComponents(surface, update.body['components'], (given) => given));
  const write = bodyOf(message, 'updateDataModel');
  if (write !== undefined) {
    const path = typeof write.body['path'] === 'string' ? write.body['path'] : '/';
    return changing(write.surfaceId, version, (surface) => withData(surface, path, write.body['value']));
  }
  return deletion(message, version);
}

/** 0.8 sends components and data first, and then begins to draw. A surface that begins again keeps what it had. */
function legacyStep(message: JsonObject): Step | undefined {
  const begin = bodyOf(message, 'beginRendering');
  if (begin !== undefined) {
    const root = typeof begin.body['root'] === 'string' ? begin.body['root'] : 'root';
    return {
      ...{ surfaceId: begin.surfaceId, begins: true },
      apply: (before, batch, earlier) => ({ ...(before ?? { ...(earlier ?? emptySurface(begin.surfaceId, 'v0.8', batch)), batch }), root }),
    };
  }
  const update = bodyOf(message, 'surfaceUpdate');
  if (update !== undefined)
    return changing(update.surfaceId, 'v0.8', (surface) => withComponents(surface, update.body['components'], currentComponent));
  const write = bodyOf(message, 'dataModelUpdate');
  if (write !== undefined) {
    const path = typeof write.body['path'] === 'string' ? write.body['path'] : '/';
    const values = Object.entries(currentData(write.body['contents']));
    return changing(write.surfaceId, 'v0.8', (surface) =>
      values.reduce((changed, [name, value]) => withData(changed, `${path.replace(/\/$/, '')}/${name}`, value), surface),
    );
  }
  return deletion(message, 'v0.8');
}

function deletion(message: JsonObject, version: A2uiVersion): Step | undefined {
  const removal = bodyOf(message, 'deleteSurface');
  return removal === undefined ? undefined : changing(removal.surfaceId, version, (surface) => ({ ...surface, isOver: true }));
}

/** A surface that was never begun is drawn too: some agents send its components first. */
function changing(surfaceId: string, version: A2uiVersion, change: (surface: DrawnSurface) => DrawnSurface): Step {
  return { surfaceId, begins: false, apply: (before, batch) => change(before ?? emptySurface(surfaceId, version, batch)) };
}

function emptySurface(id: string, version: A2uiVersion, batch: number): DrawnSurface {
  return { id, version, batch, root: 'root', components: new Map(), data: {}, written: [], sendsData: false, isOver: false };
}

function bodyOf(message: JsonObject, name: string): { readonly surfaceId: string; readonly body: JsonObject } | undefined {
  const body = message[name];
  if (!isObject(body) || typeof body['surfaceId'] !== 'string') return undefined;
  return { surfaceId: body['surfaceId'], body };
}

function withComponents(surface: DrawnSurface, list: Json | undefined, read: (given: JsonObject) => JsonObject): DrawnSurface {
  const components = new Map(surface.components);
  for (const given of itemsOf(list)) {
    if (!isObject(given) || typeof given['id'] !== 'string') continue;
    if (components.size < COMPONENTS_MAX || components.has(given['id'])) components.set(given['id'], read(given));
  }
  return { ...surface, components };
}

function withData(surface: DrawnSurface, path: string, value: Json | undefined): DrawnSurface {
  return { ...surface, data: withValue(surface.data, path, value), written: [...surface.written, path] };
}

/** What a user has entered, with the number of the agent's writes at that time. */
export interface SurfaceEntry {
  readonly path: string;
  readonly value: Json;
  readonly after: number;
}

/** The data of a surface with the entries of the user that the agent has not overwritten since. */
export function dataWith({ data, written }: DrawnSurface, entries: readonly SurfaceEntry[]): Json {
  const isKept = ({ path, after }: SurfaceEntry): boolean => !written.slice(after).some((other) => pathsMeet(path, other));
  return entries.filter(isKept).reduce((changed, { path, value }) => withValue(changed, path, value), data);
}
