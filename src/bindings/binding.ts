import type { A2AError, A2AService, Dialect, InterfacePaths, Operation, Registry } from '#protocol';
import type { HttpRequest, HttpResponse } from './http.ts';
import type { LinkOptions } from './link-service.ts';
import type { BindingServeOptions } from './options.ts';

/** The options of `Binding.refuse`. */
export interface RefusalOptions extends BindingServeOptions {
  /** Replaces the HTTP status of the error's kind. A binding with one fixed error status ignores it. */
  readonly status?: number;
}

/** Which paths of an agent a server routes to a binding. */
export interface BindingRoute {
  /** HTTP methods that the binding answers at its paths. Others get 405. */
  readonly methods: readonly string[];
  /**
   * Exact paths below the agent's base path. Absent: `matches` decides, after the exact paths of all
   * bindings.
   */
  readonly paths?: readonly string[];
  /**
   * Whether the binding serves a path. Throws if the path is malformed; the server then lets the
   * binding respond with an error.
   */
  matches?(path: string): boolean;
  /** A POST may have no body and no Content-Type. */
  readonly bodyOptional?: true;
}

/**
 * The client half of a binding: its names, and the link that calls an agent over it. `CLIENT_BINDINGS`
 * (links.ts) lists them all. The client and the doctor read that list. Nothing here may import the
 * server half, which a browser would have to download.
 */
export interface ClientBinding<Name extends string = string> {
  /** Names the binding's routes in metrics and recordings. */
  readonly id: string;
  /** How cards name it (`AgentInterface.protocolBinding`). */
  readonly protocolBinding: Name;
  /** Other names that cards and people use for it, in upper case. */
  readonly otherNames: readonly string[];
  /** For people: `JSON-RPC`. */
  readonly title: string;
  /** Makes an `A2AService` that calls a remote agent over this binding. */
  link(options: LinkOptions): A2AService;
  /**
   * The address of an interface as an absolute URL. Undefined: it is not an address. Absent: it is a
   * URL, or relative to that of the card.
   */
  addressOf?(text: string, cardUrl: string | undefined): string | undefined;
  /**
   * The dialect to use over this binding: the dialect itself, or its variant for this binding.
   * Undefined: the dialect does not support it.
   */
  formOf(dialect: Dialect, registry: Registry): Dialect | undefined;
  /** Whether a dialect that `formOf` returned has an operation. */
  has(dialect: Dialect, operation: Operation): boolean;
}

/**
 * A binding of A2A, both halves: what calls it and what serves it. `BINDINGS` (registry.ts) lists them
 * all. Routes, access checks and cards read that list. A new binding is a folder, a line in links.ts
 * and a line in registry.ts.
 */
export interface Binding<Name extends string = string> extends ClientBinding<Name> {
  /** Which requests the server passes to this binding. */
  readonly route: BindingRoute;
  /** The path that cards state for this binding, by protocol version, below the agent's base URL. */
  readonly paths: InterfacePaths['paths'];
  /** Serves one request. Never throws: failures are written as errors of the caller's dialect. */
  serve(request: HttpRequest, service: A2AService, options?: BindingServeOptions): Promise<HttpResponse>;
  /** The response to a request that is refused before its body is read. */
  refuse(request: HttpRequest, error: A2AError, options?: RefusalOptions): HttpResponse;
}
