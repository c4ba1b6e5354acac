import type { AgentInterface } from '../card.ts';
import { A2AError } from '../errors.ts';
import type { TenantId } from '../ids.ts';
import type { Mutable } from '../json.ts';
import { withoutEndSlashes } from '../slashes.ts';

/**
 * One binding of a node: its name on cards, and its path below the agent's base address in each version
 * that cards list.
 */
export interface InterfacePaths {
  readonly protocolBinding: string;
  readonly paths: { readonly '1.0': string; readonly '0.3': string };
}

/** Options of `interfacesFor`. */
export interface InterfaceOptions {
  /**
   * Binding to list first for clients of 1.0 that speak several. Default: the first of `bindings`. The
   * oldest clients speak only JSON-RPC.
   */
  readonly prefer?: string;
  readonly tenant?: TenantId;
}

const VERSIONS = ['1.0', '0.3'] as const;

/**
 * The interfaces of a node that speaks every dialect, in order of preference. Each binding is listed
 * for 1.0 and for 0.3, because 1.0 SDKs refuse to send 0.3 to an agent that does not declare it. Older
 * dialects and products find their address in members that their own card writer adds. Take `baseUrl`
 * from the configuration, never from a Host header: card signatures cover it.
 */
export function interfacesFor(
  baseUrl: string,
  bindings: readonly InterfacePaths[],
  options: InterfaceOptions = {},
): readonly AgentInterface[] {
  const base = checkedBase(baseUrl);
  const isPreferred = ({ protocolBinding }: InterfacePaths): boolean => protocolBinding === options.prefer;
  const preferred = [...bindings.filter(isPreferred), ...bindings.filter((each) => !isPreferred(each))];
  return VERSIONS.flatMap((protocolVersion) =>
    (protocolVersion === '1.0' ? preferred : bindings).map(({ protocolBinding, paths }) => {
      const out: Mutable<AgentInterface> = { url: `${base}${paths[protocolVersion]}`, protocolBinding, protocolVersion };
      if (options.tenant !== undefined && protocolVersion === '1.0') out.tenant = options.tenant; // 0.3 has no tenants
      return out;
    }),
  );
}

/** Without a trailing slash, because clients append paths that begin with one. */
function checkedBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (!plain) throw new A2AError('INVALID_PARAMS', 'the base of an agent must be an http(s) address without user, query or fragment');
  return withoutEndSlashes(url.href);
}
