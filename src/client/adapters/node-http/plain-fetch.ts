/// <reference types="node" />

/** Where undici, the library behind Node's `fetch`, keeps what sends all requests of a program. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');
/** OpenTelemetry and others listen here to the requests of `fetch`. */
const WATCHED = ['undici:request:create', 'undici:client:sendHeaders'];

/**
 * Returns a function that tells whether the program's `fetch` is Node's own, and nothing changes or
 * watches its requests: no other global `fetch`, dispatcher, proxy or subscriber.
 */
export function plainFetchDetector(): () => boolean {
  const channels = process.getBuiltinModule('node:diagnostics_channel');
  const watched = WATCHED.map((name) => channels.channel(name));
  let [knownFetch, isOwnFetch]: [unknown, boolean] = [undefined, false];
  let [knownDispatcher, isDefault]: [unknown, boolean] = [undefined, true];
  return () => {
    const { fetch } = globalThis;
    if (fetch !== knownFetch) [knownFetch, isOwnFetch] = [fetch, isNodesOwn(fetch)];
    const dispatcher: unknown = Reflect.get(globalThis, DISPATCHER);
    if (dispatcher !== knownDispatcher) [knownDispatcher, isDefault] = [dispatcher, isDefaultAgent(dispatcher)];
    return isOwnFetch && isDefault && !watched.some(({ hasSubscribers }) => hasSubscribers);
  };
}

/** Node's own `fetch` loads undici from inside of Node, which no other code can do. */
function isNodesOwn(fetch: unknown): boolean {
  return typeof fetch === 'function' && Function.prototype.toString.call(fetch).includes("require('internal/deps/undici/");
}

/**
 * Whether a dispatcher is an `Agent` of undici without options. Node makes one itself when a program
 * first uses `fetch`. Those of proxies, mocks and interceptors are others.
 */
function isDefaultAgent(dispatcher: unknown): boolean {
  if (dispatcher === undefined) return true;
  const { types, isDeepStrictEqual } = process.getBuiltinModule('node:util');
  if (!isObject(dispatcher) || types.isProxy(dispatcher) || dispatcher.constructor.name !== 'Agent') return false;
  const prototype: unknown = Object.getPrototypeOf(dispatcher);
  if (!isObject(prototype) || [dispatcher, prototype].some((each) => Object.hasOwn(each, 'dispatch'))) return false;
  try {
    const fresh: unknown = Reflect.construct(dispatcher.constructor, []);
    const options = optionsOf(dispatcher);
    return isObject(fresh) && options.length > 0 && isDeepStrictEqual(options, optionsOf(fresh));
  } catch {
    return false; // unknown: not undici's
  }
}

/** The members of an agent that hold what its maker chose. */
const CHOSEN: ReadonlySet<string | undefined> = new Set(['options', 'factory', 'maxRedirections', 'webSocketOptions']);

function optionsOf(agent: object): readonly unknown[] {
  return Object.getOwnPropertySymbols(agent)
    .filter(({ description }) => CHOSEN.has(description))
    .map((symbol) => Reflect.get(agent, symbol));
}

/** That of the protocol would make a bundler split the files that a browser loads. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
