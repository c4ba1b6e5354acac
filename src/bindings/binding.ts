import type { A2AError, A2AService, Dialect, InterfacePaths, Operation, Registry } from '#protocol';
import type { HttpRequest, HttpResponse } from './http.ts';
import type { LinkOptions } from './link-service.ts';
import type { BindingServeOptions } from './options.ts';

/** What a refusal is written with. */
export interface RefusalOptions extends BindingServeOptions {
  /** The HTTP status, where it is not the error's own. A binding that always answers with one status ignores it. */
  readonly status?: number;
}

/** The paths of an agent that a server gives to a binding. */
export interface BindingRoute {
  readonly methods: readonly string[];
  /** Exact paths below the agent's base. Absent: `matches` decides, after all exact paths. */
  readonly paths?: readonly string[];
  /** Whether the binding serves a path. Throws if the path is malformed, which the binding then answers with an error. */
  matches?(path: string): boolean;
  /** A POST may come without a body and without a Content-Type. */
  readonly bodyOptional?: true;
}

/**
 * The client half of a binding: its names, and the link that calls an agent over it. `CLIENT_BINDINGS` (links.ts) lists them all. The client
 * and the doctor read that list. Nothing here may import the server half, which a browser would have to download.
 */
export interface ClientBinding<Name extends string = string> {
  /** The name of its routes, in metrics and recordings. */
  readonly id: string;
  /** How cards name it (`AgentInterface.protocolBinding`). */
  readonly protocolBinding: Name;
  /** Other names that cards and people use for it, in upper case. */
  readonly otherNames: readonly string[];
  /** For people: `JSON-RPC`. */
  readonly title: string;
  /** A remote agent as an `A2AService`. */
  link(options: LinkOptions): A2AService;
  /** The form of a dialect that goes over this binding: the dialect itself, or a variant of it. Undefined: it has none. */
  formOf(dialect: Dialect, registry: Registry): Dialect | undefined;
  /** Whether a dialect, in the form that `formOf` gave, has an operation. */
  has(dialect: Dialect, operation: Operation): boolean;
}

/**
 * A binding of A2A, both halves: what calls it and what serves it. `BINDINGS` (registry.ts) lists them all. Routes, access checks and cards
 * read that list. A new binding is a folder, a line in links.ts and a line in registry.ts.
 */
export interface Binding<Name extends string = string> extends ClientBinding<Name> {
  readonly route: BindingRoute;
  /** Where cards say that it is, by protocol version, below the agent's base address. */
  readonly paths: InterfacePaths['paths'];
  /** Serves one request. Never throws: failures are written as errors of the caller's dialect. */
  serve(request: HttpRequest, service: A2AService, options?: BindingServeOptions): Promise<HttpResponse>;
  /** The response to a request that is refused before its body is read. */
  refuse(request: HttpRequest, error: A2AError, options?: RefusalOptions): HttpResponse;
}
